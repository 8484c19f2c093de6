//! The binary at its boundary: real processes, real state directories, nothing replaced.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "the functions that tests share may fail a test too")]
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a test's output reaches no user")]

mod acp;
mod approving;
mod asking;
mod attaching;
mod claude;
mod codex;
mod commands;
mod configuring;
mod contract;
mod conversing;
mod crashing;
mod damage;
mod disk;
mod egress;
mod exporting;
mod faults;
mod files;
mod gemini;
mod git;
mod hanging;
mod hidden_state;
mod hiding;
mod hostile_clients;
mod kit;
mod login;
mod lying;
mod misleading_agent;
mod opencode;
mod options;
mod own_servers;
mod past;
mod presets;
mod real;
mod rules;
mod running;
mod sandbox;
mod search;
mod secrets;
mod self_approval;
mod serving;
mod sessions;
mod stopping;
mod terminal;
mod workspaces;
