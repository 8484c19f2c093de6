//! Codex's `notify` setting, as a second source for the end of a turn (seed 002).
//!
//! Codex calls a program with one JSON argument when a turn is over. The program is Roost's own forwarder (`roost
//! notify`), which appends the argument as a line to a file or a FIFO; the session that runs the turn reads it there.
//! Meant for versions of Codex whose output does not report the end reliably, and used only if `ACPLB_NOTIFY_PATH` is
//! set.

mod event;
mod fifo;
mod forward;
mod line_buffer;
mod settings;
mod source;
mod tail;

pub(super) use event::AwaitedTurn;
pub use forward::main as forward;
pub(super) use settings::{NotifySettings, unused_variables_warning};
pub(super) use source::NotifySource;
