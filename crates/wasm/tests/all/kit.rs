//! A host in a folder of its own, and services of modules that are written as text.

use std::path::PathBuf;
use std::sync::Arc;

use roost_wasm::effects::NoEffects;
use roost_wasm::{
    CallError, CallReport, Effects, HostConfig, LoadError, LoadStage, ServiceDeclaration, ServiceLog, ToolFailure,
    WasmHost, WasmService,
};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

pub(crate) struct Stage {
    pub(crate) folder: TempDir,
    pub(crate) host: WasmHost,
    pub(crate) log: Arc<ServiceLog>,
    pub(crate) effects: Arc<dyn Effects>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with_config(|_| {})
    }

    pub(crate) fn with_effects(effects: impl Effects) -> Self {
        Self { effects: Arc::new(effects), ..Self::new() }
    }

    pub(crate) fn with_config(change: impl FnOnce(&mut HostConfig)) -> Self {
        let folder = TempDir::new().unwrap();
        let mut config = HostConfig::new(folder.path().join("cache"));
        // Each test is a process of its own, and several run at once.
        config.max_instances = 8;
        change(&mut config);
        let host = WasmHost::new(config).unwrap();
        Self { folder, host, log: Arc::default(), effects: Arc::new(NoEffects) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a module that is given as text or as bytes, and declares a service of it.
    pub(crate) fn declare(&self, wasm: impl AsRef<[u8]>) -> ServiceDeclaration {
        let wasm_path = self.path("module.wasm");
        let bytes = wat::parse_bytes(wasm.as_ref()).unwrap();
        std::fs::write(&wasm_path, bytes).unwrap();
        ServiceDeclaration { wasm_path, entry: "mcp_main".into(), ..ServiceDeclaration::default() }
    }

    pub(crate) async fn try_load(&self, declaration: &ServiceDeclaration) -> Result<WasmService, LoadError> {
        let (progress, _) = watch::channel(LoadStage::default());
        self.host.load(declaration, self.effects.clone(), self.log.clone(), &progress).await
    }

    pub(crate) async fn load(&self, wasm: impl AsRef<[u8]>) -> WasmService {
        self.try_load(&self.declare(wasm)).await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The service of a module with a Clarity source beside it.
    pub(crate) async fn load_clarity(&self, wasm: &str, source: &str) -> WasmService {
        let mut declaration = self.declare(wasm);
        let file = self.path("main.clarity");
        std::fs::write(&file, source).unwrap();
        declaration.source_file = Some(file);
        self.try_load(&declaration).await.unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn log_texts(&self) -> Vec<String> {
        self.log.tail(usize::MAX).into_iter().map(|line| line.text).collect()
    }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

pub(crate) async fn call(service: &WasmService, tool: &str, arguments: Value) -> Result<CallReport, CallError> {
    service.call(tool, &object(arguments), service.limits()).await
}

/// The value that a function returns.
pub(crate) async fn result(service: &WasmService, tool: &str, arguments: Value) -> Value {
    let report = call(service, tool, arguments).await.unwrap_or_else(|error| panic!("{error}"));
    let success = report.outcome.unwrap_or_else(|failure| panic!("{failure}"));
    success.structured["result"].clone()
}

/// The error that a tool ends with.
pub(crate) async fn failure(service: &WasmService, tool: &str, arguments: Value) -> ToolFailure {
    let report = call(service, tool, arguments).await.unwrap_or_else(|error| panic!("{error}"));
    report.outcome.expect_err("it succeeded")
}

/// What is wrong with the arguments.
pub(crate) async fn refusal(service: &WasmService, tool: &str, arguments: Value) -> String {
    match call(service, tool, arguments).await {
        Err(CallError::InvalidArguments { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn tool_names(service: &WasmService) -> Vec<&str> {
    service.tools().iter().map(|tool| tool.name.as_str()).collect()
}

/// The schemas of a function's parameter, or of its result.
pub(crate) fn input_property(service: &WasmService, tool: &str, name: &str) -> Value {
    let tool = service.tools().iter().find(|one| one.name == tool).unwrap();
    tool.input_schema["properties"].get(name).cloned().unwrap_or(json!("no such property"))
}

/// The project's cache folder, found from `XDG_CACHE_HOME` and `HOME`, as by xtask.
pub(crate) fn project_cache() -> PathBuf {
    let is_absolute = |path: &PathBuf| path.is_absolute();
    let xdg = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(is_absolute);
    let caches = xdg.or_else(|| std::env::home_dir().filter(is_absolute).map(|home| home.join(".cache")));
    caches.expect("neither XDG_CACHE_HOME nor HOME is set").join("roost")
}
