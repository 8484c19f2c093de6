//! Makes connections to services.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::Client;
use reqwest::header::{HeaderName, HeaderValue};
use roost_model::ids::ServiceId;
use roost_model::service::manifest::{Manifest, RemoteTransport, ServiceOrigin, ServiceVariable};
use roost_model::service::wasm::WasmCapabilities;
use roost_process::{Environment, Holder};
use roost_wasm::Grants;
use tokio::sync::mpsc;
use url::Url;

use super::address_policy::AddressPolicy;
use super::call_limiter::{CallLimiter, MAX_WAITING};
use super::handshake::{DISCOVER, Discovered, INITIALIZE, INITIALIZED, discovered, initialize_params, initialized};
use super::http::{self, HttpConnected, HttpTarget};
use super::http_auth::HttpAuth;
use super::limits::{DefaultLimits, ServiceLimits};
use super::login_store::{LoginKey, LoginStore};
use super::oauth::{LoginRequest, OAuthLogin, PendingLogin};
use super::param_headers::ParamHeaders;
use super::peer::{PeerChannels, ServerPeer};
use super::peer_upstream::PeerUpstream;
use super::service_log::{LogSource, ServiceLog};
use super::stdio::{Child, ServiceProgram};
use super::wasm::{OutsideWorld, WasmModules, WasmSettings};
use super::{FromServer, ServerProfile, Upstream, UpstreamError, UpstreamRequest, http_client, sse};
use crate::auth_ref::AuthRef;
use crate::client_profile::ClientProfile;
use crate::era::Era;
use crate::lifecycle::ServiceFault;
use crate::principal::Principal;

/// How long a program may take to start and to do its handshake; it may have to be downloaded first.
const PROGRAM_START: Duration = Duration::from_secs(60);
/// How long a program may take to say that it is no modern server.
const PROBE: Duration = Duration::from_secs(10);

/// Reads a variable of the daemon's environment.
pub type ReadVariable = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What all connections have in common.
pub struct ConnectorSettings {
    /// Starts the programs of services.
    pub holder: Holder,
    /// The environment of programs, before what a manifest adds.
    pub environment: Environment,
    /// Where programs work whose manifests name no folder.
    pub work_dir: PathBuf,
    /// The folder of secrets that manifests refer to.
    pub secrets: PathBuf,
    /// The variables that manifests refer to.
    pub variable: ReadVariable,
    /// The limits of services whose manifests give none.
    pub limits: DefaultLimits,
    /// Which hosts may be reached.
    pub addresses: AddressPolicy,
    /// Keeps the logins at remote services.
    pub logins: Arc<dyn LoginStore>,
    /// How modules run in the daemon, and what they may do.
    pub wasm: WasmSettings,
}

/// Makes connections to services, and remembers of each service how it speaks.
pub struct Connector {
    settings: ConnectorSettings,
    client: Client,
    services: Mutex<HashMap<ServiceId, Arc<KnownService>>>,
    logins: Mutex<HashMap<LoginKey, Arc<OAuthLogin>>>,
    modules: WasmModules,
}

/// What is to be connected to, and on whose behalf.
pub struct ConnectTarget<'a> {
    /// Connections of the same service share its limits.
    pub service: &'a ServiceId,
    /// How it is declared.
    pub manifest: &'a Manifest,
    /// On whose behalf.
    pub principal: &'a Principal,
    /// What the clients of this connection can do.
    pub client: &'a ClientProfile,
    /// Takes what the service prints, and what is noticed about it.
    pub log: Arc<dyn ServiceLog>,
}

impl ConnectTarget<'_> {
    /// What runs or answers for it.
    pub fn origin(&self) -> &ServiceOrigin {
        &self.manifest.spec.origin
    }
}

/// A connection that was made. The handshake is done.
pub struct Connected {
    /// Closing or dropping it ends the connection, and the program if there is one.
    pub upstream: Arc<dyn Upstream>,
    /// What the server says outside of calls. It must be read: a server whose words nobody takes is not read any more.
    pub unasked: mpsc::Receiver<FromServer>,
}

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConnectError {
    /// What it says about the service's health.
    pub fault: ServiceFault,
    /// What is wrong and what to do, for people.
    pub message: String,
}

impl ConnectError {
    /// The error of a service that answers, with something that is of no use.
    pub(crate) fn broken(message: impl Into<String>) -> Self {
        Self { fault: ServiceFault::Broken, message: message.into() }
    }
}

/// How a service speaks, as an earlier connection found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownEra {
    Modern,
    Legacy,
}

/// What is remembered of a service over its connections.
struct KnownService {
    /// Another origin is another service.
    origin: ServiceOrigin,
    limits: ServiceLimits,
    limiter: CallLimiter,
    param_headers: Arc<ParamHeaders>,
    era: Mutex<Option<KnownEra>>,
}

