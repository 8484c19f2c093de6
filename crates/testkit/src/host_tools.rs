//! Host tools whose calls wait until the test gives their result.

use std::sync::Arc;

use async_trait::async_trait;
use roost_engine::HostTools;
use roost_model::tool::{ToolManifest, ToolManifestEntry};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::soon;

/// Calls that may wait for the test; no test leaves more alone.
const CALLS: usize = 64;

/// The engine's side of the tools: `lookup`, which waits for the test, and `panic`, which panics.
pub struct FakeTools {
    calls: mpsc::Sender<HostCall>,
}

/// The test's side of the tools.
pub struct HostCalls {
    calls: mpsc::Receiver<HostCall>,
}

/// A tool that the engine runs.
pub struct HostCall {
    /// The input that the engine passed to the tool.
    pub input: Value,
    answer: oneshot::Sender<Result<Value, String>>,
}

impl FakeTools {
    /// Creates the engine's and the test's side.
    pub fn new() -> (Arc<Self>, HostCalls) {
        let (sender, calls) = mpsc::channel(CALLS);
        (Arc::new(Self { calls: sender }), HostCalls { calls })
    }

    /// The JSON schema that every tool declares for its input.
    pub fn schema() -> Value {
        json!({ "type": "object", "properties": { "path": { "type": "string" } } })
    }
}

impl HostCalls {
    /// The next tool that the engine runs.
    pub async fn next(&mut self) -> HostCall {
        soon("the engine runs a tool of the host's", self.calls.recv()).await.expect("the engine has the tools")
    }

    /// True if the engine has called no tool that the test has not taken.
    pub fn is_idle(&self) -> bool {
        self.calls.is_empty()
    }
}

impl HostCall {
    /// Ends the call with this result.
    pub fn succeed(self, result: impl Into<Value>) {
        let _ = self.answer.send(Ok(result.into()));
    }

    /// Ends the call with this error.
    pub fn fail(self, error: &str) {
        let _ = self.answer.send(Err(error.into()));
    }

    /// Waits until the engine has cancelled it.
    pub async fn cancelled(&mut self) {
        soon("the engine cancels a tool of the host's", self.answer.closed()).await;
    }
}

#[async_trait]
impl HostTools for FakeTools {
    fn manifest(&self) -> ToolManifest {
        let tool = |name: &str| ToolManifestEntry {
            name: name.into(),
            description: None,
            input_schema: Some(Self::schema()),
            schema_hash: None,
        };
        ToolManifest { tools: vec![tool("lookup"), tool("panic")] }
    }

    async fn call(&self, name: &str, input: Value) -> Result<Value, String> {
        assert!(name != "panic", "the test wants this tool to panic");
        let (answer, answered) = oneshot::channel();
        let gone = |_| "the test is over".to_owned();
        self.calls.send(HostCall { input, answer }).await.map_err(|error| gone(error.to_string()))?;
        answered.await.map_err(|error| gone(error.to_string()))?
    }
}
