//! The client at its boundary: a real socket, and a daemon that says what the test wants it to.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "the functions that tests share may fail a test too")]

mod calling;
mod daemon;
mod subscribing;
