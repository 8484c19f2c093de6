//! A loaded service: its tools, and calling them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use crate::abi::component::ComponentProgram;
use crate::abi::module::ModuleProgram;
use crate::abi::{Abi, Function, Interrupted, Unsupported, structured};
use crate::artifact::FileStamp;
use crate::effects::Effects;
use crate::host::HostState;
use crate::limits::Limits;
use crate::outcome::{CallError, CallReport, HostTrap, ToolFailure, ToolSuccess, classify};
use crate::schema;
use crate::store::{CallStore, ServiceContext};
use crate::tool::{Tool, ToolAnnotations, function_tools};

/// The tools that every service has.
const HEALTH_CHECK: &str = "health_check";
const DESCRIBE_SERVICE: &str = "describe_service";
/// Calls of a service that may wait for their turn.
const MAX_WAITING: usize = 64;
/// The text of a function that returns nothing; clients of Clarity know it.
const NO_OUTPUT: &str = "(no output)";

/// A module or component that is ready to be called.
pub(crate) enum Program {
    Module(ModuleProgram),
    Component(ComponentProgram),
}

/// A loaded service; clones share it.
#[derive(Clone)]
pub struct WasmService {
    loaded: Arc<Loaded>,
    context: Arc<ServiceContext>,
}

struct Loaded {
    host: Arc<HostState>,
    program: Program,
    limits: Limits,
    sha256: String,
    /// The module, the file beside it and its source, as they were before they were read; `None` for a file that was not
    /// there.
    files: Vec<(PathBuf, Option<FileStamp>)>,
    entry: String,
    tools: Vec<Tool>,
    /// The functions behind the tools, by the tool's name.
    functions: BTreeMap<String, Function>,
    running: Semaphore,
    admitted: Semaphore,
}

impl WasmService {
    pub(crate) fn new(
        host: Arc<HostState>,
        context: Arc<ServiceContext>,
        program: Program,
        limits: Limits,
        sha256: String,
        files: Vec<(PathBuf, Option<FileStamp>)>,
        entry: String,
    ) -> Self {
        let exported = program.functions();
        let names = function_tools(exported.iter().map(|function| function.name.as_str()));
        let by_name: BTreeMap<_, _> = exported.into_iter().map(|function| (function.name.clone(), function)).collect();
        let functions: BTreeMap<_, _> =
            names.into_iter().filter_map(|(tool, name)| Some((tool, by_name.get(&name)?.clone()))).collect();
        let annotations = match context.grants.has_effects() {
            true => ToolAnnotations::EFFECTFUL,
            false => ToolAnnotations::PURE,
        };
        let tools = own_tools().into_iter().chain(functions.iter().map(|(name, function)| Tool {
            name: name.clone(),
            description: describe(function),
            input_schema: function.input_schema.clone(),
            output_schema: function.output_schema.clone(),
            annotations,
        }));
        let running = Semaphore::new(limits.max_concurrency);
        let admitted = Semaphore::new(limits.max_concurrency + MAX_WAITING);
        let loaded = Arc::new(Loaded {
            tools: tools.collect(),
            host,
            program,
            limits,
            sha256,
            files,
            entry,
            functions,
            running,
            admitted,
        });
        Self { loaded, context }
    }

    /// The same service, whose calls have these effects: those of whoever makes them.
    pub fn with_effects(&self, effects: Arc<dyn Effects>) -> Self {
        let context = ServiceContext { effects, ..(*self.context).clone() };
        Self { loaded: self.loaded.clone(), context: Arc::new(context) }
    }

    /// Its tools, the two that every service has first, then its functions by name.
    pub fn tools(&self) -> &[Tool] {
        &self.loaded.tools
    }

    /// The conventions that the module follows.
    pub fn abi(&self) -> Abi {
        match &self.loaded.program {
            Program::Module(module) => module.abi,
            Program::Component(_) => Abi::Component,
        }
    }

