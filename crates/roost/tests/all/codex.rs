//! The real Codex through its adapter, against the scripted model.

mod asking;
mod exec;
mod faults;
pub(crate) mod live;
mod reading;
mod sandboxing;
mod surviving;
mod telling;

use std::path::Path;
use std::sync::LazyLock;

use roost_adapters::AgentCommand;
use serde_json::{Map, Value, json};
use testkit::agents::Agent;
use testkit::model::ModelServer;

/// One model for all tests of a process.
pub(crate) static MODEL: LazyLock<ModelServer> = LazyLock::new(ModelServer::start);

/// Codex's command in a home that is not furnished; `tmp` is where it keeps temporary files.
pub(crate) fn command(tmp: &Path) -> AgentCommand {
    std::fs::create_dir_all(tmp).unwrap();
    let env = [
        ("SCRIPTED_KEY", "dummy".into()),
        // Codex does not want its own home below it.
        ("TMPDIR", tmp.display().to_string()),
        ("RUST_LOG", "error".into()),
    ];
    let env = env.map(|(name, value)| (name.to_owned(), value)).into();
    AgentCommand { program: Agent::Codex.program().into(), args: Vec::new(), env }
}

/// The settings with which Codex uses the model at this address and speaks to nobody else.
pub(crate) fn config(model: &str) -> Map<String, Value> {
    let provider = json!({
        "name": "scripted",
        "base_url": format!("{model}/v1"),
        "wire_api": "responses",
        "env_key": "SCRIPTED_KEY",
        "request_max_retries": 1,
        "stream_max_retries": 1,
    });
    let config = json!({
        "model": "gpt-5.5",
        "model_provider": "scripted",
        "model_providers.scripted": provider,
        "check_for_update_on_startup": false,
        "analytics.enabled": false,
        "features.apps": false,
        "features.plugins": false,
        "features.remote_plugin": false,
    });
    config.as_object().cloned().unwrap()
}
