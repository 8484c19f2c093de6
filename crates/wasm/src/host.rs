//! The engine and what is shared by all services: compiled code, the pool of instances, the clock.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use roost_model::service::manifest::{Manifest, ServiceOrigin};
use roost_model::service::wasm::{WasmCapabilities, WasmLimits};
use tokio::sync::{Semaphore, watch};
use wasmtime::{Cache, CacheConfig, Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::abi::component::{self, ComponentProgram, wasi};
use crate::abi::module::{DeclaredSignatures, ModuleProgram, PrepareError};
use crate::abi::sidecar::{self, SidecarError};
use crate::abi::{clarity, clarity_source};
use crate::artifact::{Artifact, ArtifactError, ArtifactKind, FileStamp};
use crate::effects::Effects;
use crate::epoch_ticker::EpochTicker;
use crate::grants::Grants;
use crate::imports::{self, Import};
use crate::limits::Limits;
use crate::outcome::classify;
use crate::progress::LoadStage;
use crate::service::{Program, WasmService};
use crate::service_log::{CallLog, LogLevel, LogSink};
use crate::store::{CallState, CallStore, ServiceContext};

/// What one component may consist of; runtimes of languages have a few dozen parts.
const CORE_INSTANCES_PER_COMPONENT: u32 = 64;
const TABLES_PER_COMPONENT: u32 = 32;
const MEMORIES_PER_COMPONENT: u32 = 2;
/// Of each memory, what is zeroed for its next user instead of being given back to the system.
const KEEP_RESIDENT_BYTES: usize = 64 * 1024;
/// What host functions may use of the stack beside the module.
const HOST_STACK_BYTES: usize = 512 * 1024;
/// Modules that are compiled at once; one compiler uses all processors.
const COMPILES: usize = 1;
/// Host functions that work for long at once: the processors are for everything else, too.
const LONG_WORKS: usize = 1;
/// The module of WASI preview 1, which components do without.
const PREVIEW_1: &str = "wasi_snapshot_preview1.";

/// How a host is set up.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// The folder of compiled code. Whoever can write to it can run code in this process, so it is ours alone.
    pub cache_folder: PathBuf,
    /// About how much compiled code is kept.
    pub cache_bytes: u64,
    /// The size of an artifact.
    pub max_artifact_bytes: u64,
    /// Calls that may be under way at once, of all services.
    pub max_instances: u32,
    /// The stack of a module.
    pub stack_bytes: usize,
    /// What a call may take unless its manifest says otherwise.
    pub defaults: Limits,
    /// What a manifest may ask for at most in memory, table elements and output.
    pub ceiling: Limits,
}

impl HostConfig {
    /// The usual settings, with compiled code in a folder.
    pub fn new(cache_folder: PathBuf) -> Self {
        Self {
            cache_folder,
            cache_bytes: 1 << 30,
            max_artifact_bytes: 64 << 20,
            max_instances: 64,
            stack_bytes: 512 * 1024,
            defaults: Limits::default(),
            ceiling: Limits {
                memory_bytes: 256 << 20,
                table_elements: 1_000_000,
                output_bytes: 16 << 20,
                ..Limits::default()
            },
        }
    }
}

/// Why there is no host.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The folder of compiled code cannot be used.
    #[error("cannot use {path} for compiled wasm: {reason}")]
    Cache {
        /// The folder as it is configured.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The engine does not start with these settings on this machine.
    #[error("the wasm engine does not start: {0}")]
    Engine(String),
}

/// A service as it is declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceDeclaration {
    /// The file of the module.
    pub wasm_path: PathBuf,
    /// The source that it was compiled from, if it is there; names and types are read from a Clarity source.
    pub source_file: Option<PathBuf>,
    /// The hash that the file must have, in hex.
    pub artifact_sha256: Option<String>,
    /// The exported function that is the module's entry.
    pub entry: String,
    /// The arguments that it sees.
    pub args: Vec<String>,
    /// The variables that it sees, with their values.
    pub env: Vec<(String, String)>,
    /// The limits that its manifest asks for.
    pub limits: WasmLimits,
    /// What its manifest asks to do.
    pub capabilities: WasmCapabilities,
    /// What the server's policy allows any module to do.
    pub policy: WasmCapabilities,
}

