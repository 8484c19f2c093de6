//! The MCP gateway: services that offer tools, and the one endpoint through which agents and people use them.
//!
//! Decisions:
//! * A service's life is a pure state machine ([`lifecycle`]): a supervisor feeds it what happened and carries out what it
//!   says. `RUNNING` follows from a handshake only, `QUARANTINED` is left by a person only.
//! * The error breaker ([`breaker`]) counts faults of the upstream, never a caller's bad arguments.
//! * What passes through is kept as the bytes that came ([`jsonrpc`], [`upstream`]): the official SDK's types would drop
//!   members that they do not know, and reading and writing them costs more than the rest of a call.
//! * Connections ([`upstream::Connector`]) are ours and not the official SDK's for that reason; the SDK does OAuth, where
//!   the gateway speaks for itself.
//! * Tools are named `<namespace>__<tool>` ([`namespace`]); a name that is too long for clients ends in a hash of itself,
//!   so it is the same every time.

pub mod attachment;
pub mod auth_ref;
pub mod bootstrap;
pub mod breaker;
pub mod catalog;
pub mod clarity;
pub mod client_profile;
pub mod endpoint;
pub mod era;
mod fair_share;
pub mod governance;
pub mod governor;
pub mod jsonrpc;
mod keyring;
pub mod lifecycle;
pub mod login_rows;
pub mod manifest;
pub mod module_door;
pub mod namespace;
pub mod own_tools;
pub mod principal;
pub mod raw_object;
pub mod resource_uri;
pub mod runs;
pub mod secrets;
pub mod services;
pub mod shown_manifest;
mod strict_json;
pub mod tool_pins;
pub mod trace_context;
pub mod upstream;
