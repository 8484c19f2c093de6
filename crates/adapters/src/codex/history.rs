//! Conversations that Codex keeps on disk: listed per working directory, read as messages, never changed.
//!
//! Each is a file of JSON lines, `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`, whose first line says where it
//! was held. What Codex adds to a conversation in the user's name is left out, and its own instructions are never read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use roost_engine::{NativeMessage, NativeSession};
use roost_model::content::{TranscriptContentBlock, TranscriptMessage, TranscriptRole};
use roost_model::time::Timestamp;
use roost_model::tool::{ToolManifest, ToolManifestEntry};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::head_cache::{HeadCache, Stamp};

/// How much of a file is read to list it.
const HEAD: u64 = 256 * 1024;
/// The longest title that is made from a prompt.
const LONGEST_TITLE: usize = 80;
/// How what Codex says in the user's name begins, in files that do not tell who said it.
const INJECTED: [&str; 3] = ["<environment_context>", "<user_instructions>", "# AGENTS.md instructions"];

/// One line of a file.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    timestamp: Option<Timestamp>,
    #[serde(rename = "type")]
    kind: String,
    /// Read only where a conversation is made of it.
    payload: Box<RawValue>,
}

impl Line {
    /// What it holds, if it is of this kind.
    fn read<T: DeserializeOwned>(&self, kind: &str) -> Option<T> {
        (self.kind == kind).then(|| serde_json::from_str(self.payload.get()).ok()).flatten()
    }
}