impl ServiceDeclaration {
    /// The declaration in a manifest; `None` if it declares no wasm module. The values of its variables are found by the
    /// caller, who knows where secrets are kept.
    pub fn from_manifest(manifest: &Manifest, env: Vec<(String, String)>, policy: WasmCapabilities) -> Option<Self> {
        let ServiceOrigin::LocalWasm { wasm_path, entry, args, limits, capabilities, .. } = &manifest.spec.origin
        else {
            return None;
        };
        Some(Self {
            wasm_path: wasm_path.into(),
            source_file: Some(manifest.metadata.source_file.clone().into()),
            artifact_sha256: manifest.metadata.artifact_sha256.clone(),
            entry: entry.clone(),
            args: args.clone(),
            env,
            limits: limits.clone(),
            capabilities: capabilities.clone(),
            policy,
        })
    }
}

/// Why a service cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Its file cannot be used.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The file beside it cannot be used.
    #[error(transparent)]
    Sidecar(#[from] SidecarError),
    /// It is not valid wasm, or uses features that are switched off.
    #[error("{path} cannot be compiled: {reason}")]
    Invalid {
        /// The file of the module.
        path: String,
        /// What the compiler says.
        reason: String,
    },
    /// It needs imports that we do not offer.
    #[error(
        "{path} imports what this host does not offer: {}; build it without them{}",
        imports.join(", "),
        if imports.iter().any(|import| import.starts_with(PREVIEW_1)) { ", or as a component" } else { "" }
    )]
    Imports {
        /// The file of the module.
        path: String,
        /// Each as `module.name`, or the name of an interface.
        imports: Vec<String>,
    },
    /// No instance of it can be made within its limits.
    #[error("{path} cannot be started: {reason}")]
    Start {
        /// The file of the module.
        path: String,
        /// Why not, and which limit to raise.
        reason: String,
    },
    /// The process is ending.
    #[error("the host is shutting down")]
    ShuttingDown,
}

/// The engine, shared by all services; clones share it.
#[derive(Clone)]
pub struct WasmHost(Arc<HostState>);

pub(crate) struct HostState {
    pub(crate) engine: Engine,
    pub(crate) ticker: EpochTicker,
    pub(crate) instances: Arc<Semaphore>,
    /// Calls whose time may stand still at once: they keep their instances, and some must be left for the others.
    pub(crate) pauses: Arc<Semaphore>,
    /// Host functions that work for long at once.
    pub(crate) long_work: Arc<Semaphore>,
    cache: Cache,
    config: HostConfig,
    compiles: Arc<Semaphore>,
    modules: wasmtime::Linker<CallState>,
    components: wasmtime::component::Linker<CallState>,
}

