//! Tools that the host runs for a runtime, under the same policy as the runtime's own.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt;
use roost_model::canonical;
use roost_model::tool::{ToolCallIdentity, ToolManifest};
use serde_json::Value;
use tokio::task::JoinSet;

/// The host's tools; wired in the composition root. They are for the gateway, whose tools reach runtimes that take tools
/// from their host in this way, and all others by a tool server.
#[async_trait]
pub trait HostTools: Send + Sync + 'static {
    /// The tools, as runtimes are shown them.
    fn manifest(&self) -> ToolManifest;

    /// Runs a tool that was allowed; an error is for the agent to read. Dropping the call ends the tool.
    async fn call(&self, name: &str, input: Value) -> Result<Value, String>;
}

/// The manifest with the hash of every schema, which nobody else is trusted to fill in.
pub(crate) fn manifest(tools: &dyn HostTools) -> ToolManifest {
    let mut manifest = tools.manifest();
    for tool in &mut manifest.tools {
        tool.schema_hash = tool.input_schema.as_ref().map(canonical::hash);
    }
    manifest
}

/// What came of a tool that the host ran.
pub(crate) struct HostToolDone {
    pub(crate) attempt: ToolCallIdentity,
    pub(crate) result: Result<Value, String>,
}

/// The host's tools that run in a task; they end with it.
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

    /// The next tool that is done. Cancel safe.
    pub(crate) async fn next(&mut self) -> HostToolDone {
        loop {
            match self.0.join_next().await {
                Some(Ok(done)) => return done,
                // It was cancelled; the end of its task says so.
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
