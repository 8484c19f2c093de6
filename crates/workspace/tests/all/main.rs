//! A workspace from outside, on real folders and with the real git.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod confined;
mod grep;
mod index;
mod place;
mod watch;
mod files;
mod git;
