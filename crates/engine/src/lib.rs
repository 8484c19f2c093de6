//! The engine: sessions as actors, tasks as state machines, and one trait that every runtime implements.
//!
//! Only the engine talks to adapters. A transport sends it commands ([`Engine`]) and follows the log; it never sees an
//! adapter, a process or an actor.
//!
//! Decisions:
//! * Adapters report [`adapter::Fact`]s; [`ledger::Ledger`] turns them into events that obey the contract. An adapter
//!   cannot break the order of events, approve a tool or end a task twice.
//! * A decision is written, then sent to the runtime. After a crash in between, the log has the decision.
//! * An actor lives while its session has a runtime or waits for its first prompt. A closed session is revived from its
//!   record in the log by the next prompt: natively if the runtime can, else with its transcript.
//! * A stop is answered within a fraction of a second whatever the runtime does. The output of a runtime that does not
//!   obey is discarded, and its process is ended.

mod actor;
pub mod adapter;
mod adopting;
mod artifacts;
mod availability;
mod budgets;
mod command;
mod config;
mod context;
mod engine;
mod environment;
mod error;
mod event_writer;
pub mod facts;
mod forking;
mod gateway_calls;
mod history;
mod host_tools;
mod images;
pub mod ledger;
mod mcp_client;
mod native_history;
mod path_lookup;
mod peers;
pub mod plain;
mod policy_context;
mod recovery;
mod registry;
mod runtime;
pub mod session_client;
mod session_secrets;
mod session_tokens;
mod shell_folders;
mod slots;
mod spill;
mod task;

pub use adopting::Adoption;
pub use artifacts::{ArtifactError, Artifacts};
pub use availability::version_note;
pub use budgets::{SessionBudgets, SpentBudget};
pub use command::{Accepted, Amendment, Decision, Delivery, Prompt, Response, ResponseTo};
pub use config::{Config, McpServers, NewSession, ToolsRead};
pub use engine::Engine;
pub use environment::{Environments, Homes, NAMESPACE};
pub use error::Error;
pub use forking::Fork;
pub use gateway_calls::{ClientJudgement, GatewayVerdict};
pub use host_tools::HostTools;
pub use images::{Image, Images};
pub use ledger::{GATEWAY_SERVER, GatewayToolCall};
pub use native_history::{HistoryEntry, HistoryListing, NativeHistory, NativeMessage, NativeSession, namespaces};
pub use peers::Caller;
pub use policy_context::Approver;
pub use registry::{RegisteredRuntime, Runtimes};
pub use roost_policy::redact_json;
pub use session_tokens::SESSION_TOKEN_PREFIX;
pub use slots::WhenFull;
