//! The user's and the project's own slash commands: `commands/**/*.toml` in `~/.gemini` and in `.gemini` of the working
//! directory. A command in a folder is named with a colon, `git/commit.toml` is `/git:commit`; the project's wins.
//!
//! Those of Gemini's extensions are not read: which extensions are active is known only to Gemini.

use std::fs;
use std::path::{Path, PathBuf};

use roost_engine::adapter::{Draft, TaskInput};
use roost_model::runtime::{CommandOrigin, SlashCommand};
use serde::Deserialize;

use crate::slash::{self, Expansion, SlashPrompt, is_in_workspace};
use crate::source_files::files_below;

/// Commands of Gemini's terminal that are not in its ACP mode, with what to do instead.
const UNAVAILABLE: [(&str, &str); 16] = [
    ("agents", "run `gemini` and type /agents instead"),
    ("auth", "run `roost login gemini` instead"),
    ("chat", "resume the session by its id instead"),
    ("clear", "start another session instead"),
    ("compress", "start another session instead; Gemini makes a long conversation shorter by itself"),
    ("directory", "start a session in that folder instead"),
    ("hooks", "run `gemini` and type /hooks instead"),
    ("mcp", "run `gemini mcp list` instead"),
    ("model", "choose the session's model instead"),
    ("permissions", "choose the session's mode instead"),
    ("plan", "choose the mode `plan` instead"),
    ("resume", "resume the session by its id instead"),
    ("settings", "change ~/.gemini/settings.json instead"),
    ("skills", "run `gemini skills list` instead"),
    ("stats", "look at the usage in the session's log instead"),
    ("tools", "ask for the tools in words instead"),
];

/// A command's file.
#[derive(Debug, Deserialize)]
struct CommandFile {
    prompt: String,
    #[serde(default)]
    description: Option<String>,
}

/// Puts the text of a slash command into the prompt that names it. Returns what people should know about it.
pub(super) async fn expand(input: &mut TaskInput, home: PathBuf, cwd: PathBuf) -> Option<Draft> {
    let prompt = SlashPrompt::from_input(input)?;
    let name = prompt.name.clone();
    let found = tokio::task::spawn_blocking(move || find(&home, &cwd, &name)).await.unwrap_or_default();
    match found {
        Some(file) => expansion(&file.prompt, &prompt).apply(&prompt, input),
        None => prompt.unavailable("Gemini", &UNAVAILABLE),
    }
}

/// Commands that Gemini carries out itself when it is hosted.
const BUILT_IN: [(&str, &str); 6] = [
    ("about", "Shows the version"),
    ("extensions", "Manages extensions"),
    ("help", "Lists Gemini's own commands"),
    ("init", "Writes a GEMINI.md for the project"),
    ("memory", "Shows and changes what Gemini remembers"),
    ("restore", "Restores files from a checkpoint"),
];

/// The commands that a prompt may begin with.
pub(super) async fn list(home: PathBuf, cwd: PathBuf) -> Vec<SlashCommand> {
    slash::listed(move || {
        let mut all = slash::built_in(&BUILT_IN);
        let folders = [(home, CommandOrigin::User), (cwd.join(super::home::FOLDER), CommandOrigin::Project)];
        for (folder, origin) in folders {
            let folder = folder.join("commands");
            all.extend(files_below(&folder, "toml").into_iter().filter_map(|file| {
                let CommandFile { description, .. } = read(&file)?;
                Some(SlashCommand { name: format!("/{}", command_name(&folder, &file)?), description, origin })
            }));
        }
        all
    })
    .await
}

/// Reads the file of a command; `None` if there is none or it is no command.
fn find(home: &Path, cwd: &Path, name: &str) -> Option<CommandFile> {
    let folders = [cwd.join(super::home::FOLDER), home.to_owned()].map(|folder| folder.join("commands"));
    folders.iter().find_map(|folder| {
        let mut files = files_below(folder, "toml").into_iter();
        read(&files.find(|file| command_name(folder, file).as_deref() == Some(name))?)
    })
}

fn read(file: &Path) -> Option<CommandFile> {
    toml::from_str(&fs::read_to_string(file).ok()?).ok()
}

/// The name of the command in a file, as Gemini builds it.
fn command_name(folder: &Path, file: &Path) -> Option<String> {
    let letter = |c: char| if c.is_ascii_alphanumeric() || "_-.:".contains(c) { c } else { '_' };
    Some(slash::relative_name(folder, file, ":")?.chars().map(letter).collect())
}

