//! The one policy and the one record behind every tool call of the gateway.
//!
//! * A hosted agent's call ([`Principal::Session`]) belongs to the agent's session: the engine joins it with the call that
//!   the runtime itself announced, so that it is asked about once and recorded once.
//! * Every other call is judged without a session. Only if a person must be asked does the client get one, in which its
//!   calls are asked about like those of an agent.
//! * Every call leaves one `mcp.tool_called` event, when it is over or denied.

mod audit;
mod client_sessions;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use roost_engine::adapter::Answer;
use roost_engine::{Engine, GatewayToolCall, GatewayVerdict};
use roost_log::Log;
use roost_model::ids::{RunId, SessionId};
use roost_model::mode::Mode;
use roost_model::payload::{McpToolCalledPayload, QuestionAskedPayload, UsageReportedPayload};
use roost_model::tool::{PolicyDecision, PolicyResult, PolicySource, ToolCallIdentity, ToolPolicyEvaluation};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use self::audit::AuditTrail;
use self::client_sessions::ClientSessions;
use crate::governor::{Access, CallReport, GatewayCall, Governor, Permit, Ticket};
use crate::namespace::{MAX_NAME, Namespace};
use crate::principal::Principal;
use crate::runs::{BUDGET_RULE, OnExceeded, RunBudgets, RunsError};
use crate::strict_json;
use crate::trace_context::TraceContext;

/// The name under which a person is asked to raise the budget of a client's run. No rule and no mode answers that.
const RAISE_BUDGET: &str = "raise_budget";

/// How calls are judged and recorded.
#[derive(Clone, Copy, Debug, Default)]
pub struct GovernanceOptions {
    /// The permission mode for clients that are no hosted agents; an agent's calls have the mode of its task.
    pub client_mode: Mode,
    /// Whether the record of a call holds its arguments.
    pub record_arguments: bool,
    /// Whether nobody watches these clients, so that a budget that is used up is not asked about.
    pub unattended: bool,
}

/// The [`Governor`] of a daemon: the engine's policy, its sessions, and the log.
pub struct EngineGovernor {
    engine: Arc<Engine>,
    options: GovernanceOptions,
    audit: AuditTrail,
    budgets: Option<Arc<RunBudgets>>,
    clients: ClientSessions,
    next_ticket: AtomicU64,
    /// The calls that were allowed and are not over.
    open: Mutex<HashMap<Ticket, AllowedCall>>,
}

/// A call that was allowed and is not over.
struct AllowedCall {
    /// What is known of it for the record.
    record: McpToolCalledPayload,
    /// The session that shows it, and its identity there.
    shown_as: Option<(SessionId, ToolCallIdentity)>,
}

impl EngineGovernor {
    /// A governor over this engine, which writes its record to this log.
    pub fn new(engine: Arc<Engine>, log: Arc<dyn Log>, options: GovernanceOptions) -> Self {
        Self {
            engine,
            options,
            audit: AuditTrail::new(log),
            budgets: None,
            clients: ClientSessions::default(),
            next_ticket: AtomicU64::new(1),
            open: Mutex::default(),
        }
    }

    /// Holds the runs of clients to these budgets; the engine holds its own sessions to them.
    pub fn with_budgets(mut self, budgets: Option<Arc<RunBudgets>>) -> Self {
        self.budgets = budgets;
        self
    }

    /// Counts a client's call against the budget of its run. A run that has used it up is denied the call, unless a person
    /// who is asked gives it as much again.
    async fn check_budget(&self, call: &GatewayCall<'_>, run: &RunId) -> Result<Option<Decided>, RunsError> {
        let Some(budgets) = &self.budgets else { return Ok(None) };
        let Some(exceeded) = budgets.count_call(run).await? else { return Ok(None) };
        let can_ask = budgets.on_exceeded() == OnExceeded::Ask && !self.options.unattended;
        if can_ask && self.ask_to_raise(call, exceeded.question()).await.map_err(RunsError::not_recorded)? {
            budgets.raise(&exceeded).await?;
            let exceeded = budgets.count_call(run).await?;
            return Ok(exceeded.map(|exceeded| Decided::failed(BUDGET_RULE, exceeded.reason())));
        }
        Ok(Some(Decided::failed(BUDGET_RULE, exceeded.reason())))
    }

    /// Asks a person to raise a budget, in the session that shows the client's calls, as a tool call of its own.
    async fn ask_to_raise(&self, call: &GatewayCall<'_>, question: Value) -> Result<bool, roost_engine::Error> {
        let (engine, mode) = (&self.engine, self.options.client_mode);
        let session = self.clients.open(engine, call.principal, call.client_name, mode).await?;
        let tool = GatewayToolCall {
            tool: RAISE_BUDGET.into(),
            input: question,
            runtime_tool_call_id: None,
            only_looks: false,
            always_asks: true,
        };
        let verdict = engine.call_through_gateway(&session, tool).await?;
        let Some(identity) = verdict.identity.filter(|_| verdict.decision == PolicyDecision::Allow) else {
            return Ok(false);
        };
        engine.finish_gateway_call(&session, &identity, "raised".into(), false).await?;
        Ok(true)
    }