impl Connector {
    /// A connector that has not connected to anything yet.
    pub fn new(settings: ConnectorSettings) -> Result<Self, ConnectError> {
        let client = http_client::build(&settings.addresses)
            .map_err(|error| ConnectError::broken(format!("the HTTP client cannot be made: {error}")))?;
        let outside = OutsideWorld {
            client: client.clone(),
            addresses: settings.addresses.clone(),
            secrets: settings.secrets.clone(),
            variable: settings.variable.clone(),
            gateway: settings.wasm.gateway.clone(),
            models: settings.wasm.models.clone(),
        };
        let modules = WasmModules::new(settings.wasm.clone(), outside);
        Ok(Self { settings, client, services: Mutex::default(), logins: Mutex::default(), modules })
    }

    /// Connects to a service and does the handshake.
    pub async fn connect(&self, target: &ConnectTarget<'_>) -> Result<Connected, ConnectError> {
        let service = self.known(target);
        let era = *service.era.lock();
        let connected = match target.origin() {
            ServiceOrigin::StdioMcp { .. } => self.start_program(target, &service, era).await,
            ServiceOrigin::RemoteMcp { endpoint, transport, auth_ref, .. } => {
                self.connect_remote(target, &service, era, endpoint, *transport, auth_ref.as_deref()).await
            }
            ServiceOrigin::LocalWasm { env, capabilities, .. } => self.load_module(target, env, capabilities).await,
        };
        let era = connected.as_ref().ok().map(|connected| match connected.upstream.profile().era {
            Era::Modern => KnownEra::Modern,
            Era::Legacy(_) => KnownEra::Legacy,
        });
        // What could not be connected to may be another version when it comes back.
        *service.era.lock() = era;
        connected
    }

    /// Says of a module what it needs that we do not offer; of others nothing is known before they are connected to.
    pub async fn check(&self, manifest: &Manifest) -> Result<(), String> {
        match &manifest.spec.origin {
            ServiceOrigin::LocalWasm { wasm_path, .. } => self.modules.check(wasm_path.as_ref()).await,
            _ => Ok(()),
        }
    }

    /// Begins a login at a remote service: a person opens the address of the result and agrees.
    pub async fn begin_login(
        &self,
        service: &ServiceId,
        origin: &ServiceOrigin,
        principal: &Principal,
        request: LoginRequest,
    ) -> Result<PendingLogin, ConnectError> {
        let ServiceOrigin::RemoteMcp { endpoint, auth_ref: None, .. } = origin else {
            return Err(unauthorized("only a remote service without `authRef` needs a login".into()));
        };
        self.login(service, principal, &self.checked_endpoint(endpoint)?).begin(request).await
    }

    /// Whether the local user is logged in at a service. A login that cannot be read counts as one.
    pub async fn has_login(&self, service: &ServiceId, origin: &ServiceOrigin) -> bool {
        let may_have = matches!(origin, ServiceOrigin::RemoteMcp { auth_ref: None, .. });
        may_have
            && !matches!(
                self.settings.logins.load(&LoginKey::for_principal(service, &Principal::Local)).await,
                Ok(None)
            )
    }

    /// Forgets what is known of a service that was removed, its logins included.
    pub async fn forget(&self, service: &ServiceId) -> Result<(), String> {
        self.services.lock().remove(service);
        self.modules.forget(service);
        self.logins.lock().retain(|key, _| key.service != *service);
        self.settings.logins.remove_all(service).await
    }

    /// The login of a principal; connections share it, because a renewed token ends the old one.
    fn login(&self, service: &ServiceId, principal: &Principal, endpoint: &Url) -> Arc<OAuthLogin> {
        let key = LoginKey::for_principal(service, principal);
        let mut logins = self.logins.lock();
        if let Some(login) = logins.get(&key).filter(|login| login.endpoint() == endpoint) {
            return login.clone();
        }
        let (client, addresses) = (self.client.clone(), self.settings.addresses.clone());
        let store = self.settings.logins.clone();
        let login = Arc::new(OAuthLogin::new(client, addresses, endpoint.clone(), key.clone(), store));
        logins.insert(key, login.clone());
        login
    }

    fn checked_endpoint(&self, endpoint: &str) -> Result<Url, ConnectError> {
        let endpoint = Url::parse(endpoint)
            .map_err(|error| ConnectError::broken(format!("its endpoint is no address: {error}")))?;
        let allowed = self.settings.addresses.check_endpoint(&endpoint);
        allowed.map_err(|refused| ConnectError { fault: ServiceFault::Unreachable, message: refused.to_string() })?;
        Ok(endpoint)
    }