impl WasmHost {
    /// Starts the engine. Blocks on the disk.
    pub fn new(config: HostConfig) -> Result<Self, HostError> {
        let cache = open_cache(&config)?;
        let engine = start_engine(&config, &cache).map_err(|error| HostError::Engine(error.to_string()))?;
        let failed = |error: wasmtime::Error| HostError::Engine(error.to_string());
        let ticker = EpochTicker::start(engine.clone()).map_err(|error| HostError::Engine(error.to_string()))?;
        let mut modules = wasmtime::Linker::new(&engine);
        clarity::add_to_linker(&mut modules).map_err(failed)?;
        let mut components = wasmtime::component::Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut components).map_err(failed)?;
        Ok(Self(Arc::new(HostState {
            ticker,
            instances: Arc::new(Semaphore::new(config.max_instances as usize)),
            pauses: Arc::new(Semaphore::new((config.max_instances as usize / 2).max(1))),
            long_work: Arc::new(Semaphore::new(LONG_WORKS)),
            cache,
            compiles: Arc::new(Semaphore::new(COMPILES)),
            modules,
            components,
            config,
            engine,
        })))
    }

    /// Reads, compiles and introspects a service; `progress` is told what is being done. Large modules take seconds, and
    /// go on being compiled for the cache if nobody waits any more.
    pub async fn load(
        &self,
        declaration: &ServiceDeclaration,
        effects: Arc<dyn Effects>,
        log: Arc<dyn LogSink>,
        progress: &watch::Sender<LoadStage>,
    ) -> Result<WasmService, LoadError> {
        let shared = &self.0;
        progress.send_replace(LoadStage::Reading);
        let ServiceFiles { artifact, declared, note, stamps } = {
            let (declaration, limit) = (declaration.clone(), shared.config.max_artifact_bytes);
            in_background(move || read(&declaration, limit)).await??
        };
        if let Some(note) = note {
            CallLog::new(log.clone()).print(LogLevel::Warn, &note);
        }
        let path = || declaration.wasm_path.display().to_string();
        progress.send_replace(LoadStage::Waiting);
        let code = {
            let turn = shared.compiles.clone().acquire_owned().await.map_err(|_| LoadError::ShuttingDown)?;
            progress.send_replace(LoadStage::Compiling { bytes: artifact.bytes.len() as u64 });
            let (engine, bytes, kind) = (shared.engine.clone(), artifact.bytes, artifact.kind);
            let compiled = on_own_thread(move || {
                // Kept to the end, also if nobody waits any more: whoever tries again then waits for it.
                let _turn = turn;
                compile(&engine, &bytes, kind)
            });
            let compiled = compiled.await?;
            compiled.map_err(|error| LoadError::Invalid { path: path(), reason: format!("{error:#}") })?
        };
        progress.send_replace(LoadStage::Introspecting);
        let context = Arc::new(ServiceContext {
            grants: Arc::new(Grants::new(declaration.capabilities.clone(), declaration.policy.clone())),
            effects,
            log,
            args: declaration.args.as_slice().into(),
            env: declaration.env.as_slice().into(),
        });
        let limits = shared.config.defaults.with_manifest(&declaration.limits, &shared.config.ceiling);
        let program = self.prepare(code, declared, &context, &limits).map_err(|error| match error {
            PrepareError::Imports(imports) => LoadError::Imports { path: path(), imports },
            PrepareError::Engine(error) => LoadError::Invalid { path: path(), reason: format!("{error:#}") },
            PrepareError::Sidecar(reason) => LoadError::Sidecar(SidecarError::Unusable {
                path: sidecar::path_for(&declaration.wasm_path).display().to_string(),
                reason,
            }),
        })?;
        let service = WasmService::new(
            shared.clone(),
            context,
            program,
            limits,
            artifact.sha256,
            stamps,
            declaration.entry.clone(),
        );
        service.probe().await.map_err(|error| LoadError::Start { path: path(), reason: classify(&error).1 })?;
        progress.send_replace(LoadStage::Ready);
        Ok(service)
    }

    /// Names the imports of an artifact that we do not offer, without compiling it. An artifact that cannot be read is no
    /// error: it may be built later, and loading it says what is wrong.
    pub async fn check_imports(&self, wasm_path: &Path) -> Result<(), LoadError> {
        let (path, limit) = (wasm_path.to_owned(), self.0.config.max_artifact_bytes);
        let Ok(artifact) = in_background(move || Artifact::read(&path, limit, None)).await? else { return Ok(()) };
        let Ok(imports) = imports::read(&artifact.bytes) else { return Ok(()) };
        let context = Arc::new(ServiceContext::of_nobody());
        let mut store = CallStore::new(&self.0, &context, &self.0.config.defaults, None);
        let missing = imports.into_iter().filter_map(|import| match import {
            Import::Core { module, name } => {
                self.0.modules.get(&mut store.store, module, name).is_err().then(|| format!("{module}.{name}"))
            }
            Import::Interface(name) => (!component::is_offered(name)).then(|| name.to_owned()),
        });
        match missing.collect::<Vec<_>>() {
            none if none.is_empty() => Ok(()),
            imports => Err(LoadError::Imports { path: wasm_path.display().to_string(), imports }),
        }
    }

    /// How many modules came from the cache, and how many were compiled, since the host started.
    pub fn cache_use(&self) -> (usize, usize) {
        (self.0.cache.cache_hits(), self.0.cache.cache_misses())
    }

    fn prepare(
        &self,
        code: CompiledCode,
        declared: DeclaredSignatures,
        context: &Arc<ServiceContext>,
        limits: &Limits,
    ) -> Result<Program, PrepareError> {
        let shared = &self.0;
        match code {
            CompiledCode::Module(module) => {
                let mut store = CallStore::new(shared, context, limits, None);
                ModuleProgram::prepare(&module, &shared.modules, &mut store, declared).map(Program::Module)
            }
            CompiledCode::Component(component) => {
                ComponentProgram::prepare(&component, &shared.components).map(Program::Component)
            }
        }
    }
}

impl Program {
    /// How the system of a call is made, if the program sees one.
    pub(crate) fn wasi(&self) -> Option<fn(&ServiceContext, &crate::service_log::CallLog) -> wasmtime_wasi::WasiCtx> {
        match self {
            Self::Module(_) => None,
            Self::Component(_) => Some(wasi::context),
        }
    }
}

