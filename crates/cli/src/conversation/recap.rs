//! What a session is and what it did last, for somebody who comes to it.

use roost_client::Client;
use roost_rpc::conversation::{ContentBlock, Message, Speaker};
use roost_rpc::{MessagesParams, Order, SessionState, method};

use crate::error::Error;
use crate::screen::{one_line, visible};
use crate::style::Style;

/// Messages that are looked through for the last prompt and the last words.
const MESSAGES: u32 = 100;
/// Characters of the last prompt, and lines of the last words, that are shown.
const PROMPT_CHARS: usize = 200;
const LINES: usize = 6;
/// Characters of an id that tell sessions of different milliseconds apart.
const ID_CHARS: usize = 13;

/// One line: runtime, model, mode, session and folder.
pub(crate) fn headline(state: &SessionState) -> String {
    let model = state.model.as_deref().unwrap_or("default model");
    let id: String = state.session_id.chars().take(ID_CHARS).collect();
    let parts = [&state.agent_type, model, &state.mode, &id, &state.project_path];
    parts.map(|part| one_line(part).into_owned()).join(" · ")
}

/// A few lines: what it was asked last, its last words, and what it does now.
pub(crate) async fn recap(client: &Client, style: Style, state: &SessionState) -> Result<String, Error> {
    let params = MessagesParams {
        session_id: state.session_id.clone(),
        workspace_id: None,
        agent_type: None,
        limit: Some(MESSAGES),
        offset: None,
        order: Some(Order::Desc),
    };
    let messages = client.call::<method::SessionMessages>(params).await?.messages;
    let asked = messages.iter().filter(|message| message.message.role == Speaker::User).find_map(text);
    let said = messages.iter().filter(|message| message.message.role == Speaker::Assistant).find_map(text);
    Ok(words(style, state, asked.as_deref(), said.as_deref()))
}

fn words(style: Style, state: &SessionState, asked: Option<&str>, said: Option<&str>) -> String {
    let mut words = String::new();
    if let Some(asked) = asked {
        let asked = one_line(asked);
        let cut = if asked.chars().count() > PROMPT_CHARS { "…" } else { "" };
        let asked: String = asked.chars().take(PROMPT_CHARS).collect();
        words.push_str(&format!("{}\n", style.bold(format_args!("> {asked}{cut}"))));
    }
    if let Some(said) = said {
        let lines: Vec<_> = said.trim().lines().collect();
        let first = lines.len().saturating_sub(LINES);
        if first > 0 {
            words.push_str(&format!("{}\n", style.dim(format_args!("… {first} lines before"))));
        }
        lines[first..].iter().for_each(|line| words.push_str(&format!("{}\n", visible(line))));
    }
    let now = match (state.waiting_for_input, state.is_running, &state.error) {
        (true, ..) => "It waits for an answer; Ctrl-C leaves it waiting.",
        (false, true, _) => "It is working; Ctrl-C leaves, and the agent goes on.",
        (false, false, Some(_)) => "Its last task failed. It waits for a prompt; /help shows the keys.",
        (false, false, None) => "It waits for a prompt; /help shows the keys.",
    };
    format!("{words}{}\n", style.dim(now))
}

/// The text of a message; `None` if it is about tools only.
fn text(message: &Message) -> Option<String> {
    let texts = message.message.content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    Some(texts.collect::<Vec<_>>().join("\n")).filter(|text| !text.trim().is_empty())
}
