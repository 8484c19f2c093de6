//! The demo runtime: an agent that is always available, because it is part of Roost's own binary.
//!
//! The agent itself is the crate `roost-demo`, hosted like any other ACP agent: as a child process of the ACP adapter.

use std::path::Path;
use std::sync::Arc;

use roost_engine::facts::{ConfigKeys, RuntimeFacts};
use roost_model::runtime::RuntimeName;
use roost_process::Holder;

use crate::acp::{self, AcpAdapter};
use crate::built_in::BuiltIn;
use crate::host::AgentCommand;

/// It is the last choice, because it is always ready; as a part of Roost it has nothing to configure.
static FACTS: RuntimeFacts = RuntimeFacts {
    preference: Some(u32::MAX),
    config: ConfigKeys { command: false, settings: false, url: false },
    tools: acp::TOOLS,
    ..RuntimeFacts::UNKNOWN
};

pub(crate) static BUILT_IN: BuiltIn = BuiltIn {
    id: "demo",
    facts: &FACTS,
    // The program that holds others is our own binary.
    adapter: |setup| Arc::new(adapter(&setup.holder.program.clone(), setup.holder)),
};

/// The adapter of the demo agent; `roost` is the binary that serves it as `roost demo-agent`.
pub fn adapter(roost: &Path, holder: Arc<Holder>) -> AcpAdapter {
    let command = AgentCommand { program: roost.into(), args: vec!["demo-agent".into()], env: Vec::new() };
    AcpAdapter::new(RuntimeName::Demo, "Demo", command, holder).with_facts(&FACTS).without_mcp().without_images()
}
