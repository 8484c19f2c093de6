//! The gateway's own tools beside those of services: they are in the catalog like a service that is always there.
//!
//! Whoever offers them is bound once it stands; until then there are none.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roost_model::ids::ServiceId;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::breaker::CallOutcome;
use crate::catalog::{Audience, Catalog, ListedItem, OfferedService};
use crate::client_profile::ClientProfile;
use crate::endpoint::{Backend, UnaskedMessage};
use crate::era::{Era, NEWEST_LEGACY};
use crate::namespace::{Namespace, RESERVED};
use crate::principal::Principal;
use crate::raw_object::{RawObject, to_raw};
use crate::upstream::{ServerAnswer, ServerProfile, Upstream, UpstreamEnd, UpstreamError, UpstreamRequest};

/// How long one of the gateway's own tools may take: a compiler may run, and a service start.
const PATIENCE: Duration = Duration::from_mins(12);
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// One of the gateway's own tools.
#[derive(Clone, Debug)]
pub struct OwnTool {
    /// One of the reserved namespaces.
    pub namespace: &'static str,
    /// The name within it.
    pub name: &'static str,
    /// Who sees it.
    pub audience: Audience,
    /// Its entry in `tools/list`, under its name within the namespace.
    pub definition: Value,
}

/// Whoever offers the gateway's own tools.
#[async_trait]
pub trait OwnTools: Send + Sync + 'static {
    /// All of them; the list does not change.
    fn tools(&self) -> Vec<OwnTool>;

    /// Calls one for a principal, who may not have been shown it. The error is a text for whoever called.
    async fn call(
        &self,
        principal: &Principal,
        namespace: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, String>;
}

/// Whoever offers the tools, and the tools as services.
type BoundTools = (Arc<dyn OwnTools>, Vec<Arc<OfferedService>>);

/// Services with the gateway's own tools beside them.
pub struct WithOwnTools {
    services: Arc<dyn Backend>,
    own: OnceLock<BoundTools>,
    /// The catalog of the newest generation.
    merged: Mutex<Option<Arc<Catalog>>>,
}

impl WithOwnTools {
    /// These services alone, for now.
    pub fn new(services: Arc<dyn Backend>) -> Self {
        Self { services, own: OnceLock::new(), merged: Mutex::default() }
    }

    /// Puts the gateway's own tools beside them. To be called before the first client comes.
    pub fn bind(&self, tools: Arc<dyn OwnTools>) {
        let offered = offered(tools.tools());
        let _ = self.own.set((tools, offered));
        *self.merged.lock() = None;
    }
}

fn own_id(namespace: &str) -> ServiceId {
    ServiceId::from(namespace)
}

fn profile() -> ServerProfile {
    ServerProfile {
        era: Era::Legacy(NEWEST_LEGACY.into()),
        capabilities: Map::from_iter([("tools".to_owned(), json!({}))]),
        info: None,
        instructions: None,
    }
}

/// One service for each namespace and audience.
fn offered(tools: Vec<OwnTool>) -> Vec<Arc<OfferedService>> {
    let mut all = Vec::new();
    for namespace in RESERVED {
        for audience in [Audience::Everyone, Audience::People] {
            let fitting = tools.iter().filter(|tool| tool.namespace == namespace && tool.audience == audience);
            let item = |tool: &OwnTool| ListedItem { key: tool.name.into(), definition: to_raw(&tool.definition) };
            all.push(Arc::new(OfferedService {
                id: own_id(namespace),
                namespace: Namespace::from_text(namespace),
                audience,
                content_audience: audience,
                profile: profile(),
                good_until: None,
                tools: fitting.map(item).collect(),
                resources: Vec::new(),
                resource_templates: Vec::new(),
                prompts: Vec::new(),
            }));
        }
    }
    all
}

