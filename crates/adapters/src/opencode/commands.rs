//! OpenCode's slash commands. The server knows them all (those of files, of the settings and its own), but its request to
//! run one would also run the shell commands in its text, without a permission. So only the text is fetched, and filled
//! in here.

use std::path::{Path, PathBuf};

use roost_engine::adapter::{Draft, TaskInput};
use roost_model::runtime::{CommandOrigin, SlashCommand};
use serde::Deserialize;
use serde_json::Value;

use super::home::OpencodeFolders;
use super::http::{Client, HttpError};
use crate::slash::{self, Expansion, SlashPrompt, is_in_workspace};

/// Commands of OpenCode's terminal that its server does not have, with what to do instead.
const UNAVAILABLE: [(&str, &str); 12] = [
    ("clear", "start another session instead"),
    ("compact", "start another session instead; OpenCode makes a long conversation shorter by itself"),
    ("connect", "run `roost login opencode` instead"),
    ("export", "run `opencode export` instead"),
    ("models", "choose the session's model instead"),
    ("new", "start another session instead"),
    ("redo", "ask for it in words instead"),
    ("sessions", "resume the session by its id instead"),
    ("share", "run `opencode` in a terminal to share a session"),
    ("summarize", "start another session instead; OpenCode makes a long conversation shorter by itself"),
    ("undo", "discard the workspace's changes instead"),
    ("unshare", "run `opencode` in a terminal instead"),
];

/// Commands that every server has.
const BUILT_IN: [(&str, &str); 2] =
    [("init", "Writes an AGENTS.md for the project"), ("review", "Reviews what changed")];

/// The commands that a prompt may begin with, as far as OpenCode's folders tell. Its settings may have more.
pub(super) async fn list(folders: OpencodeFolders, cwd: PathBuf) -> Vec<SlashCommand> {
    slash::listed(move || {
        let mut all = slash::built_in(&BUILT_IN);
        let own = folders.settings().into_iter().map(|folder| (folder, CommandOrigin::User));
        let project = cwd.ancestors().map(|folder| (folder.join(".opencode"), CommandOrigin::Project));
        // The project's folders last, and of these the nearest.
        let project: Vec<_> = project.collect();
        for (folder, origin) in own.chain(project.into_iter().rev()) {
            for name in ["command", "commands"] {
                all.extend(slash::list_files(&folder.join(name), ("md", "/"), origin, slash::describe_markdown));
            }
        }
        all
    })
    .await
}

/// A command as the server lists it.
#[derive(Debug, Deserialize)]
struct ListedCommand {
    name: String,
    /// The text with its placeholders. Not a text for the prompts of MCP servers, which only the server can get.
    #[serde(default)]
    template: Value,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    model: Option<String>,
}

/// What a slash command asks for besides its text.
#[derive(Debug, Default)]
pub(super) struct CommandChoice {
    /// The agent that the command is for; `None` leaves OpenCode's default.
    pub(super) agent: Option<String>,
    /// The model that the command is for, as `provider/model`; `None` leaves the session's.
    pub(super) model: Option<String>,
    /// What people should know about it.
    pub(super) notice: Option<Draft>,
}

/// Puts the text of a slash command into the prompt that names it.
pub(super) async fn expand(input: &mut TaskInput, client: &Client, cwd: &Path) -> Result<CommandChoice, HttpError> {
    let Some(prompt) = SlashPrompt::from_input(input) else { return Ok(CommandChoice::default()) };
    let listed: Vec<ListedCommand> = serde_json::from_value(client.get("/command").await?).unwrap_or_default();
    let Some(command) = listed.into_iter().find(|command| command.name == prompt.name) else {
        let notice = prompt.unavailable("OpenCode", &UNAVAILABLE);
        return Ok(CommandChoice { notice, ..CommandChoice::default() });
    };
    let ListedCommand { name, template, agent, model } = command;
    let Value::String(template) = template else {
        let why = [(name.as_str(), "it belongs to an MCP server, whose prompts only OpenCode's terminal can use")];
        return Ok(CommandChoice { notice: prompt.unavailable("OpenCode", &why), ..CommandChoice::default() });
    };
    let mut expansion = expansion(&template, &prompt.arguments);
    for path in mentions(&template) {
        if tokio::fs::metadata(cwd.join(path)).await.is_ok_and(|file| file.is_file()) {
            expansion.push_file(path);
        }
    }
    Ok(CommandChoice { agent, model, notice: expansion.apply(&prompt, input) })
}

