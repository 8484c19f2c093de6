//! The log at its boundary.

// Clippy knows the tests themselves, not the functions that they share.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod asking;
mod checking;
mod directory;
mod fixture;
mod following;
mod keeping;
mod kit;
mod locking;
mod model;
mod opening;
mod processes;
mod retaining;
mod writing;
