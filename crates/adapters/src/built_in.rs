//! The runtimes that are there without being configured: what makes one, from what its section of `roost.toml` says.

use std::sync::Arc;

use roost_engine::adapter::RuntimeAdapter;
use roost_engine::facts::RuntimeFacts;
use roost_process::Holder;
use serde_json::{Map, Value};

use crate::host::AgentCommand;
use crate::opencode::ServerUrl;
use crate::{claude, codex, demo, gemini, opencode};

/// Every built-in runtime, in the order in which they are listed. A new one is a folder here and a line in this table.
pub static BUILT_IN: [&BuiltIn; 5] =
    [&demo::BUILT_IN, &claude::BUILT_IN, &codex::BUILT_IN, &gemini::BUILT_IN, &opencode::BUILT_IN];

/// A built-in runtime.
pub struct BuiltIn {
    /// Its id in `[runtimes.<id>]` and in `--runtime`, and the name of its program unless another is configured.
    pub id: &'static str,
    /// What is known of it before it is made.
    pub facts: &'static RuntimeFacts,
    /// Makes it.
    pub adapter: fn(Setup) -> Arc<dyn RuntimeAdapter>,
}

/// What a built-in runtime is made with; what its [`RuntimeFacts::config`] does not take is empty.
pub struct Setup {
    /// How its program is started.
    pub command: AgentCommand,
    /// Its own settings.
    pub config: Map<String, Value>,
    /// The server to use instead of one of our own.
    pub url: Option<ServerUrl>,
    /// What starts programs.
    pub holder: Arc<Holder>,
}

/// The built-in runtime of this id.
pub fn built_in(id: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.into_iter().find(|one| one.id == id)
}
