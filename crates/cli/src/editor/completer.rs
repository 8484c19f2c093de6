//! Completes `@file` and `/command` in a prompt.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ignore::WalkBuilder;
use parking_lot::Mutex;
use reedline::{Completer, CompletionResult, Span, Suggestion};

use crate::screen::one_line;

/// The greatest number of files that are looked at.
const MAX_FILES: usize = 50_000;
/// How long a look at the files may take, and how long it counts.
const WALK_TIME: Duration = Duration::from_millis(500);
const FRESH: Duration = Duration::from_secs(5);
/// The greatest number of suggestions: a screen of 24 lines has no room for more.
const MAX_SUGGESTIONS: usize = 20;

/// A command that a prompt may begin with.
#[derive(Clone, Debug)]
pub(crate) struct PromptCommand {
    /// As it is typed, with its slash; a skill of Codex's has a `$` instead.
    pub(crate) name: String,
    pub(crate) description: String,
}

/// Knows the files of a folder and the commands of a conversation.
#[derive(Clone)]
pub(crate) struct PromptCompleter {
    cwd: PathBuf,
    commands: Arc<[PromptCommand]>,
    /// The files as they were seen last. The menu asks for them at every key.
    listing: Arc<Mutex<Option<FileListing>>>,
}

struct FileListing {
    seen_at: Instant,
    files: Arc<[String]>,
}

impl PromptCompleter {
    pub(crate) fn new(cwd: PathBuf, commands: Vec<PromptCommand>) -> Self {
        Self { cwd, commands: commands.into(), listing: Arc::default() }
    }

    fn files(&self) -> Arc<[String]> {
        let mut listing = self.listing.lock();
        match &*listing {
            Some(listing) if listing.seen_at.elapsed() < FRESH => listing.files.clone(),
            _ => {
                let files: Arc<[String]> = list_files(&self.cwd).into();
                *listing = Some(FileListing { seen_at: Instant::now(), files: files.clone() });
                files
            }
        }
    }
}

impl Completer for PromptCompleter {
    fn complete(&mut self, line: &str, position: usize) -> CompletionResult {
        let typed = &line[..position];
        // A name in quotes may have spaces.
        let quoted = typed.rfind("@\"").filter(|at| !typed[at + 2..].contains('"'));
        let start =
            quoted.unwrap_or_else(|| typed.len() - typed.rsplit(char::is_whitespace).next().map_or(0, str::len));
        let word = &typed[start..];
        let suggest = |value: String, description: Option<String>| Suggestion {
            value,
            description,
            span: Span::new(start, position),
            append_whitespace: true,
            ..Suggestion::default()
        };
        let suggestions: Vec<_> = if let Some(part) = word.strip_prefix('@') {
            best(&self.files(), part).into_iter().map(|file| suggest(mention(&file), None)).collect()
        } else if start == 0 && word.starts_with(['/', '$']) {
            let commands = self.commands.iter().filter(|command| command.name.starts_with(word));
            commands.map(|command| suggest(command.name.clone(), Some(command.description.clone()))).collect()
        } else {
            Vec::new()
        };
        CompletionResult::fresh(suggestions)
    }
}

/// The files below a folder by their paths in it, without what git ignores. Files whose names could steer a terminal or
/// mislead whoever reads them are left out.
fn list_files(cwd: &Path) -> Vec<String> {
    let end = Instant::now() + WALK_TIME;
    let is_git = |entry: &ignore::DirEntry| entry.file_name() == ".git";
    let walk = WalkBuilder::new(cwd).hidden(false).require_git(false).filter_entry(move |entry| !is_git(entry)).build();
    let files = walk.take_while(|_| Instant::now() < end).flatten();
    let files = files.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let names = files.filter_map(|entry| Some(entry.path().strip_prefix(cwd).ok()?.to_str()?.to_owned()));
    names.filter(|name| one_line(name) == name.as_str() && !name.contains('"')).take(MAX_FILES).collect()
}

/// The files that match best: those whose name begins like this, then those whose path contains it, short ones first.
fn best(files: &[String], part: &str) -> Vec<String> {
    let part = part.trim_matches('"').to_lowercase();
    let rank = |file: &String| {
        let lower = file.to_lowercase();
        let name = lower.rsplit('/').next().unwrap_or_default();
        match () {
            () if lower.starts_with(&part) => Some(0),
            () if name.starts_with(&part) => Some(1),
            () if lower.contains(&part) => Some(2),
            () => None,
        }
    };
    let mut found: Vec<_> = files.iter().filter_map(|file| Some((rank(file)?, file.len(), file))).collect();
    found.sort_unstable();
    found.into_iter().take(MAX_SUGGESTIONS).map(|(.., file)| file.clone()).collect()
}

/// How a prompt names a file.
fn mention(file: &str) -> String {
    match file.contains(char::is_whitespace) {
        true => format!("@\"{file}\""),
        false => format!("@{file}"),
    }
}

/// The files that a prompt mentions with `@path` or `@"path"` and that are there, each once.
pub(crate) fn mentioned_files(cwd: &Path, prompt: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut before = None;
    for (at, char) in prompt.char_indices() {
        let begins = char == '@' && before.is_none_or(char::is_whitespace);
        before = Some(char);
        if !begins {
            continue;
        }
        let rest = &prompt[at + 1..];
        let name = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default(),
            // A sentence may end behind it.
            None => rest
                .split(char::is_whitespace)
                .next()
                .unwrap_or_default()
                .trim_end_matches(['.', ',', ':', ';', '?', '!', ')']),
        };
        if !name.is_empty() && cwd.join(name).is_file() && !found.iter().any(|one| one == name) {
            found.push(name.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in
            ["src/main.rs", "src/domain.rs", "main.md", "a b.txt", "target/main.o", ".github/main.yml", "bad\x1b[2J"]
        {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(folder.path().join(".gitignore"), "target/\n").unwrap();
        folder
    }

    #[test]
    fn files_and_commands_are_completed_where_they_are_meant() {
        let folder = folder();
        let command = |name: &str| PromptCommand { name: name.into(), description: "what it does".into() };
        let commands = vec![command("/help"), command("/quit")];
        let mut completer = PromptCompleter::new(folder.path().into(), commands);
        let table: [(&str, &[&str]); 8] = [
            ("look at @main", &["@main.md", "@src/main.rs", "@.github/main.yml", "@src/domain.rs"]),
            ("@src/m", &["@src/main.rs"]),
            ("@\"a b", &["@\"a b.txt\""]),
            ("@bad", &[]),
            ("/he", &["/help"]),
            ("what is /he", &[]),
            ("mail@main", &[]),
            ("plain", &[]),
        ];
        for (typed, expected) in table {
            let found = completer.complete(typed, typed.len());
            let found: Vec<_> = found.suggestions().iter().map(|one| one.value.as_str()).collect();
            assert_eq!(found, expected, "{typed}");
        }
    }

    #[test]
    fn only_files_that_are_there_are_mentioned() {
        let folder = folder();
        let table: [(&str, &[&str]); 6] = [
            ("explain @src/main.rs, please", &["src/main.rs"]),
            ("(see @main.md) and @main.md.", &["main.md"]),
            ("@\"a b.txt\" is odd", &["a b.txt"]),
            ("mail me@main.md", &[]),
            ("@nothing @src @", &[]),
            ("first\n@main.md", &["main.md"]),
        ];
        for (prompt, expected) in table {
            assert_eq!(mentioned_files(folder.path(), prompt), expected, "{prompt}");
        }
    }
}
