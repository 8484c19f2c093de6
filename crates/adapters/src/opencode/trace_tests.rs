//! Recorded runs of the real OpenCode, read by the same code that reads live ones. The summaries are golden files: a
//! change in how OpenCode is understood shows up as a diff.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_engine::ledger::{Asked, Ledger, Next, Terms};
use roost_model::event::EventBody;
use roost_model::ids::ToolCallId;
use roost_model::mode::Mode;
use roost_model::payload::ModelOutputDeltaKind;
use roost_model::tool::{PolicyResult, PolicySource, ToolPolicyEvaluation};
use serde_json::Value;
use tokio::sync::mpsc;

use super::family::Family;
use super::launch;
use super::reader::Reader;
use super::turn::{METHOD, Turn};
use super::wire::{self, Told};
use crate::host::Task;

/// A line of a recording: what was said, and by whom.
enum Recorded {
    /// A request of the host's: its path and body.
    Sent(String, Value),
    /// An event of the server's.
    Event(String),
    /// The server's answer to a request, with its status.
    Answered,
    /// The server says where it listens.
    Listening,
    /// Something that is no protocol, or about the recording.
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
            ("out", _) if launch::address(line).is_some() => Recorded::Listening,
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

/// A reader without a server.
#[derive(Default)]
struct Replay {
    reader: Reader,
    turns: Vec<Vec<Draft>>,
    /// The ids of events; where two listened at once, the recording has each event twice.
    heard: HashSet<String>,
}

impl Replay {
    fn of(path: &Path) -> Self {
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
        if !self.heard.insert(event["id"].as_str().unwrap().to_owned()) {
            return;
        }
        self.reader.message(text);
    }

    /// What the recorded host said, done to the state as ours would.
    fn sent(&mut self, path: &str, body: &Value) {
        let words: Vec<_> = path.trim_start_matches('/').split('/').collect();
        match (words.as_slice(), &mut self.reader.out.turn) {
            (["session", session, "prompt_async"], _) => {
                self.next_turn();
                self.reader.family = Family::of((*session).to_owned());
                let (drafts, _) = mpsc::channel(1);
                let out = &mut self.reader.out;
                out.turn = Some(Turn::new(Task::new(METHOD, drafts)));
                out.drafts.append(&mut out.early);
            }
            (["session", _, "abort"], Some(turn)) => turn.cancelled = true,
            (["permission", permission, "reply"], Some(turn)) => {
                let tools = &mut turn.mapper.tools;
                if let Some(call) = tools.waiting_for(permission) {
                    tools.decide(&call, body["reply"] == "once", &mut self.reader.out.drafts);
                }
            }
            (["question", question, _], Some(turn)) => turn.questions.retain(|_, asked| asked.native != *question),
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
    let mut text = String::new();
    let replay = Replay::of(path);
    for (number, drafts) in replay.turns.into_iter().enumerate() {
        writeln!(text, "turn {}", number + 1).unwrap();
        let mut names: HashMap<ToolCallId, String> = HashMap::new();
        let mut told = HashSet::new();
        let mut pieces = Pieces::default();
        for draft in drafts {
            if let Fact::Delta(piece) = &draft.fact {
                pieces.add(piece.kind, &piece.delta, &mut text);
                continue;
            }
            pieces.flush(&mut text);
            if let Fact::ToolRequested(call) | Fact::ToolAsks(call) | Fact::HostToolAsks(call) = &draft.fact
                && told.insert((call.identity.tool_call_id.clone(), call.identity.attempt))
            {
                let native = call.identity.runtime_tool_call_id.clone().unwrap();
                names.insert(call.identity.tool_call_id.clone(), native);
                writeln!(text, "  wants {} ({:?}): {}", call.name, call.title, call.input).unwrap();
            }
            let line = match &draft.fact {
                Fact::Output(output) => format!("said {:?}", output.content),
                Fact::ToolRequested(_) => continue,
                Fact::ToolAsks(call) => format!("asks about {}", names[&call.identity.tool_call_id]),
                Fact::ToolStarted(call) => format!("runs {}", names[call]),
                Fact::ToolOutputDelta { call, delta, .. } => format!("{} prints {delta:?}", names[call]),
                Fact::ToolCompleted(outcome) => {
                    let how = if outcome.is_error { "failed" } else { "is done" };
                    format!("{} {how}: {}", names[&outcome.call], outcome.result.clone().unwrap_or_default())
                }
                Fact::RequestCompleted(request) => format!("answered {} {:?}", request.method, request.status),
                Fact::Question(question) => format!("asks {:?}: {:?}", question.message, question.fields),
                Fact::Notice(notice) => format!("notes ({:?}) {}", notice.level, notice.message),
                other => format!("{other:?}"),
            };
            writeln!(text, "  {line}").unwrap();
        }
        pieces.flush(&mut text);
    }
    for errand in replay.reader.errands {
        writeln!(text, "and sends {} {}", errand.path, errand.body).unwrap();
    }
    text
}

/// Consecutive deltas of one kind, shown as one line.
#[derive(Default)]
struct Pieces(Option<(ModelOutputDeltaKind, usize)>);

impl Pieces {
    fn add(&mut self, kind: ModelOutputDeltaKind, delta: &str, text: &mut String) {
        if self.0.is_some_and(|(before, _)| before != kind) {
            self.flush(text);
        }
        self.0.get_or_insert((kind, 0)).1 += delta.chars().count();
    }

    fn flush(&mut self, text: &mut String) {
        if let Some((kind, characters)) = self.0.take() {
            writeln!(text, "  {kind:?} of {characters} characters").unwrap();
        }
    }
}

fn traces() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/opencode");
    let mut files: Vec<_> = std::fs::read_dir(root).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 24, "the traces are missing");
    files
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
            assert!(matches!(wire::parse(&text), Told::Event(_) | Told::Quiet), "{}: {text}", path.display());
        }
    }
}

#[test]
fn every_recorded_turn_ends_and_leaves_nothing_open() {
    for path in traces() {
        for (number, drafts) in Replay::of(&path).turns.into_iter().enumerate() {
            let mut ledger = Ledger::new(Mode::Yolo);
            let (mut events, mut end) = (Vec::new(), None);
            for draft in drafts {
                match ledger.enter(draft.fact, &mut events) {
                    Next::Nothing | Next::Decide(Asked::Question(_)) => {}
                    Next::Decide(Asked::Tool(call)) => {
                        let (source, result) = (PolicySource::User, PolicyResult::Allow);
                        let words = vec![ToolPolicyEvaluation { source, result, rule: None }];
                        events.extend(ledger.decide(&call, words, "", Terms::default()));
                    }
                    Next::End(ended) => end = Some(ended),
                }
            }
            let name = format!("turn {} of {}", number + 1, path.display());
            let end = end.unwrap_or_else(|| TaskEnd::Stopped(format!("{name} was cut")));
            events.extend(ledger.close(end));
            assert!(events.last().is_some_and(EventBody::ends_task), "{name}");
            let count = |wanted: fn(&EventBody) -> bool| events.iter().filter(|event| wanted(event)).count();
            let requested = count(|event| matches!(event, EventBody::ToolCallRequested(_)));
            let decided = count(|event| matches!(event, EventBody::ToolCallApproved(_) | EventBody::ToolCallDenied(_)));
            assert_eq!(requested, decided, "{name}");
        }
    }
}
