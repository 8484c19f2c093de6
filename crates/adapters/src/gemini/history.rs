//! Conversations that the Gemini CLI keeps on disk: listed per working directory, read as messages, never changed.
//!
//! Each is a file of JSON lines, `tmp/<project>/chats/session-<minute>-<start of the id>.jsonl`: a header, messages (a
//! later one of the same id replaces the earlier), and changes. Text that Gemini adds in the user's name is left out.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use roost_engine::{NativeMessage, NativeSession};
use roost_model::content::{TranscriptContentBlock, TranscriptMessage, TranscriptRole};
use roost_model::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::chats;
use crate::head_cache::{HeadCache, Stamp};

/// How many bytes of a file are read to list it.
const HEAD: u64 = 256 * 1024;
/// The longest title, in characters.
const LONGEST_TITLE: usize = 80;
/// The beginnings of texts that Gemini adds in the user's name.
const INJECTED: [&str; 2] = ["<session_context>", "<hook_context>"];

/// The contents of a session's file.
#[derive(Default)]
pub(super) struct Record {
    pub(super) id: String,
    /// The conversation of a sub-agent.
    is_inner: bool,
    /// Gemini's own summary, which becomes the title.
    summary: Option<String>,
    messages: Vec<ChatMessage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChatMessage {
    id: String,
    #[serde(default, rename = "type")]
    author: String,
    #[serde(default)]
    timestamp: Option<Timestamp>,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    tool_calls: Vec<ChatToolCall>,
}

#[derive(Deserialize)]
struct ChatToolCall {
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    args: Value,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    status: String,
}

/// What the list of conversations needs from the beginning of a file.
#[derive(Clone)]
pub(super) struct ConversationHead {
    id: String,
    title: Option<String>,
}

/// The conversations of a working directory that can be resumed, the last changed first. Blocks on the disk.
pub(super) fn sessions(
    heads: &HeadCache<Option<ConversationHead>>,
    home: &Path,
    cwd: &Path,
) -> io::Result<Vec<NativeSession>> {
    let mut sessions = Vec::new();
    for file in chats::files(home, cwd)? {
        // A file that is gone by now or cannot be read must not hide the others.
        let Ok((Some(ConversationHead { id, title }), updated_at)) = heads.get_or_read(&file, head) else { continue };
        sessions.push(NativeSession { id: id.into(), title, updated_at });
    }
    sessions.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
    // Of several files with one id Gemini continues in the last changed.
    let mut seen = HashSet::new();
    sessions.retain(|session| seen.insert(session.id.clone()));
    Ok(sessions)
}

fn head(file: &Path) -> io::Result<Option<ConversationHead>> {
    let record = Record::from_lines(BufReader::new(File::open(file)?.take(HEAD)))?;
    let is_listed = !record.id.is_empty() && !record.is_inner && record.can_be_resumed();
    Ok(is_listed.then(|| ConversationHead { title: record.title(), id: record.id }))
}

/// A number that changes when the conversation's file does; `None` if there is none. Blocks on the disk.
pub(super) fn stamp(home: &Path, cwd: &Path, id: &str) -> Option<u64> {
    let files = chats::files_of(home, cwd, id).ok()?;
    let latest = files.iter().filter_map(|file| Stamp::read(file).ok()).max_by_key(|stamp| stamp.time());
    latest.map(Stamp::number)
}

/// The messages of a conversation; `None` if there is none under this id. Blocks on the disk.
pub(super) fn messages(home: &Path, cwd: &Path, id: &str) -> io::Result<Option<Vec<NativeMessage>>> {
    let mut latest: Option<(Timestamp, Record)> = None;
    for file in chats::files_of(home, cwd, id)? {
        let (record, changed) = (Record::read(&file)?, Stamp::read(&file)?.time());
        let newer = latest.as_ref().is_none_or(|(before, _)| *before < changed);
        if record.id == id && record.can_be_resumed() && newer {
            latest = Some((changed, record));
        }
    }
    Ok(latest.map(|(_, record)| record.messages()))
}

impl Record {
    /// Reads a file to its end; torn lines are ignored.
    pub(super) fn read(file: &Path) -> io::Result<Self> {
        Self::from_lines(BufReader::new(File::open(file)?))
    }

    fn from_lines(lines: impl BufRead) -> io::Result<Self> {
        let mut record = Self::default();
        for line in lines.split(b'\n') {
            // Gemini may be writing: a torn last line is ignored.
            if let Ok(line) = serde_json::from_slice(&line?) {
                record.apply_line(line);
            }
        }
        Ok(record)
    }

