//! What modules reach of the gateway itself: its tools, and the people behind it.

use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use roost_model::ids::ServiceId;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::principal::Principal;
use crate::raw_object::RawObject;

/// In the `_meta` of a call: how many modules have called each other to make it.
const DEPTH: &str = "dev.roost/moduleDepth";
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

    /// Asks the people who watch this principal; `None` if nobody answered. The same key of a service is the same question.
    async fn ask(
        &self,
        principal: &Principal,
        service: &ServiceId,
        key: &str,
        question: &str,
    ) -> Result<Option<String>, String>;
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

/// How many modules have called each other to make a call with this `_meta`.
pub(super) fn call_depth(meta: Option<&RawValue>) -> u64 {
    let depth = meta.and_then(RawObject::parse).and_then(|meta| serde_json::from_str(meta.get(DEPTH)?.get()).ok());
    depth.unwrap_or(0)
}

/// The `_meta` of a call that a module makes.
pub(super) fn meta_of_call(depth: u64) -> Value {
    serde_json::json!({ DEPTH: depth })
}
