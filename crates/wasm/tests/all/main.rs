//! The host at its boundary: real modules, compiled and called.

// Clippy's leave for unwrap in tests covers test functions, not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod authority;
mod bad_input;
mod cache;
mod clarity_compiler;
mod clarity_modules;
mod components;
mod core_modules;
mod generated;
mod kit;
mod limits;
mod logs;
mod toolchains;
mod waiting;
#[path = "../../../../xtask/src/fixtures/wasm_modules.rs"]
#[allow(dead_code, reason = "the large components are for the tests that take long")]
mod wasm_modules;