    fn apply_line(&mut self, mut line: Value) {
        if let Some(id) = line["$rewindTo"].as_str() {
            let from = self.messages.iter().position(|message| message.id == id);
            self.messages.truncate(from.unwrap_or(0));
        } else if line["id"].is_string() {
            self.upsert(line);
        } else if let Some(changes) = line.get_mut("$set") {
            self.apply_metadata(changes.take());
        } else if line["sessionId"].is_string() {
            self.apply_metadata(line);
        }
    }

    fn apply_metadata(&mut self, mut changes: Value) {
        if let Some(id) = changes["sessionId"].as_str() {
            id.clone_into(&mut self.id);
        }
        if let Some(summary) = changes["summary"].as_str() {
            self.summary = Some(summary.to_owned());
        }
        self.is_inner |= changes["kind"] == "subagent";
        if let Value::Array(messages) = changes["messages"].take() {
            self.messages.clear();
            messages.into_iter().for_each(|message| self.upsert(message));
        }
    }

    /// Adds a message, or replaces the one of the same id.
    fn upsert(&mut self, message: Value) {
        let Ok(message) = serde_json::from_value::<ChatMessage>(message) else { return };
        match self.messages.iter_mut().rfind(|before| before.id == message.id) {
            Some(before) => *before = message,
            None => self.messages.push(message),
        }
    }

    /// Whether Gemini would load it: it holds a prompt that is no command, or an answer.
    pub(super) fn can_be_resumed(&self) -> bool {
        self.messages.iter().any(|message| {
            let text = message.text();
            let text = text.trim();
            match message.author.as_str() {
                "user" => !text.is_empty() && !is_injected(text) && !text.starts_with(['/', '?']),
                "gemini" => !text.is_empty() || !message.tool_calls.is_empty(),
                _ => false,
            }
        })
    }

    fn title(&self) -> Option<String> {
        let prompts = self.messages.iter().filter(|message| message.author == "user").map(ChatMessage::text);
        let first = prompts.into_iter().find(|text| !text.trim().is_empty() && !is_injected(text));
        let title = self.summary.clone().or(first)?;
        Some(title.lines().next().unwrap_or_default().chars().take(LONGEST_TITLE).collect())
    }

    fn messages(self) -> Vec<NativeMessage> {
        let answered: HashSet<String> =
            self.messages.iter().flat_map(|message| answers(&message.content)).map(|(id, _)| id).collect();
        let mut messages = Vec::new();
        for message in self.messages {
            let role = match message.author.as_str() {
                "user" => TranscriptRole::User,
                "gemini" => TranscriptRole::Assistant,
                _ => continue,
            };
            let mut say = |role, content: Vec<TranscriptContentBlock>| {
                if !content.is_empty() {
                    messages
                        .push(NativeMessage { at: message.timestamp, message: TranscriptMessage { role, content } });
                }
            };
            let text = message.text();
            let own = Some(text).filter(|text| !text.trim().is_empty() && !is_injected(text));
            let mut content: Vec<_> = own.map(|text| TranscriptContentBlock::Text { text }).into_iter().collect();
            let mut results: Vec<_> = answers(&message.content).map(|(id, answer)| result(id, answer, false)).collect();
            for call in message.tool_calls {
                if !answered.contains(&call.id) {
                    let failed = call.status != "success";
                    results.extend(answers(&call.result).map(|(id, answer)| result(id, answer, failed)));
                }
                let (tool_call_id, name, input) = (call.id.into(), call.name, call.args);
                content.push(TranscriptContentBlock::ToolUse { tool_call_id, name, input });
            }
            say(role, content);
            say(TranscriptRole::Tool, results);
        }
        messages
    }
}

impl ChatMessage {
    /// The text of the message, without thinking.
    fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => {
                let spoken = parts.iter().filter(|part| part["thought"] != true);
                spoken.filter_map(|part| part["text"].as_str()).collect()
            }
            _ => String::new(),
        }
    }
}

fn is_injected(text: &str) -> bool {
    INJECTED.iter().any(|start| text.trim_start().starts_with(start))
}

/// The tool results among these parts, with the ids of their calls.
fn answers(parts: &Value) -> impl Iterator<Item = (String, Value)> {
    let answers = parts.as_array().into_iter().flatten().filter_map(|part| part.get("functionResponse"));
    answers.filter_map(|answer| Some((answer["id"].as_str()?.to_owned(), answer["response"].clone())))
}

