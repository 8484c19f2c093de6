//! The gateway at its boundaries: a real engine and a real log behind it, real servers, and servers that do what a test
//! tells them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "clippy knows test functions, but not their helpers")]

mod agent_services;
mod budgets;
mod conformance;
mod everything;
mod faults;
mod governed;
mod governing_agents;
mod governing_clients;
mod module_effects;
mod own_tools;
mod runs;
mod scripted_http;
mod scripted_sse;
mod services;
mod sse_faults;
mod support;
mod wasm;
mod wasm_models;
#[path = "../../../../xtask/src/fixtures/wasm_modules.rs"]
#[allow(dead_code, reason = "the large components are for the tests that take long")]
mod wasm_modules;
