//! Roost as an ACP agent: an editor that speaks the Agent Client Protocol uses the daemon's sessions through this door.
//!
//! A door and a projection, without state of its own: sessions, their order and their answers are the daemon's. What an
//! editor starts is in every list at once, other clients can answer for it, and it goes on when the editor leaves.
//!
//! Decisions:
//! * **The types are the official ones, the transport is not.** The SDK's transport has no backpressure. Here every
//!   queue is bounded: an editor that does not read makes its own followers wait, and nobody else.
//! * **One actor per session that is open here** ([`session`]): it sends the prompts, follows the session's events and
//!   asks the editor, one after the other, so an answer can never overtake what came before it.
//! * **The projection is pure** ([`projection`]): events in, updates out.
//! * **Version 1 is what everything here speaks.** Version 2, a draft, is translated at the edge ([`v2`]), if the settings
//!   allow it and the editor asks for it.
//! * **Two input profiles** ([`Profile`]): `compat` rewrites what older clients send into today's form before it is read,
//!   `strict` does not. Output is the same for both.
//! * **The editor works for hosted ACP agents** ([`serving`]): what its capabilities offer (`fs`, `terminal`) is offered to
//!   the daemon for every session that is open here. An agent's request is judged by the policy first, then comes here.
//!   When the editor leaves or fails, the daemon uses the disk and its own processes.

mod choices;
mod content;
mod daemon;
mod door;
mod editor;
mod error;
mod evidence;
mod lines;
mod message;
mod message_queue;
mod permission;
mod profile;
mod projection;
mod question;
mod requests;
mod serving;
mod session;
mod tool_calls;
mod v2;

pub use door::{Settings, Transport, serve};
pub use evidence::Evidence;
pub use lines::{read_messages, write_messages};
pub use message_queue::{MAX_MESSAGE, MessageReceiver, MessageSender, ReceivedMessage, message_queue};
pub use profile::Profile;
