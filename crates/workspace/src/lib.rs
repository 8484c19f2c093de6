//! The repository of a workspace, for the person who supervises an agent: files, git, live changes and search.
//!
//! Decisions that matter:
//! - A path that a client names is a [`RelPath`]: text, relative, without `..`. It is resolved beneath the workspace's
//!   [`Root`] by the operating system (`openat2`), so no link and no race leads out of it.
//! - Reads never change the workspace, and never block on a pipe or a device.
//! - Everything that changes the repository uses the user's own git, so that hooks, credentials and signing work.

mod binary;
pub mod discover;
mod error;
pub mod files;
pub mod git;
mod gitdir;
pub mod grep;
pub mod index;
mod language;
pub mod listing;
mod parallel;
mod path;
mod repository;
mod root;
pub mod search;
mod sensitive;
pub mod stats;
mod status_cache;
pub mod tree;
pub mod watch;

pub use error::Error;
pub use gitdir::GitDir;
pub use path::RelPath;
pub use repository::{IndexStatus, Repository};
pub use root::Root;
pub use sensitive::is_sensitive;
