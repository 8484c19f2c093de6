//! The table of the built-in runtimes, which need no configuration, and how their adapters are created.

use std::sync::Arc;

use roost_engine::adapter::RuntimeAdapter;
use roost_engine::facts::RuntimeFacts;
use roost_process::Holder;
use serde_json::{Map, Value};

use crate::host::AgentCommand;
use crate::opencode::ServerUrl;
use crate::source_files::TrustedFiles;
use crate::{claude, codex, demo, gemini, opencode};

/// Every built-in runtime, in the order in which they are listed. A new one is a folder here and a line in this table.
pub static BUILT_IN: [&BuiltIn; 5] =
    [&demo::BUILT_IN, &claude::BUILT_IN, &codex::BUILT_IN, &gemini::BUILT_IN, &opencode::BUILT_IN];

/// A runtime that can be used without a section in `roost.toml`.
pub struct BuiltIn {
    /// The id in `[runtimes.<id>]` and in `--runtime`, and the name of the program unless another is configured.
    pub id: &'static str,
    /// What is known about the runtime before its adapter exists.
    pub facts: &'static RuntimeFacts,
    /// Creates the adapter.
    pub adapter: fn(Setup) -> Arc<dyn RuntimeAdapter>,
}

/// The input for a built-in adapter, from `roost.toml`. Parts that [`RuntimeFacts::config`] does not allow are empty.
pub struct Setup {
    /// The command that starts the runtime's program.
    pub command: AgentCommand,
    /// Settings in the runtime's own format; empty if none are configured.
    pub config: Map<String, Value>,
    /// A server that runs already, to use instead of starting one; only OpenCode takes it.
    pub url: Option<ServerUrl>,
    /// The files of projects that a person has agreed to.
    pub trusted: TrustedFiles,
    /// Starts the runtime's processes and ends them with the daemon.
    pub holder: Arc<Holder>,
}

/// The built-in runtime of this id; `None` if it has to be configured or is an ACP preset.
pub fn built_in(id: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.into_iter().find(|one| one.id == id)
}
