//! The method table: every method's name, parameters, result, scope and cost, and the JSON-RPC messages around them.
//!
//! The transports, the OpenRPC document, the CLI and the TypeScript client are made from [`Method::ALL`]; the handlers
//! are in the server.
//!
//! Decisions:
//! * Parameters accept every spelling that a real client sends (`#[serde(alias)]`); results carry the fields that any of
//!   them reads. Unknown parameters are ignored, so that a newer client can talk to an older
//!   daemon.
//! * A result is always an object, because a client may refuse `null`.
//! * Methods that are not built yet are not in the table.

/// Declares a struct that is sent or received.
macro_rules! wire {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $ty:ty),* $(,)? }) => {
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$doc])*
        pub struct $name { $($(#[$fdoc])* pub $field: $ty),* }
    };
}

/// Declares a struct of parameters: required fields, then a semicolon, then optional ones.
macro_rules! params {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$rdoc:meta])* $required:ident: $rty:ty,)* ; $($(#[$fdoc:meta])* $field:ident: $ty:ty,)*
    }) => {
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$doc])*
        pub struct $name {
            $($(#[$rdoc])* pub $required: $rty,)*
            $($(#[$fdoc])* #[serde(default, skip_serializing_if = "Option::is_none")] pub $field: Option<$ty>,)*
        }
    };
}

/// Declares an enum that is a single word on the wire.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),* }
    };
}

mod agent;
mod attachment;
mod bootstrap;
pub mod call;
mod client_request;
pub mod conversation;
pub mod element;
mod events;
#[cfg(feature = "schema")]
mod example;
mod fault;
mod file;
pub mod file_change;
mod git;
mod history;
mod host;
mod lifecycle;
mod message;
pub mod notification;
pub mod openrpc;
pub mod parameters;
mod permission;
mod repository;
mod route;
mod run;
#[cfg(feature = "schema")]
pub mod schema;
mod secret;
mod service;
mod session;
mod session_search;
pub mod shorten;
mod table;
#[cfg(feature = "schema")]
pub mod typescript;
mod workspace;

/// Reads an optional text; a blank one counts as absent, because clients send `""` for "the usual one".
fn unless_blank<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = serde::Deserialize::deserialize(deserializer)?;
    Ok(text.filter(|text| !text.trim().is_empty()))
}

pub use agent::*;
pub use attachment::*;
pub use bootstrap::*;
pub use client_request::*;
pub use events::*;
#[cfg(feature = "schema")]
pub use example::*;
pub use fault::*;
pub use file::*;
pub use git::*;
pub use history::*;
pub use host::*;
pub use lifecycle::*;
pub use message::*;
pub use parameters::{Needs, PARAMETERS, Parameter, Unless};
pub use permission::*;
pub use repository::*;
pub use roost_model::scope::Scope;
pub use route::*;
pub use run::*;
pub use secret::*;
pub use service::*;
pub use session::*;
pub use session_search::*;
pub use table::*;
pub use workspace::*;