    /// Whether it may do anything but compute and read the clock.
    pub fn has_effects(&self) -> bool {
        self.context.grants.has_effects()
    }

    /// The SHA-256 of the artifact that was loaded, in hex.
    pub fn artifact_sha256(&self) -> &str {
        &self.loaded.sha256
    }

    /// What a call of it may take.
    pub fn limits(&self) -> &Limits {
        &self.loaded.limits
    }

    /// Whether the module, the file beside it or its source is another than when it was loaded: then it is to be loaded and
    /// introspected anew. Blocks on the disk.
    pub fn changed_on_disk(&self) -> bool {
        self.loaded.files.iter().any(|(path, stamp)| FileStamp::read(path) != *stamp)
    }

    /// Makes an instance and throws it away, to see that it can be.
    pub(crate) async fn probe(&self) -> wasmtime::Result<()> {
        // A service that is loaded or looked at is one call among the others.
        let limits = &self.loaded.limits;
        let slot = tokio::time::timeout(limits.wait, self.loaded.host.instances.acquire()).await;
        let _slot = slot.map_err(|_| HostTrap::fault(CallError::NoTurn(limits.wait).to_string()))?;
        let mut store = self.new_store(limits);
        store
            .run(async |store| match &self.loaded.program {
                Program::Module(module) => module.instantiate(store).await.map(drop),
                Program::Component(component) => component.instantiate(store).await.map(drop),
            })
            .await
    }

    /// Calls a tool. A caller may ask for less than the service's limits, never for more. Dropping the future ends the call.
    pub async fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        limits: &Limits,
    ) -> Result<CallReport, CallError> {
        let _admitted = self.loaded.admitted.try_acquire().map_err(|_| CallError::Busy(MAX_WAITING))?;
        let start = Instant::now();
        match tool {
            HEALTH_CHECK => {
                let is_verbose = arguments.get("verbose").and_then(Value::as_bool) == Some(true);
                return Ok(self.health_check(start, is_verbose).await);
            }
            DESCRIBE_SERVICE => return Ok(report(start, self.describe_service())),
            _ => {}
        }
        let function = self.loaded.functions.get(tool).ok_or_else(|| CallError::UnknownTool(tool.into()))?;
        let limits = self.loaded.limits.at_most(limits);
        // Neither semaphore is ever closed.
        let turn = async { (self.loaded.running.acquire().await, self.loaded.host.instances.acquire().await) };
        let turn = tokio::time::timeout(limits.wait, turn).await;
        let _turn = turn.map_err(|_| CallError::NoTurn(limits.wait))?;
        let mut store = self.new_store(&limits);
        let result = match &self.loaded.program {
            Program::Module(module) => module.call(&mut store, &function.name, arguments).await,
            Program::Component(component) => component.call(&mut store, &function.name, arguments).await,
        };
        let fuel_used = store.fuel_used();
        let outcome = match result {
            Ok(value) => Ok(success(value)),
            Err(Interrupted::Arguments(reason)) => {
                return Err(CallError::InvalidArguments { tool: tool.into(), reason });
            }
            Err(Interrupted::Failed(error)) if is_clean_exit(&error) => Ok(success(Value::Null)),
            Err(Interrupted::Failed(error)) => {
                let (kind, message) = classify(&error);
                Err(ToolFailure { function: function.name.clone(), kind, message, fuel_used })
            }
        };
        Ok(CallReport { outcome, fuel_used, duration: start.elapsed() })
    }

    fn new_store(&self, limits: &Limits) -> CallStore {
        CallStore::new(&self.loaded.host, &self.context, limits, self.loaded.program.wasi())
    }

    /// Whether an instance can be made; with `is_verbose` also what [`Self::describe_service`] says.
    async fn health_check(&self, start: Instant, is_verbose: bool) -> CallReport {
        match self.probe().await {
            Ok(()) => {
                let mut health = json!({ "status": "ok", "functions": self.loaded.functions.len() });
                if is_verbose {
                    health["service"] = self.describe_service();
                }
                report(start, health)
            }
            Err(error) => {
                let (kind, message) = classify(&error);
                let failure = ToolFailure { function: HEALTH_CHECK.into(), kind, message, fuel_used: 0 };
                CallReport { outcome: Err(failure), fuel_used: 0, duration: start.elapsed() }
            }
        }
    }

    fn describe_service(&self) -> Value {
        let (limits, program) = (&self.loaded.limits, &self.loaded.program);
        let functions = self.loaded.functions.iter().map(|(tool, function)| {
            json!({ "tool": tool, "signature": function.signature, "description": function.description })
        });
        let unsupported = program.unsupported().iter();
        let unsupported = unsupported.map(|one| json!({ "export": one.name, "reason": one.reason }));
        let exports_entry = self.loaded.functions.values().any(|function| function.name == self.loaded.entry);
        json!({
            "abi": self.abi().to_string(),
            "artifactSha256": self.loaded.sha256,
            "entry": { "name": self.loaded.entry, "exported": exports_entry },
            "functions": Value::from_iter(functions),
            "unsupportedExports": Value::from_iter(unsupported),
            "limits": {
                "fuel": limits.fuel,
                "timeoutMs": limits.time.as_millis() as u64,
                "memoryBytes": limits.memory_bytes,
                "tableElements": limits.table_elements,
                "outputBytes": limits.output_bytes,
                "maxConcurrency": limits.max_concurrency,
            },
        })
    }
}

