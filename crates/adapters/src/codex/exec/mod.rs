//! `codex exec --json`: the fallback for a Codex that is too old for its app server.
//!
//! One process per task; a later task resumes the thread by `codex exec resume`. Codex cannot request approvals this
//! way, so the mode's sandbox is the only restriction, and every task warns about that. Messages arrive complete and
//! not as deltas. Commands are reported while they run, but one that the sandbox refuses at once may not be reported.
//!
//! A turn is over when Codex prints so, when its `notify` program reports so (see [`super::notify`]), or when Codex has
//! printed nothing for `ACPLB_IDLE_TIMEOUT_MS`.

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
