//! Past conversations in OpenCode's database, or of a server: listed per working directory and read as messages. Read
//! only.
//!
//! OpenCode leaves the database with its write-ahead log. It is opened in a way that reads both and writes neither of
//! them, nor the index beside them.

use std::io;
use std::path::Path;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use roost_engine::{NativeMessage, NativeSession};
use roost_model::content::{TranscriptContentBlock, TranscriptMessage, TranscriptRole};
use roost_model::ids::RuntimeSessionId;
use roost_model::time::Timestamp;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde::Deserialize;
use serde_json::Value;

use super::http::{Client, HttpError};
use super::wire::{MessagePart, PartKind, ToolStatus};

/// The conversations of a working directory, the last changed first. Those of subagents and archived ones are left
/// out. Blocks on the disk.
pub(super) fn sessions(database: &Path, cwd: &Path) -> io::Result<Vec<NativeSession>> {
    let Some(database) = open(database)? else { return Ok(Vec::new()) };
    let listed = || {
        let mut rows = database.prepare(
            "SELECT id, title, time_updated FROM session
             WHERE directory IN (?1, ?2) AND parent_id IS NULL AND time_archived IS NULL
             ORDER BY time_updated DESC, id",
        )?;
        let rows = rows.query_map(directory_spellings(cwd), |row| {
            let (id, title): (String, String) = (row.get(0)?, row.get(1)?);
            Ok(native_session(id, title, row.get(2)?))
        })?;
        rows.collect::<Result<_, rusqlite::Error>>()
    };
    listed().map_err(io::Error::other)
}

