//! What the tests of several crates share: a runtime that does what a test tells it, and an engine on a real log.
//!
//! * [`fake::FakeAdapter`] is a runtime without a process: the test is the agent. It receives what the engine wants
//!   (open, resume, start a task, decide) and says what comes of it, one step at a time.
//! * [`Harness`] is an engine over that runtime and a real log in a directory of its own; it can crash and restart.
//! * [`host_tools`] are tools of the host's that do what a test tells them.
//! * [`contract`] is what every adapter must pass; [`scripted_agent`] is an ACP agent to try it on.
//! * [`model`] is a scripted model; [`agents`] are the real agents that run against it.
//! * [`mcp_fixture`] is an MCP server with everything that the official conformance suite asks for.
//! * [`acp_schema`] checks what an ACP agent sends against the schemas of the TypeScript SDK.
//! * [`mcp_servers`] are MCP servers without a process, for the gateway's services.
//! * [`mcp_suite`] runs the official conformance suite against a server.
//! * [`network`] is one in which nothing but the machine itself can be reached.
//! * [`oauth_server`] is an MCP server that wants a login.
//! * [`facts`] are the facts that tests report most; [`events`] has one event of every type.
//! * [`clarity_compiler`] stands in for the compiler of the Clarity language.
//! * [`committed`] compares generated files with the committed ones.
//!
//! Nothing here sleeps to wait for something: every wait is for a condition, with one generous [`DEADLINE`].

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a helper of tests fails as a test does")]

pub mod acp_schema;
pub mod agents;
pub mod clarity_compiler;
pub mod committed;
pub mod contract;
pub mod events;
pub mod facts;
pub mod fake;
mod harness;
pub mod host_tools;
pub mod mcp_fixture;
pub mod mcp_servers;
pub mod mcp_suite;
pub mod model;
pub mod network;
pub mod oauth_server;
pub mod scripted_agent;

pub use harness::{Harness, Home};

use std::time::Duration;

/// Long enough for the slowest machine, short enough to notice a hang.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Waits for something that must happen; panics with its name if it does not.
pub async fn soon<T>(what: &str, happens: impl Future<Output = T>) -> T {
    match tokio::time::timeout(DEADLINE, happens).await {
        Ok(happened) => happened,
        Err(_) => panic!("this did not happen within {} s: {what}", DEADLINE.as_secs()),
    }
}
