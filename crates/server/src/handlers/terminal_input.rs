//! Keys and texts that a client types as if the session were a terminal.

use std::sync::Arc;

use roost_engine::Decision;
use roost_model::approval::{ApprovalScope, Pending, PendingAsk};
use roost_model::content::TranscriptMessage;
use roost_model::ids::SessionId;
use roost_model::payload::ApprovalRequestedPayload;
use roost_model::session::SessionRecord;
use roost_rpc::Fault;
use serde_json::{Value, json};

use super::answering;
use super::session::{PromptChoices, prompt};
use crate::approval_panels::ShownRequest;
use crate::cdev::{PanelOption, notify};
use crate::dispatch::Context;
use crate::fault;

/// The names of the keys that clients send, and what each means.
const KEYS: [(&str, Key); 17] = [
    ("enter", Key::Enter),
    ("return", Key::Enter),
    ("escape", Key::Escape),
    ("esc", Key::Escape),
    ("ctrl-c", Key::Escape),
    ("up", Key::Up),
    ("down", Key::Down),
    ("left", Key::Other),
    ("right", Key::Other),
    ("tab", Key::Other),
    ("backspace", Key::Other),
    ("delete", Key::Other),
    ("home", Key::Other),
    ("end", Key::Other),
    ("pageup", Key::Other),
    ("pagedown", Key::Other),
    ("space", Key::Other),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Enter,
    Escape,
    Up,
    Down,
    /// It means nothing to an agent: accepted, and nothing happens.
    Other,
}

