//! The official conformance suite with our connections as the client under test.

use std::process::Command;

use tempfile::TempDir;
use testkit::agents;

use crate::support::example;

/// The milliseconds that one scenario may take. The suite starts them all at once, so each takes as long as all together.
const SCENARIO_LIMIT: &str = "150000";

/// Runs all scenarios that a revision requires of a client; the suite fails if one that counts does.
fn run(revision: &str) {
    let home = TempDir::new().unwrap();
    let suite = agents::mcp_tools().join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let output = Command::new(agents::program("node"))
        .arg(suite)
        .args(["client", "--command", &example("conformance-client"), "--requirements", revision, "-o", "results"])
        .args(["--timeout", SCENARIO_LIMIT])
        .current_dir(home.path())
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", agents::bin())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_client_does_what_2025_11_25_requires() {
    run("2025-11-25");
}

#[test]
fn a_client_does_what_2026_07_28_requires() {
    run("2026-07-28");
}
