//! The crate at its boundary: what the wire shows, and what a stream of events adds up to.

// Clippy lets only test functions unwrap, and here every function is one's helper.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod events;
mod random_events;
mod schemas;
mod seed;
mod session_record;
mod session_status;
mod transcript;
