//! Codex's `notify` setting as a second voice about the end of a turn (seed 002).
//!
//! Codex calls a program with one JSON argument when a turn is over. The program is Roost's own forwarder
//! (`roost notify`), which appends the argument as a line to a file or a FIFO; whoever runs the turn reads it there. It is
//! for CLIs whose own output is not to be trusted with the end, and only used where `ACPLB_NOTIFY_PATH` names a place.

mod event;
mod fifo;
mod file;
mod forward;
mod pending;
mod settings;
mod source;

pub(super) use event::Turn;
pub use forward::main as forward;
pub(super) use settings::{Settings, unused};
pub(super) use source::Source;