    fn known(&self, target: &ConnectTarget<'_>) -> Arc<KnownService> {
        let mut services = self.services.lock();
        if let Some(known) = services.get(target.service).filter(|known| known.origin == *target.origin()) {
            return known.clone();
        }
        let limits = target.origin().limits().cloned().unwrap_or_default();
        let limits = self.settings.limits.of(&limits);
        let known = Arc::new(KnownService {
            origin: target.origin().clone(),
            limits,
            limiter: CallLimiter::new(limits.max_concurrency, MAX_WAITING),
            param_headers: Arc::default(),
            era: Mutex::new(None),
        });
        services.insert(target.service.clone(), known.clone());
        known
    }

    async fn connect_remote(
        &self,
        target: &ConnectTarget<'_>,
        service: &KnownService,
        era: Option<KnownEra>,
        endpoint: &str,
        transport: RemoteTransport,
        auth_ref: Option<&str>,
    ) -> Result<Connected, ConnectError> {
        let endpoint = self.checked_endpoint(endpoint)?;
        let auth = match auth_ref {
            Some(auth_ref) => self.read_auth(auth_ref).await?,
            None => HttpAuth::Login(self.login(target.service, target.principal, &endpoint)),
        };
        let http = HttpTarget {
            client: self.client.clone(),
            endpoint,
            auth,
            limits: service.limits,
            queue: service.limiter.queue(target.principal),
            param_headers: service.param_headers.clone(),
            profile: target.client.clone(),
            log: target.log.clone(),
        };
        match transport {
            RemoteTransport::StreamableHttp => match http::connect(http, era).await? {
                HttpConnected::Connected { upstream, unasked } => Ok(Connected { upstream, unasked }),
                // It may speak the transport of 2024; if it does not, what it answered first says more.
                HttpConnected::NotStreamable(error, http) => sse::connect(*http).await.map_err(|_| error),
            },
            RemoteTransport::SseHttp => sse::connect(http).await,
        }
    }

    /// The header that a reference to a secret stands for.
    async fn read_auth(&self, auth_ref: &str) -> Result<HttpAuth, ConnectError> {
        let (header, secret) = self.read_secret(auth_ref).await?;
        let header = HeaderName::from_bytes(header.as_bytes());
        let value = HeaderValue::from_str(&secret);
        match (header, value) {
            (Ok(header), Ok(mut value)) => {
                value.set_sensitive(true);
                Ok(HttpAuth::Header(header, value))
            }
            _ => Err(unauthorized(format!("the secret of {auth_ref:?} cannot be sent in a header"))),
        }
    }

    async fn read_secret(&self, auth_ref: &str) -> Result<(String, String), ConnectError> {
        let reference = AuthRef::parse(auth_ref).map_err(|error| unauthorized(error.to_string()))?;
        let (variable, secrets) = (self.settings.variable.clone(), self.settings.secrets.clone());
        let read = tokio::task::spawn_blocking(move || reference.read(|name| variable(name), &secrets)).await;
        let read = read.map_err(|_| unauthorized("the daemon is shutting down".into()))?;
        let (header, secret) = read.map_err(|error| unauthorized(error.to_string()))?;
        Ok((header, secret.expose().to_owned()))
    }

    async fn start_program(
        &self,
        target: &ConnectTarget<'_>,
        service: &KnownService,
        era: Option<KnownEra>,
    ) -> Result<Connected, ConnectError> {
        let attempt = self.try_program(target, service, era).await;
        match attempt {
            // Some programs of old end when they are asked what they do not know.
            Err(ProgramError::EndedAtDiscovery(_)) => {
                let retried = self.try_program(target, service, Some(KnownEra::Legacy)).await;
                retried.map_err(ProgramError::into_inner)
            }
            attempt => attempt.map_err(ProgramError::into_inner),
        }
    }

    async fn try_program(
        &self,
        target: &ConnectTarget<'_>,
        service: &KnownService,
        era: Option<KnownEra>,
    ) -> Result<Connected, ProgramError> {
        let program = self.program(target).await?;
        let unreachable = |message: String| ConnectError { fault: ServiceFault::Unreachable, message };
        let child =
            Child::spawn(&self.settings.holder, program).await.map_err(|error| unreachable(error.to_string()))?;
        let queue = service.limiter.queue(target.principal);
        let (peer, PeerChannels { outgoing, unasked }) = ServerPeer::new(service.limits, queue);
        let transport = child.serve(peer.clone(), outgoing, service.limits.max_payload, target.log.clone());
        let profile = introduce(&peer, target.client, era).await?;
        let upstream = PeerUpstream::new(peer, profile, target.client, transport).await;
        Ok(Connected { upstream: Arc::new(upstream), unasked })
    }

