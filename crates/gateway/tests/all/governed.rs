//! A governor over an engine, and somebody who calls tools through it.

use std::sync::Arc;
use std::time::Duration;

use roost_engine::{Config, Decision, Response, ResponseTo};
use roost_gateway::governance::{EngineGovernor, GovernanceOptions};
use roost_gateway::governor::{Access, CallReport, GatewayCall, Governor, Permit, Ticket};
use roost_gateway::namespace::Namespace;
use roost_gateway::principal::Principal;
use roost_log::{Log, StreamId};
use roost_model::approval::{Answerer, ApprovalScope, Pending};
use roost_model::event::EventBody;
use roost_model::ids::ServiceId;
use roost_model::payload::McpToolCalledPayload;
use roost_policy::{Effect, Rule, RuleSet};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use testkit::{Harness, Home, soon};

/// The tool that every test calls, and its name in rules and events.
pub(crate) const TOOL: &str = "docs__search";
pub(crate) const NAME: &str = "mcp__roost__docs__search";

/// A governor and the engine below it.
pub(crate) struct Governed {
    pub(crate) host: Harness,
    pub(crate) governor: Arc<EngineGovernor>,
}

impl Governed {
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}, GovernanceOptions::default()).await
    }

    /// One with a rule about the tool.
    pub(crate) async fn with_rule(effect: Effect) -> Self {
        let rule = Rule { tool: Some(NAME.into()), name: Some("house".into()), ..Rule::new(effect) };
        let rules = Arc::new(RuleSet::new(&[rule]).unwrap());
        Self::start_with(|config| config.rules = rules, GovernanceOptions::default()).await
    }

    pub(crate) async fn start_with(configure: impl FnOnce(&mut Config), options: GovernanceOptions) -> Self {
        let host = Home::new().start_with(configure).await;
        let governor = Arc::new(EngineGovernor::new(host.engine.clone(), Arc::new(host.log.clone()), options));
        Self { host, governor }
    }

    /// Judges a call with these arguments and this `_meta`.
    pub(crate) async fn judge(&self, principal: &Principal, arguments: Value, meta: Value) -> Permit {
        judge(&self.governor, principal, TOOL, &arguments, &meta).await
    }

    /// Judges a call beside the test.
    pub(crate) fn spawn_judge(
        &self,
        principal: &Principal,
        arguments: Value,
        meta: Value,
    ) -> tokio::task::JoinHandle<Permit> {
        let (governor, principal) = (self.governor.clone(), principal.clone());
        tokio::spawn(async move { judge(&governor, &principal, TOOL, &arguments, &meta).await })
    }

    /// Waits until a person is asked about a call.
    pub(crate) async fn asked(&self) -> Arc<Pending> {
        let asked = async {
            loop {
                match self.host.log.pending(None).await.unwrap().pop() {
                    Some(asked) => return asked,
                    None => tokio::task::yield_now().await,
                }
            }
        };
        soon("a person is asked", asked).await
    }

    pub(crate) async fn answer(&self, asked: &Pending, decision: Decision) -> Result<(), roost_engine::Error> {
        let to = ResponseTo::Approval { call: asked.id().into(), attempt: None, input_hash: None, decision };
        let response = Response { to, by: Answerer::default(), key: None };
        soon("an answer is taken", self.host.engine.respond(asked.session_id.as_str(), response)).await
    }

    /// Ends an allowed call with this result.
    pub(crate) async fn finish(&self, ticket: Ticket, result: &Value) {
        let report = CallReport {
            success: true,
            error: None,
            duration: Duration::from_micros(1500),
            request_bytes: 7,
            response_bytes: 11,
        };
        self.governor.finish(ticket, report, Some(&raw(result))).await;
    }

    /// Everything that is recorded of calls. The governor takes no more of them afterwards.
    pub(crate) async fn records(&self) -> Vec<McpToolCalledPayload> {
        self.governor.close().await;
        let page = self.host.log.read(&StreamId::host(), 0, 4096).await.unwrap();
        let recorded = page.batch.iter().filter_map(|entry| match &entry.event().unwrap().body {
            EventBody::McpToolCalled(called) => Some(called.clone()),
            _ => None,
        });
        recorded.collect()
    }
}

pub(crate) async fn judge(
    governor: &EngineGovernor,
    principal: &Principal,
    tool: &str,
    arguments: &Value,
    meta: &Value,
) -> Permit {
    judge_raw(governor, principal, Access::Call, tool, &raw(arguments), meta).await
}

/// Judges a request with arguments as they are written.
pub(crate) async fn judge_raw(
    governor: &EngineGovernor,
    principal: &Principal,
    access: Access,
    tool: &str,
    arguments: &RawValue,
    meta: &Value,
) -> Permit {
    let meta = raw(meta);
    let call = GatewayCall {
        access,
        principal,
        client_name: Some("probe"),
        service: Some(&ServiceId::from("svc_0123456789ab")),
        namespace: Some(&Namespace::from_text("docs")),
        tool,
        routed_tool: "search",
        arguments: Some(arguments),
        meta: Some(&meta),
        annotations: None,
    };
    soon("a call is judged", governor.judge(&call)).await
}

pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

pub(crate) const ALLOW: Decision = Decision::Allow { scope: ApprovalScope::Once };

pub(crate) fn deny(reason: &str) -> Decision {
    Decision::Deny { scope: ApprovalScope::Once, reason: Some(reason.into()) }
}

/// The ticket of a call that was allowed.
pub(crate) fn allowed(permit: Permit) -> Ticket {
    match permit {
        Permit::Allowed(ticket) => ticket,
        Permit::Denied { reason } => panic!("denied: {reason}"),
    }
}

/// The reason of a call that was denied.
pub(crate) fn denied(permit: Permit) -> String {
    match permit {
        Permit::Denied { reason } => reason,
        Permit::Allowed(_) => panic!("it was allowed"),
    }
}
