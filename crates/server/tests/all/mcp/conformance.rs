//! The official conformance suite against `/mcp/<namespace>` where the client and the service are of different eras. The
//! same era on both sides is run through a whole daemon, in the tests of the program.

use testkit::mcp_fixture::FixtureEra;
use testkit::mcp_suite::check_server;

use super::fixture_gateway::FixtureGateway;
use crate::kit::Door;

/// Passes if exactly these checks fail of what a revision requires.
async fn expect(revision: &'static str, era: FixtureEra, expected: &[&str]) {
    let gateway = FixtureGateway::start(&[("fixture", era)]).await;
    let door = Door::open_with_gateway(gateway.endpoint.clone(), |settings| settings.require_auth = false).await;
    let url = format!("http://{}/mcp/fixture", door.address);
    let run = tokio::task::spawn_blocking(move || check_server(&url, revision)).await.unwrap();
    assert_eq!(run.failed, expected, "{}", run.said);
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
