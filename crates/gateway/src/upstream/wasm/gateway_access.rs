//! What modules reach of the gateway itself: its tools, and the people behind it.

use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use roost_model::ids::ServiceId;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::principal::Principal;
use crate::raw_object::RawObject;
use crate::trace_context::TRACEPARENT;

/// In the `_meta` of a call: how many modules have called each other to make it.
const DEPTH: &str = "dev.roost/moduleDepth";
/// In the `_meta` of a call: the run that it belongs to, in every spelling that clients use.
const RUN: [&str; 3] = ["runId", "run_id", "roost/runId"];
/// Modules that may call each other in a chain; without a bound one that calls itself would take every instance.
pub(super) const MAX_DEPTH: u64 = 4;

/// The gateway, as modules use it on behalf of whoever called them.
#[async_trait]
pub trait ModuleGateway: Send + Sync + 'static {
    /// The tools that this principal sees.
    async fn list_tools(&self, principal: &Principal) -> Result<Vec<Value>, String>;

    /// Calls a tool as this principal would, with `meta` as the request's own, and returns the text of its result.
    async fn call_tool(
        &self,
        principal: &Principal,
        tool: &str,
        arguments: Value,
        meta: Value,
    ) -> Result<String, String>;

    /// Records a call of a model that a module made for this principal, in the run that the principal names.
    async fn report_model_call(&self, principal: &Principal, run: Option<&str>, call: ModelCall);

    /// Asks the people who watch this principal; `None` if nobody answered. The same key of a service is the same question.
    async fn ask(
        &self,
        principal: &Principal,
        service: &ServiceId,
        key: &str,
        question: &str,
    ) -> Result<Option<String>, String>;
}

/// What a call of a model used, as its server says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall {
    /// The service of the module that made it.
    pub service: ServiceId,
    /// The model's name.
    pub model: String,
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that it wrote.
    pub output_tokens: u64,
}

/// The way to the gateway, which stands only after the services do; clones share it.
#[derive(Clone, Default)]
pub struct GatewayAccess(Arc<OnceLock<Weak<dyn ModuleGateway>>>);

impl GatewayAccess {
    /// Opens the way. A second time changes nothing.
    pub fn open(&self, gateway: &Arc<dyn ModuleGateway>) {
        let _ = self.0.set(Arc::downgrade(gateway));
    }

    pub(super) fn get(&self) -> Result<Arc<dyn ModuleGateway>, String> {
        let gateway = self.0.get().and_then(Weak::upgrade);
        gateway.ok_or_else(|| "the gateway is starting or ending; try again later".into())
    }
}

/// What the calls of a module take over from the call that it runs for.
#[derive(Clone, Debug, Default)]
pub(super) struct CallChain {
    /// How many modules have called each other until here.
    pub(super) depth: u64,
    /// The run that the calls belong to, whose budget they count in.
    pub(super) run: Option<String>,
    /// The trace in which they stand.
    traceparent: Option<String>,
}

impl CallChain {
    /// What a call with this `_meta` hands on.
    pub(super) fn of(meta: Option<&RawValue>) -> Self {
        let Some(meta) = meta.and_then(RawObject::parse) else { return Self::default() };
        let depth = meta.get(DEPTH).and_then(|depth| serde_json::from_str(depth.get()).ok()).unwrap_or(0);
        let run = RUN.into_iter().find_map(|name| meta.text(name));
        Self { depth, run, traceparent: meta.text(TRACEPARENT) }
    }

    /// The `_meta` of a call that the module makes.
    pub(super) fn meta(&self) -> Value {
        let mut meta = serde_json::json!({ DEPTH: self.depth + 1 });
        for (name, value) in [(RUN[0], &self.run), (TRACEPARENT, &self.traceparent)] {
            if let Some(value) = value {
                meta[name] = value.as_str().into();
            }
        }
        meta
    }
}
