//! `codex exec --json`: the fallback for a Codex that is too old for its app server.
//!
//! One process per task; a later task goes on with the thread by `codex exec resume`. Nobody can be asked, so the mode's
//! sandbox is all that holds Codex, and that is said with every task. The text comes whole, not in pieces; what runs is
//! told while it runs, but a command that the sandbox refuses at once may not be told at all.
//!
//! A turn is over when Codex says so on its output, or by its `notify` (see [`super::notify`]), or when nothing was heard
//! for as long as `ACPLB_IDLE_TIMEOUT_MS` allows.

mod capabilities;
mod connection;
mod home;
mod launch;
mod map;
mod session;
mod totals;
#[cfg(test)]
mod trace_tests;
mod wire;

pub(super) use capabilities::capabilities;
pub(super) use session::ExecSession;
