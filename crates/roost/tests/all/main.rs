//! The binary at its boundary: real processes, real state directories, nothing replaced.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "the functions that tests share may fail a test too")]
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a test's output reaches no user")]

mod acp;
mod approving;
mod asking;
mod attaching;
mod bootstrap;
mod clarity;
mod claude;
mod codex;
mod commands;
mod configuring;
mod contract;
mod control_plane_commands;
mod conversing;
mod crashing;
mod damage;
mod disk;
mod egress;
mod exporting;
mod faults;
mod files;
mod gateway;
mod gemini;
mod git;
mod hanging;
mod hidden_state;
mod hiding;
mod hostile_clients;
mod kit;
mod login;
mod lying;
mod mcp_conformance;
mod misleading_agent;
mod notify;
mod opencode;
mod options;
mod output;
mod own_servers;
mod past;
mod presets;
mod prompting;
mod real;
mod rules;
mod running;
mod runtime_defects;
mod sandbox;
mod search;
mod secrets;
mod self_approval;
mod services;
mod serving;
mod sessions;
mod steering;
mod stopping;
mod taking_over;
mod terminal;
mod touring;
#[path = "../../../../xtask/src/fixtures/wasm_modules.rs"]
#[allow(dead_code, reason = "the large components are for the tests that take long")]
mod wasm_modules;
mod wasm_services;
mod workspaces;
