//! The official conformance suite through the daemon's `/mcp/<namespace>`, with a server behind it that is a program, or
//! at an address.

use std::sync::{Arc, mpsc};

use serde_json::Value;
use testkit::mcp_fixture::{FixtureEra, McpFixture, http, lines};
use testkit::mcp_suite::check_server;

use crate::contract::this_binary;
use crate::kit::RoostInstance;

/// Clients need no token, and nobody has to be asked about the fixture's tools.
const CONFIG: &str = "[security]\nrequire_auth = false\n\
    [[policy.rules]]\neffect = 'allow'\nname = 'fixture'\ntool = 'mcp__roost__fixture__*'\n";

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
fn conforms(revision: &str, service: &[&str]) {
    let instance = RoostInstance::new();
    instance.configure(CONFIG);
    instance.run(&["up"]).ended(0);
    instance.run(&[&["services"], service].concat()).ended(0);
    let file = std::fs::read(instance.state().join("daemon.json")).unwrap();
    let daemon: Value = serde_json::from_slice(&file).unwrap();
    let run = check_server(&format!("{}/mcp/fixture", daemon["http"].as_str().unwrap()), revision);
    assert_eq!(run.failed, Vec::<String>::new(), "{}", run.said);
    instance.assert_nothing_left();
}

fn program_conforms(revision: &str, part: &str) {
    let (binary, part) = (this_binary().into_string().unwrap(), format!("mcp_conformance::{part}"));
    let command = [&binary, "--exact", "--ignored", "--nocapture", &part];
    conforms(revision, &[&["add-stdio", "--module", "fixture", "--"][..], &command].concat());
}

fn address_conforms(revision: &str, era: FixtureEra) {
    conforms(revision, &["add-remote", "--module", "fixture", "--endpoint", &serve_http(era)]);
}

#[test]
fn a_legacy_program_behind_the_gateway_does_all_that_the_revision_requires() {
    program_conforms("2025-11-25", "legacy_program");
}

#[test]
fn a_modern_program_behind_the_gateway_does_all_that_the_revision_requires() {
    program_conforms("2026-07-28", "modern_program");
}

#[test]
fn a_legacy_server_at_an_address_behind_the_gateway_does_all_that_the_revision_requires() {
    address_conforms("2025-11-25", FixtureEra::Legacy);
}

#[test]
fn a_modern_server_at_an_address_behind_the_gateway_does_all_that_the_revision_requires() {
    address_conforms("2026-07-28", FixtureEra::Modern);
}
