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
//! * **Two input profiles** ([`Profile`]): `compat` rewrites what older clients send into today's form before it is read,
//!   `strict` does not. Output is the same for both.
//!
//! Not built yet: the editor's `fs/*` for hosted ACP agents, which are offered no file methods today and use the disk
//! themselves. The design: the ACP adapter always offers `fs`, because an agent asks for it only once, and reports each
//! request as a tool call of the host, so that the policy judges it and the log has it. The engine knows at most one
//! connection per session that reads and writes files for it: the one that has the session open and whose editor offers
//! `fs`. An allowed request goes to it over a bounded channel. If it leaves or fails, the file is read or written through
//! `roost_workspace`, which keeps the path inside its workspace.

mod choices;
mod content;
mod daemon;
mod door;
mod editor;
mod error;
mod evidence;
mod lines;
mod message;
mod permission;
mod profile;
mod projection;
mod question;
mod requests;
mod session;
mod tool_calls;

pub use door::{Settings, Transport, serve};
pub use evidence::Evidence;
pub use lines::{MAX_MESSAGE, ReceivedMessage, read_messages, write_messages};
pub use profile::Profile;
