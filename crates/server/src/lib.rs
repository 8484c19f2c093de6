//! The server ("the door"): JSON-RPC over WebSocket, HTTP and the local socket, pairing and tokens, events.
//!
//! Every transport leads to the same table of methods: a handler parses, calls the engine or the log, and shapes the
//! answer.
//!
//! Decisions:
//! * **A connection is tasks and a position in the log, not a queue.** Replies wait for room and are never lost; a feed
//!   that cannot write waits at its cursor. A client that reads nothing for 15 s is disconnected and resumes by cursor.
//! * **`shutdown` ends the connection, `daemon/stop` the daemon.** No remote client can end the daemon.
//! * **An answer that comes too late is -32603**, because that is where real clients look for it.
//! * **Agents go first.** The log is followed for watchers by threads of low priority (`background_runtime`).
//! * **Encode once.** The notifications of an event are encoded once and shared by all followers
//!   (`notification_cache`).
//! * **Locality is not trust.** The local socket is the user's own. Over TCP only a token counts, or the local secret
//!   together with a loopback peer.

mod acp;
mod agents;
mod approval_panels;
mod audit_stream;
pub mod auth;
mod background_runtime;
mod blocking;
mod call_order;
mod caller;
pub mod cdev;
mod connection;
mod connection_limit;
mod control;
mod discoveries;
mod dispatch;
mod error;
mod fault;
mod feed;
mod folder_policy;
mod goodbye;
mod guard;
mod handlers;
mod host;
mod http;
mod inline_artifacts;
mod limits;
mod live_workspaces;
mod local;
mod mcp;
mod message_budget;
mod metrics;
mod notification_cache;
mod pace;
mod parameters;
mod parse_params;
mod presence;
mod raw;
mod response_frame;
mod rest;
mod running_operations;
mod searches;
mod sent_prompts;
mod server;
mod session_clients;
mod settings;
mod size;
mod tail;
mod tls;
mod upload_parts;
mod uploads;
mod web_app;
mod workspaces;
mod ws;

pub use control::ControlParts;
pub use error::Error;
pub use host::Parts;
pub use server::Server;
pub use session_clients::SessionClients;
pub use settings::{Limits, Settings, Tcp, Tls, UploadLimits};