    /// Asks the people who watch this principal, in the session that shows its calls; `None` if nobody answered.
    pub async fn ask(
        &self,
        principal: &Principal,
        client_name: Option<&str>,
        question: QuestionAskedPayload,
    ) -> Result<Option<BTreeMap<String, Vec<String>>>, roost_engine::Error> {
        let session = match principal {
            Principal::Session(session) => session.clone(),
            Principal::Local | Principal::Device(_) => {
                self.clients.open(&self.engine, principal, client_name, self.options.client_mode).await?
            }
        };
        match self.engine.ask_through_gateway(&session, question).await? {
            Answer::Given(answers) => Ok(Some(answers)),
            Answer::Declined | Answer::Cancelled => Ok(None),
        }
    }

    /// Adds what a module used of models for a hosted agent to what the agent's session used.
    pub(crate) async fn add_usage(
        &self,
        session: &SessionId,
        usage: UsageReportedPayload,
    ) -> Result<(), roost_engine::Error> {
        self.engine.add_usage(session, usage).await
    }

    /// Returns when everything recorded so far is in the log, and ends the task that writes it.
    pub async fn close(&self) {
        self.audit.close().await;
    }

    /// Decides about a call, and where it is shown.
    async fn decide(&self, call: &GatewayCall<'_>, tool_call: GatewayToolCall) -> Result<Decided, roost_engine::Error> {
        let session = match call.principal {
            Principal::Session(session) => session.clone(),
            Principal::Local | Principal::Device(_) => {
                let known = self.clients.get(call.principal);
                let judged =
                    self.engine.judge_client_call(known.as_ref(), self.options.client_mode, tool_call.clone()).await;
                match judged.evaluation.result {
                    PolicyResult::Allow => return Ok(Decided::allowed(judged.evaluation)),
                    PolicyResult::Deny => return Ok(Decided::denied(judged.evaluation, judged.reason)),
                    PolicyResult::Ask => {
                        let (engine, mode) = (&self.engine, self.options.client_mode);
                        self.clients.open(engine, call.principal, call.client_name, mode).await?
                    }
                }
            }
        };
        let verdict = self.engine.call_through_gateway(&session, tool_call).await?;
        Ok(Decided::in_session(session, verdict))
    }
}

/// Whether a call is one of a tool of the gateway itself that changes nothing; what a service says of its own tools never
/// counts.
fn is_read_only(call: &GatewayCall<'_>) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Hints {
        #[serde(default)]
        read_only_hint: bool,
    }
    let hints = call.annotations.and_then(|raw| serde_json::from_str::<Hints>(raw.get()).ok());
    let is_own = call.service.is_none() && call.namespace.is_some_and(Namespace::is_reserved);
    is_own && hints.is_some_and(|hints| hints.read_only_hint)
}

/// A decision, and the session that shows it.
struct Decided {
    decision: PolicyDecision,
    evaluation: ToolPolicyEvaluation,
    reason: String,
    shown_as: Option<(SessionId, ToolCallIdentity)>,
}

impl Decided {
    fn allowed(evaluation: ToolPolicyEvaluation) -> Self {
        Self { decision: PolicyDecision::Allow, evaluation, reason: String::new(), shown_as: None }
    }

    fn denied(evaluation: ToolPolicyEvaluation, reason: String) -> Self {
        Self { decision: PolicyDecision::Deny, evaluation, reason, shown_as: None }
    }

    /// A call that cannot be decided is denied.
    fn failed(rule: &str, reason: String) -> Self {
        let (source, result, rule) = (PolicySource::Codesdk, PolicyResult::Deny, Some(rule.into()));
        Self::denied(ToolPolicyEvaluation { source, result, rule }, reason)
    }

    /// What the record says of a denial.
    fn error(&self) -> String {
        format!("denied: {}", self.reason)
    }

    fn in_session(session: SessionId, verdict: GatewayVerdict) -> Self {
        let GatewayVerdict { identity, decision, evaluation, reason } = verdict;
        Self { decision, evaluation, reason, shown_as: identity.map(|identity| (session, identity)) }
    }
}

/// What the governor reads of a request's `_meta`. Keys that it does not know pass it by.
#[derive(Default, Deserialize)]
struct CallMeta {
    traceparent: Option<String>,
    /// Claude Code's id of the call.
    #[serde(rename = "claudecode/toolUseId")]
    claude_tool_use: Option<String>,
    /// The run that the call belongs to, if its client orchestrates several.
    #[serde(rename = "runId", alias = "run_id", alias = "roost/runId")]
    run: Option<String>,
    /// Codex's id of the call.
    #[serde(rename = "callId")]
    codex_call: Option<String>,
}

/// What is recorded of a call before it is decided. If its client goes away until then, it is recorded as withdrawn.
struct UndecidedCall<'a> {
    audit: &'a AuditTrail,
    record: Option<McpToolCalledPayload>,
}