#[async_trait]
impl Backend for WithOwnTools {
    fn catalog(&self) -> Arc<Catalog> {
        let catalog = self.services.catalog();
        let Some((_, own)) = self.own.get() else { return catalog };
        let mut merged = self.merged.lock();
        if let Some(merged) = merged.as_ref().filter(|merged| merged.generation == catalog.generation) {
            return merged.clone();
        }
        let mut services: Vec<_> = own.iter().chain(&catalog.services).cloned().collect();
        services.sort_by(|one, other| one.namespace.cmp(&other.namespace));
        let new = Arc::new(Catalog { generation: catalog.generation, services, missing: catalog.missing.clone() });
        *merged = Some(new.clone());
        new
    }

    fn changed(&self) -> watch::Receiver<u64> {
        self.services.changed()
    }

    async fn upstream(
        &self,
        service: &ServiceId,
        principal: &Principal,
        client: &ClientProfile,
    ) -> Result<Arc<dyn Upstream>, String> {
        let own = RESERVED.into_iter().find(|namespace| own_id(namespace) == *service);
        match (own, self.own.get()) {
            (Some(namespace), Some((tools, _))) => Ok(Arc::new(OwnUpstream {
                tools: tools.clone(),
                namespace,
                principal: principal.clone(),
                profile: profile(),
                closed: CancellationToken::new(),
            })),
            _ => self.services.upstream(service, principal, client).await,
        }
    }

    fn connected(
        &self,
        service: &ServiceId,
        principal: &Principal,
        client: &ClientProfile,
    ) -> Option<Arc<dyn Upstream>> {
        self.services.connected(service, principal, client)
    }

    fn patience(&self, service: &ServiceId) -> Duration {
        match RESERVED.into_iter().any(|namespace| own_id(namespace) == *service) {
            true => PATIENCE,
            false => self.services.patience(service),
        }
    }

    fn note_outcome(&self, service: &ServiceId, outcome: CallOutcome) {
        self.services.note_outcome(service, outcome);
    }

    fn unasked(&self) -> broadcast::Receiver<Arc<UnaskedMessage>> {
        self.services.unasked()
    }
}

/// The gateway's own tools of one namespace, for one principal.
struct OwnUpstream {
    tools: Arc<dyn OwnTools>,
    namespace: &'static str,
    principal: Principal,
    profile: ServerProfile,
    closed: CancellationToken,
}

#[async_trait]
impl Upstream for OwnUpstream {
    fn profile(&self) -> &ServerProfile {
        &self.profile
    }

    async fn call(&self, request: UpstreamRequest<'_>) -> Result<ServerAnswer, UpstreamError> {
        if request.method != "tools/call" {
            return Ok(Err(error(
                METHOD_NOT_FOUND,
                &format!("the gateway's own tools do not know {}", request.method),
            )));
        }
        let params = request.params.and_then(RawObject::parse).unwrap_or_default();
        let arguments = match params.get("arguments") {
            None => Ok(Map::new()),
            Some(arguments) => serde_json::from_str(arguments.get()),
        };
        let (Some(tool), Ok(arguments)) = (params.text("name"), arguments) else {
            return Ok(Err(error(INVALID_PARAMS, "tools/call needs \"name\", a text, and \"arguments\", an object")));
        };
        let called = self.tools.call(&self.principal, self.namespace, &tool, arguments).await;
        Ok(Ok(to_raw(&match called {
            Ok(result) => {
                let text = serde_json::to_string_pretty(&result).unwrap_or_default();
                json!({ "content": [{ "type": "text", "text": text }], "structuredContent": result })
            }
            Err(text) => json!({ "content": [{ "type": "text", "text": text }], "isError": true }),
        })))
    }

    async fn notify(&self, _: &str, _: Option<&RawValue>) -> Result<(), UpstreamError> {
        Ok(())
    }

    async fn ended(&self) -> UpstreamEnd {
        self.closed.cancelled().await;
        UpstreamEnd::Closed
    }

    async fn close(&self) {
        self.closed.cancel();
    }
}

fn error(code: i64, message: &str) -> Box<RawValue> {
    to_raw(&json!({ "code": code, "message": message }))
}
