//! The crate at its boundary: real holders, real processes, real pipes.

// Clippy lets only test functions unwrap, and here every function is one's helper.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod crash;
mod lasting;
mod launch;
mod peer;
mod stop;
mod streams;
mod support;
