//! Approvals as the editor is asked about them, and its answers as the daemon takes them.
//!
//! The options are the daemon's, not the agent's: an adapter passes the answer on as the agent's own one-time option. An
//! agent's lasting option would keep it from asking, and the policy from judging.

use agent_client_protocol_schema::v1 as acp;
use roost_model::approval::ApprovalScope;
use roost_model::payload::ApprovalRequestedPayload;
use roost_rpc::{PermissionDecision, PermissionRespondParams};

use crate::tool_calls;

const ALLOW_ONCE: &str = "allow_once";
const ALLOW_SESSION: &str = "allow_session";
const ALLOW_WORKSPACE: &str = "allow_workspace";
const REJECT_ONCE: &str = "reject_once";

/// The request to the editor. A remembered answer is offered only if the daemon offers one.
pub(crate) fn request(session: &str, asked: &ApprovalRequestedPayload) -> acp::RequestPermissionRequest {
    use acp::PermissionOptionKind as Kind;
    let option = |id: &str, name: String, kind| acp::PermissionOption::new(id.to_owned(), name, kind);
    let mut options = vec![option(ALLOW_ONCE, "Allow once".into(), Kind::AllowOnce)];
    if let Some(offer) = &asked.offer {
        let covers = offer.offer_text();
        options.push(option(ALLOW_SESSION, format!("Allow in this session: {covers}"), Kind::AllowAlways));
        options.push(option(ALLOW_WORKSPACE, format!("Allow in this workspace: {covers}"), Kind::AllowAlways));
    }
    options.push(option(REJECT_ONCE, "Deny".into(), Kind::RejectOnce));
    acp::RequestPermissionRequest::new(session.to_owned(), tool_calls::asked(asked), options)
}

/// The answer for the daemon, for exactly the attempt and input that the editor was shown. An answer that is none of
/// the options denies.
pub(crate) fn respond(
    session: &str,
    asked: &ApprovalRequestedPayload,
    outcome: &acp::RequestPermissionOutcome,
) -> PermissionRespondParams {
    let chosen = match outcome {
        acp::RequestPermissionOutcome::Selected(selected) => &*selected.option_id.0,
        _ => "",
    };
    let allowed = |scope| (PermissionDecision::Allow, scope, None);
    let (decision, scope, reason) = match chosen {
        ALLOW_ONCE => allowed(ApprovalScope::Once),
        ALLOW_SESSION if asked.offer.is_some() => allowed(ApprovalScope::Session),
        ALLOW_WORKSPACE if asked.offer.is_some() => allowed(ApprovalScope::Workspace),
        REJECT_ONCE => (PermissionDecision::Deny, ApprovalScope::Once, None),
        _ => (PermissionDecision::Deny, ApprovalScope::Once, Some("the editor gave no answer".to_owned())),
    };
    PermissionRespondParams {
        tool_use_id: asked.identity.tool_call_id.to_string(),
        decision,
        scope: Some(scope),
        session_id: Some(session.to_owned()),
        reason,
        updated_input: None,
        attempt: Some(asked.identity.attempt),
        input_hash: Some(asked.identity.input_hash.clone()),
        key: None,
    }
}

#[cfg(test)]
mod tests {
    use roost_model::pattern::CallPattern;
    use roost_model::tool::ToolCallIdentity;
    use serde_json::json;

    use super::*;

    fn asked(offer: Option<CallPattern>) -> ApprovalRequestedPayload {
        let input = json!({ "command": "ls" });
        ApprovalRequestedPayload {
            identity: ToolCallIdentity::first(None, &input),
            name: "Bash".into(),
            title: Some("harmless".into()),
            kind: None,
            input,
            input_ref: None,
            class: None,
            rule: None,
            offer,
            expires_at: None,
        }
    }

    #[test]
    fn an_answer_becomes_the_decision_that_was_offered_and_everything_else_denies() {
        use PermissionDecision::{Allow, Deny};
        let offer = || Some(CallPattern { runtime: None, tool: Some("Bash".into()), touches: None });
        for (offer, chosen, decision, scope) in [
            (None, Some("allow_once"), Allow, ApprovalScope::Once),
            (offer(), Some("allow_session"), Allow, ApprovalScope::Session),
            (offer(), Some("allow_workspace"), Allow, ApprovalScope::Workspace),
            (None, Some("allow_session"), Deny, ApprovalScope::Once),
            (None, Some("reject_once"), Deny, ApprovalScope::Once),
            (offer(), Some("yes"), Deny, ApprovalScope::Once),
            (offer(), None, Deny, ApprovalScope::Once),
        ] {
            let outcome = match chosen {
                Some(id) => acp::RequestPermissionOutcome::Selected(acp::SelectedPermissionOutcome::new(id.to_owned())),
                None => acp::RequestPermissionOutcome::Cancelled,
            };
            let answer = respond("s", &asked(offer), &outcome);
            assert_eq!((answer.decision, answer.scope), (decision, Some(scope)), "{chosen:?}");
        }
    }

    #[test]
    fn a_remembered_answer_is_offered_only_where_the_daemon_offers_one() {
        let ids = |offer| {
            let options = request("s", &asked(offer)).options;
            options.iter().map(|option| option.option_id.0.to_string()).collect::<Vec<_>>()
        };
        let pattern = CallPattern { runtime: None, tool: Some("Bash".into()), touches: None };
        assert_eq!(ids(None), ["allow_once", "reject_once"]);
        assert_eq!(ids(Some(pattern)), ["allow_once", "allow_session", "allow_workspace", "reject_once"]);
    }
}
