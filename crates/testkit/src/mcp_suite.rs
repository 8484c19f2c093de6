//! The official conformance suite against a server at an address.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::agents;

/// How many scenarios each revision requires of a server.
const REQUIRED: [(&str, usize); 2] = [("2025-11-25", 30), ("2026-07-28", 37)];
/// The milliseconds that one scenario may take on a busy machine.
const SCENARIO_LIMIT: &str = "120000";

/// What came of a run of the suite.
pub struct SuiteRun {
    /// The ids of the checks that failed or warned, in order.
    pub failed: Vec<String>,
    /// What the suite said, for the message of a test.
    pub said: String,
}

/// Runs all that a revision requires of the server at this address, and waits for the end.
///
/// # Panics
///
/// If the suite cannot be run, runs less than the revision requires, or does not know the revision.
pub fn check_server(url: &str, revision: &str) -> SuiteRun {
    let home = tempfile::tempdir().unwrap();
    let suite = agents::mcp_tools().join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let mut command = Command::new(agents::program("node"));
    command.arg(suite).args(["server", "--url", url, "--requirements", revision, "--timeout", SCENARIO_LIMIT, "-o"]);
    command.arg(home.path()).env_clear().env("HOME", home.path()).env("PATH", agents::bin());
    let output = command.current_dir(home.path()).stdin(Stdio::null()).output().unwrap();
    let (mut said, mut failed) = (String::from_utf8_lossy(&output.stdout).into_owned(), Vec::<String>::new());
    let (mut scenarios, mut checks) = (0, 0);
    for entry in std::fs::read_dir(home.path()).unwrap() {
        let folder = entry.unwrap().path();
        // The fixture has no tasks: they are an extension, which no revision requires.
        let is_required = !folder.file_name().unwrap().to_string_lossy().contains("tasks-");
        let Ok(results) = std::fs::read_to_string(folder.join("checks.json")) else { continue };
        if !is_required {
            continue;
        }
        scenarios += 1;
        let made = serde_json::from_str::<Vec<Value>>(&results).unwrap();
        assert!(!made.is_empty(), "{} checked nothing", folder.display());
        checks += made.len();
        for check in made {
            if check["status"] == "FAILURE" || check["status"] == "WARNING" {
                said.push_str(&format!("{}: {}\n", check["id"], check["errorMessage"]));
                failed.push(check["id"].as_str().unwrap().to_owned());
            }
        }
    }
    let (_, required) = REQUIRED.into_iter().find(|(known, _)| *known == revision).unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(scenarios >= required, "only {scenarios} of {required} scenarios ran:\n{said}{complaint}");
    assert!(output.status.success() || !failed.is_empty(), "the suite failed, {}:\n{said}{complaint}", output.status);
    failed.sort();
    println!("{revision} at {url}: {scenarios} scenarios, {checks} checks, {} failed", failed.len());
    SuiteRun { failed, said }
}
