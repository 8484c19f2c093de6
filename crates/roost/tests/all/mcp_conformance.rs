//! The official conformance suite through the daemon's `/mcp/<namespace>`, with a server behind it that is a program, or
//! at an address.

use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};

use async_trait::async_trait;
use serde_json::{Value, json};
use testkit::mcp_fixture::{FixtureClient, FixtureEra, McpFixture, http, lines};
use testkit::mcp_suite::check_server;

use crate::contract::this_binary;
use crate::kit::RoostInstance;

/// Clients need no token, and nobody has to be asked about the fixture's tools: each is named, as the policy wants it.
fn config(era: FixtureEra) -> String {
    let fixture = McpFixture::new(era);
    let list = || async { fixture.answer("tools/list", &json!({}), &Nobody).await.unwrap() };
    let call = json!({ "name": "test_trigger_tool_change", "arguments": {} });
    let (before, after) = runtime().block_on(async {
        let before = list().await;
        fixture.answer("tools/call", &call, &Nobody).await.unwrap();
        (before, list().await)
    });
    let tools = [before, after].into_iter().flat_map(|listed| listed["tools"].as_array().unwrap().clone());
    let mut names: BTreeSet<_> = tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    // Addresses that are not listed and words for prompts count as calls.
    names.extend(["resources/read", "resources/subscribe", "prompts/get"].map(ToOwned::to_owned));
    let rule = |name: &String| {
        format!("[[policy.rules]]\neffect = 'allow'\nname = 'fixture'\ntool = 'mcp__roost__fixture__{name}'\n")
    };
    let rules: String = names.iter().map(rule).collect();
    format!("[security]\nrequire_auth = false\n{rules}")
}

/// Who lists the fixture's tools.
struct Nobody;

#[async_trait]
impl FixtureClient for Nobody {
    async fn notify(&self, _: &str, _: Value) {}

    async fn ask(&self, _: &str, _: Value) -> Result<Value, Value> {
        Err(json!({ "code": -32601, "message": "nobody is asked" }))
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn serve_lines(era: FixtureEra) {
    runtime().block_on(lines::serve(Arc::new(McpFixture::new(era)), tokio::io::stdin(), tokio::io::stdout()));
}

#[test]
#[ignore = "not a test: a service that the daemon starts"]
fn legacy_program() {
    serve_lines(FixtureEra::Legacy);
}

#[test]
#[ignore = "not a test: a service that the daemon starts"]
fn modern_program() {
    serve_lines(FixtureEra::Modern);
}

/// Serves the fixture over HTTP until this process ends; its address.
fn serve_http(era: FixtureEra) -> String {
    let (listening, address) = mpsc::channel();
    std::thread::spawn(move || {
        let fixture = Arc::new(McpFixture::new(era));
        let any = ([127, 0, 0, 1], 0).into();
        runtime().block_on(http::serve(fixture, any, |address| listening.send(address).unwrap())).unwrap();
    });
    format!("http://{}/mcp", address.recv().unwrap())
}

/// Adds the service by these arguments of `roost services`, and runs all that a revision requires against it.
fn conforms(revision: &str, era: FixtureEra, service: &[&str]) {
    let instance = RoostInstance::new();
    instance.configure(&config(era));
    instance.run(&["up"]).ended(0);
    instance.run(&[&["services"], service].concat()).ended(0);
    let file = std::fs::read(instance.state().join("daemon.json")).unwrap();
    let daemon: Value = serde_json::from_slice(&file).unwrap();
    let run = check_server(&format!("{}/mcp/fixture", daemon["http"].as_str().unwrap()), revision);
    assert!(run.failed.is_empty(), "{}", run.said);
    instance.assert_nothing_left();
}

fn program_conforms(revision: &str, era: FixtureEra) {
    let part = match era {
        FixtureEra::Legacy => "mcp_conformance::legacy_program",
        FixtureEra::Modern => "mcp_conformance::modern_program",
    };
    let binary = this_binary().into_string().unwrap();
    let command = [&binary, "--exact", "--ignored", "--nocapture", part];
    conforms(revision, era, &[&["add-stdio", "--module", "fixture", "--"][..], &command].concat());
}

fn address_conforms(revision: &str, era: FixtureEra) {
    conforms(revision, era, &["add-remote", "--module", "fixture", "--endpoint", &serve_http(era)]);
}

#[test]
fn a_legacy_program_behind_the_gateway_does_all_that_the_revision_requires() {
    program_conforms("2025-11-25", FixtureEra::Legacy);
}

#[test]
fn a_modern_program_behind_the_gateway_does_all_that_the_revision_requires() {
    program_conforms("2026-07-28", FixtureEra::Modern);
}

#[test]
fn a_legacy_server_at_an_address_behind_the_gateway_does_all_that_the_revision_requires() {
    address_conforms("2025-11-25", FixtureEra::Legacy);
}

#[test]
fn a_modern_server_at_an_address_behind_the_gateway_does_all_that_the_revision_requires() {
    address_conforms("2026-07-28", FixtureEra::Modern);
}
