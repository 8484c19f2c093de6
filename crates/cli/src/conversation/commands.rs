//! The commands of a conversation that are Roost's own; all others go to the agent.

use crate::editor::PromptCommand;

/// Shown on `/help`.
pub(super) const HELP: &str = "\
\x20 Enter              send the prompt
  Alt-Enter, Ctrl-J  begin a new line; a paste of several lines is one prompt
  Up, Down, Ctrl-R   earlier prompts of this folder, and a search in them
  Tab                complete @file or /command; @file shows the file to the agent
  Ctrl-C             clear the line, or leave if it is empty; while the agent
                     works on your prompt, stop it
  Ctrl-D             leave
  o                  show output that was cut
  /mode MODE         change how much it may do unasked:
                     plan, ask, accept-edits, auto or yolo
  /model NAME        use another model
  /quit              leave; `roost attach` comes back to the session
  Other commands that begin with / go to the agent. When it asks for approval,
  ? explains the choices.
";

/// A command of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum OwnCommand {
    Help,
    Quit,
    /// The word behind it, which may be no mode.
    Mode(String),
    /// The name behind it; empty if there is none.
    Model(String),
}

impl OwnCommand {
    /// The command that a line is; `None` if it is a prompt.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (name, rest.trim()) {
            ("/help" | "?", "") => Some(Self::Help),
            ("/quit" | "/exit", "") => Some(Self::Quit),
            ("/mode", mode) => Some(Self::Mode(mode.into())),
            ("/model", model) => Some(Self::Model(model.into())),
            _ => None,
        }
    }
}

/// What completion offers.
pub(super) fn completions() -> Vec<PromptCommand> {
    let commands = [
        ("/help", "keys and commands"),
        ("/mode", "how much it may do unasked"),
        ("/model", "use another model"),
        ("/quit", "leave"),
    ];
    commands.map(|(name, description)| PromptCommand { name: name.into(), description: description.into() }).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_commands_are_ours() {
        let table = [
            ("/help", Some(OwnCommand::Help)),
            ("?", Some(OwnCommand::Help)),
            (" /quit ", Some(OwnCommand::Quit)),
            ("/exit", Some(OwnCommand::Quit)),
            ("/mode  accept-edits", Some(OwnCommand::Mode("accept-edits".into()))),
            ("/mode", Some(OwnCommand::Mode(String::new()))),
            ("/model opus", Some(OwnCommand::Model("opus".into()))),
            ("/help me", None),
            ("/compact", None),
            ("/modes", None),
            ("what is /help?", None),
            ("", None),
        ];
        for (line, command) in table {
            assert_eq!(OwnCommand::parse(line), command, "{line}");
        }
    }
}