/// What was typed.
pub(super) enum TerminalInput<'a> {
    /// A key by its name; another name is refused.
    Key(&'a str),
    /// A text; the name of a key means the key.
    Input(&'a str),
}

/// Types a key or a text, and returns the key's name if it was one. It answers what this client was shown; if nothing
/// waits, a text is a prompt and escape stops the task. `request` is the id of the approval or question that is meant.
pub(super) async fn type_into(
    context: &Context<'_>,
    record: &SessionRecord,
    typed: TerminalInput<'_>,
    request: Option<&str>,
) -> Result<Option<String>, Fault> {
    let (TerminalInput::Key(text) | TerminalInput::Input(text)) = typed;
    let word = text.trim().to_lowercase();
    let key = KEYS.iter().find(|(name, _)| *name == word).map(|(_, key)| *key);
    if let (TerminalInput::Key(_), None) = (&typed, key) {
        let names = KEYS.map(|(name, _)| name).join(", ");
        return Err(Fault::params(format_args!("key must be one of: {names}")).with("field", "key"));
    }
    let target = target(context, &record.session_id, request).await?;
    match (key, &target) {
        (Some(Key::Escape), None) => {
            let by = Some(context.caller.answerer());
            match context.host.sessions.engine.stop_by(record.session_id.as_str(), "escape", by).await {
                Ok(_) | Err(roost_engine::Error::NothingToStop(_)) => {}
                Err(error) => return Err(fault::engine(error)),
            }
        }
        (Some(Key::Escape), Some(pending)) => {
            let to = answering::text_response(pending, &json!(""), true)?;
            answering::respond(context, pending, to, None).await?;
        }
        (Some(key), Some(pending)) => {
            if let PendingAsk::Approval(asked) = &pending.ask {
                press(context, pending, asked, key).await?;
            }
        }
        (Some(_), None) => {}
        (None, Some(pending)) => answer(context, pending, text.trim_end_matches(['\r', '\n'])).await?,
        (None, None) if text.trim().is_empty() => {}
        (None, None) => {
            let message = TranscriptMessage::user(text.trim_end_matches(['\r', '\n']));
            prompt(context, &record.session_id, message, PromptChoices::default()).await?;
        }
    }
    Ok(key.map(|_| word))
}

/// What the input is an answer to: what `request` names, else the one thing that waits and that this client was shown.
/// `None` if nothing waits. In doubt it is refused, because an approval must not be taken for another.
async fn target(
    context: &Context<'_>,
    session: &SessionId,
    request: Option<&str>,
) -> Result<Option<Arc<Pending>>, Fault> {
    if let Some(id) = request {
        return answering::find(context, id, Some(session.as_str())).await.map(Some);
    }
    let mut waiting = context.host.sessions.log.pending(Some(session)).await.map_err(fault::log)?;
    // Whoever does not follow events in the form for screens is shown nothing by Roost.
    if let Some(connection) = context.connection
        && let Some(shown) = connection.shown(session.as_str())
    {
        if let (Some(gone), true) = (shown.first(), shown.iter().all(|shown| !is_open(&waiting, shown))) {
            // With this answer it knows.
            connection.forget_shown(session.as_str());
            return Err(answering::gone(&gone.id));
        }
        if shown.is_empty() && !waiting.is_empty() {
            let why = "something waits for an answer that this client has not been shown; watch the session first, or \
                       name its tool_use_id";
            return Err(Fault::params(why).with("field", "tool_use_id"));
        }
        waiting.retain(|pending| shown.contains(&ShownRequest::from_pending(pending)));
    }
    if waiting.len() > 1 {
        let ids: Vec<_> = waiting.iter().map(|pending| pending.id()).collect();
        let why = format_args!("several things wait for an answer; name the tool_use_id of one: {}", ids.join(", "));
        return Err(Fault::params(why).with("field", "tool_use_id"));
    }
    Ok(waiting.pop())
}

fn is_open(waiting: &[Arc<Pending>], shown: &ShownRequest) -> bool {
    waiting.iter().any(|pending| ShownRequest::from_pending(pending) == *shown)
}

/// Presses a key in the panel of an approval: the arrows move the selection, enter takes it.
async fn press(
    context: &Context<'_>,
    pending: &Pending,
    asked: &ApprovalRequestedPayload,
    key: Key,
) -> Result<(), Fault> {
    let options = PanelOption::offered(asked);
    let panels = &context.host.delivery.panels;
    let selected = panels.selected(pending).min(options.len() - 1);
    let moved = match key {
        Key::Enter => return choose(context, pending, options[selected]).await,
        Key::Up => selected.saturating_sub(1),
        Key::Down => (selected + 1).min(options.len() - 1),
        Key::Escape | Key::Other => return Ok(()),
    };
    panels.select(pending, moved);
    if !panels.is_interactive(&pending.session_id) {
        return Ok(());
    }
    let notifications = &context.host.delivery.notifications;
    let constants = notifications.session_constants(&*context.host.sessions.log, &pending.session_id);
    let constants = constants.await.map_err(fault::log)?;
    for note in notify::pending(pending, &constants.context(), moved) {
        if notify::Notification::is_panel(note.event) == Some(true) {
            context.host.presence.notify_panel(pending.session_id.as_str(), note.event, &Value::Object(note.params));
        }
    }
    Ok(())
}

async fn choose(context: &Context<'_>, pending: &Pending, option: PanelOption) -> Result<(), Fault> {
    let decision = match option {
        PanelOption::AllowOnce => Decision::Allow { scope: ApprovalScope::Once },
        PanelOption::AllowSession => Decision::Allow { scope: ApprovalScope::Session },
        PanelOption::Deny => Decision::Deny { scope: ApprovalScope::Once, reason: None },
    };
    answering::respond(context, pending, answering::approval_response(pending, decision)?, None).await
}

/// Answers with a text. For an approval the number or the key of an option means that option, as it is shown.
async fn answer(context: &Context<'_>, pending: &Pending, text: &str) -> Result<(), Fault> {
    if let PendingAsk::Approval(asked) = &pending.ask {
        let (options, word) = (PanelOption::offered(asked), text.trim());
        let by_number = word.parse::<usize>().ok().map(|number| number.checked_sub(1));
        let by_key = options.iter().position(|option| option.key().eq_ignore_ascii_case(word));
        if let Some(place) = by_key.or(by_number.flatten()).filter(|place| *place < options.len()) {
            return choose(context, pending, options[place]).await;
        }
        let is_other_key = [PanelOption::AllowOnce, PanelOption::AllowSession, PanelOption::Deny]
            .iter()
            .any(|option| option.key().eq_ignore_ascii_case(word));
        if by_number.is_some() || is_other_key {
            let keys: Vec<_> = options.iter().map(|option| option.key()).collect();
            let why = format_args!("\"{word}\" is none of the {} options: {}", options.len(), keys.join(", "));
            return Err(Fault::params(why).with("field", "input"));
        }
    }
    let to = answering::text_response(pending, &json!(text), false)?;
    answering::respond(context, pending, to, None).await
}
