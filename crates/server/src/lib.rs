//! The door: JSON-RPC over WebSocket, HTTP and the local socket, pairing and tokens, events.
//!
//! Every door leads to the same table of methods: a handler parses, calls the engine or the log, and shapes the answer.
//!
//! Decisions:
//! * **A connection is tasks and a position in the log, not a queue.** Replies wait for room and are never lost; a feed
//!   that cannot write waits at its cursor. A client that reads nothing for 15 s is let go and resumes by cursor.
//! * **`shutdown` ends the connection, `daemon/stop` the daemon.** No remote client can end the daemon.
//! * **An answer that comes too late is -32603**, because that is where real clients look for it.
//! * **Agents go first.** The log is followed for watchers by threads of low priority (`background_runtime`).
//! * **Encode once.** What an event tells is made once and shared by all who follow (`notification_cache`).
//! * **Locality is not trust.** The local socket is the user's own; over TCP only a token, or the local secret together
//!   with a loopback peer, means anything.

mod agents;
pub mod auth;
mod background_runtime;
mod blocking;
mod call_order;
mod caller;
pub mod cdev;
mod connection;
mod connection_limit;
mod discoveries;
mod dispatch;
mod error;
mod fault;
mod feed;
mod goodbye;
mod guard;
mod handlers;
mod host;
mod http;
mod inline_artifacts;
mod limits;
mod live;
mod local;
mod long_work;
mod message_budget;
mod metrics;
mod notification_cache;
mod pace;
mod parameters;
mod places;
mod presence;
mod raw;
mod rest;
mod searches;
mod server;
mod settings;
mod size;
mod tail;
mod tls;
mod uploads;
mod workspaces;
mod ws;

pub use error::Error;
pub use host::Parts;
pub use server::Server;
pub use settings::{Limits, Settings, Tcp, Tls, UploadLimits};