enum CompiledCode {
    Module(wasmtime::Module),
    Component(wasmtime::component::Component),
}

fn compile(engine: &Engine, bytes: &[u8], kind: ArtifactKind) -> wasmtime::Result<CompiledCode> {
    match kind {
        ArtifactKind::Module => wasmtime::Module::from_binary(engine, bytes).map(CompiledCode::Module),
        ArtifactKind::Component => {
            wasmtime::component::Component::from_binary(engine, bytes).map(CompiledCode::Component)
        }
    }
}

/// What a service is loaded from.
struct ServiceFiles {
    artifact: Artifact,
    declared: DeclaredSignatures,
    /// What its source says and cannot be used.
    note: Option<String>,
    /// Each file that was looked for, as it was before it was read.
    stamps: Vec<(PathBuf, Option<FileStamp>)>,
}

/// Reads the artifact and what people wrote about its functions.
fn read(declaration: &ServiceDeclaration, limit: u64) -> Result<ServiceFiles, LoadError> {
    let wasm = &declaration.wasm_path;
    let source = declaration.source_file.as_deref().filter(|path| clarity_source::is_source(path));
    let files = [Some(wasm.clone()), Some(sidecar::path_for(wasm)), source.map(Path::to_owned)];
    let stamped = |path: PathBuf| {
        let stamp = FileStamp::read(&path);
        (path, stamp)
    };
    let stamps = files.into_iter().flatten().map(stamped).collect();
    let artifact = Artifact::read(wasm, limit, declaration.artifact_sha256.as_deref())?;
    let sidecar = sidecar::read(wasm)?;
    let (source, note) = source.map(clarity_source::read).unwrap_or_default();
    Ok(ServiceFiles { artifact, declared: DeclaredSignatures { sidecar, source }, note, stamps })
}

async fn in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, LoadError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| LoadError::ShuttingDown)
}

/// Runs work that may take seconds and cannot be interrupted. The runtime does not wait for it when the daemon ends.
async fn on_own_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, LoadError> {
    let (done, result) = tokio::sync::oneshot::channel();
    let work = move || {
        // Whoever asked may have gone; what was compiled is in the cache all the same.
        let _ = done.send(work());
    };
    std::thread::Builder::new().name("wasm-compile".into()).spawn(work).map_err(|_| LoadError::ShuttingDown)?;
    result.await.map_err(|_| LoadError::ShuttingDown)
}

fn open_cache(config: &HostConfig) -> Result<Cache, HostError> {
    let folder = &config.cache_folder;
    let unusable = |reason: String| HostError::Cache { path: folder.display().to_string(), reason };
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| unusable(error.to_string()))?;
    let metadata = std::fs::metadata(folder).map_err(|error| unusable(error.to_string()))?;
    if metadata.permissions().mode() & 0o022 != 0 {
        return Err(unusable(
            "others can write to it, and what is in it runs as code; make it yours with chmod 700".into(),
        ));
    }
    let folder = folder.canonicalize().map_err(|error| unusable(error.to_string()))?;
    let mut settings = CacheConfig::new();
    settings.with_directory(folder).with_files_total_size_soft_limit(config.cache_bytes);
    Cache::new(settings).map_err(|error| unusable(error.to_string()))
}

fn start_engine(config: &HostConfig, cache: &Cache) -> wasmtime::Result<Engine> {
    let calls = config.max_instances;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(calls)
        .total_core_instances(calls * CORE_INSTANCES_PER_COMPONENT)
        .total_memories(calls * MEMORIES_PER_COMPONENT)
        .total_tables(calls * TABLES_PER_COMPONENT)
        .total_stacks(calls * 2)
        .max_core_instances_per_component(CORE_INSTANCES_PER_COMPONENT)
        .max_memories_per_component(MEMORIES_PER_COMPONENT)
        .max_tables_per_component(TABLES_PER_COMPONENT)
        .max_tables_per_module(TABLES_PER_COMPONENT)
        .table_elements(config.ceiling.table_elements)
        .max_memory_size(config.ceiling.memory_bytes)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
        .table_keep_resident(KEEP_RESIDENT_BYTES);
    let mut settings = Config::new();
    settings
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(config.stack_bytes)
        .async_stack_size(config.stack_bytes + HOST_STACK_BYTES)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .cache(Some(cache.clone()));
    Engine::new(&settings)
}
