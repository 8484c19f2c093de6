//! Spawn, hold, read and end agent runtimes, and verify that nothing of them is left.
//!
//! Every runtime runs under a small holder process ([`hold`]) that outlives the daemon for as long as
//! it takes to end the runtime's whole tree. The daemon's side is [`Holder::spawn`]; what a crash of
//! both leaves behind is found again by [`records`]. A runtime that may outlive its daemon is taken
//! over by the next one with [`Holder::adopt`].

mod adopt;
mod cgroup;
mod control;
mod descent;
mod env;
mod error;
pub mod hold;
mod holder;
mod holder_registry;
mod isolation;
mod ladder;
mod lines;
mod open_files;
mod peer;
mod process;
pub mod records;
mod resolve;
mod run;
mod running;
#[cfg(target_os = "linux")]
mod scan;
mod stderr;
mod stdin;
pub mod tree;
mod wall;

pub use adopt::Adopted;
pub use cgroup::cgroup_available;
pub use control::Exit;
pub use env::{Environment, check_variable};
pub use error::Error;
pub use hold::descriptors::pass_on_no_descriptors;
pub use holder::{Holder, Launch};
pub use isolation::{EphemeralDir, Isolation, Namespace, isolate, remove_ephemeral_leftovers};
pub use ladder::Ladder;
pub use lines::{Batch, Line, Lines, MAX_LINE};
pub use open_files::{raise_open_files, restore_open_files};
pub use peer::{Peer, peer_of, peers_are_pinned};
pub use process::Process;
pub use resolve::find_program;
pub use run::{RunId, is_inside_a_run};
pub use running::{Control, Running};
pub use stderr::{STDERR_TAIL, StderrTail};
pub use stdin::Stdin;
pub use wall::{Raise, Wall};
