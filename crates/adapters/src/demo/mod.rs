//! The demo runtime: an agent that everybody has, because it lives in our own binary.
//!
//! It is hosted like any other ACP agent, as a real child process through the generic adapter.

pub mod agent;

use std::path::Path;
use std::sync::Arc;

use roost_model::runtime::RuntimeName;
use roost_process::Holder;

use crate::acp::AcpAdapter;
use crate::host::AgentCommand;

/// The adapter of the demo agent; `roost` is the binary that serves it as `roost demo-agent`.
pub fn adapter(roost: &Path, holder: Arc<Holder>) -> AcpAdapter {
    let command = AgentCommand { program: roost.into(), args: vec!["demo-agent".into()], env: Vec::new() };
    AcpAdapter::new(RuntimeName::Demo, "Demo", command, holder).without_mcp().without_images()
}
