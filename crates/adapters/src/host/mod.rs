//! What every adapter needs to host a runtime: its command, its process, and the pump between a process and a session.
//!
//! An adapter implements [`Connection`]: what the runtime's messages and the session's commands do. Everything around
//! that is here and is the same for all runtimes. Decisions:
//!
//! * **One task owns a connection** ([`pump`]). Only this task reads the runtime and changes the connection's state, so
//!   there are no locks, and the runtime's messages and the session's commands have one order.
//! * **The pump never waits for the session.** Drafts that the session has not taken stay in the [`Outbox`]. While it
//!   holds any, nothing more is read from the runtime, which feels that backpressure as a full pipe. Commands are still
//!   handled, before anything else: a stop must get through in the middle of a flood.
//! * **The pump never waits for the runtime either.** Messages to it go to a bounded queue ([`Writer`]) that a task of
//!   its own empties. If the runtime does not read its input and the queue is full, the next send is an error.
//! * **A turn is dropped when its end has been delivered**, not when the end has been read. If the session no longer
//!   listens, the runtime's output is discarded until the turn ends.
//! * **The pump's end is the process's end.** It ends when the last [`Handle`] is dropped or the runtime is gone. Then
//!   the connection is dropped first, which closes the runtime's stdin, and the process tree is ended after that.
//! * **An exit is reported once** ([`ExitReport`]): to every open request, and as the failure of the turn, with how the
//!   process ended and the tail of its stderr.

pub(crate) mod capabilities;
mod command;
mod connection;
mod exit_report;
mod handle;
mod implicit_sources;
pub(crate) mod json_rpc;
pub(crate) mod locks;
mod noise;
mod notice;
mod outbox;
pub(crate) mod pending_decisions;
mod process;
mod pump;
#[cfg(test)]
mod pump_tests;
mod task;
mod version_probe;
mod writer;

pub use command::AgentCommand;
pub(crate) use command::environment;
pub(crate) use connection::{Connection, PumpAction};
pub(crate) use exit_report::ExitReport;
pub(crate) use handle::{Handle, Reply, reply};
pub(crate) use implicit_sources::implicit_sources;
pub(crate) use noise::noise;
pub(crate) use notice::{notice, skipped_line};
pub(crate) use outbox::Outbox;
pub(crate) use process::{Process, Start, without_grace};
pub(crate) use pump::start;
pub(crate) use task::Task;
pub(crate) use version_probe::VersionProbe;
pub(crate) use writer::Writer;
