//! Codex's own slash commands. They belong to its terminal, so the app server takes a prompt that is one as plain text.
//!
//! `/compact` is carried out, because the app server has a request for it. `/review` is not, although it has one too:
//! the reviewing agent would run commands without requesting approvals.

use std::path::PathBuf;

use roost_engine::adapter::TaskInput;
use roost_model::content::TranscriptContentBlock;
use roost_model::runtime::{self, CommandOrigin};

use crate::slash;

/// Commands of the terminal that cannot be had here, with what to do instead where there is something.
const UNAVAILABLE: [(&str, &str); 12] = [
    ("approvals", "choose the session's mode instead"),
    ("diff", "look at the workspace's changes instead"),
    ("fork", "fork the session instead"),
    ("init", "ask for an AGENTS.md in words instead"),
    ("logout", "run `codex logout` instead"),
    ("mcp", "run `codex mcp list` instead"),
    ("model", "choose the session's model instead"),
    ("new", "start another session instead"),
    ("permissions", "choose the session's mode instead"),
    ("resume", "resume the session by its id instead"),
    ("review", "ask for a review in words instead"),
    ("skills", "name a skill as `$name` in the prompt instead"),
];

/// A prompt that is a slash command.
#[derive(Debug, PartialEq)]
pub(super) enum SlashCommand {
    /// Summarises the conversation so far to make room in the model's context.
    Compact,
    /// One that only Codex's terminal has; it goes to the model as text, and people are told this.
    Unavailable(String),
}

/// The commands that a prompt may begin with: `/compact`, and skills.
pub(super) async fn commands(home: PathBuf, cwd: PathBuf) -> Vec<runtime::SlashCommand> {
    slash::listed(move || {
        let mut all = slash::built_in(&[("compact", "Summarises the conversation so far")]);
        all.extend(slash::list_skills(&home.join("skills"), '$', CommandOrigin::User));
        // The nearest folder counts, so it comes last.
        for folder in cwd.ancestors().collect::<Vec<_>>().into_iter().rev() {
            all.extend(slash::list_skills(&folder.join(".agents/skills"), '$', CommandOrigin::Project));
        }
        all
    })
    .await
}

impl SlashCommand {
    /// The command of a task's prompt; `None` if the prompt is none, or one that nobody knows.
    pub(super) fn from_input(input: &TaskInput) -> Option<Self> {
        let [message] = input.messages.as_slice() else { return None };
        let [TranscriptContentBlock::Text { text }] = message.content.as_slice() else { return None };
        Self::from_text(text)
    }

    fn from_text(text: &str) -> Option<Self> {
        let (name, arguments) = text.trim().strip_prefix('/')?.split_once(' ').unwrap_or((text.trim().get(1..)?, ""));
        if name == "compact" && arguments.is_empty() {
            return Some(Self::Compact);
        }
        let (_, instead) = UNAVAILABLE.iter().find(|(unavailable, _)| *unavailable == name)?;
        Some(Self::Unavailable(format!(
            "/{name} is a command of Codex's own terminal and was sent to the model as text; {instead}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_prompt_is_a_command() {
        assert_eq!(SlashCommand::from_text(" /compact\n"), Some(SlashCommand::Compact));
        for text in ["compact", "/compact now", "see /compact", "/usr/bin", "/", "", "/nobody-knows"] {
            assert_eq!(SlashCommand::from_text(text), None, "{text}");
        }
    }

    #[test]
    fn a_command_that_cannot_be_had_says_what_to_do_instead() {
        for text in ["/model", "/model gpt-5.5"] {
            let expected = "/model is a command of Codex's own terminal and was sent to the model as text; choose the \
                            session's model instead";
            assert_eq!(SlashCommand::from_text(text), Some(SlashCommand::Unavailable(expected.into())));
        }
    }
}
