//! `permission/*`: lists and answers pending approvals and questions.

use std::collections::HashSet;

use roost_engine::{Decision, ResponseTo};
use roost_model::approval::PendingAsk;
use roost_model::scope::Scope;
use roost_model::tool::PolicyDecision;
use roost_rpc::{
    Fault, FaultCode, HookDecision, ListedRule, NoParams, PendingParams, PendingRequest, PendingResult,
    PermissionDecision, PermissionRequestParams, PermissionRequestResult, PermissionRespondParams, PermissionStats,
    RuleListResult, RuleRemoveParams, Success,
};
use serde_json::json;

use super::{answering, shape};
use crate::dispatch::Context;
use crate::fault;
use crate::host::Sessions;

pub(crate) async fn respond(context: &Context<'_>, params: PermissionRespondParams) -> Result<Success, Fault> {
    let pending = answering::find(context, &params.tool_use_id, params.session_id.as_deref()).await?;
    if let PendingAsk::Question(_) = pending.ask {
        let is_no = params.decision == PermissionDecision::Deny;
        let words = params.updated_input.unwrap_or_else(|| json!(params.reason));
        let to = answering::text_response(&pending, &words, is_no)?;
        answering::respond(context, &pending, to, params.key).await?;
        return Ok(Success::DONE);
    }
    let scope = params.scope.unwrap_or_default();
    let decision = match (params.decision, params.updated_input) {
        (PermissionDecision::Allow, Some(input)) => Decision::AllowEdited { input },
        (PermissionDecision::Allow, None) => Decision::Allow { scope },
        (PermissionDecision::Deny, _) => Decision::Deny { scope, reason: params.reason },
    };
    let mut to = answering::approval_response(&pending, decision)?;
    // What the client saw counts, where it says so.
    if let ResponseTo::Approval { attempt, input_hash, .. } = &mut to {
        *attempt = params.attempt.or(*attempt);
        *input_hash = params.input_hash.or(input_hash.take());
    }
    answering::respond(context, &pending, to, params.key).await?;
    Ok(Success::DONE)
}

/// Answers a hook inside an agent: neither yes nor no. The runtime then asks for leave by its own protocol, which leads
/// through the policy and, where that says so, to a person. `agents::check` has made sure that it is the agent's own
/// session; nobody else runs such hooks.
pub(crate) async fn request(
    context: &Context<'_>,
    params: PermissionRequestParams,
) -> Result<PermissionRequestResult, Fault> {
    if context.caller.agent.is_none() {
        let why = "permission/request is for the hooks of a hosted agent; answer approvals with permission/respond";
        return Err(Fault::new(FaultCode::Forbidden, why).with("session_id", params.session_id));
    }
    let message = format!("{} is decided when the runtime asks for leave", params.tool_name);
    Ok(PermissionRequestResult { decision: HookDecision::Ask, message })
}

pub(crate) async fn pending(context: &Context<'_>, params: PendingParams) -> Result<PendingResult, Fault> {
    let session = match &params.session_id {
        Some(id) => Some(context.host.sessions.get(id).await?.session_id),
        None => None,
    };
    let waiting = context.host.sessions.log.pending(session.as_ref()).await.map_err(fault::log)?;
    let mut requests = Vec::with_capacity(waiting.len());
    let mut size = 0;
    for one in &waiting {
        let constant = context
            .host
            .delivery
            .notifications
            .session_constants(&*context.host.sessions.log, &one.session_id)
            .await
            .map_err(fault::log)?;
        let input = match &one.ask {
            PendingAsk::Approval(asked) => asked.input.clone(),
            PendingAsk::Question(asked) => json!({ "question": asked.message, "fields": asked.fields }),
        };
        // Those that do not fit are counted; they come up when older ones are answered.
        size += input.to_string().len() * 2 + 1024;
        if size > crate::dispatch::PAGE_BYTES {
            break;
        }
        requests.push(PendingRequest {
            tool_use_id: one.id().into(),
            session_id: one.session_id.to_string(),
            workspace_id: constant.workspace_id.clone().unwrap_or_default(),
            tool_name: shape::tool_name(&one.ask).into(),
            tool_input: input,
            created_at: one.asked_at,
            agent_type: constant.agent_type.clone(),
            pending: (**one).clone(),
        });
    }
    Ok(PendingResult { requests, count: waiting.len() as u64 })
}

pub(crate) async fn stats(sessions: &Sessions, _: NoParams) -> Result<PermissionStats, Fault> {
    let remembered = sessions.log.remembered().await.map_err(fault::log)?;
    let active: HashSet<_> = remembered.iter().filter_map(|dated| dated.rule.session_id.as_ref()).collect();
    Ok(PermissionStats {
        active_sessions: active.len() as u64,
        total_patterns: remembered.len() as u64,
        pending_requests: sessions.log.pending(None).await.map_err(fault::log)?.len() as u64,
    })
}

pub(crate) async fn rules(sessions: &Sessions, _: NoParams) -> Result<RuleListResult, Fault> {
    let remembered = sessions.log.remembered().await.map_err(fault::log)?;
    let listed = remembered.into_iter().map(|dated| ListedRule {
        rule_id: dated.rule.id(),
        covers: dated.rule.pattern.to_string(),
        made_at: dated.at,
        rule: dated.rule,
    });
    Ok(RuleListResult { rules: listed.collect() })
}

pub(crate) async fn remove_rule(context: &Context<'_>, params: RuleRemoveParams) -> Result<Success, Fault> {
    let engine = &context.host.sessions.engine;
    let remembered = engine.remembered_rule(&params.rule_id).await.map_err(fault::engine)?;
    // Without a remembered no, a call may run in a session that asks about nothing.
    if remembered.rule.decision == PolicyDecision::Deny && context.caller.scope < Scope::Admin {
        let why = format_args!("{} is an answer that denies; to remove it needs the scope Admin", params.rule_id);
        return Err(Fault::new(FaultCode::Forbidden, why).with("needs", Scope::Admin));
    }
    engine.remove_rule(&params.rule_id, context.caller.answerer()).await.map_err(fault::engine)?;
    Ok(Success::DONE)
}
