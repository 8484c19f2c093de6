//! The official conformance suite against a server at an address.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::agents;

/// The fewest scenarios that a revision requires of a server.
const MIN_SCENARIOS: usize = 30;
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
/// If the suite cannot be run, or runs less than the revision requires.
pub fn check_server(url: &str, revision: &str) -> SuiteRun {
    let home = tempfile::tempdir().unwrap();
    let suite = agents::mcp_tools().join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let mut command = Command::new(agents::program("node"));
    command.arg(suite).args(["server", "--url", url, "--requirements", revision, "--timeout", SCENARIO_LIMIT, "-o"]);
    command.arg(home.path()).env_clear().env("HOME", home.path()).env("PATH", agents::bin());
    let output = command.current_dir(home.path()).stdin(Stdio::null()).output().unwrap();
    let (mut said, mut failed, mut scenarios) =
        (String::from_utf8_lossy(&output.stdout).into_owned(), Vec::<String>::new(), 0);
    for entry in std::fs::read_dir(home.path()).unwrap() {
        let folder = entry.unwrap().path();
        // The fixture has no tasks: they are an extension, which no revision requires.
        let is_required = !folder.file_name().unwrap().to_string_lossy().contains("tasks-");
        let Ok(checks) = std::fs::read_to_string(folder.join("checks.json")) else { continue };
        scenarios += usize::from(is_required);
        for check in serde_json::from_str::<Vec<Value>>(&checks).unwrap() {
            if is_required && (check["status"] == "FAILURE" || check["status"] == "WARNING") {
                said.push_str(&format!("{}: {}\n", check["id"], check["errorMessage"]));
                failed.push(check["id"].as_str().unwrap().to_owned());
            }
        }
    }
    let ran = scenarios >= MIN_SCENARIOS;
    assert!(ran, "only {scenarios} scenarios ran:\n{said}{}", String::from_utf8_lossy(&output.stderr));
    failed.sort();
    SuiteRun { failed, said }
}