fn result(id: String, result: Value, failed: bool) -> TranscriptContentBlock {
    let is_error = (failed || result.get("error").is_some()).then_some(true);
    TranscriptContentBlock::ToolResult { tool_call_id: id.into(), result, is_error }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::path::PathBuf;

    use super::*;
    use crate::examples;

    /// A conversation as the CLI of version 0.61.0 left it on disk, in a home of its own.
    fn home() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::TempDir::new().unwrap();
        let cwd = PathBuf::from("/home/dev/work/g1");
        let project = home.path().join("tmp/g1");
        std::fs::create_dir_all(project.join("chats")).unwrap();
        std::fs::write(project.join(".project_root"), "/home/dev/work/g1").unwrap();
        let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/history/gemini.jsonl");
        std::fs::copy(recorded, project.join("chats/session-2026-11-15T15-22-418d97b4.jsonl")).unwrap();
        (home, cwd)
    }

    #[test]
    fn a_conversation_is_listed_where_it_took_place() {
        let (home, cwd) = home();
        let found = sessions(&HeadCache::default(), home.path(), &cwd).unwrap();
        let listed: Vec<_> = found.iter().map(|session| (session.id.as_str(), session.title.as_deref())).collect();
        assert_eq!(listed, [("418d97b4-b320-422a-b868-47610dbd197c", Some("SCRIPT:shell"))]);
        assert_eq!(sessions(&HeadCache::default(), home.path(), Path::new("/elsewhere")).unwrap(), []);
    }

    #[test]
    fn a_conversation_is_read_as_it_was_held() {
        let (home, cwd) = home();
        let messages = messages(home.path(), &cwd, "418d97b4-b320-422a-b868-47610dbd197c").unwrap().unwrap();
        let mut told = String::new();
        for NativeMessage { at, message } in messages {
            assert!(at.is_some());
            writeln!(told, "{:?}: {}", message.role, serde_json::to_string(&message.content).unwrap()).unwrap();
        }
        insta::assert_snapshot!(told);
        assert_eq!(super::messages(home.path(), &cwd, "unknown").unwrap(), None);
        assert!(stamp(home.path(), &cwd, "418d97b4-b320-422a-b868-47610dbd197c").is_some());
        assert_eq!(stamp(home.path(), &cwd, "unknown"), None);
        let foreign = super::messages(home.path(), Path::new("/"), "418d97b4-b320-422a-b868-47610dbd197c");
        assert_eq!(foreign.unwrap(), None);
    }

    #[test]
    fn every_kind_of_line_is_read() {
        let mut read = String::new();
        for (kind, example) in examples::examples("gemini") {
            let mut record = Record::default();
            record.apply_line(example);
            let (id, title) = (record.id.clone(), record.title());
            writeln!(read, "{kind}: id {id:?}, title {title:?},{}", examples::describe(record.messages())).unwrap();
        }
        insta::assert_snapshot!(read);
    }

    fn texts(lines: &[&str]) -> Vec<String> {
        let record = Record::from_lines(lines.join("\n").as_bytes()).unwrap();
        record.messages().iter().map(|past| past.message.text()).collect()
    }

    #[test]
    fn the_last_word_about_a_message_counts() {
        let (one, two) =
            (r#"{"id":"1","type":"user","content":"one"}"#, r#"{"id":"2","type":"gemini","content":"two"}"#);
        let cases: [(&[&str], &[&str]); 5] = [
            (&[one, two], &["one", "two"]),
            (&[one, two, r#"{"id":"1","type":"user","content":"other"}"#], &["other", "two"]),
            (&[one, two, r#"{"$set":{"messages":[{"id":"3","type":"user","content":"three"}]}}"#], &["three"]),
            (&[one, two, r#"{"$rewindTo":"2"}"#], &["one"]),
            (&[one, r#"{"id":"4","type":"info","content":"hint"}"#, r#"{"id":"2","type":"gem"#], &["one"]),
        ];
        for (lines, expected) in cases {
            assert_eq!(texts(lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn a_call_that_was_cut_keeps_its_own_result() {
        let call = r#"{"id":"1","type":"gemini","content":"","toolCalls":[{"id":"c","name":"run","args":{"a":1},
            "status":"error","result":[{"functionResponse":{"id":"c","response":{"output":"cut"}}}]}]}"#;
        let record = Record::from_lines(call.replace('\n', " ").as_bytes()).unwrap();
        let roles: Vec<_> = record.messages().iter().map(|past| past.message.role).collect();
        assert_eq!(roles, [TranscriptRole::Assistant, TranscriptRole::Tool]);
    }
}
