//! How the modules of wasm services run: limits and grants as they are configured.

use std::path::PathBuf;
use std::time::Duration;

use roost_cli::StateDir;
use roost_gateway::upstream::{GatewayAccess, ModelServer, ModelSettings, WasmSettings};
use roost_model::service::wasm::{FolderAccess, FolderGrant, WasmCapabilities};

use crate::config::{Config, Wasm};

/// The time of a call, as clarity-runtime has it.
const TIMEOUT_VARIABLE: &str = "CLARITY_LOCAL_FN_TIMEOUT_MS";

/// The settings of the wasm host, with compiled code in the state directory.
pub(crate) fn settings(state: &StateDir, config: &Config, gateway: GatewayAccess) -> WasmSettings {
    let wasm = &config.wasm;
    let mut settings = WasmSettings::new(state.dir().join("wasm-cache"));
    let megabytes = |count: std::num::NonZeroU32| u64::from(count.get()) << 20;
    let bytes = |count: std::num::NonZeroU32| usize::try_from(megabytes(count)).unwrap_or(usize::MAX);
    let named = std::env::var(TIMEOUT_VARIABLE).ok().and_then(|text| text.trim().parse().ok());
    let host = &mut settings.host;
    host.cache_bytes = megabytes(wasm.cache_mb);
    host.max_artifact_bytes = megabytes(wasm.artifact_mb);
    host.max_instances = wasm.instances.get();
    host.ceiling.memory_bytes = bytes(wasm.max_memory_mb).max(bytes(wasm.memory_mb));
    host.defaults.time = Duration::from_millis(named.unwrap_or(wasm.timeout_ms.get().into()));
    host.defaults.fuel = u64::from(wasm.fuel_millions.get()) * 1_000_000;
    host.defaults.memory_bytes = bytes(wasm.memory_mb);
    host.defaults.output_bytes = wasm.output_kb.get() as usize * 1024;
    host.ceiling.output_bytes = host.ceiling.output_bytes.max(host.defaults.output_bytes);
    host.defaults.max_concurrency = wasm.concurrency.get() as usize;
    settings.policy = policy(wasm);
    settings.models = models(wasm, |name| std::env::var(name).ok());
    settings.gateway = gateway;
    settings
}

/// Where models are asked. A key that is not configured is that of the variable which every program of the provider reads.
fn models(wasm: &Wasm, variable: impl Fn(&str) -> Option<String>) -> ModelSettings {
    let server = |url: &String, key: &Option<String>, name: &str| {
        let named = || variable(name).filter(|key| !key.trim().is_empty()).map(|_| format!("env:{name}"));
        ModelServer { url: url.clone(), key: key.clone().or_else(named) }
    };
    ModelSettings {
        anthropic: server(&wasm.anthropic_url, &wasm.anthropic_key, "ANTHROPIC_API_KEY"),
        openai: server(&wasm.openai_url, &wasm.openai_key, "OPENAI_API_KEY"),
        names: wasm.allow_models.iter().filter(|name| !name.ends_with('*')).cloned().collect(),
    }
}

fn policy(wasm: &Wasm) -> WasmCapabilities {
    let grant = |access| move |path: &PathBuf| FolderGrant { path: path.display().to_string(), access };
    let read = wasm.read_folders.iter().map(grant(FolderAccess::Read));
    let write = wasm.write_folders.iter().map(grant(FolderAccess::Write));
    WasmCapabilities {
        models: wasm.allow_models.clone(),
        http_hosts: wasm.allow_hosts.clone(),
        folders: read.chain(write).collect(),
        secrets: wasm.allow_secrets.clone(),
        tools: wasm.allow_tools.clone(),
        ask: wasm.allow_questions,
        clock: wasm.allow_clock,
        random: wasm.allow_random,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_configured_one_else_that_of_the_usual_variable() {
        let variables = |name: &str| (name == "OPENAI_API_KEY").then(|| "sk-x".to_owned());
        let unset = models(&Wasm::default(), variables);
        assert_eq!((unset.openai.key.as_deref(), unset.anthropic.key), (Some("env:OPENAI_API_KEY"), None));
        let configured = Wasm { openai_key: Some("file:key".into()), ..Wasm::default() };
        assert_eq!(models(&configured, variables).openai.key.as_deref(), Some("file:key"));
    }
}
