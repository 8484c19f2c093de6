//! Slash commands: prompts such as `/review main` that stand for a longer text, which the runtime keeps in a file.
//!
//! The terminals of the runtimes turn them into that text; their protocols do not, so the adapters do it. The text may
//! name shell commands whose output belongs in it. Those are never run here: the agent is told to run them with its own
//! shell tool, so they are judged like every other command.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

use roost_engine::adapter::{Draft, TaskInput};
use roost_model::content::TranscriptContentBlock;
use roost_model::payload::{NoticeLevel, NoticeSource};
use roost_model::runtime::{CommandOrigin, SlashCommand};

use crate::host::notice;
use crate::source_files::{MAX_FILES, files_below};

/// The commands in the files with this extension in a folder and below it. Folders are part of a command's name,
/// joined by `separator`; `describe` reads the description from a file's text. Blocks on the disk.
pub(crate) fn list_files(
    folder: &Path,
    (extension, separator): (&str, &str),
    origin: CommandOrigin,
    describe: fn(&str) -> Option<String>,
) -> Vec<SlashCommand> {
    let listed = files_below(folder, extension).into_iter().filter_map(|file| {
        let name = relative_name(folder, &file, separator)?;
        let description = describe(&fs::read_to_string(&file).ok()?);
        Some(SlashCommand { name: format!("/{name}"), description, origin })
    });
    listed.collect()
}

/// A file's path below a folder without its extension, as a command's name.
pub(crate) fn relative_name(folder: &Path, file: &Path, separator: &str) -> Option<String> {
    let path = file.strip_prefix(folder).ok()?.with_extension("");
    Some(path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join(separator))
}

/// The skills in the folders of a folder, each with a `SKILL.md`, as commands that begin with `sign`. Blocks on the disk.
pub(crate) fn list_skills(folder: &Path, sign: char, origin: CommandOrigin) -> Vec<SlashCommand> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_FILES);
    let skills = entries.filter_map(|entry| {
        let text = fs::read_to_string(entry.path().join("SKILL.md")).ok()?;
        let name = front_matter(&text, "name").unwrap_or_else(|| entry.file_name().to_string_lossy().into_owned());
        Some(SlashCommand { name: format!("{sign}{name}"), description: describe_markdown(&text), origin })
    });
    skills.collect()
}

/// The description in the front matter of a Markdown file.
pub(crate) fn describe_markdown(text: &str) -> Option<String> {
    front_matter(text, "description")
}

/// A field of a Markdown file's front matter, which is YAML; only plain and quoted words on one line are read.
fn front_matter(text: &str, field: &str) -> Option<String> {
    let (matter, _) = text.strip_prefix("---")?.split_once("\n---")?;
    let value = matter.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    let value = value.trim().trim_matches(['"', '\'']);
    (!value.is_empty() && !["|", ">"].contains(&value)).then(|| value.to_owned())
}

/// Commands that a runtime brings, by name and description.
pub(crate) fn built_in(list: &[(&str, &str)]) -> Vec<SlashCommand> {
    let command = |(name, description): &(&str, &str)| SlashCommand {
        name: format!("/{name}"),
        description: Some((*description).to_owned()),
        origin: CommandOrigin::Runtime,
    };
    list.iter().map(command).collect()
}

/// The commands sorted by name. Of two with one name the later one in the list counts, as for the runtimes, which read
/// the project's files last. `find` blocks on the disk, so it runs elsewhere.
pub(crate) async fn listed(find: impl FnOnce() -> Vec<SlashCommand> + Send + 'static) -> Vec<SlashCommand> {
    let found = tokio::task::spawn_blocking(find).await.unwrap_or_default();
    let by_name: BTreeMap<_, _> = found.into_iter().map(|command| (command.name.clone(), command)).collect();
    by_name.into_values().collect()
}

/// A prompt that begins with a slash command.
#[derive(Debug, PartialEq)]
pub(crate) struct SlashPrompt {
    /// Without the slash, such as `git:commit`.
    pub(crate) name: String,
    /// Everything after the name, without the blanks around it.
    pub(crate) arguments: String,
}

impl SlashPrompt {
    /// The slash command of a task's prompt; `None` if the prompt does not begin with a slash.
    pub(crate) fn from_input(input: &TaskInput) -> Option<Self> {
        let [message] = input.messages.as_slice() else { return None };
        let Some(TranscriptContentBlock::Text { text }) = message.content.first() else { return None };
        Self::from_text(text)
    }

    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let text = text.trim().strip_prefix('/')?;
        let (name, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        (!name.is_empty()).then(|| Self { name: name.to_owned(), arguments: arguments.trim().to_owned() })
    }

