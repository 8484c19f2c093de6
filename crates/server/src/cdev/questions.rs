//! The notifications of approvals and questions: when they are asked and when they are resolved.

use roost_model::approval::{Answerer, ApprovalEnd};
use roost_model::payload::{
    ApprovalRequestedPayload, ApprovalResolvedPayload, QUESTION_TOOL, QuestionAskedPayload, QuestionOutcome,
    QuestionResolvedPayload,
};
use roost_model::tool::PolicyDecision;
use roost_rpc::call::ToolCallView;
use serde_json::{Value, json};

use super::log_line::json_text;
use super::message::object;
use super::notify::{Audience, Notification, NotificationBuilder};
use super::question;
use super::state::{self, Pty};

/// The notifications of a tool call that needs approval.
pub(super) fn approval(builder: &NotificationBuilder<'_>, asked: &ApprovalRequestedPayload) -> Vec<Notification> {
    let call = ToolCallView::from_approval(asked);
    let description = call.description(builder.session.cwd);
    let id = &asked.identity.tool_call_id;
    let pty_permission = json!({
        "tool_use_id": id, "type": call.permission(), "target": call.target(), "description": description,
        "preview": call.preview(), "options": options(asked),
    });
    // The seed's names and those that phones read.
    let claude_permission = json!({
        "tool_use_id": id, "tool_name": asked.name, "input": json_text(&object(asked.input.clone())),
        "description": description, "tool": asked.name, "request_id": id,
    });
    let mut notes = vec![
        builder.note("pty_permission", Audience::Focused, pty_permission),
        builder.note("claude_permission", Audience::Workspace, claude_permission),
    ];
    notes.extend(state::waits(builder, Pty::Permission));
    notes
}

/// The answers that can be given; "for this session" only where the policy offers it.
fn options(asked: &ApprovalRequestedPayload) -> Vec<Value> {
    let mut options = vec![json!({ "key": "allow_once", "label": "Allow once", "selected": true })];
    if let Some(offer) = &asked.offer {
        options.push(json!({
            "key": "allow_session", "label": "Allow for this session", "description": offer.offer_text(),
            "selected": false,
        }));
    }
    options.push(json!({ "key": "deny", "label": "Deny", "selected": false }));
    options
}

/// The notifications of an approval that was answered, expired or withdrawn.
pub(super) fn approval_resolved(
    builder: &NotificationBuilder<'_>,
    resolved: &ApprovalResolvedPayload,
) -> Vec<Notification> {
    let by = resolved_by(resolved.answered_by.as_ref()).unwrap_or_else(|| json!(resolved.end));
    let fields = json!({
        "tool_use_id": resolved.identity.tool_call_id, "resolved_by": by, "decision": resolved.decision,
        "scope": resolved.scope, "answered_by": resolved.answered_by, "reason": resolved.reason,
    });
    let mut notes = vec![builder.note("pty_permission_resolved", Audience::Focused, fields)];
    // Where the task ends with it, its last event says what comes next.
    if matches!(resolved.end, ApprovalEnd::Answered | ApprovalEnd::Expired | ApprovalEnd::Withdrawn) {
        notes.extend(state::goes_on(builder));
    }
    notes
}

/// The notifications of a question to the user. Phones show only the first field; all of them are in the
/// `claude_message`.
pub(super) fn question(builder: &NotificationBuilder<'_>, asked: &QuestionAskedPayload) -> Vec<Notification> {
    let id = &asked.question_id;
    let fields = json!({
        "tool_use_id": id, "tool_name": QUESTION_TOOL, "input": json_text(&object(question::input(asked))),
        "question": asked.message, "options": asked.fields.first().map(question::options).unwrap_or_default(),
        "request_id": id, "description": asked.message,
    });
    let mut notes = vec![builder.note("claude_waiting", Audience::Workspace, fields)];
    notes.extend(state::waits(builder, Pty::Question));
    notes
}

/// The notifications of a question that was answered, declined or cancelled.
pub(super) fn question_resolved(
    builder: &NotificationBuilder<'_>,
    resolved: &QuestionResolvedPayload,
) -> Vec<Notification> {
    let decision = match resolved.outcome {
        QuestionOutcome::Answered => PolicyDecision::Allow,
        QuestionOutcome::Declined | QuestionOutcome::Cancelled => PolicyDecision::Deny,
    };
    let by = resolved_by(resolved.answered_by.as_ref()).unwrap_or_else(|| json!(resolved.outcome));
    let fields = json!({
        "tool_use_id": resolved.question_id, "resolved_by": by, "decision": decision,
        "answered_by": resolved.answered_by, "reason": resolved.reason,
    });
    let mut notes = vec![builder.note("pty_permission_resolved", Audience::Focused, fields)];
    if resolved.outcome != QuestionOutcome::Cancelled {
        notes.extend(state::goes_on(builder));
    }
    notes
}

/// Who answered, as one word, which a phone needs to recognise the event.
fn resolved_by(answerer: Option<&Answerer>) -> Option<Value> {
    let Answerer { client_id, user_id, from } = answerer?;
    let word = client_id.as_ref().map(|id| id.as_str()).or(user_id.as_ref().map(|id| id.as_str()));
    word.or(from.as_deref()).map(Value::from)
}
