//! Services that run in the daemon: a module of wasm, seen as one more server.
//!
//! Decisions:
//! * A module is loaded once for all its connections; each connection gives its calls the effects of its principal, so
//!   that what a module does through the gateway is judged as if its caller did it.
//! * What fails in a call is a result of the tool. A trap says nothing about the service's health, because each call has an
//!   instance of its own and a caller's arguments can cause it.
//! * A file that was written anew is noticed by a probe or when the service is introspected, and loaded then. Until that
//!   moment calls use the code whose tools were listed.
//! * A new build of a module that was granted anything is no more trusted than a new definition of a tool: its hash is part
//!   of what is approved, and no call runs it before its tools were reviewed, and held back if nobody has approved them.

mod effects;
mod gateway_access;
mod models;
mod module_log;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::{Mutex, RwLock};
use roost_model::ids::ServiceId;
use roost_model::service::wasm::WasmCapabilities;
use roost_wasm::{
    CallError, CallReport, HostConfig, Limits, LoadError, LoadStage, ServiceDeclaration, ToolSuccess, WasmHost,
    WasmService,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::{OnceCell, mpsc, watch};
use tokio_util::sync::CancellationToken;

pub(super) use effects::OutsideWorld;
pub use gateway_access::{GatewayAccess, ModelCall, ModuleGateway};
pub use models::{ModelServer, ModelSettings};

use self::effects::{ModuleCaller, ModuleEffects};
use self::gateway_access::CallChain;
use self::module_log::ModuleLog;
use super::connector::{ConnectError, ConnectTarget, Connected};
use super::service_log::{LogSource, ServiceLog};
use super::{FromServer, ServerAnswer, ServerProfile, Upstream, UpstreamEnd, UpstreamError, UpstreamRequest};
use crate::era::{Era, NEWEST_LEGACY};
use crate::lifecycle::ServiceFault;
use crate::principal::Principal;
use crate::raw_object::{RawObject, to_raw};
use crate::tool_pins::ARTIFACT;

const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
/// The codes of JSON-RPC for what a caller got wrong.
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// How modules run in the daemon, and what they may do.
#[derive(Clone)]
pub struct WasmSettings {
    /// The engine and its limits. It is started with the first module.
    pub host: HostConfig,
    /// What any module may do that also asks for it in its manifest.
    pub policy: WasmCapabilities,
    /// What modules reach of the gateway itself.
    pub gateway: GatewayAccess,
    /// The models that the policy may allow them to ask.
    pub models: ModelSettings,
}

impl WasmSettings {
    /// The usual limits, with compiled code in a folder; modules may do nothing but compute.
    pub fn new(cache_folder: PathBuf) -> Self {
        let (policy, gateway) = (WasmCapabilities::default(), GatewayAccess::default());
        Self { host: HostConfig::new(cache_folder), policy, gateway, models: ModelSettings::default() }
    }
}

/// The modules that are loaded.
pub(super) struct WasmModules {
    settings: WasmSettings,
    outside: Arc<OutsideWorld>,
    host: OnceCell<WasmHost>,
    loaded: Mutex<HashMap<ServiceId, Arc<LoadedModule>>>,
}

/// A module that is loaded, with what is needed to load it again.
struct LoadedModule {
    host: WasmHost,
    declaration: ServiceDeclaration,
    log: Arc<dyn ServiceLog>,
    outside: Arc<OutsideWorld>,
    builds: RwLock<Builds>,
    /// The hash of the build whose tools were reviewed last; the same for all declarations of the service.
    reviewed: Arc<Mutex<Option<String>>>,
    /// One at a time.
    reloading: tokio::sync::Mutex<()>,
}

/// What is loaded of a module's file.
struct Builds {
    /// The file as it was when it was looked at last.
    newest: WasmService,
    /// What calls use. An older build, or none, if the newest was granted anything and its tools were not reviewed.
    current: Option<WasmService>,
}

impl WasmModules {
    pub(super) fn new(settings: WasmSettings, outside: OutsideWorld) -> Self {
        Self { settings, outside: Arc::new(outside), host: OnceCell::new(), loaded: Mutex::default() }
    }

    /// Loads the module of a service with these variables, or shares the one that is loaded.
    pub(super) async fn connect(
        &self,
        target: &ConnectTarget<'_>,
        env: Vec<(String, String)>,
    ) -> Result<Connected, ConnectError> {
        let policy = self.settings.policy.clone();
        let declaration = ServiceDeclaration::from_manifest(target.manifest, env, policy)
            .ok_or_else(|| broken("it is no module".into()))?;
        let module = self.module(target, declaration).await?;
        let (unasked, from_server) = mpsc::channel(1);
        let upstream = WasmUpstream {
            profile: profile(target),
            principal: target.principal.clone(),
            service: target.service.clone(),
            module,
            listed: Mutex::default(),
            unasked,
            closed: CancellationToken::new(),
        };
        Ok(Connected { upstream: Arc::new(upstream), unasked: from_server })
    }

    /// Names the imports of a module that we do not offer, before it is compiled.
    pub(super) async fn check(&self, wasm_path: &Path) -> Result<(), String> {
        match self.host().await {
            Ok(host) => host.check_imports(wasm_path).await.map_err(|error| error.to_string()),
            // It is no fault of the manifest, and is told when the service is started.
            Err(_) => Ok(()),
        }
    }

    /// Forgets the module of a service that was removed.
    pub(super) fn forget(&self, service: &ServiceId) {
        self.loaded.lock().remove(service);
    }

    async fn module(
        &self,
        target: &ConnectTarget<'_>,
        declaration: ServiceDeclaration,
    ) -> Result<Arc<LoadedModule>, ConnectError> {
        let before = self.loaded.lock().get(target.service).cloned();
        if let Some(known) = before.as_ref().filter(|known| known.declaration == declaration) {
            known.refresh().await.map_err(not_loaded)?;
            return Ok(known.clone());
        }
        let (host, outside) = (self.host().await?, self.outside.clone());
        let loaded = load(&host, &declaration, &outside, &target.log).await.map_err(not_loaded)?;
        let mut builds = Builds { newest: loaded.clone(), current: None };
        // Another declaration, such as another value of a secret, may be of the same code.
        let reviewed = before.map(|before| before.reviewed.clone()).unwrap_or_default();
        builds.add(loaded, reviewed.lock().as_deref());
        let module = Arc::new(LoadedModule {
            host,
            declaration,
            log: target.log.clone(),
            outside,
            builds: RwLock::new(builds),
            reviewed,
            reloading: tokio::sync::Mutex::default(),
        });
        self.loaded.lock().insert(target.service.clone(), module.clone());
        Ok(module)
    }

    async fn host(&self) -> Result<WasmHost, ConnectError> {
        let start = || async {
            let config = self.settings.host.clone();
            let started = tokio::task::spawn_blocking(move || WasmHost::new(config)).await;
            let started = started.map_err(|_| broken("the daemon is shutting down".into()))?;
            started.map_err(|error| broken(error.to_string()))
        };
        self.host.get_or_try_init(start).await.cloned()
    }
}

/// Loads a module and says how far that has come.
async fn load(
    host: &WasmHost,
    declaration: &ServiceDeclaration,
    outside: &Arc<OutsideWorld>,
    log: &Arc<dyn ServiceLog>,
) -> Result<WasmService, LoadError> {
    let (progress, mut stages) = watch::channel(LoadStage::default());
    let telling = async {
        // The sender lives until the module is loaded.
        while stages.changed().await.is_ok() {
            if let Some(text) = stage_text(&stages.borrow_and_update()) {
                log.progress(&text);
            }
        }
        std::future::pending().await
    };
    // Nobody calls yet, so nothing can be done on anybody's behalf.
    let effects = Arc::new(ModuleEffects::of_nobody(outside.clone()));
    let loading = host.load(declaration, effects, Arc::new(ModuleLog(log.clone())), &progress);
    tokio::select! {
        loaded = loading => loaded,
        never = telling => never,
    }
}

fn stage_text(stage: &LoadStage) -> Option<String> {
    match stage {
        LoadStage::Waiting => Some("waiting for another module to be compiled".into()),
        LoadStage::Compiling { bytes } => Some(format!("compiling {} KiB, or taking it from the cache", bytes >> 10)),
        LoadStage::Introspecting => Some("compiled; looking at what it offers".into()),
        LoadStage::Reading | LoadStage::Ready => None,
    }
}

fn profile(target: &ConnectTarget<'_>) -> ServerProfile {
    let metadata = &target.manifest.metadata;
    let version = metadata.version.as_deref().unwrap_or("0");
    ServerProfile {
        era: Era::Legacy(NEWEST_LEGACY.into()),
        capabilities: Map::from_iter([("tools".to_owned(), json!({ "listChanged": true }))]),
        info: Some(json!({ "name": metadata.module, "version": version })),
        instructions: None,
    }
}

impl Builds {
    /// Takes the newest build. Calls use it at once if it can only compute or was reviewed.
    fn add(&mut self, loaded: WasmService, reviewed: Option<&str>) {
        if !loaded.has_effects() || reviewed == Some(loaded.artifact_sha256()) {
            self.current = Some(loaded.clone());
        }
        self.newest = loaded;
    }
}

impl LoadedModule {
    /// The code for calls; none before the tools of the first build were reviewed.
    fn current(&self) -> Option<WasmService> {
        self.builds.read().current.clone()
    }

    /// The module as its file is now.
    async fn refresh(&self) -> Result<WasmService, LoadError> {
        let _one_at_a_time = self.reloading.lock().await;
        let newest = match self.is_changed().await {
            true => load(&self.host, &self.declaration, &self.outside, &self.log).await?,
            false => self.builds.read().newest.clone(),
        };
        self.builds.write().add(newest.clone(), self.reviewed.lock().as_deref());
        Ok(newest)
    }

    /// Lets calls use a build whose tools were reviewed.
    fn reviewed(&self, build: WasmService) {
        *self.reviewed.lock() = Some(build.artifact_sha256().to_owned());
        // One that can only compute is used already, or a newer one.
        if build.has_effects() {
            self.builds.write().current = Some(build);
        }
    }

    async fn is_changed(&self) -> bool {
        let newest = self.builds.read().newest.clone();
        // A daemon that shuts down has nothing to load.
        tokio::task::spawn_blocking(move || newest.changed_on_disk()).await.unwrap_or(false)
    }
}

/// The definitions of a module's tools. With those of one that was granted anything, its code is approved, too.
fn definitions(service: &WasmService) -> Vec<Value> {
    let definition = |tool: &roost_wasm::Tool| {
        let mut definition = json!(tool);
        if service.has_effects() {
            definition["_meta"] = json!({ ARTIFACT: service.artifact_sha256() });
        }
        definition
    };
    service.tools().iter().map(definition).collect()
}

/// A module on behalf of one principal.
struct WasmUpstream {
    module: Arc<LoadedModule>,
    /// The build whose tools were listed last, until they were reviewed.
    listed: Mutex<Option<WasmService>>,
    principal: Principal,
    service: ServiceId,
    profile: ServerProfile,
    unasked: mpsc::Sender<FromServer>,
    closed: CancellationToken,
}

impl WasmUpstream {
    /// The tools, of the file as it is now.
    async fn list_tools(&self) -> Result<ServerAnswer, UpstreamError> {
        let service = self.module.refresh().await.map_err(|error| UpstreamError::from(not_loaded(error)))?;
        let tools = definitions(&service);
        *self.listed.lock() = Some(service);
        Ok(Ok(to_raw(&json!({ "tools": tools }))))
    }

    /// A sign of life; says, too, that there is a new file.
    async fn ping(&self) -> ServerAnswer {
        if self.module.is_changed().await {
            // A full queue says the same already.
            let _ = self.unasked.try_send(FromServer { method: TOOLS_CHANGED.into(), params: None });
        }
        Ok(to_raw(&json!({})))
    }

    async fn call_tool(&self, params: Option<&RawValue>, patience: Duration) -> Result<ServerAnswer, UpstreamError> {
        let params = params.and_then(RawObject::parse).unwrap_or_default();
        let Some(tool) = params.text("name") else {
            return Ok(Err(error(INVALID_PARAMS, "tools/call needs \"name\", a text")));
        };
        let arguments = match params.get("arguments") {
            None => Map::new(),
            Some(arguments) => match serde_json::from_str(arguments.get()) {
                Ok(Value::Object(arguments)) => arguments,
                _ => return Ok(Err(error(INVALID_PARAMS, "\"arguments\" must be an object"))),
            },
        };
        let caller = ModuleCaller {
            principal: self.principal.clone(),
            service: self.service.clone(),
            chain: CallChain::of(params.get("_meta")),
        };
        let variables = self.module.declaration.env.clone();
        let effects = ModuleEffects::on_behalf(self.module.outside.clone(), caller, variables);
        let Some(current) = self.module.current() else {
            return Ok(Ok(tool_error(
                "the module has just been loaded, and its tools were not looked at yet; try again",
            )));
        };
        let service = current.with_effects(Arc::new(effects));
        let own = service.limits();
        let limits = Limits { time: own.time.min(patience), wait: own.wait.min(patience), ..own.clone() };
        match service.call(&tool, &arguments, &limits).await {
            Ok(CallReport { outcome: Ok(ToolSuccess { structured, text }), .. }) => {
                let content = [json!({ "type": "text", "text": text })];
                Ok(Ok(to_raw(&json!({ "content": content, "structuredContent": structured }))))
            }
            Ok(CallReport { outcome: Err(failure), .. }) => {
                self.module.log.line(LogSource::Gateway, &failure.to_string());
                Ok(Ok(tool_error(&failure.to_string())))
            }
            // The caller's model can mend or wait, so they are a result.
            Err(error @ (CallError::InvalidArguments { .. } | CallError::NoTurn(_))) => {
                Ok(Ok(tool_error(&error.to_string())))
            }
            Err(unknown @ CallError::UnknownTool(_)) => Ok(Err(error(INVALID_PARAMS, &unknown.to_string()))),
            Err(CallError::Busy(waiting)) => Err(UpstreamError::Busy(waiting)),
        }
    }
}

#[async_trait]
impl Upstream for WasmUpstream {
    fn profile(&self) -> &ServerProfile {
        &self.profile
    }

    async fn call(&self, request: UpstreamRequest<'_>) -> Result<ServerAnswer, UpstreamError> {
        let answering = async {
            match request.method {
                "tools/call" => self.call_tool(request.params, request.patience).await,
                "tools/list" => self.list_tools().await,
                "ping" => Ok(self.ping().await),
                method => Ok(Err(error(METHOD_NOT_FOUND, &format!("a module does not know {method}")))),
            }
        };
        tokio::select! {
            answer = answering => answer,
            () = self.closed.cancelled() => Err(UpstreamError::Gone("the service was stopped".into())),
        }
    }

    async fn notify(&self, _: &str, _: Option<&RawValue>) -> Result<(), UpstreamError> {
        Ok(())
    }

    fn list_reviewed(&self) {
        if let Some(listed) = self.listed.lock().take() {
            self.module.reviewed(listed);
        }
    }

    async fn ended(&self) -> UpstreamEnd {
        self.closed.cancelled().await;
        UpstreamEnd::Closed
    }

    async fn close(&self) {
        self.closed.cancel();
    }
}

fn tool_error(text: &str) -> Box<RawValue> {
    to_raw(&json!({ "content": [{ "type": "text", "text": text }], "isError": true }))
}

fn error(code: i64, message: &str) -> Box<RawValue> {
    to_raw(&json!({ "code": code, "message": message }))
}

fn broken(message: String) -> ConnectError {
    ConnectError { fault: ServiceFault::Broken, message }
}

fn not_loaded(error: LoadError) -> ConnectError {
    broken(error.to_string())
}
