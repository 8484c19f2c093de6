//! What cdev clients see (seed 004): pure functions of log events, so that a replay is the same to the byte.
//!
//! * [`notify`] turns one event into notifications,
//! * [`message`] into a message of the history, which a live `claude_message` repeats,
//! * [`element`] turns all events of a session into what a screen shows,
//! * [`call`] says what a tool call would really do, in a line,
//! * [`kept`] makes the same messages of a conversation that only its runtime keeps.

mod asks;
pub mod call;
mod cut;
mod edit;
pub mod element;
pub mod kept;
mod log_line;
pub mod message;
pub mod notify;
mod question;
mod said;
mod session;
mod state;
