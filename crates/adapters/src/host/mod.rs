//! What every runtime needs to be hosted: its command, its process, and the one pump between a process and a session.
//!
//! A runtime implements [`Connection`]: what its messages and the session's commands do. Everything around that is here
//! and is the same for all of them. Decisions:
//!
//! * **One task owns a connection** ([`pump`]). It alone reads the runtime and changes what is known about it, so there
//!   are no locks, and what a runtime says and what the session decides have one order.
//! * **The pump never waits for a reader.** What the session has not taken yet stays in the [`Outbox`]. While there is
//!   some, nothing more is read: that is the backpressure, felt by the runtime as a full pipe. Commands are heard all
//!   the same, before anything else: a stop must get through in the middle of a flood.
//! * **The pump never waits for the runtime either.** What is said to it goes to a bounded queue ([`Writer`]) that a task
//!   of its own empties; a runtime that does not read its input is an error for whoever speaks to it next.
//! * **A turn is forgotten when its end is delivered**, not when it is read. Where nobody listens any more, what the
//!   runtime still says is dropped until the turn ends.
//! * **The pump's end is the process's end.** It ends when the last [`Handle`] is dropped or the runtime is gone. Then
//!   the connection is dropped first, which closes the runtime's stdin, and the process tree is ended after that.
//! * **A runtime that is gone is reported once** ([`ExitReport`]): to every open request, and as the failure of the turn,
//!   with how the process ended and the end of its stderr.

pub(crate) mod capabilities;
mod command;
mod connection;
mod exit_report;
mod handle;
mod implicit_sources;
pub(crate) mod json_rpc;
pub(crate) mod locks;
mod noise;
mod outbox;
mod process;
mod pump;
#[cfg(test)]
mod pump_tests;
mod task;
mod version_probe;
pub(crate) mod waiting;
mod writer;

pub use command::AgentCommand;
pub(crate) use command::environment;
pub(crate) use connection::{Connection, Then};
pub(crate) use exit_report::ExitReport;
pub(crate) use handle::{Handle, Reply, reply};
pub(crate) use implicit_sources::implicit_sources;
pub(crate) use noise::noise;
pub(crate) use outbox::Outbox;
pub(crate) use process::{Process, Start, without_grace};
pub(crate) use pump::start;
pub(crate) use task::Task;
pub(crate) use version_probe::VersionProbe;
pub(crate) use writer::Writer;
