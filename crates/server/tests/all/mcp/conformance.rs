//! The official conformance suite against `/mcp/<namespace>`, with a fixture of either era behind it.

use std::process::Stdio;

use serde_json::Value;
use testkit::agents;
use testkit::mcp_fixture::FixtureEra;
use tokio::process::Command;

use super::fixture_gateway::FixtureGateway;
use crate::kit::Door;

/// Runs the requirements of a revision for servers; the checks that failed of them, and what the suite said.
async fn failed_checks(revision: &str, era: FixtureEra) -> (Vec<String>, String) {
    let gateway = FixtureGateway::start(&[("fixture", era)]).await;
    let door = Door::open_with_gateway(gateway.endpoint.clone(), |settings| settings.require_auth = false).await;
    let home = tempfile::tempdir().unwrap();
    let suite = agents::mcp_tools().join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let url = format!("http://{}/mcp/fixture", door.address);
    let mut command = Command::new(agents::program("node"));
    command.arg(suite).args(["server", "--url", &url, "--requirements", revision, "-o"]).arg(home.path());
    command.env_clear().env("HOME", home.path()).env("PATH", agents::bin()).current_dir(home.path());
    let output = command.stdin(Stdio::null()).output().await.unwrap();
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut failed = Vec::new();
    let mut scenarios = 0;
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
    assert!(scenarios >= 30, "only {scenarios} scenarios ran:\n{said}{}", String::from_utf8_lossy(&output.stderr));
    failed.sort();
    (failed, said)
}

/// Passes if exactly these checks fail.
async fn expect(revision: &str, era: FixtureEra, expected: &[&str]) {
    let (failed, said) = failed_checks(revision, era).await;
    assert_eq!(failed, expected, "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_legacy_client_of_a_legacy_service_gets_all_that_the_revision_requires() {
    expect("2025-11-25", FixtureEra::Legacy, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_modern_client_of_a_modern_service_gets_all_that_the_revision_requires() {
    expect("2026-07-28", FixtureEra::Modern, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_legacy_client_of_a_modern_service_gets_all_that_the_revision_requires() {
    expect("2025-11-25", FixtureEra::Modern, &[]).await;
}

/// A legacy service has no names for what it asks, so the gateway gives them; the suite wants the names of its own server,
/// and takes answers to questions that were not asked.
#[tokio::test(flavor = "multi_thread")]
async fn a_modern_client_of_a_legacy_service_gets_all_but_the_names_of_its_questions() {
    let names = ["sep-2322-elicitation-incomplete", "sep-2322-ignore-unexpected-params"];
    expect("2026-07-28", FixtureEra::Legacy, &names).await;
}