    /// The notice about a command that only the runtime's terminal has, which is sent to the model as text; `None` if
    /// it is not in this list of such commands, each with what to do instead.
    pub(crate) fn unavailable(&self, runtime: &str, list: &[(&str, &str)]) -> Option<Draft> {
        let (name, instead) = list.iter().find(|(name, _)| *name == self.name)?;
        let message =
            format!("/{name} is a command of {runtime}'s own terminal and was sent to the model as text; {instead}");
        Some(notice(NoticeLevel::Warning, NoticeSource::Engine, message))
    }
}

/// The text that a slash command stands for.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Expansion {
    pub(crate) blocks: Vec<TranscriptContentBlock>,
    /// The shell commands in it, which the agent is told to run.
    pub(crate) shell: Vec<String>,
}

impl Expansion {
    /// Adds text; an empty one is left out.
    pub(crate) fn push_text(&mut self, text: String) {
        match self.blocks.last_mut() {
            _ if text.is_empty() => {}
            Some(TranscriptContentBlock::Text { text: last }) => last.push_str(&text),
            _ => self.blocks.push(TranscriptContentBlock::Text { text }),
        }
    }

    /// Adds the request to run a shell command whose output belongs here.
    pub(crate) fn push_shell(&mut self, command: &str) {
        self.push_text(format!("[Run this with your shell tool and use its output here: `{command}`]"));
        self.shell.push(command.to_owned());
    }

    /// Adds a file of the workspace, which the runtime reads to the model.
    pub(crate) fn push_file(&mut self, path: &str) {
        self.blocks.push(TranscriptContentBlock::FileRef { path: path.to_owned() });
    }

    /// Puts the text into the prompt, in place of the words that named the command. Returns the notice about the shell
    /// commands in it, if there are any.
    pub(crate) fn apply(self, prompt: &SlashPrompt, input: &mut TaskInput) -> Option<Draft> {
        if let Some(message) = input.messages.first_mut() {
            drop(message.content.splice(..1, self.blocks));
        }
        let commands: Vec<_> = self.shell.iter().map(|command| format!("`{command}`")).collect();
        (!commands.is_empty()).then(|| {
            let message = format!(
                "/{} contains shell commands ({}), which Roost does not run by itself: the agent was told to run them, \
                 and each is decided on like its other commands",
                prompt.name,
                commands.join(", ")
            );
            notice(NoticeLevel::Warning, NoticeSource::Engine, message)
        })
    }
}

/// Whether a path that a command's file names stays in the workspace. One that does not is left in the text as it is:
/// the agent can read it with its own tool, which is judged.
pub(crate) fn is_in_workspace(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_slash_with_a_name_and_perhaps_arguments() {
        let prompt =
            |name: &str, arguments: &str| Some(SlashPrompt { name: name.to_owned(), arguments: arguments.to_owned() });
        assert_eq!(SlashPrompt::from_text(" /git:commit  a  b\n"), prompt("git:commit", "a  b"));
        assert_eq!(SlashPrompt::from_text("/review"), prompt("review", ""));
        for text in ["review", "/", "/ review", "see /review", ""] {
            assert_eq!(SlashPrompt::from_text(text), None, "{text}");
        }
    }

    #[test]
    fn commands_and_skills_are_listed_with_what_their_files_say() {
        let place = tempfile::TempDir::new().unwrap();
        for (name, text) in [
            ("commands/git/commit.md", "---\ndescription: \"Commits\"\n---\nCommit."),
            ("commands/plain.md", "No front matter."),
            ("skills/deploy/SKILL.md", "---\nname: ship\ndescription: Ships it\n---\n"),
            ("skills/empty/other.md", ""),
        ] {
            let file = place.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let origin = CommandOrigin::User;
        let mut all = list_files(&place.path().join("commands"), ("md", ":"), origin, describe_markdown);
        all.extend(list_skills(&place.path().join("skills"), '$', origin));
        let told: Vec<_> = all.iter().map(|one| (one.name.as_str(), one.description.as_deref())).collect();
        assert_eq!(told, [("/git:commit", Some("Commits")), ("/plain", None), ("$ship", Some("Ships it"))]);
    }

    #[test]
    fn only_a_path_that_cannot_leave_the_workspace_is_read() {
        for (path, inside) in [
            ("a.rs", true),
            ("./a/b", true),
            ("../a", false),
            ("a/../../b", false),
            ("/etc/passwd", false),
            ("", false),
        ] {
            assert_eq!(is_in_workspace(path), inside, "{path}");
        }
    }
}