impl Program {
    fn functions(&self) -> Vec<Function> {
        match self {
            Self::Module(module) => module.functions(),
            Self::Component(component) => component.functions(),
        }
    }

    fn unsupported(&self) -> &[Unsupported] {
        match self {
            Self::Module(module) => &module.unsupported,
            Self::Component(component) => &component.unsupported,
        }
    }
}

fn own_tools() -> [Tool; 2] {
    let tool = |name: &str, description: &str, input: Map<String, Value>, output: Value| Tool {
        name: name.into(),
        description: description.into(),
        input_schema: schema::object(input, vec![]),
        output_schema: output.as_object().cloned().unwrap_or_default(),
        annotations: ToolAnnotations::PURE,
    };
    let verbose = Map::from_iter([(
        "verbose".to_owned(),
        json!({ "type": "boolean", "description": "Also describe the service" }),
    )]);
    let health = json!({ "type": "object", "properties": { "status": { "type": "string" }, "functions": { "type": "integer" }, "service": { "type": "object" } } });
    let details = json!({ "type": "object" });
    [
        tool(HEALTH_CHECK, "Makes an instance of the service and says whether that worked.", verbose, health),
        tool(DESCRIBE_SERVICE, "Names the functions, the artifact and the limits of the service.", Map::new(), details),
    ]
}

fn describe(function: &Function) -> String {
    match &function.description {
        Some(text) => format!("{text}\n\n{}", function.signature),
        None => function.signature.clone(),
    }
}

fn is_clean_exit(error: &wasmtime::Error) -> bool {
    let of_language = matches!(error.downcast_ref::<HostTrap>(), Some(HostTrap::Exit(0)));
    of_language || error.downcast_ref::<wasmtime_wasi::I32Exit>().is_some_and(|exit| exit.0 == 0)
}

fn success(value: Value) -> ToolSuccess {
    let text = match &value {
        Value::Null => NO_OUTPUT.to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    ToolSuccess { structured: structured(value), text }
}

/// The report of one of the tools that every service has.
fn report(start: Instant, value: Value) -> CallReport {
    let text = serde_json::to_string_pretty(&value).unwrap_or_default();
    let structured = value.as_object().cloned().unwrap_or_default();
    CallReport { outcome: Ok(ToolSuccess { structured, text }), fuel_used: 0, duration: start.elapsed() }
}
