//! Past conversations on disk ("rollouts"): listed per working directory and read as messages. Read only.
//!
//! Each is a file of JSON lines, `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`, whose first line names its
//! working directory. Messages that Codex injects in the user's name are left out, and so are its own instructions.

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

/// Bytes of a file that are read to list it. A first prompt that comes later gives no title.
const HEAD_BYTES: u64 = 256 * 1024;
/// The longest title, in characters, that is made from a prompt.
const LONGEST_TITLE: usize = 80;
/// Beginnings of messages that Codex injects in the user's name, for files too old to record where a message came
/// from.
const INJECTED: [&str; 3] = ["<environment_context>", "<user_instructions>", "# AGENTS.md instructions"];

/// One line of a rollout.
#[derive(Deserialize)]
struct RolloutLine {
    #[serde(default)]
    timestamp: Option<Timestamp>,
    #[serde(rename = "type")]
    kind: String,
    /// Parsed only for the kinds of lines that are needed.
    payload: Box<RawValue>,
}

impl RolloutLine {
    /// The payload, if the line is of this kind and parses.
    fn payload<T: DeserializeOwned>(&self, kind: &str) -> Option<T> {
        (self.kind == kind).then(|| serde_json::from_str(self.payload.get()).ok()).flatten()
    }
}

/// The payload of the first line.
#[derive(Deserialize)]
struct SessionMeta {
    id: String,
    #[serde(default)]
    cwd: PathBuf,
    /// A string, or an object for a thread that another agent started.
    #[serde(default)]
    source: Value,
    /// The host's tools that the thread was started with.
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

/// The payload of a `response_item` line: a message or a tool call of the conversation.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseItem {
    Message {
        role: String,
        content: Vec<ContentPiece>,
        #[serde(default, rename = "internal_chat_message_metadata_passthrough")]
        origin: MessageOrigin,
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
struct ContentPiece {
    #[serde(default)]
    text: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageOrigin {
    content_item_metadata: Vec<Value>,
}

impl MessageOrigin {
    /// Whether Codex itself wrote all of the message.
    fn is_harness(&self) -> bool {
        let harness = |item: &Value| item.pointer("/provenance/type").is_some_and(|by| by == "harness");
        !self.content_item_metadata.is_empty() && self.content_item_metadata.iter().all(harness)
    }
}

/// The beginning of a rollout: all that listing needs, so it is cached per file.
#[derive(Clone)]
pub(super) struct RolloutHead {
    id: String,
    cwd: PathBuf,
    title: Option<String>,
}

/// The conversations of a working directory, the last changed first. Blocks on the disk.
pub(super) fn sessions(
    heads: &HeadCache<Option<RolloutHead>>,
    home: &Path,
    cwd: &Path,
) -> io::Result<Vec<NativeSession>> {
    let mut sessions = Vec::new();
    for file in rollout_files(home)? {
        // One that is gone by now, or that nobody may read, does not hide the others.
        let Ok((Some(RolloutHead { id, cwd: begun, title }), updated_at)) = heads.get_or_read(&file, read_head) else {
            continue;
        };
        if is_same_dir(&begun, cwd) {
            sessions.push(NativeSession { id: id.into(), title, updated_at });
        }
    }
    sessions.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
    Ok(sessions)
}

/// Reads the beginning of a rollout; `None` if it does not begin with `session_meta`, or if another agent started it.
fn read_head(file: &Path) -> io::Result<Option<RolloutHead>> {
    let head = BufReader::new(File::open(file)?.take(HEAD_BYTES));
    let mut lines = head.split(b'\n').map_while(Result::ok).map(|line| parse_line(&line));
    let Some(meta) = lines.next().flatten().and_then(|line| line.payload::<SessionMeta>("session_meta")) else {
        return Ok(None);
    };
    if meta.source.is_object() {
        return Ok(None);
    }
    let first = lines.flatten().filter_map(to_message).find(|past| past.message.role == TranscriptRole::User);
    let title = first.map(|past| past.message.text().chars().take(LONGEST_TITLE).collect());
    Ok(Some(RolloutHead { id: meta.id, cwd: meta.cwd, title }))
}

/// The messages of a conversation; `None` if this working directory has none with this id. Blocks on the disk.
pub(super) fn messages(home: &Path, cwd: &Path, id: &str) -> io::Result<Option<Vec<NativeMessage>>> {
    let Some(file) = find_file(home, id)?.filter(|file| !is_foreign(file, cwd)) else { return Ok(None) };
    let mut messages = Vec::new();
    for line in BufReader::new(File::open(file)?).split(b'\n') {
        // Codex may be writing: a last line that is incomplete does not parse and is left out.
        messages.extend(parse_line(&line?).and_then(to_message));
    }
    Ok(Some(messages))
}

/// A number that changes when the file of a conversation does; `None` if there is no such file. Blocks on the disk.
pub(super) fn stamp(home: &Path, id: &str) -> Option<u64> {
    Stamp::read(&find_file(home, id).ok()??).ok().map(Stamp::number)
}

/// Finds the file of a conversation by its id, which is the end of the file name. Blocks on the disk.
pub(super) fn find_file(home: &Path, id: &str) -> io::Result<Option<PathBuf>> {
    let end = format!("-{id}.jsonl");
    let named = |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&end));
    Ok(rollout_files(home)?.into_iter().find(named))
}

/// Whether a rollout names another working directory than `cwd`. False if it cannot be read. Blocks on the disk.
pub(super) fn is_foreign(file: &Path, cwd: &Path) -> bool {
    read_head(file).ok().flatten().is_some_and(|head| !is_same_dir(&head.cwd, cwd))
}

/// The host's tools that a conversation was started with; Codex offers them for as long as the thread lives. Blocks on
/// the disk.
pub(super) fn host_tools(home: &Path, id: &str) -> io::Result<Option<ToolManifest>> {
    let Some(file) = find_file(home, id)? else { return Ok(None) };
    let mut first = Vec::new();
    BufReader::new(File::open(file)?).read_until(b'\n', &mut first)?;
    let tools = parse_line(&first)
        .and_then(|line| line.payload::<SessionMeta>("session_meta"))
        .and_then(|meta| meta.dynamic_tools);
    let entry = |HostTool { name, description, input_schema }| {
        let description = description.filter(|text: &String| !text.is_empty());
        ToolManifestEntry { name, description, input_schema, schema_hash: None }
    };
    Ok(tools.map(|tools| ToolManifest { tools: tools.into_iter().map(entry).collect() }))
}

/// Whether two paths lead to the same directory, symbolic links resolved.
fn is_same_dir(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn parse_line(line: &[u8]) -> Option<RolloutLine> {
    serde_json::from_slice(line).ok()
}

/// Every rollout below `sessions`. One that Codex archives meanwhile is missing, which is no error.
fn rollout_files(home: &Path) -> io::Result<Vec<PathBuf>> {
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

/// The message that a line adds to the conversation, if any.
fn to_message(line: RolloutLine) -> Option<NativeMessage> {
    let (role, block) = match line.payload("response_item")? {
        ResponseItem::Message { role, content, origin } => {
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
        ResponseItem::FunctionCall { name, call_id, arguments } => {
            let input = serde_json::from_str(&arguments).unwrap_or(Value::String(arguments));
            (TranscriptRole::Assistant, TranscriptContentBlock::ToolUse { tool_call_id: call_id.into(), name, input })
        }
        ResponseItem::CustomToolCall { name, call_id, input } => {
            let (tool_call_id, input) = (call_id.into(), input.into());
            (TranscriptRole::Assistant, TranscriptContentBlock::ToolUse { tool_call_id, name, input })
        }
        ResponseItem::FunctionCallOutput { call_id, output } => {
            let (tool_call_id, is_error) = (call_id.into(), None);
            (TranscriptRole::Tool, TranscriptContentBlock::ToolResult { tool_call_id, result: output, is_error })
        }
        ResponseItem::Other => return None,
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

    /// A Codex home with one conversation; its last line is cut off, as if Codex were still writing.
    fn home(id: &str, cwd: &str, source: Value) -> TempDir {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("sessions/2026/11/15");
        std::fs::create_dir_all(&folder).unwrap();
        let response = |payload: Value| json!({ "type": "response_item", "payload": payload });
        let user = |text: &str, by: &str| {
            let origin = json!({ "content_item_metadata": [{ "provenance": { "type": by } }] });
            response(json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }],
                "internal_chat_message_metadata_passthrough": origin }))
        };
        let lines = [
            json!({ "type": "session_meta", "payload": { "id": id, "cwd": cwd, "source": source, "base_instructions": "x" } }),
            json!({ "type": "event_msg", "payload": { "type": "task_started" } }),
            response(json!({ "type": "message", "role": "developer", "content": [{ "text": "rules" }] })),
            user("<environment_context>", "user"),
            user("remember this", "harness"),
            user("write a file", "user"),
            response(json!({ "type": "reasoning", "summary": [] })),
            response(
                json!({ "type": "function_call", "name": "exec_command", "call_id": "c", "arguments": "{\"cmd\":\"ls\"}" }),
            ),
            response(json!({ "type": "function_call_output", "call_id": "c", "output": "out.txt\n" })),
            response(
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
            let line: RolloutLine =
                serde_json::from_str(&example.to_string()).unwrap_or_else(|error| panic!("{kind}: {error}"));
            writeln!(read, "{kind}:{}", examples::describe(to_message(line))).unwrap();
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
        let messages: Vec<_> = messages.into_iter().map(|past| past.message).collect();
        assert_eq!(transcript::flatten(&messages), expected);
        assert_eq!(super::messages(home.path(), cwd, "unknown").unwrap(), None);
        assert_eq!(super::messages(home.path(), Path::new("/elsewhere"), "a1").unwrap(), None);
    }
}
