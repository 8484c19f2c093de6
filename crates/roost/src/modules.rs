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
    let mut settings = WasmSettings::new(state.dir().join("wasm-cache"));
    let variable = |name: &str| std::env::var(name).ok();
    set_limits(&mut settings, &config.wasm, variable);
    settings.policy = policy(&config.wasm);
    settings.models = models(&config.wasm, variable);
    settings.gateway = gateway;
    settings
}

/// Sets what calls may take. What is configured counts before the variable of clarity-runtime, which counts only where it
/// is a time.
fn set_limits(settings: &mut WasmSettings, wasm: &Wasm, variable: impl Fn(&str) -> Option<String>) {
    let host = &mut settings.host;
    let megabytes = |count: std::num::NonZeroU32| u64::from(count.get()) << 20;
    let bytes = |count: std::num::NonZeroU32| usize::try_from(megabytes(count)).unwrap_or(usize::MAX);
    let kilobytes = |count: std::num::NonZeroU32| count.get() as usize * 1024;
    let named = || variable(TIMEOUT_VARIABLE)?.trim().parse().ok();
    if let Some(time) = wasm.timeout_ms.or_else(named) {
        host.defaults.time = Duration::from_millis(time.get().into());
    }
    host.cache_bytes = megabytes(wasm.cache_mb);
    host.max_artifact_bytes = megabytes(wasm.artifact_mb);
    host.max_instances = wasm.instances.get();
    host.ceiling.memory_bytes = bytes(wasm.max_memory_mb).max(bytes(wasm.memory_mb));
    host.defaults.fuel = u64::from(wasm.fuel_millions.get()) * 1_000_000;
    host.defaults.memory_bytes = bytes(wasm.memory_mb);
    host.defaults.table_elements = wasm.table_elements.get() as usize;
    host.ceiling.table_elements = host.ceiling.table_elements.max(host.defaults.table_elements);
    host.stack_bytes = kilobytes(wasm.stack_kb);
    host.defaults.output_bytes = kilobytes(wasm.output_kb);
    host.ceiling.output_bytes = host.ceiling.output_bytes.max(host.defaults.output_bytes);
    host.defaults.max_concurrency = wasm.concurrency.get() as usize;
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
    use std::num::NonZeroU32;

    use super::*;

    /// What these settings make of the usual host.
    fn limited(wasm: &Wasm, timeout: Option<&str>) -> WasmSettings {
        let mut settings = WasmSettings::new(PathBuf::from("/cache"));
        set_limits(&mut settings, wasm, |name| timeout.filter(|_| name == TIMEOUT_VARIABLE).map(str::to_owned));
        settings
    }

    #[test]
    fn every_limit_of_a_call_is_what_is_configured() {
        let usual = WasmSettings::new(PathBuf::from("/cache")).host;
        let unset = limited(&Wasm::default(), None).host;
        assert_eq!((&unset.defaults, &unset.ceiling), (&usual.defaults, &usual.ceiling));
        assert_eq!((unset.stack_bytes, unset.cache_bytes), (usual.stack_bytes, usual.cache_bytes));
        let seven = NonZeroU32::new(7).unwrap();
        type Set = fn(&mut Wasm, NonZeroU32);
        type Read = fn(&WasmSettings) -> u64;
        let cases: [(&str, Set, Read, u64); 11] = [
            ("timeout_ms", |wasm, n| wasm.timeout_ms = Some(n), |set| set.host.defaults.time.as_millis() as u64, 7),
            ("fuel_millions", |wasm, n| wasm.fuel_millions = n, |set| set.host.defaults.fuel, 7_000_000),
            ("memory_mb", |wasm, n| wasm.memory_mb = n, |set| set.host.defaults.memory_bytes as u64, 7 << 20),
            (
                "max_memory_mb",
                |wasm, n| (wasm.max_memory_mb, wasm.memory_mb) = (n, n),
                |set| set.host.ceiling.memory_bytes as u64,
                7 << 20,
            ),
            ("table_elements", |wasm, n| wasm.table_elements = n, |set| set.host.defaults.table_elements as u64, 7),
            ("stack_kb", |wasm, n| wasm.stack_kb = n, |set| set.host.stack_bytes as u64, 7 << 10),
            ("output_kb", |wasm, n| wasm.output_kb = n, |set| set.host.defaults.output_bytes as u64, 7 << 10),
            ("concurrency", |wasm, n| wasm.concurrency = n, |set| set.host.defaults.max_concurrency as u64, 7),
            ("instances", |wasm, n| wasm.instances = n, |set| set.host.max_instances.into(), 7),
            ("artifact_mb", |wasm, n| wasm.artifact_mb = n, |set| set.host.max_artifact_bytes, 7 << 20),
            ("cache_mb", |wasm, n| wasm.cache_mb = n, |set| set.host.cache_bytes, 7 << 20),
        ];
        for (key, set, read, expected) in cases {
            let mut wasm = Wasm::default();
            set(&mut wasm, seven);
            assert_eq!(read(&limited(&wasm, None)), expected, "{key}");
        }
        let wide = limited(&Wasm { table_elements: NonZeroU32::MAX, ..Wasm::default() }, None).host;
        assert_eq!(
            wide.defaults.table_elements, wide.ceiling.table_elements,
            "a host can give what it gives by default"
        );
    }

    #[test]
    fn the_time_of_a_call_is_configured_else_the_variables_unless_that_is_no_time() {
        let configured = Wasm { timeout_ms: NonZeroU32::new(30), ..Wasm::default() };
        for (wasm, variable, expected) in [
            (&configured, Some("500"), 30),
            (&Wasm::default(), Some(" 500 "), 500),
            (&Wasm::default(), Some("0"), 2000),
            (&Wasm::default(), Some("soon"), 2000),
            (&Wasm::default(), None, 2000),
        ] {
            assert_eq!(limited(wasm, variable).host.defaults.time.as_millis(), expected, "{variable:?}");
        }
    }

    #[test]
    fn a_key_is_the_configured_one_else_that_of_the_usual_variable() {
        let variables = |name: &str| (name == "OPENAI_API_KEY").then(|| "sk-x".to_owned());
        let unset = models(&Wasm::default(), variables);
        assert_eq!((unset.openai.key.as_deref(), unset.anthropic.key), (Some("env:OPENAI_API_KEY"), None));
        let configured = Wasm { openai_key: Some("file:key".into()), ..Wasm::default() };
        assert_eq!(models(&configured, variables).openai.key.as_deref(), Some("file:key"));
    }
}
