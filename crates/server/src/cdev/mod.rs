//! What cdev clients see (seed 004): pure functions of log events, so that a replay is the same to the byte.
//!
//! * [`notify`] turns one event into notifications,
//! * [`message`] into a message of the history, which a live `claude_message` repeats,
//! * [`prelude`] keeps what came in pieces until the event that ends it,
//! * [`element`] turns all events of a session into what a screen shows,
//! * [`native_message`] makes the same messages of a conversation that only its runtime keeps.

mod claude_message;
mod diff;
pub mod element;
mod log_line;
pub mod message;
pub mod native_message;
pub mod notify;
pub mod prelude;
mod question;
mod questions;
mod session;
mod state;
mod truncate;

pub(crate) use questions::PanelOption;
