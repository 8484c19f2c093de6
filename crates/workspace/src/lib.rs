//! What a person who supervises an agent sees and does in the repository itself: files, git, live changes, search.
//!
//! Decisions that matter:
//! - A path that a client names is a [`RelPath`]: text, relative, without `..`. It is resolved beneath the workspace's
//!   [`Root`] by the operating system (`openat2`), so no link and no race leads out of it.
//! - Reads never change the workspace, and never wait for what is no file (a pipe, a device).
//! - git is the user's own for everything that writes, so that hooks, credentials and signing work.

pub mod discover;
mod error;
pub mod files;
pub mod git;
mod path;
mod root;
mod sensitive;

pub use error::Error;
pub use path::RelPath;
pub use root::Root;
pub use sensitive::is_sensitive;
