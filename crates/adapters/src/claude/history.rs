//! Conversations that Claude Code keeps on disk: listed per working directory, read as messages, never changed.
//!
//! Each is a file of JSON lines, `projects/<folder of the directory>/<id>.jsonl`. The lines form a tree; the
//! conversation is the path from the root to the last line, and branches that the user took back lie beside it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use roost_engine::{NativeMessage, NativeSession};
use roost_model::content::{TranscriptContentBlock, TranscriptMessage, TranscriptRole};
use roost_model::time::Timestamp;
use serde::Deserialize;

use super::messages::{Content, ContentBlock};
use crate::head_cache::{HeadCache, Stamp};

/// The longest folder name that the CLI makes from a path alone, in bytes; longer ones are cut and a hash is added.
const LONGEST_FOLDER: usize = 200;
/// How many bytes of a file are read to list it.
const HEAD: u64 = 256 * 1024;
/// The longest title that is made from a prompt, in characters.
const LONGEST_TITLE: usize = 80;

/// One line of a conversation's file, with the members that Roost uses.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HistoryLine {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    uuid: Option<String>,
    #[serde(default)]
    parent_uuid: Option<String>,
    /// The parent of the first line after the conversation was compacted, which has no `parent_uuid`.
    #[serde(default)]
    logical_parent_uuid: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    timestamp: Option<Timestamp>,
    /// A message of a sub-agent's.
    #[serde(default)]
    is_sidechain: bool,
    /// Written by the CLI in the user's name.
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    message: Option<HistoryMessage>,
    #[serde(default)]
    attachment: Option<Attachment>,
    #[serde(default)]
    custom_title: Option<String>,
    #[serde(default)]
    ai_title: Option<String>,
}

#[derive(Deserialize)]
struct HistoryMessage {
    #[serde(default)]
    id: Option<String>,
    content: Content,
}

/// Data that the CLI attaches to a conversation.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Attachment {
    /// A message that the user sent while the agent worked.
    QueuedCommand { prompt: Content },
    #[serde(other)]
    Other,
}

impl HistoryLine {
    /// The message of this line, if it holds one: its own, or one that was queued.
    fn into_message(self) -> Option<HistoryMessage> {
        match self.attachment {
            Some(Attachment::QueuedCommand { prompt }) => Some(HistoryMessage { id: None, content: prompt }),
            _ => self.message,
        }
    }
}

/// The CLI's name for the folder of a working directory, before it is cut to the longest length.
pub(super) fn folder_of(cwd: &Path) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    // JavaScript counts UTF-16 units, so a letter beyond the basic plane becomes two dashes.
    cwd.to_string_lossy().chars().flat_map(|letter| std::iter::repeat_n(plain(letter), letter.len_utf16())).collect()
}

/// Whether the CLI has a conversation under this id, in any working directory.
pub(super) async fn exists(config: PathBuf, id: &str) -> bool {
    let file = format!("{id}.jsonl");
    let look = move || {
        let folders = std::fs::read_dir(config.join("projects")).into_iter().flatten().flatten();
        folders.map(|folder| folder.path().join(&file)).any(|file| file.exists())
    };
    tokio::task::spawn_blocking(look).await.unwrap_or(false)
}

/// What the list of conversations needs from the beginning of a file.
#[derive(Clone)]
pub(super) struct ConversationHead {
    /// The working directory in which the conversation began.
    cwd: Option<PathBuf>,
    /// The title, empty if it has none; `None` if the conversation has no message of the user's.
    title: Option<String>,
}

/// The conversations of a working directory, the last changed first. Blocks on the disk.
pub(super) fn sessions(
    heads: &HeadCache<ConversationHead>,
    config: &Path,
    cwd: &Path,
) -> io::Result<Vec<NativeSession>> {
    let mut sessions = Vec::new();
    for file in files(config, cwd)? {
        let Some(id) = file.file_stem().and_then(|stem| stem.to_str()) else { continue };
        // A file that is gone by now or cannot be read must not hide the others.
        let Ok((ConversationHead { cwd: begun, title: Some(title) }, updated_at)) = heads.get_or_read(&file, head)
        else {
            continue;
        };
        // Two directories can share a folder name.
        if begun.is_some_and(|begun| begun != cwd) {
            continue;
        }
        sessions.push(NativeSession {
            id: id.into(),
            title: Some(title).filter(|title| !title.is_empty()),
            updated_at,
        });
    }
    sessions.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
    Ok(sessions)
}

