//! Requests that begin inside of the daemon, on behalf of somebody: they pass everything that those of clients pass.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::request::{CAPABILITIES, VERSION};
use super::{Endpoint, IncomingRequest, McpRefusal, Outlet, View};
use crate::era::MODERN;
use crate::principal::Principal;
use crate::raw_object::{RawObject, to_raw};

impl Endpoint {
    /// All tools that this principal sees, as `tools/list` has them.
    pub async fn list_tools_for(&self, principal: &Principal) -> Result<Vec<Value>, McpRefusal> {
        let mut tools = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let page = self.request_for(principal, "tools/list", params).await?;
            let page = RawObject::parse(&page).unwrap_or_default();
            let listed = page.get("tools").and_then(|tools| serde_json::from_str::<Vec<Value>>(tools.get()).ok());
            tools.extend(listed.unwrap_or_default());
            cursor = page.text("nextCursor");
            if cursor.is_none() {
                return Ok(tools);
            }
        }
    }

    /// Calls a tool as this principal would: judged by the policy and recorded. `params` are those of `tools/call`.
    pub async fn call_tool_for(&self, principal: &Principal, params: Value) -> Result<Box<RawValue>, McpRefusal> {
        self.request_for(principal, "tools/call", params).await
    }

    async fn request_for(
        &self,
        principal: &Principal,
        method: &str,
        mut params: Value,
    ) -> Result<Box<RawValue>, McpRefusal> {
        // Nobody is there to be asked for anything more, so this client can do nothing.
        params["_meta"][VERSION] = MODERN.into();
        params["_meta"][CAPABILITIES] = json!({});
        let params = to_raw(&params);
        // What is said before the answer has no reader.
        let (nobody, _) = mpsc::channel(1);
        let incoming = IncomingRequest { id: RawValue::NULL, method, params: Some(&params), traceparent: None };
        self.answer_modern(principal, &View::All, incoming, &Outlet::Queue(nobody)).await
    }
}
