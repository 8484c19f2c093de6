//! The log at its boundary.

mod checking;
mod directory;
mod fixture;
mod following;
mod kit;
mod locking;
mod model;
mod opening;
mod processes;
mod retaining;
mod writing;
