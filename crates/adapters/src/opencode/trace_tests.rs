//! Recorded runs of the real OpenCode, read by the same code that reads live ones. The summaries are golden files: a
//! change in how OpenCode is understood shows up as a diff.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use roost_engine::adapter::{Draft, Fact};
use roost_model::payload::ToolCallRequestedPayload;
use serde_json::Value;
use tokio::sync::mpsc;

use super::launch;
use super::reader::Reader;
use super::session_tree::SessionTree;
use super::turn::{OpencodeTurn, PROMPT_METHOD};
use super::wire::{self, StreamLine};
use crate::host::Task;
use crate::trace_kit::{self, Names, Words, assert_nothing_is_open};

/// One line of a recording.
enum Recorded {
    /// A request of the host: its path and body.
    Sent(String, Value),
    /// An event of the server.
    Event(String),
    /// The server's response to a request.
    Answered,
    /// The line by which the server reports its address.
    Listening,
    /// Output that is no protocol, or a remark of the recorder.
    Aside,
}

fn recorded(path: &Path) -> Vec<Recorded> {
    let text = std::fs::read_to_string(path).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let recorded = records.map(|record| {
        let line = record["line"].as_str().unwrap();
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (record["dir"].as_str().unwrap(), first) {
            ("out", "sse") => Recorded::Event(rest.to_owned()),
            ("out", status) if status.parse::<u16>().is_ok() => Recorded::Answered,
            ("out", _) if launch::parse_address(line).is_some() => Recorded::Listening,
            ("out", "Warning:") | ("err" | "meta", _) => Recorded::Aside,
            ("in", "POST") => {
                let (path, body) = rest.split_once(' ').unwrap();
                Recorded::Sent(path.to_owned(), serde_json::from_str(body).unwrap_or_default())
            }
            ("in", "GET") => Recorded::Sent(rest.to_owned(), Value::Null),
            _ => panic!("{}: nobody knows what this is: {record}", path.display()),
        }
    });
    recorded.collect()
}

/// A reader that is fed from a recording instead of a server.
#[derive(Default)]
struct Replay {
    reader: Reader,
    turns: Vec<Vec<Draft>>,
    /// The ids of all events so far; a recording has each event twice where two clients listened.
    seen_ids: HashSet<String>,
}

impl Replay {
    fn run(path: &Path) -> Self {
        let mut replay = Self::default();
        for line in recorded(path) {
            match line {
                Recorded::Sent(path, body) => replay.sent(&path, &body),
                Recorded::Event(text) => replay.read(&text),
                Recorded::Answered | Recorded::Listening | Recorded::Aside => {}
            }
        }
        replay.next_turn();
        replay
    }

    fn read(&mut self, text: &str) {
        let event: Value = serde_json::from_str(text).unwrap();
        if !self.seen_ids.insert(event["id"].as_str().unwrap().to_owned()) {
            return;
        }
        self.reader.on_message(text);
    }

    /// Applies a request of the recorded host to the state, as our own would have changed it.
    fn sent(&mut self, path: &str, body: &Value) {
        let words: Vec<_> = path.trim_start_matches('/').split('/').collect();
        match (words.as_slice(), &mut self.reader.out.turn) {
            (["session", session, "prompt_async"], _) => {
                self.next_turn();
                self.reader.tree = SessionTree::new((*session).to_owned());
                let (drafts, _) = mpsc::channel(1);
                let out = &mut self.reader.out;
                out.turn = Some(OpencodeTurn::new(Task::new(PROMPT_METHOD, drafts)));
                out.drafts.append(&mut out.early);
            }
            (["session", _, "abort"], Some(turn)) => turn.cancelled = true,
            (["permission", permission, "reply"], Some(turn)) => {
                let tools = &mut turn.mapper.tools;
                if let Some(call) = tools.waiting_for(permission) {
                    tools.decide(&call, body["reply"] == "once", &mut self.reader.out.drafts);
                }
            }
            (["question", question, _], Some(turn)) => turn.questions.retain(|_, pending| pending.native != *question),
            _ => {}
        }
    }

    fn next_turn(&mut self) {
        if self.reader.out.turn.take().is_some() {
            self.turns.push(std::mem::take(&mut self.reader.out.drafts));
        }
    }
}

fn summary(path: &Path) -> String {
    let own = |draft: &Draft, names: &Names| match &draft.fact {
        Fact::ToolStarted(call) => Some(format!("runs {}", names[call])),
        Fact::Notice(notice) => Some(format!("notes ({:?}) {}", notice.level, notice.message)),
        _ => None,
    };
    let wants = |call: &ToolCallRequestedPayload| format!("({:?})", call.title);
    let replay = Replay::run(path);
    let mut text = trace_kit::summary(replay.turns, &Words { wants, own });
    for request in replay.reader.outgoing {
        writeln!(text, "and sends {} {}", request.path, request.body).unwrap();
    }
    text
}

fn traces() -> Vec<PathBuf> {
    trace_kit::traces("opencode", 24)
}

#[test]
fn recorded_turns_are_understood_as_before() {
    for path in traces() {
        let scenario = path.file_stem().unwrap().to_string_lossy();
        insta::assert_snapshot!(scenario.as_ref(), summary(&path));
    }
}

#[test]
fn every_recorded_server_says_once_where_it_listens() {
    for path in traces() {
        let listening = recorded(&path).iter().filter(|line| matches!(line, Recorded::Listening)).count();
        assert_eq!(listening, 1, "{}", path.display());
    }
}

#[test]
fn every_recorded_event_is_known() {
    for path in traces() {
        for line in recorded(&path) {
            let Recorded::Event(text) = line else { continue };
            assert!(
                matches!(wire::parse(&text), StreamLine::Event(_) | StreamLine::Ignored),
                "{}: {text}",
                path.display()
            );
        }
    }
}

#[test]
fn every_recorded_turn_ends_and_leaves_nothing_open() {
    traces().iter().for_each(|path| assert_nothing_is_open(path, Replay::run(path).turns));
}
