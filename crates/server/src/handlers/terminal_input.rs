//! Keys and texts that a client types as if the session were a terminal.

use roost_model::approval::{ApprovalScope, PendingAsk};
use roost_model::content::TranscriptMessage;
use roost_model::session::SessionRecord;
use roost_rpc::Fault;
use serde_json::Value;

use super::answering;
use super::session::prompt;
use crate::dispatch::Context;
use crate::fault;

/// The names of terminal keys. Those that mean nothing to an agent are accepted and do nothing.
const KEYS: [&str; 17] = [
    "enter",
    "return",
    "escape",
    "esc",
    "up",
    "down",
    "left",
    "right",
    "tab",
    "backspace",
    "delete",
    "home",
    "end",
    "pageup",
    "pagedown",
    "space",
    "ctrl-c",
];

/// Types a key or a text, and returns the key if it was one. It answers the oldest pending item; without one, a text is
/// a prompt and escape stops the task.
pub(super) async fn type_into(
    context: &Context<'_>,
    record: &SessionRecord,
    typed: &str,
) -> Result<Option<String>, Fault> {
    let word = typed.trim().to_lowercase();
    let key = KEYS.contains(&word.as_str()).then(|| word.clone());
    let waiting = answering::oldest(context, &record.session_id, |_| true).await?;
    match (key.as_deref(), waiting) {
        (Some("escape" | "esc" | "ctrl-c"), None) => {
            match context.host.sessions.engine.stop(record.session_id.as_str(), "escape").await {
                Ok(_) | Err(roost_engine::Error::NothingToStop(_)) => {}
                Err(error) => return Err(fault::engine(error)),
            }
        }
        (Some("escape" | "esc" | "ctrl-c"), Some(pending)) => {
            let to = answering::text_response(&pending, &Value::String(String::new()), true)?;
            answering::respond(context, &pending, to, None).await?;
        }
        (Some("enter" | "return"), Some(pending)) if matches!(pending.ask, PendingAsk::Approval(_)) => {
            let allow = roost_engine::Decision::Allow { scope: ApprovalScope::Once };
            answering::respond(context, &pending, answering::approval_response(&pending, allow)?, None).await?;
        }
        (Some(_), _) => {}
        (None, Some(pending)) => {
            let to =
                answering::text_response(&pending, &Value::String(typed.trim_end_matches(['\r', '\n']).into()), false)?;
            answering::respond(context, &pending, to, None).await?;
        }
        (None, None) if typed.trim().is_empty() => {}
        (None, None) => {
            let message = TranscriptMessage::user(typed.trim_end_matches(['\r', '\n']));
            prompt(context, &record.session_id, message, None, None, None).await?;
        }
    }
    Ok(key)
}
