//! The log at its boundary.

mod following;
mod kit;
mod writing;