#[derive(Deserialize)]
struct Meta {
    id: String,
    #[serde(default)]
    cwd: PathBuf,
    /// A word, or something bigger for an agent that another one started.
    #[serde(default)]
    source: Value,
    /// The host's tools that the thread was begun with.
    #[serde(default)]
    dynamic_tools: Option<Vec<HostTool>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HostTool {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    input_schema: Option<Value>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said {
    Message {
        role: String,
        content: Vec<Piece>,
        #[serde(default, rename = "internal_chat_message_metadata_passthrough")]
        origin: Origin,
    },
    FunctionCall {
        name: String,
        call_id: String,
        #[serde(default)]
        arguments: String,
    },
    CustomToolCall {
        name: String,
        call_id: String,
        #[serde(default)]
        input: String,
    },
    #[serde(alias = "custom_tool_call_output")]
    FunctionCallOutput {
        call_id: String,
        #[serde(default)]
        output: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Piece {
    #[serde(default)]
    text: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Origin {
    content_item_metadata: Vec<Value>,
}

impl Origin {
    fn is_harness(&self) -> bool {
        let harness = |item: &Value| item.pointer("/provenance/type").is_some_and(|by| by == "harness");
        !self.content_item_metadata.is_empty() && self.content_item_metadata.iter().all(harness)
    }
}

/// What the beginning of a conversation's file says.
#[derive(Clone)]
pub(super) struct Head {
    id: String,
    cwd: PathBuf,
    title: Option<String>,
}

/// The conversations of a working directory, the last changed first; looks at the disk.
pub(super) fn sessions(heads: &HeadCache<Option<Head>>, home: &Path, cwd: &Path) -> io::Result<Vec<NativeSession>> {
    let mut sessions = Vec::new();
    for file in files(home)? {
        // One that is gone by now, or that nobody may read, does not hide the others.
        let Ok((Some(Head { id, cwd: begun, title }), updated_at)) = heads.of(&file, head) else { continue };
        if is_same(&begun, cwd) {
            sessions.push(NativeSession { id: id.into(), title, updated_at });
        }
    }
    sessions.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
    Ok(sessions)
}

/// How a conversation begins; `None` if the file is none, or that of an agent which another one started.
fn head(file: &Path) -> io::Result<Option<Head>> {
    let head = BufReader::new(File::open(file)?.take(HEAD));
    let mut lines = head.split(b'\n').map_while(Result::ok).map(|line| read(&line));
    let Some(meta) = lines.next().flatten().and_then(|line| line.read::<Meta>("session_meta")) else { return Ok(None) };
    if meta.source.is_object() {
        return Ok(None);
    }
    let first = lines.flatten().filter_map(message).find(|past| past.message.role == TranscriptRole::User);
    let title = first.map(|past| past.message.text().chars().take(LONGEST_TITLE).collect());
    Ok(Some(Head { id: meta.id, cwd: meta.cwd, title }))
}

/// What was said in a conversation of this working directory; `None` if there is none under this id. Looks at the disk.
pub(super) fn messages(home: &Path, cwd: &Path, id: &str) -> io::Result<Option<Vec<NativeMessage>>> {
    let Some(file) = file(home, id)?.filter(|file| !is_foreign(file, cwd)) else { return Ok(None) };
    let mut messages = Vec::new();
    for line in BufReader::new(File::open(file)?).split(b'\n') {
        // Codex may be writing: a last line that is not whole is not there yet.
        messages.extend(read(&line?).and_then(message));
    }
    Ok(Some(messages))
}

/// Changes when a conversation's file does. Looks at the disk.
pub(super) fn stamp(home: &Path, id: &str) -> Option<u64> {
    Stamp::of(&file(home, id).ok()??).ok().map(Stamp::number)
}

/// The file of a conversation. Looks at the disk.
pub(super) fn file(home: &Path, id: &str) -> io::Result<Option<PathBuf>> {
    let end = format!("-{id}.jsonl");
    let named = |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&end));
    Ok(files(home)?.into_iter().find(named))
}

/// Whether a conversation was held in another working directory, which is for its file to say. Looks at the disk.
pub(super) fn is_foreign(file: &Path, cwd: &Path) -> bool {
    head(file).ok().flatten().is_some_and(|head| !is_same(&head.cwd, cwd))
}

/// The host's tools that a conversation was begun with: Codex keeps offering them. Looks at the disk.
pub(super) fn tools(home: &Path, id: &str) -> io::Result<Option<ToolManifest>> {
    let Some(file) = file(home, id)? else { return Ok(None) };
    let mut first = Vec::new();
    BufReader::new(File::open(file)?).read_until(b'\n', &mut first)?;
    let tools = read(&first).and_then(|line| line.read::<Meta>("session_meta")).and_then(|meta| meta.dynamic_tools);
    let entry = |HostTool { name, description, input_schema }| {
        let description = description.filter(|text: &String| !text.is_empty());
        ToolManifestEntry { name, description, input_schema, schema_hash: None }
    };
    Ok(tools.map(|tools| ToolManifest { tools: tools.into_iter().map(entry).collect() }))
}

/// Whether two paths are one directory, whichever way leads there.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn read(line: &[u8]) -> Option<Line> {
    serde_json::from_slice(line).ok()
}

/// Every conversation; one that Codex moves away meanwhile is not there.
fn files(home: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = vec![home.join("sessions")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    Ok(files)
}

/// What a line adds to the conversation.
fn message(line: Line) -> Option<NativeMessage> {
    let (role, block) = match line.read("response_item")? {
        Said::Message { role, content, origin } => {
            let text = content.into_iter().filter_map(|piece| piece.text).collect::<Vec<_>>().join("\n");
            let role = match role.as_str() {
                "user" => TranscriptRole::User,
                "assistant" => TranscriptRole::Assistant,
                _ => return None,
            };
            if origin.is_harness() || INJECTED.iter().any(|start| text.starts_with(start)) {
                return None;
            }
            (role, TranscriptContentBlock::Text { text })
        }
        Said::FunctionCall { name, call_id, arguments } => {
            let input = serde_json::from_str(&arguments).unwrap_or(Value::String(arguments));
            (TranscriptRole::Assistant, TranscriptContentBlock::ToolUse { tool_call_id: call_id.into(), name, input })
        }
        Said::CustomToolCall { name, call_id, input } => {
            let (tool_call_id, input) = (call_id.into(), input.into());
            (TranscriptRole::Assistant, TranscriptContentBlock::ToolUse { tool_call_id, name, input })
        }
        Said::FunctionCallOutput { call_id, output } => {
            let (tool_call_id, is_error) = (call_id.into(), None);
            (TranscriptRole::Tool, TranscriptContentBlock::ToolResult { tool_call_id, result: output, is_error })
        }
        Said::Other => return None,
    };
    Some(NativeMessage { at: line.timestamp, message: TranscriptMessage { role, content: vec![block] } })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::examples;
    use roost_model::transcript;
    use serde_json::json;
    use tempfile::TempDir;

    /// A home with one conversation, as Codex writes it; the last line is not finished.
    fn home(id: &str, cwd: &str, source: Value) -> TempDir {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("sessions/2026/11/15");
        std::fs::create_dir_all(&folder).unwrap();
        let said = |payload: Value| json!({ "type": "response_item", "payload": payload });
        let user = |text: &str, by: &str| {
            let origin = json!({ "content_item_metadata": [{ "provenance": { "type": by } }] });
            said(json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }],
                "internal_chat_message_metadata_passthrough": origin }))
        };
        let lines = [
            json!({ "type": "session_meta", "payload": { "id": id, "cwd": cwd, "source": source, "base_instructions": "x" } }),
            json!({ "type": "event_msg", "payload": { "type": "task_started" } }),
            said(json!({ "type": "message", "role": "developer", "content": [{ "text": "rules" }] })),
            user("<environment_context>", "user"),
            user("remember this", "harness"),
            user("write a file", "user"),
            said(json!({ "type": "reasoning", "summary": [] })),
            said(
                json!({ "type": "function_call", "name": "exec_command", "call_id": "c", "arguments": "{\"cmd\":\"ls\"}" }),
            ),
            said(json!({ "type": "function_call_output", "call_id": "c", "output": "out.txt\n" })),
            said(
                json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "done" }] }),
            ),
        ];
        let mut text: String = lines.map(|line| format!("{line}\n")).concat();
        text.push_str("{\"type\":\"response_item\",\"payl");
        std::fs::write(folder.join(format!("rollout-2026-11-15T06-56-21-{id}.jsonl")), text).unwrap();
        home
    }

    #[test]
    fn a_conversation_is_listed_where_it_was_held_by_how_it_began() {
        let home = home("a1", "/project", json!("cli"));
        let listed = sessions(&HeadCache::default(), home.path(), Path::new("/project")).unwrap();
        let listed: Vec<_> = listed.iter().map(|one| (one.id.as_str(), one.title.as_deref())).collect();
        assert_eq!(listed, [("a1", Some("write a file"))]);
        assert_eq!(sessions(&HeadCache::default(), home.path(), Path::new("/elsewhere")).unwrap(), []);
        assert_eq!(sessions(&HeadCache::default(), Path::new("/nonexistent"), Path::new("/project")).unwrap(), []);
    }

    #[test]
    fn every_kind_of_line_is_read() {
        let mut read = String::new();
        for (kind, example) in examples::examples("codex") {
            let line: Line =
                serde_json::from_str(&example.to_string()).unwrap_or_else(|error| panic!("{kind}: {error}"));
            writeln!(read, "{kind}:{}", examples::told(message(line))).unwrap();
        }
        insta::assert_snapshot!(read);
    }

    #[test]
    fn an_agent_that_another_one_started_is_not_listed() {
        let home = home("a1", "/project", json!({ "subagent": "review" }));
        assert_eq!(sessions(&HeadCache::default(), home.path(), Path::new("/project")).unwrap(), []);
    }

    #[test]
    fn a_conversation_is_what_was_said_and_done_and_nothing_that_codex_added() {
        let home = home("a1", "/project", json!("cli"));
        let cwd = Path::new("/project");
        let messages = messages(home.path(), cwd, "a1").unwrap().unwrap();
        let expected = "USER: write a file\n\nASSISTANT: [called exec_command with {\"cmd\":\"ls\"}]\n\n\
                        TOOL: out.txt\n\n\nASSISTANT: done";
        let said: Vec<_> = messages.into_iter().map(|past| past.message).collect();
        assert_eq!(transcript::flatten(&said), expected);
        assert_eq!(super::messages(home.path(), cwd, "unknown").unwrap(), None);
        assert_eq!(super::messages(home.path(), Path::new("/elsewhere"), "a1").unwrap(), None);
    }
}
