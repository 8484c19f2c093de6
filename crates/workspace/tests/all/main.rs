//! A workspace from outside, on real folders and with the real git.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod confined;
mod discovering;
mod files;
mod git;
mod grep;
mod index;
mod status_cache;
mod test_folder;
mod watch;
