//! The real OpenCode through its adapter, against the scripted model.

mod elsewhere;
mod faults;
mod live;
mod own_commands;
mod remembering;
mod stopping;
mod surviving;
mod telling;

use roost_adapters::AgentCommand;
use serde_json::{Map, Value};
use testkit::agents::{Agent, opencode_config};

/// OpenCode's command.
pub(crate) fn command() -> AgentCommand {
    AgentCommand { program: Agent::OpenCode.program().into(), args: Vec::new(), env: Vec::new() }
}

/// The settings with which OpenCode uses the model at this address.
pub(crate) fn config(model: &str) -> Map<String, Value> {
    let mut config = opencode_config(model, "ask").as_object().cloned().unwrap();
    config.remove("permission");
    config
}