/// The messages of a conversation; `None` if there is none under this id. Blocks on the disk.
pub(super) fn messages(config: &Path, cwd: &Path, id: &str) -> io::Result<Option<Vec<NativeMessage>>> {
    let Some(file) = file(config, cwd, id)? else { return Ok(None) };
    let mut lines = Vec::new();
    for line in BufReader::new(File::open(file)?).split(b'\n') {
        // The CLI may be writing: a torn last line is ignored.
        lines.extend(serde_json::from_slice::<HistoryLine>(&line?));
    }
    Ok(Some(conversation(lines)))
}

/// A number that changes when the conversation's file does; `None` if there is none. Blocks on the disk.
pub(super) fn stamp(config: &Path, cwd: &Path, id: &str) -> Option<u64> {
    Stamp::read(&file(config, cwd, id).ok()??).ok().map(Stamp::number)
}

fn file(config: &Path, cwd: &Path, id: &str) -> io::Result<Option<PathBuf>> {
    let named = |file: &PathBuf| file.file_stem().is_some_and(|stem| stem == id);
    Ok(files(config, cwd)?.into_iter().find(named))
}

/// The conversation files in every folder that may belong to a working directory.
fn files(config: &Path, cwd: &Path) -> io::Result<Vec<PathBuf>> {
    let name = folder_of(cwd);
    let projects = config.join("projects");
    let folders = match name.get(..LONGEST_FOLDER).filter(|start| start.len() < name.len()) {
        None => vec![projects.join(&name)],
        Some(start) => entries(&projects)?
            .into_iter()
            .filter(|folder| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start)))
            .collect(),
    };
    let mut files = Vec::new();
    for folder in folders {
        files.extend(entries(&folder)?);
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    Ok(files)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn head(file: &Path) -> io::Result<ConversationHead> {
    let (mut cwd, mut given, mut begins) = (None, None, None);
    let mut head = BufReader::new(File::open(file)?.take(HEAD));
    let mut line = Vec::new();
    while head.read_until(b'\n', &mut line)? > 0 {
        let read = serde_json::from_slice::<HistoryLine>(&line);
        line.clear();
        let Ok(read) = read else { continue };
        // The first one counts: a `cd` can change it later.
        cwd = cwd.or(read.cwd.map(PathBuf::from));
        given = read.custom_title.or(read.ai_title).or(given);
        if begins.is_none() && read.kind == "user" && !read.is_meta && !read.is_sidechain {
            begins = read.message.map(|message| beginning(message.content));
        }
    }
    Ok(ConversationHead { cwd, title: given.or(begins) })
}

fn beginning(content: Content) -> String {
    let text = match content {
        Content::Text(text) => text,
        Content::Blocks(blocks) => {
            let texts = blocks.into_iter().find_map(|block| match block {
                ContentBlock::Text { text } => Some(text),
                _ => None,
            });
            texts.unwrap_or_default()
        }
    };
    text.lines().next().unwrap_or_default().chars().take(LONGEST_TITLE).collect()
}

/// The messages on the path from the root to the last line.
fn conversation(lines: Vec<HistoryLine>) -> Vec<NativeMessage> {
    let places: HashMap<String, usize> =
        lines.iter().enumerate().filter_map(|(place, line)| Some((line.uuid.clone()?, place))).collect();
    let mut way = Vec::new();
    let mut next = lines.iter().rposition(|line| line.uuid.is_some() && !line.is_sidechain);
    while let Some(place) = next {
        way.push(place);
        let parent = lines[place].parent_uuid.as_ref().or(lines[place].logical_parent_uuid.as_ref());
        // A parent comes before its child in the file; otherwise a damaged file could form a loop.
        next = parent.and_then(|parent| places.get(parent)).copied().filter(|parent| *parent < place);
    }
    let mut lines: Vec<_> = lines.into_iter().map(Some).collect();
    let mut messages: Vec<NativeMessage> = Vec::new();
    let mut speaking = None;
    for line in way.into_iter().rev().filter_map(|place| lines[place].take()) {
        let role = if line.kind == "assistant" { TranscriptRole::Assistant } else { TranscriptRole::User };
        let (at, is_meta) = (line.timestamp, line.is_meta);
        let Some(message) = line.into_message().filter(|_| !is_meta) else { continue };
        for (role, block) in blocks(role, message.content) {
            match messages.last_mut() {
                // The CLI writes one line for each block of a message.
                Some(last) if last.message.role == role && message.id.is_some() && speaking == message.id => {
                    last.message.content.push(block);
                }
                _ => {
                    let message = TranscriptMessage { role, content: vec![block] };
                    messages.push(NativeMessage { at, message });
                }
            }
            speaking.clone_from(&message.id);
        }
    }
    messages
}

fn blocks(role: TranscriptRole, content: Content) -> Vec<(TranscriptRole, TranscriptContentBlock)> {
    let blocks = match content {
        Content::Text(text) => return vec![(role, TranscriptContentBlock::Text { text })],
        Content::Blocks(blocks) => blocks,
    };
    let blocks = blocks.into_iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some((role, TranscriptContentBlock::Text { text })),
        ContentBlock::ToolUse { id, name, input } => {
            Some((role, TranscriptContentBlock::ToolUse { tool_call_id: id.into(), name, input }))
        }
        ContentBlock::ToolResult { tool_use_id, content, is_error } => {
            let (tool_call_id, is_error) = (tool_use_id.into(), is_error.then_some(true));
            let result = TranscriptContentBlock::ToolResult { tool_call_id, result: content, is_error };
            Some((TranscriptRole::Tool, result))
        }
        ContentBlock::Thinking { .. } | ContentBlock::Other => None,
    });
    blocks.collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::examples;

    /// A conversation as the CLI of version 2.1.197 left it on disk, in a home of its own.
    fn home() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::TempDir::new().unwrap();
        let cwd = PathBuf::from("/home/dev/work/c1");
        let folder = home.path().join("projects").join(folder_of(&cwd));
        std::fs::create_dir_all(&folder).unwrap();
        let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/history/claude.jsonl");
        std::fs::copy(recorded, folder.join("f572775b-7935-4b2a-9a81-3ab792de145b.jsonl")).unwrap();
        (home, cwd)
    }

    #[test]
    fn the_folder_of_a_directory_has_letters_and_digits_only() {
        let cases = [("/home/dev/my.app_2", "-home-dev-my-app-2"), ("/é/𝄞", "-----")];
        for (cwd, expected) in cases {
            assert_eq!(folder_of(Path::new(cwd)), expected);
        }
    }

    #[test]
    fn a_conversation_is_listed_where_it_took_place() {
        let (home, cwd) = home();
        let found = sessions(&HeadCache::default(), home.path(), &cwd).unwrap();
        let listed: Vec<_> = found.iter().map(|session| (session.id.as_str(), session.title.as_deref())).collect();
        let title = Some("SCRIPT:shell CWD:/home/dev/work/c1");
        assert_eq!(listed, [("f572775b-7935-4b2a-9a81-3ab792de145b", title)]);
        // Another directory whose folder has the same name.
        assert_eq!(sessions(&HeadCache::default(), home.path(), Path::new("/home/dev/work-c1")).unwrap(), []);
        assert_eq!(sessions(&HeadCache::default(), home.path(), Path::new("/elsewhere")).unwrap(), []);
    }

    #[test]
    fn a_conversation_is_read_as_it_was_held() {
        let (home, cwd) = home();
        let messages = messages(home.path(), &cwd, "f572775b-7935-4b2a-9a81-3ab792de145b").unwrap().unwrap();
        let mut told = String::new();
        for NativeMessage { message, .. } in messages {
            writeln!(told, "{:?}: {}", message.role, serde_json::to_string(&message.content).unwrap()).unwrap();
        }
        insta::assert_snapshot!(told);
        assert_eq!(super::messages(home.path(), &cwd, "unknown").unwrap(), None);
    }

    #[test]
    fn every_kind_of_line_is_read() {
        let mut read = String::new();
        for (kind, example) in examples::examples("claude") {
            let line: HistoryLine = serde_json::from_value(example).unwrap_or_else(|error| panic!("{kind}: {error}"));
            writeln!(read, "{kind}:{}", examples::describe(conversation(vec![line]))).unwrap();
        }
        insta::assert_snapshot!(read);
    }

    #[test]
    fn a_line_that_is_being_written_and_a_branch_that_was_taken_back_are_left_out() {
        let line = |uuid: &str, parent: &str, text: &str| {
            format!(
                r#"{{"type":"user","uuid":"{uuid}","parentUuid":"{parent}","message":{{"role":"user","content":"{text}"}}}}"#
            )
        };
        let home = tempfile::TempDir::new().unwrap();
        let folder = home.path().join("projects/-w");
        std::fs::create_dir_all(&folder).unwrap();
        let lines = [line("a", "", "one"), line("b", "a", "taken back"), line("c", "a", "two"), line("d", "c", "cut")];
        let file = lines.join("\n");
        std::fs::write(folder.join("s.jsonl"), &file[..file.len() - 5]).unwrap();
        let messages = messages(home.path(), Path::new("/w"), "s").unwrap().unwrap();
        assert_eq!(messages.iter().map(|past| past.message.text()).collect::<Vec<_>>(), ["one", "two"]);
    }
}
