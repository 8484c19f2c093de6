//! The wasm host: runs the tools of `local_wasm` services.
//!
//! Decisions:
//! * A call gets an instance of its own, made from compiled code and memory that is kept in a pool, and thrown away
//!   afterwards: nothing of one call can be seen by the next.
//! * A call is limited in fuel, time, memory, tables, stack and output ([`limits`]). It runs on the caller's task and
//!   yields at every tick of the epoch ([`epoch_ticker`]), so a busy module cannot hold up the runtime.
//! * A module has no authority but what its manifest *and* the server's policy name ([`grants`]). Everything outside of its
//!   memory goes through one trait ([`effects`]).
//! * What a module offers is read from its bytes ([`abi`]): plain exports, Clarity's conventions, or WIT. An import that
//!   we do not offer is an error when the service is declared or loaded, not when it is called.
//! * Compiled code is kept by Wasmtime's own cache: it is found by a hash of the module and of the compiler's settings, and
//!   reading it needs no `unsafe` of ours.

pub mod abi;
pub mod artifact;
pub mod effects;
mod epoch_ticker;
pub mod grants;
pub mod host;
mod imports;
pub mod limits;
pub mod outcome;
pub mod progress;
pub mod regular_file;
mod schema;
pub mod service;
pub mod service_log;
mod store;
pub mod tool;

pub use artifact::Artifact;
pub use effects::Effects;
pub use grants::Grants;
pub use host::{HostConfig, LoadError, ServiceDeclaration, WasmHost};
pub use limits::Limits;
pub use outcome::{CallError, CallReport, ToolFailure, ToolSuccess};
pub use progress::LoadStage;
pub use service::WasmService;
pub use service_log::{LogLine, LogSink, ServiceLog};
pub use tool::Tool;
