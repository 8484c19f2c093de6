//! The door at its boundary.

// Clippy knows the tests themselves, not the functions that they share.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod auth;
mod conversing;
mod kit;