    /// Loads the module of a service, or shares the one that is loaded.
    async fn load_module(
        &self,
        target: &ConnectTarget<'_>,
        variables: &[ServiceVariable],
        capabilities: &WasmCapabilities,
    ) -> Result<Connected, ConnectError> {
        let grants = Grants::new(capabilities.clone(), self.settings.wasm.policy.clone());
        let mut env = Vec::with_capacity(variables.len());
        for variable in variables {
            // A component sees its variables without asking for them.
            if variable.secret_ref.is_some()
                && let Err(denied) = grants.secret(&variable.name)
            {
                let left_out = format!("the variable {} is left out: {denied}", variable.name);
                target.log.line(LogSource::Gateway, &left_out);
                continue;
            }
            env.push((variable.name.clone(), self.value_of(variable).await?));
        }
        self.modules.connect(target, env).await
    }

    /// The program of a service with its environment.
    async fn program(&self, target: &ConnectTarget<'_>) -> Result<ServiceProgram, ConnectError> {
        let ServiceOrigin::StdioMcp { command, args, cwd, env, .. } = target.origin() else {
            return Err(ConnectError::broken("it is no program"));
        };
        let mut environment = self.settings.environment.clone();
        for variable in env {
            environment.set(variable.name.clone(), self.value_of(variable).await?);
        }
        Ok(ServiceProgram {
            label: format!("{} for {}", target.service, target.principal),
            command: command.into(),
            args: args.iter().map(Into::into).collect(),
            cwd: cwd.as_ref().map_or_else(|| self.settings.work_dir.clone(), PathBuf::from),
            env: environment,
        })
    }

    async fn value_of(&self, variable: &ServiceVariable) -> Result<String, ConnectError> {
        match (&variable.secret_ref, &variable.value) {
            (Some(reference), _) => {
                let (_, secret) = self.read_secret(reference).await?;
                // As a variable, the secret is wanted without the word that a header needs.
                Ok(secret.strip_prefix("Bearer ").map_or(secret.clone(), ToOwned::to_owned))
            }
            (None, Some(value)) => Ok(value.clone()),
            (None, None) => Ok(String::new()),
        }
    }
}

/// Why a program cannot be used.
pub(super) enum ProgramError {
    /// It ended when it was asked whether it is a modern one.
    EndedAtDiscovery(ConnectError),
    /// It could not be started, or its handshake failed.
    Other(ConnectError),
}

impl ProgramError {
    pub(super) fn into_inner(self) -> ConnectError {
        match self {
            Self::EndedAtDiscovery(error) | Self::Other(error) => error,
        }
    }
}

impl From<ConnectError> for ProgramError {
    fn from(error: ConnectError) -> Self {
        Self::Other(error)
    }
}

/// Lets a server on a pair of pipes introduce itself.
pub(super) async fn introduce(
    peer: &ServerPeer,
    client: &ClientProfile,
    era: Option<KnownEra>,
) -> Result<ServerProfile, ProgramError> {
    if era != Some(KnownEra::Legacy) {
        let request = UpstreamRequest { method: DISCOVER, params: None, client, patience: PROBE, interjections: None };
        match peer.call(request, Some(client)).await {
            Ok(answer) => match discovered(&answer) {
                Discovered::Modern(profile) => return Ok(profile),
                Discovered::Unknown(error) => return Err(error.into()),
                Discovered::Legacy => {}
            },
            Err(error @ UpstreamError::Gone(_)) if era.is_none() => {
                return Err(ProgramError::EndedAtDiscovery(error.into()));
            }
            Err(UpstreamError::Timeout(_)) => {}
            Err(error) => return Err(ConnectError::from(error).into()),
        }
    }
    let params = initialize_params(client);
    let (method, params, patience) = (INITIALIZE, params.as_deref(), PROGRAM_START);
    let request = UpstreamRequest { method, params, client, patience, interjections: None };
    let answer = peer.call_within(patience, request, None).await.map_err(ConnectError::from)?;
    let profile = initialized(&answer)?;
    peer.notify(INITIALIZED, None).await.map_err(ConnectError::from)?;
    Ok(profile)
}

impl From<UpstreamError> for ConnectError {
    fn from(error: UpstreamError) -> Self {
        let fault = match &error {
            UpstreamError::Timeout(_) | UpstreamError::QueueTimeout(_) => ServiceFault::Timeout,
            UpstreamError::Gone(_) | UpstreamError::Busy(_) => ServiceFault::Unreachable,
            UpstreamError::TooLarge { .. } | UpstreamError::AnswerTooLarge { .. } => ServiceFault::Broken,
            UpstreamError::Failed(fault, _) => *fault,
        };
        let message = match error {
            UpstreamError::Failed(_, reason) | UpstreamError::Gone(reason) => reason.to_string(),
            other => other.to_string(),
        };
        Self { fault, message }
    }
}

impl From<ConnectError> for UpstreamError {
    fn from(error: ConnectError) -> Self {
        Self::Failed(error.fault, error.message.into())
    }
}

fn unauthorized(message: String) -> ConnectError {
    ConnectError { fault: ServiceFault::Unauthorized, message }
}
