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

/// The name of the notification that shows an approval as a terminal's panel.
pub(super) const PANEL: &str = "pty_permission";
/// The name of the one for clients that have no such panel.
pub(super) const PLAIN: &str = "claude_permission";

/// The notifications of a tool call that needs approval. Each client gets one of the first two: see
/// [`super::notify::Notification::is_panel`]. `selected` is the position of the option that is selected.
pub(super) fn approval(
    builder: &NotificationBuilder<'_>,
    asked: &ApprovalRequestedPayload,
    selected: usize,
) -> Vec<Notification> {
    let call = ToolCallView::from_approval(asked);
    let description = call.description(builder.session.cwd);
    let id = &asked.identity.tool_call_id;
    let pty_permission = json!({
        "tool_use_id": id, "type": call.permission(), "target": call.target(), "description": description,
        "preview": call.preview(), "options": options(asked, selected), "attempt": asked.identity.attempt,
    });
    // The seed's names and those that phones read.
    let claude_permission = json!({
        "tool_use_id": id, "tool_name": asked.name, "input": json_text(&object(asked.input.clone())),
        "description": description, "tool": asked.name, "request_id": id, "attempt": asked.identity.attempt,
    });
    let mut notes = vec![
        builder.note(PANEL, Audience::Focused, pty_permission),
        builder.note(PLAIN, Audience::Workspace, claude_permission),
    ];
    notes.extend(state::waits(builder, Pty::Permission, Some(call.permission())));
    notes
}

/// An answer that the panel of an approval offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PanelOption {
    AllowOnce,
    AllowSession,
    Deny,
}

impl PanelOption {
    /// The answers that can be given, in the order in which they are shown; "for this session" only where the policy
    /// offers it.
    pub(crate) fn offered(asked: &ApprovalRequestedPayload) -> Vec<Self> {
        match &asked.offer {
            Some(_) => vec![Self::AllowOnce, Self::AllowSession, Self::Deny],
            None => vec![Self::AllowOnce, Self::Deny],
        }
    }

    /// The word by which a client chooses it.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::AllowOnce => "allow_once",
            Self::AllowSession => "allow_session",
            Self::Deny => "deny",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::AllowOnce => "Allow once",
            Self::AllowSession => "Allow for this session",
            Self::Deny => "Deny",
        }
    }
}

fn options(asked: &ApprovalRequestedPayload, selected: usize) -> Vec<Value> {
    let shown = |(place, option): (usize, PanelOption)| {
        let mut shown = json!({ "key": option.key(), "label": option.label(), "selected": place == selected });
        if let (PanelOption::AllowSession, Some(offer)) = (option, &asked.offer) {
            shown["description"] = json!(offer.offer_text());
        }
        shown
    };
    PanelOption::offered(asked).into_iter().enumerate().map(shown).collect()
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
        notes.extend(state::goes_on(builder, resolved.still_waits_for));
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
    notes.extend(state::waits(builder, Pty::Question, None));
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
        notes.extend(state::goes_on(builder, resolved.still_waits_for));
    }
    notes
}

/// Who answered, as one word, which a phone needs to recognise the event.
fn resolved_by(answerer: Option<&Answerer>) -> Option<Value> {
    let Answerer { client_id, user_id, from } = answerer?;
    let word = client_id.as_ref().map(|id| id.as_str()).or(user_id.as_ref().map(|id| id.as_str()));
    word.or(from.as_deref()).map(Value::from)
}
