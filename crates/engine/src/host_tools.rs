//! Tools that the host runs for a runtime, under the same policy as the runtime's own tools.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt;
use roost_model::canonical;
use roost_model::tool::{ToolCallIdentity, ToolManifest};
use serde_json::Value;
use tokio::task::JoinSet;

/// The host's tools, supplied by the composition root. The gateway implements it: runtimes that take tools from their
/// host get its tools this way, all others through an MCP server.
#[async_trait]
pub trait HostTools: Send + Sync + 'static {
    /// The tools with their descriptions and schemas. The engine fills in the hashes.
    fn manifest(&self) -> ToolManifest;

    /// Runs a tool that the policy allowed. The agent reads the error. Dropping the future must end the tool.
    async fn call(&self, name: &str, input: Value) -> Result<Value, String>;
}

/// The manifest with the hash of every schema computed here, so that it can be trusted.
pub(crate) fn manifest(tools: &dyn HostTools) -> ToolManifest {
    let mut manifest = tools.manifest();
    for tool in &mut manifest.tools {
        tool.schema_hash = tool.input_schema.as_ref().map(canonical::hash);
    }
    manifest
}

/// The result of a tool that the host ran.
pub(crate) struct HostToolDone {
    pub(crate) attempt: ToolCallIdentity,
    pub(crate) result: Result<Value, String>,
}

/// The host tools that run for one task. Dropping it cancels them.
#[derive(Default)]
pub(crate) struct HostRuns(JoinSet<HostToolDone>);

impl HostRuns {
    /// Starts a tool beside whatever runs already.
    pub(crate) fn start(
        &mut self,
        tools: Option<Arc<dyn HostTools>>,
        attempt: ToolCallIdentity,
        name: String,
        input: Value,
    ) {
        self.0.spawn(async move {
            let ran = AssertUnwindSafe(run(tools, &name, input)).catch_unwind().await;
            let result = ran.unwrap_or_else(|_| Err(format!("{name} broke down while it ran")));
            HostToolDone { attempt, result }
        });
    }

    /// Waits for the next tool to finish; for ever if none runs. Cancel safe.
    pub(crate) async fn next(&mut self) -> HostToolDone {
        loop {
            match self.0.join_next().await {
                Some(Ok(done)) => return done,
                // It was cancelled; the ledger closes its call when the task ends.
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Cancels everything that runs.
    pub(crate) fn cancel(&mut self) {
        self.0.abort_all();
    }
}

async fn run(tools: Option<Arc<dyn HostTools>>, name: &str, input: Value) -> Result<Value, String> {
    let known = |tools: &Arc<dyn HostTools>| tools.manifest().tools.iter().any(|tool| tool.name == name);
    match tools.filter(known) {
        Some(tools) => tools.call(name, input).await,
        None => Err(format!("the host has no tool \"{name}\"")),
    }
}