/// The messages of a conversation; `None` if this working directory has none with this id. Blocks on the disk.
pub(super) fn messages(database: &Path, cwd: &Path, id: &str) -> io::Result<Option<Vec<NativeMessage>>> {
    let Some(database) = open(database)? else { return Ok(None) };
    let read = || {
        let [here, really] = directory_spellings(cwd);
        let known = "SELECT 1 FROM session WHERE id = ?1 AND directory IN (?2, ?3)";
        if database.query_row(known, params![id, here, really], |_| Ok(())).optional()?.is_none() {
            return Ok(None);
        }
        let mut parts = database.prepare("SELECT data FROM part WHERE message_id = ?1 ORDER BY id")?;
        let mut rows =
            database.prepare("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id")?;
        let mut rows = rows.query([id])?;
        let mut messages = Vec::new();
        while let Some(row) = rows.next()? {
            let (id, info): (String, String) = (row.get(0)?, row.get(1)?);
            let parts = parts.query_map([id], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
            if let Ok(info) = serde_json::from_str(&info) {
                messages.extend(to_messages(&info, parts.iter().filter_map(|part| serde_json::from_str(part).ok())));
            }
        }
        Ok(Some(messages))
    };
    read().map_err(|error: rusqlite::Error| io::Error::other(error))
}

/// A number that changes when a conversation does; `None` if it has no parts. Blocks on the disk.
pub(super) fn stamp(database: &Path, id: &str) -> Option<u64> {
    let database = open(database).ok()??;
    let last = "SELECT max(time_updated) + count(*) FROM part WHERE session_id = ?1";
    let stamp = database.query_row(last, [id], |row| row.get::<_, Option<i64>>(0)).ok()??;
    u64::try_from(stamp).ok()
}

/// The same as [`sessions`], from a server, for the client's working directory.
pub(super) async fn sessions_from_server(client: &Client) -> io::Result<Vec<NativeSession>> {
    #[derive(Deserialize)]
    struct ListedSession {
        id: String,
        #[serde(default)]
        title: String,
        #[serde(rename = "parentID", default)]
        parent: Option<Value>,
        time: UpdateTime,
    }
    #[derive(Deserialize)]
    struct UpdateTime {
        updated: i64,
    }
    let listed = client.get("/session").await.map_err(io::Error::other)?;
    let listed: Vec<ListedSession> = serde_json::from_value(listed)?;
    let listed = listed.into_iter().filter(|session| session.parent.is_none());
    let mut sessions: Vec<_> = listed.map(|one| native_session(one.id, one.title, one.time.updated)).collect();
    sessions.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
    Ok(sessions)
}

/// The same as [`messages`], from a server.
pub(super) async fn messages_from_server(
    client: &Client,
    id: &RuntimeSessionId,
) -> io::Result<Option<Vec<NativeMessage>>> {
    #[derive(Deserialize)]
    struct MessageRecord {
        info: StoredMessage,
        parts: Vec<Value>,
    }
    let path = format!("/session/{}/message", utf8_percent_encode(id.as_str(), NON_ALPHANUMERIC));
    let answer = match client.get(&path).await {
        Ok(answer) => answer,
        Err(HttpError::Refused { status, .. }) if status.is_client_error() => return Ok(None),
        Err(error) => return Err(io::Error::other(error)),
    };
    let records: Vec<MessageRecord> = serde_json::from_value(answer)?;
    let parts = |parts: Vec<Value>| parts.into_iter().filter_map(|part| MessagePart::deserialize(part).ok());
    Ok(Some(records.into_iter().flat_map(|record| to_messages(&record.info, parts(record.parts))).collect()))
}

fn native_session(id: String, title: String, updated: i64) -> NativeSession {
    let title = Some(title).filter(|title| !title.is_empty());
    NativeSession { id: id.into(), title, updated_at: Timestamp::from_millis(updated) }
}

/// The spellings under which OpenCode may have stored a directory: as given, and with symbolic links resolved.
fn directory_spellings(cwd: &Path) -> [String; 2] {
    let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    [cwd, &real].map(|path| path.to_string_lossy().into_owned())
}

/// Opens the database read-only; `None` if there is none.
fn open(path: &Path) -> io::Result<Option<Connection>> {
    if !path.try_exists()? {
        return Ok(None);
    }
    // Without the index of the log nobody has the database open and the log is merged, so it may be read as immutable.
    let index = path.with_extension("db-shm");
    let how = if index.try_exists()? { "readonly_shm=1" } else { "immutable=1" };
    let name = utf8_percent_encode(&path.to_string_lossy(), NON_ALPHANUMERIC).to_string();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(format!("file:{name}?mode=ro&{how}"), flags);
    opened.map(Some).map_err(io::Error::other)
}

/// The stored fields of a message that a conversation needs.
#[derive(Deserialize)]
struct StoredMessage {
    role: String,
    #[serde(default)]
    time: CreationTime,
}

#[derive(Default, Deserialize)]
struct CreationTime {
    #[serde(default)]
    created: Option<i64>,
}

/// The messages that one stored message adds to the conversation: its text and tool calls, and then the results of the
/// tools.
fn to_messages(info: &StoredMessage, parts: impl Iterator<Item = MessagePart>) -> Vec<NativeMessage> {
    let role = match info.role.as_str() {
        "user" => TranscriptRole::User,
        "assistant" => TranscriptRole::Assistant,
        _ => return Vec::new(),
    };
    let (mut blocks, mut answers) = (Vec::new(), Vec::new());
    for part in parts {
        match part.kind {
            PartKind::Text { text, synthetic: false, .. } if !text.is_empty() => {
                blocks.push(TranscriptContentBlock::Text { text });
            }
            PartKind::Tool { tool, call, state } => {
                let tool_call_id: roost_model::ids::ToolCallId = call.into();
                let is_error = (state.status == ToolStatus::Error).then_some(true);
                if let Some(result) = state.output.or(state.error).map(Value::from) {
                    let tool_call_id = tool_call_id.clone();
                    answers.push(TranscriptContentBlock::ToolResult { tool_call_id, result, is_error });
                }
                blocks.push(TranscriptContentBlock::ToolUse { tool_call_id, name: tool, input: state.input });
            }
            _ => {}
        }
    }
    let at = info.time.created.map(Timestamp::from_millis);
    let messages =
        [(role, blocks), (TranscriptRole::Tool, answers)].into_iter().filter(|(_, content)| !content.is_empty());
    messages.map(|(role, content)| NativeMessage { at, message: TranscriptMessage { role, content } }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt::Write;

    use super::*;
    use crate::examples;
    use roost_model::{canonical, transcript};
    use tempfile::TempDir;

    /// A database with the tables and columns that are read, and four conversations.
    fn database() -> (TempDir, std::path::PathBuf) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("opencode.db");
        let database = Connection::open(&path).unwrap();
        database
            .execute_batch(
                r#"
                CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, time_updated INTEGER,
                                      time_archived INTEGER);
                CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
                CREATE TABLE part (id TEXT, message_id TEXT, data TEXT, session_id TEXT, time_updated INTEGER);
                INSERT INTO session VALUES ('ses_1', NULL, '/project', 'A file', 2000, NULL),
                                           ('ses_2', 'ses_1', '/project', 'of a helper', 3000, NULL),
                                           ('ses_3', NULL, '/project', 'put away', 3000, 1),
                                           ('ses_4', NULL, '/project', '', 3000, NULL);
                INSERT INTO message VALUES
                    ('msg_1', 'ses_1', 1, '{"role":"user","time":{"created":1000}}'),
                    ('msg_2', 'ses_1', 2, '{"role":"assistant","time":{"created":1001}}'),
                    ('msg_3', 'ses_1', 3, '{"role":"assistant"}'), ('msg_4', 'ses_1', 4, 'torn');
                INSERT INTO part (id, message_id, data) VALUES
                    ('prt_1', 'msg_1', '{"type":"text","text":"write a file"}'),
                    ('prt_2', 'msg_1', '{"type":"text","text":"(added)","synthetic":true}'),
                    ('prt_3', 'msg_2', '{"type":"step-start"}'),
                    ('prt_4', 'msg_2', '{"type":"tool","tool":"bash","callID":"c",
                        "state":{"status":"completed","input":{"command":"ls"},"output":"out.txt\n"}}'),
                    ('prt_5', 'msg_3', '{"type":"text","text":"done"}');
                "#,
            )
            .unwrap();
        (folder, path)
    }

    #[test]
    fn a_conversation_is_listed_where_it_was_held_the_last_first() {
        let (_folder, path) = database();
        let listed = sessions(&path, Path::new("/project")).unwrap();
        let listed: Vec<_> = listed.iter().map(|one| (one.id.as_str(), one.title.as_deref())).collect();
        assert_eq!(listed, [("ses_4", None), ("ses_1", Some("A file"))]);
        assert_eq!(sessions(&path, Path::new("/elsewhere")).unwrap(), []);
        assert_eq!(sessions(Path::new("/nonexistent/opencode.db"), Path::new("/project")).unwrap(), []);
    }

    #[test]
    fn a_conversation_is_what_was_said_and_done_and_nothing_that_opencode_added() {
        let (_folder, path) = database();
        let messages = messages(&path, Path::new("/project"), "ses_1").unwrap().unwrap();
        assert_eq!(messages[0].at, Some(Timestamp::from_millis(1000)));
        let messages: Vec<_> = messages.into_iter().map(|past| past.message).collect();
        let expected = "USER: write a file\n\nASSISTANT: [called bash with {\"command\":\"ls\"}]\n\n\
                        TOOL: out.txt\n\n\nASSISTANT: done";
        assert_eq!(transcript::flatten(&messages), expected);
        assert_eq!(super::messages(&path, Path::new("/project"), "ses_9").unwrap(), None);
        assert_eq!(super::messages(&path, Path::new("/elsewhere"), "ses_1").unwrap(), None);
    }

    #[test]
    fn a_database_with_the_tables_of_the_real_one_is_read() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("opencode.db");
        let database = Connection::open(&path).unwrap();
        database.pragma_update(None, "foreign_keys", false).unwrap();
        let tables = std::fs::read_to_string(examples::folder().join("opencode.sql")).unwrap();
        database.execute_batch(&tables).unwrap();
        for (kind, example) in examples::examples("opencode") {
            let table = kind.split('/').next().unwrap();
            let (columns, values): (Vec<_>, Vec<_>) = example.as_object().unwrap().iter().unzip();
            let places = vec!["?"; columns.len()].join(",");
            let columns = columns.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(",");
            let plain = |value: &Value| -> Box<dyn rusqlite::ToSql> {
                match value {
                    Value::Null => Box::new(None::<String>),
                    Value::Number(number) => Box::new(number.as_f64()),
                    Value::String(text) => Box::new(text.clone()),
                    other => Box::new(other.to_string()),
                }
            };
            let insert = format!("INSERT INTO {table} ({columns}) VALUES ({places})");
            database.execute(&insert, rusqlite::params_from_iter(values.into_iter().map(plain))).unwrap();
        }
        let listed = sessions(&path, Path::new("/home/dev/work/o2")).unwrap();
        let [session] = &listed[..] else { panic!("{listed:?}") };
        assert_eq!(session.title.as_deref(), Some("t"));
        let held = messages(&path, Path::new("/home/dev/work/o2"), session.id.as_str()).unwrap().unwrap();
        assert!(stamp(&path, session.id.as_str()).is_some());
        insta::assert_snapshot!(examples::describe(held));
    }

    #[test]
    fn every_kind_of_message_and_part_is_read() {
        let mut read = String::new();
        for (kind, mut example) in examples::examples("opencode") {
            let summary = match kind.split('/').next().unwrap() {
                "part" => {
                    let part: MessagePart = serde_json::from_value(example["data"].take())
                        .unwrap_or_else(|error| panic!("{kind}: {error}"));
                    let by = StoredMessage { role: "assistant".into(), time: CreationTime::default() };
                    examples::describe(to_messages(&by, std::iter::once(part)))
                }
                "message" => {
                    let info: StoredMessage = serde_json::from_value(example["data"].take())
                        .unwrap_or_else(|error| panic!("{kind}: {error}"));
                    format!(" by {}", info.role)
                }
                "session" => " see above".into(),
                "todo" | "event" => " not looked at".into(),
                _ => panic!("nobody knows what {kind} is"),
            };
            writeln!(read, "{kind}:{summary}").unwrap();
        }
        insta::assert_snapshot!(read);
    }

    #[test]
    fn a_conversation_that_goes_on_has_another_stamp() {
        let (_folder, path) = database();
        let writer = Connection::open(&path).unwrap();
        writer.execute("UPDATE part SET session_id = 'ses_1', time_updated = 1000", []).unwrap();
        let first = stamp(&path, "ses_1").unwrap();
        assert_eq!(stamp(&path, "ses_1"), Some(first));
        writer.execute("UPDATE part SET time_updated = 2000 WHERE id = 'prt_5'", []).unwrap();
        assert_ne!(stamp(&path, "ses_1").unwrap(), first);
        assert_eq!(stamp(&path, "ses_9"), None);
    }

    #[test]
    fn reading_sees_what_is_only_in_the_log_and_writes_nothing() {
        let (folder, path) = database();
        let writer = Connection::open(&path).unwrap();
        writer.pragma_update(None, "journal_mode", "wal").unwrap();
        writer.execute("UPDATE session SET title = 'Another' WHERE id = 'ses_1'", []).unwrap();
        // A copy is what OpenCode leaves when it ends, and nobody in this process has it open.
        let copy = TempDir::new().unwrap();
        for file in std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
            std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
        }
        let files = || {
            let files = std::fs::read_dir(copy.path()).unwrap().map(|file| file.unwrap().path());
            files
                .map(|path| (path.clone(), canonical::hash_bytes(&std::fs::read(path).unwrap())))
                .collect::<BTreeMap<_, _>>()
        };
        let before = files();
        let listed = sessions(&copy.path().join("opencode.db"), Path::new("/project")).unwrap();
        assert!(listed.iter().any(|one| one.title.as_deref() == Some("Another")), "{listed:?}");
        assert_eq!(files(), before);
        assert_eq!(before.len(), 3);
    }
}
