//! Recorded runs of the real Codex, read by the same code that reads live ones. The summaries are golden files: a change
//! in how Codex is understood shows up as a diff.

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
use tokio::sync::{mpsc, oneshot};

use super::connection::{Dialog, Pending};
use super::turn::{METHOD, Turn};
use crate::host::json_rpc::{self, Incoming};
use crate::host::{Task, Writer};

/// What was said, and by whom.
struct Recorded {
    sent: bool,
    text: String,
}

fn recorded(path: &Path) -> Vec<Recorded> {
    let text = std::fs::read_to_string(path).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines = records.filter(|record| record["dir"] == "in" || record["dir"] == "out");
    let text = |line: &Value| line.as_str().map_or_else(|| line.to_string(), Into::into);
    lines.map(|record| Recorded { sent: record["dir"] == "in", text: text(&record["line"]) }).collect()
}

/// A dialog without a server.
struct Replay {
    dialog: Dialog,
    turns: Vec<Vec<Draft>>,
}

impl Replay {
    fn of(path: &Path) -> Vec<Vec<Draft>> {
        let (writer, mut written) = Writer::new("nobody reads this");
        let mut replay = Self { dialog: Dialog::new(writer), turns: Vec::new() };
        for Recorded { sent, text } in recorded(path) {
            match sent {
                true => replay.sent(&serde_json::from_str(&text).unwrap()),
                false => replay.dialog.message(&text),
            }
            while written.try_recv().is_ok() {}
        }
        replay.next_turn();
        replay.turns
    }

    /// What the recorded host said, done to the state as ours would.
    fn sent(&mut self, message: &Value) {
        match message["method"].as_str() {
            Some("turn/start") => {
                self.next_turn();
                self.dialog.thread = message["params"]["threadId"].as_str().map(Into::into);
                let (drafts, _) = mpsc::channel(1);
                let out = &mut self.dialog.out;
                out.turn = Some(Turn::new(Task::new(METHOD, drafts)));
                out.drafts.append(&mut out.early);
                let (to, _) = oneshot::channel();
                self.dialog.peer.expect(message["id"].as_u64().unwrap(), Pending::Begun(to));
            }
            Some(_) => {
                self.dialog.peer.expect(message["id"].as_u64().unwrap_or(u64::MAX), Pending::Ignored);
                if let (Some("turn/interrupt"), Some(turn)) = (message["method"].as_str(), &mut self.dialog.out.turn) {
                    turn.cancelled = true;
                }
            }
            None => {
                let Some(turn) = &mut self.dialog.out.turn else { return };
                turn.questions.retain(|_, (id, _)| serde_json::json!(id) != message["id"]);
                let call = turn.approvals.find(|waiting| serde_json::json!(waiting.id) == message["id"]);
                let yes = serde_json::json!("accept");
                let allowed = message["result"]["decision"] == yes || message["result"]["action"] == yes;
                if let (Some(call), true) = (call, allowed) {
                    turn.mapper.tools.allowed(&call.tool_call_id, &mut self.dialog.out.drafts);
                }
            }
        }
    }

    fn next_turn(&mut self) {
        let Some(mut turn) = self.dialog.out.turn.take() else { return };
        if let Some(end) = turn.end.take() {
            turn.finish(end, &mut self.dialog.out.drafts);
        }
        self.turns.push(std::mem::take(&mut self.dialog.out.drafts));
    }
}

fn summary(path: &Path) -> String {
    let mut text = String::new();
    for (number, drafts) in Replay::of(path).into_iter().enumerate() {
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
                writeln!(
                    text,
                    "  wants {} ({:?}), attempt {}: {}",
                    call.name, call.title, call.identity.attempt, call.input
                )
                .unwrap();
            }
            let line = match &draft.fact {
                Fact::Output(output) => format!("said {:?}", output.content),
                Fact::ToolRequested(_) => continue,
                Fact::ToolAsks(call) => format!("asks about {}", names[&call.identity.tool_call_id]),
                Fact::HostToolAsks(call) => format!("wants the host to run {}", names[&call.identity.tool_call_id]),
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/codex");
    let mut files: Vec<_> = std::fs::read_dir(root).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 33, "the traces are missing");
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
fn every_recorded_message_is_known() {
    for path in traces() {
        let messages = recorded(&path).into_iter().filter(|recorded| !recorded.sent);
        messages.for_each(|message| {
            assert!(!matches!(json_rpc::parse(&message.text), Incoming::Noise), "{}", message.text)
        });
        for draft in Replay::of(&path).into_iter().flatten() {
            if let Fact::Notice(notice) = &draft.fact {
                assert!(!notice.message.contains("Roost does not know"), "{}: {draft:?}", path.display());
            }
        }
    }
}

#[test]
fn every_recorded_turn_ends_and_leaves_nothing_open() {
    for path in traces() {
        for (number, drafts) in Replay::of(&path).into_iter().enumerate() {
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