/// The text of a command: `$1` to `$9` are arguments, the last of which takes all that follow; `$ARGUMENTS` is all of
/// them, added at the end if the text mentions none; and !`command` is the output of a shell command.
fn expansion(template: &str, arguments: &str) -> Expansion {
    let mut expansion = Expansion::default();
    let text = fill(template, arguments);
    let mut rest = text.as_str();
    while let Some((before, inside)) = rest.split_once("!`") {
        let Some((command, after)) = inside.split_once('`').filter(|(command, _)| !command.is_empty()) else { break };
        expansion.push_text(before.to_owned());
        expansion.push_shell(command);
        rest = after;
    }
    expansion.push_text(rest.to_owned());
    expansion
}

/// The template with its arguments.
fn fill(template: &str, arguments: &str) -> String {
    let words = words(arguments);
    let last = template.split('$').skip(1).filter_map(leading_number).map(|(number, _)| number).max();
    let mut pieces = template.split('$');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let Some((number, rest)) = leading_number(piece) else {
            filled.extend(["$", piece]);
            continue;
        };
        let from = words.get(number.saturating_sub(1)..).unwrap_or_default();
        let given = if Some(number) == last { from.join(" ") } else { from.first().cloned().unwrap_or_default() };
        filled.extend([given.as_str(), rest]);
    }
    let mentions_all = template.contains("$ARGUMENTS");
    filled = filled.replace("$ARGUMENTS", arguments);
    if last.is_none() && !mentions_all && !arguments.is_empty() {
        filled.extend(["\n\n", arguments]);
    }
    filled
}

/// The number at the start of a text, and what follows it.
fn leading_number(text: &str) -> Option<(usize, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

/// The words of the arguments. Quotation marks hold a word together and are left out.
fn words(arguments: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for c in arguments.chars() {
        let last = words.len() - 1;
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c.is_whitespace() => words.push(String::new()),
            _ => words[last].push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The files of the workspace that a template mentions as `@path`.
fn mentions(template: &str) -> Vec<&str> {
    let mut mentions = Vec::new();
    let mut before = ' ';
    for (at, c) in template.char_indices() {
        if c == '@' && !before.is_alphanumeric() && !['_', '`'].contains(&before) {
            let rest = &template[at + 1..];
            let end = rest.find(|c: char| c.is_whitespace() || "`,".contains(c)).unwrap_or(rest.len());
            let path = rest[..end].trim_end_matches('.');
            if is_in_workspace(path) {
                mentions.push(path);
            }
        }
        before = c;
    }
    mentions
}

#[cfg(test)]
mod tests {
    use roost_model::content::TranscriptContentBlock;

    use super::*;

    #[test]
    fn arguments_stand_where_the_template_wants_them() {
        let cases = [
            ("Fix $1 in $2.", "a b c", "Fix a in b c."),
            ("Fix $1 and $3.", "'a x' b", "Fix a x and ."),
            ("Fix $ARGUMENTS now for $5.", "a  b", "Fix a  b now for ."),
            ("Costs $ and $x.", "", "Costs $ and $x."),
            ("Fix.", "a b", "Fix.\n\na b"),
            ("Fix.", "", "Fix."),
        ];
        for (template, arguments, expected) in cases {
            assert_eq!(fill(template, arguments), expected, "{template}");
        }
    }

    #[test]
    fn a_shell_command_is_asked_of_the_agent_wherever_it_comes_from() {
        let made = expansion("Look: !`git log $1` and $2", "-3 !`rm x`");
        assert_eq!(made.shell, ["git log -3", "rm x"]);
        let [TranscriptContentBlock::Text { text }] = made.blocks.as_slice() else { panic!("{made:?}") };
        assert!(text.starts_with("Look: [Run this with your shell tool"), "{text}");
        assert_eq!(expansion("open !`ls", "").shell, [""; 0]);
    }

    #[test]
    fn only_files_that_a_template_mentions_in_the_workspace_are_read() {
        assert_eq!(mentions("See @src/a.rs, @./b and me@x.org, `@c` @../d @/etc/e."), ["src/a.rs", "./b"]);
    }
}