/// The text of a command: `@{path}` is a file, `!{command}` the output of a shell command, and `{{args}}` what stands
/// behind the command's name, which is added at the end if the text does not mention it.
fn expansion(text: &str, prompt: &SlashPrompt) -> Expansion {
    let mut expansion = Expansion::default();
    for piece in pieces(text, "@{") {
        match piece {
            Piece::Injected(path) if is_in_workspace(path) => expansion.push_file(path),
            Piece::Injected(path) => expansion.push_text(format!("@{{{path}}}")),
            Piece::Plain(text) => {
                for piece in pieces(text, "!{") {
                    match piece {
                        Piece::Plain(text) => expansion.push_text(text.replace(ARGUMENTS, &prompt.arguments)),
                        Piece::Injected("") => {}
                        Piece::Injected(command) => {
                            expansion.push_shell(&command.replace(ARGUMENTS, &quoted(&prompt.arguments)));
                        }
                    }
                }
            }
        }
    }
    if !text.contains(ARGUMENTS) && !prompt.arguments.is_empty() {
        expansion.push_text(format!("\n\n/{} {}", prompt.name, prompt.arguments));
    }
    expansion
}

const ARGUMENTS: &str = "{{args}}";

/// A part of a command's text.
#[derive(Debug, PartialEq)]
enum Piece<'a> {
    Plain(&'a str),
    /// What stands between the trigger and its closing brace, without the blanks around it.
    Injected(&'a str),
}

/// Splits a text at `trigger…}`; braces inside must be balanced, and one that is never closed is plain text.
fn pieces<'a>(mut text: &'a str, trigger: &str) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    while let Some(start) = text.find(trigger) {
        let inside = &text[start + trigger.len()..];
        let mut depth = 1;
        let end = inside.find(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        let Some(end) = end else { break };
        pieces.extend([Piece::Plain(&text[..start]), Piece::Injected(inside[..end].trim())]);
        text = &inside[end + 1..];
    }
    pieces.push(Piece::Plain(text));
    pieces
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use roost_model::content::TranscriptContentBlock;

    use super::*;

    fn text(text: &str) -> TranscriptContentBlock {
        TranscriptContentBlock::Text { text: text.to_owned() }
    }

    fn expand(template: &str, prompt: &str) -> Expansion {
        expansion(template, &SlashPrompt::from_text(prompt).unwrap())
    }

    #[test]
    fn arguments_stand_where_the_text_wants_them_or_at_its_end() {
        assert_eq!(expand("Look at {{args}}.", "/look a b").blocks, [text("Look at a b.")]);
        assert_eq!(expand("Look.", "/look a b").blocks, [text("Look.\n\n/look a b")]);
        assert_eq!(expand("Look.", "/look").blocks, [text("Look.")]);
    }

    #[test]
    fn a_shell_command_is_asked_of_the_agent_and_not_run() {
        let expansion = expand("Why? !{grep {{args}} a | awk '{print $1}'} Hm.", "/why it's");
        let command = r"grep 'it'\''s' a | awk '{print $1}'";
        assert_eq!(expansion.shell, [command]);
        let request = format!("Why? [Run this with your shell tool and use its output here: `{command}`] Hm.");
        assert_eq!(expansion.blocks, [text(&request)]);
        assert_eq!(expand("open !{ls", "/x").blocks, [text("open !{ls")]);
    }

    #[test]
    fn a_file_of_the_workspace_is_linked_and_no_other() {
        let file = TranscriptContentBlock::FileRef { path: "docs/a.md".into() };
        assert_eq!(expand("See @{docs/a.md}!", "/x").blocks, [text("See "), file, text("!")]);
        assert_eq!(expand("See @{../secret}", "/x").blocks, [text("See @{../secret}")]);
    }

    #[test]
    fn the_projects_command_wins_and_folders_are_part_of_the_name() {
        let place = tempfile::TempDir::new().unwrap();
        let (home, cwd) = (place.path().join("home/.gemini"), place.path().join("work"));
        for (folder, name, prompt) in [
            (&home, "a.toml", "user"),
            (&home, "git/my commit.toml", "commit"),
            (&cwd.join(".gemini"), "a.toml", "project"),
            (&home, "broken.toml", ""),
        ] {
            let file = folder.join("commands").join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let text = if prompt.is_empty() { "prompt = 1".to_owned() } else { format!("prompt = '{prompt}'") };
            fs::write(file, text).unwrap();
        }
        let prompt = |name: &str| find(&home, &cwd, name).map(|file| file.prompt);
        assert_eq!(prompt("a").as_deref(), Some("project"));
        assert_eq!(prompt("git:my_commit").as_deref(), Some("commit"));
        assert_eq!(prompt("broken"), None);
        assert_eq!(prompt("nobody"), None);
    }
}