impl UndecidedCall<'_> {
    /// The record with the decision in it.
    fn decided(mut self, decided: &Decided) -> Option<McpToolCalledPayload> {
        let shown_as = decided.shown_as.clone();
        self.record.take().map(|record| McpToolCalledPayload {
            policy: decided.evaluation.clone(),
            session_id: shown_as.as_ref().map(|(session, _)| session.clone()),
            tool_call_id: shown_as.map(|(_, identity)| identity.tool_call_id),
            ..record
        })
    }
}

impl Drop for UndecidedCall<'_> {
    fn drop(&mut self) {
        if let Some(record) = self.record.take() {
            self.audit.record_now(record);
        }
    }
}

#[async_trait]
impl Governor for EngineGovernor {
    async fn judge(&self, call: &GatewayCall<'_>) -> Permit {
        let meta: CallMeta = call.meta.and_then(|meta| serde_json::from_str(meta.get()).ok()).unwrap_or_default();
        let trace = meta.traceparent.as_deref().and_then(TraceContext::parse);
        let arguments = call.arguments.map_or_else(|| Ok(Value::Object(Map::new())), strict_json::parse);
        let withdrawn = Decided::failed("gateway:withdrawn", "the client no longer waits for it".into());
        // A hosted agent's run is its session, whatever it says, and the engine holds it to its budget.
        let run = match call.principal {
            Principal::Session(_) => None,
            Principal::Local | Principal::Device(_) => meta.run.map(RunId::from),
        };
        let record = McpToolCalledPayload {
            principal: call.principal.to_string(),
            client: call.client_name.map(Into::into),
            service_id: call.service.cloned(),
            tool: call.tool.into(),
            routed_tool: call.routed_tool.into(),
            success: false,
            error: Some(withdrawn.error()),
            policy: withdrawn.evaluation,
            duration_us: 0,
            request_bytes: call.arguments.map_or(0, |raw| raw.get().len() as u64),
            response_bytes: 0,
            session_id: None,
            tool_call_id: None,
            run_id: run.clone(),
            trace_id: trace.as_ref().map(|trace| trace.trace_id.clone()),
            parent_span_id: trace.map(|trace| trace.span_id),
            arguments: arguments.as_ref().ok().filter(|_| self.options.record_arguments).cloned(),
        };
        let undecided = UndecidedCall { audit: &self.audit, record: Some(record) };
        let decided = match arguments {
            Ok(input) => {
                let runtime_tool_call_id = meta.claude_tool_use.or(meta.codex_call);
                // Not the name that the client sees: at the address of one service that has no prefix.
                let qualified = call.namespace.map(|namespace| namespace.qualify(call.routed_tool, MAX_NAME));
                let tool = qualified.unwrap_or_else(|| call.tool.into());
                let only_looks = call.access == Access::Read || is_read_only(call);
                let always_asks = false;
                let tool_call = GatewayToolCall { tool, input, runtime_tool_call_id, only_looks, always_asks };
                let failed = |error: &dyn std::fmt::Display| Decided::failed("gateway:failed", error.to_string());
                let over_budget = match &run {
                    Some(run) => self.check_budget(call, run).await,
                    None => Ok(None),
                };
                match over_budget {
                    Ok(Some(denied)) => denied,
                    Ok(None) => self.decide(call, tool_call).await.unwrap_or_else(|error| failed(&error)),
                    Err(error) => failed(&error),
                }
            }
            Err(error) => Decided::failed("gateway:unreadable", format!("the arguments cannot be judged: {error}")),
        };
        let record = undecided.decided(&decided);
        match (decided.decision, record) {
            (PolicyDecision::Allow, Some(record)) => {
                let ticket = Ticket(self.next_ticket.fetch_add(1, Ordering::Relaxed));
                let shown_as = decided.shown_as;
                self.open.lock().insert(ticket.clone(), AllowedCall { record, shown_as });
                Permit::Allowed(ticket)
            }
            (_, record) => {
                if let Some(record) = record {
                    self.audit.record(McpToolCalledPayload { error: Some(decided.error()), ..record }).await;
                }
                Permit::Denied { reason: decided.reason }
            }
        }
    }

    async fn finish(&self, ticket: Ticket, report: CallReport, result: Option<&RawValue>) {
        let Some(AllowedCall { record, shown_as }) = self.open.lock().remove(&ticket) else { return };
        let CallReport { success, error, duration, request_bytes, response_bytes } = report;
        if let Some((session, identity)) = shown_as {
            let shown = result.and_then(|raw| serde_json::from_str(raw.get()).ok());
            let shown = shown.or_else(|| error.clone().map(Value::String)).unwrap_or_default();
            let finished = self.engine.finish_gateway_call(&session, &identity, shown, !success).await;
            if let Err(error) = finished {
                tracing::warn!(%session, %error, "The result of a gateway call could not be shown in its session.");
            }
        }
        let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let record = McpToolCalledPayload { success, error, duration_us, request_bytes, response_bytes, ..record };
        self.audit.record(record).await;
    }
}
