//! The gateway at its boundaries: a real engine and a real log behind it, real servers, and servers that do what a test
//! tells them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "clippy knows test functions, but not their helpers")]

mod agent_services;
mod conformance;
mod everything;
mod faults;
mod governed;
mod governing_agents;
mod governing_clients;
mod runs;
mod scripted_http;
mod services;
mod support;
