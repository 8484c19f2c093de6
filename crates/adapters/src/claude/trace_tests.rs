//! Recorded runs of the real CLI, read by the same code that reads live ones. The summaries are golden files: a change
//! in how it is understood shows up as a diff.

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
use roost_process::Line;
use serde_json::Value;
use tokio::sync::mpsc;

use super::talk::{METHOD, Talk};
use super::turn::Turn;
use super::wire::{self, Incoming};
use crate::host::{Task, Writer};

/// What went in and came out, in order.
fn recorded(path: &Path) -> Vec<(bool, String)> {
    let text = std::fs::read_to_string(path).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines = records.filter(|record| record["dir"] == "in" || record["dir"] == "out");
    lines
        .map(|record| {
            let line = &record["line"];
            (record["dir"] == "in", line.as_str().map_or_else(|| line.to_string(), Into::into))
        })
        .collect()
}

/// Every task of a trace as drafts.
fn turns(path: &Path) -> Vec<Vec<Draft>> {
    let (writer, mut written) = Writer::new("nobody reads this");
    let mut talk = Talk::new(writer, "default");
    let mut turns = Vec::new();
    for (sent, line) in recorded(path) {
        if !sent {
            talk.line(Line::Bytes(line.as_bytes()));
            while written.try_recv().is_ok() {}
            continue;
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["type"] == "user" {
            // Older recordings acknowledge nothing, and have one prompt for each turn.
            let uuid = message["uuid"].as_str().map(ToOwned::to_owned);
            match &mut talk.out.turn {
                Some(turn) if !turn.task.is_over() => {
                    turn.unheard.extend(uuid);
                }
                _ => {
                    turns.push(std::mem::take(&mut talk.out.drafts));
                    let (drafts, _) = mpsc::channel(1);
                    let mut turn = Turn::new(String::new(), Task::new(METHOD, drafts));
                    turn.unheard = uuid.into_iter().collect();
                    talk.out.turn = Some(turn);
                }
            }
        }
        if message["request"]["subtype"] == "interrupt"
            && let Some(turn) = &mut talk.out.turn
        {
            turn.cancelled = true;
        }
    }
    turns.push(std::mem::take(&mut talk.out.drafts));
    turns.remove(0);
    turns
}

fn summary(path: &Path) -> String {
    let mut text = String::new();
    for (number, drafts) in turns(path).into_iter().enumerate() {
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
                writeln!(text, "  wants {} ({:?}, {:?}): {}", call.name, call.title, call.kind.unwrap(), call.input)
                    .unwrap();
            }
            let line = match &draft.fact {
                Fact::Output(output) => format!("said {:?}", output.content),
                Fact::ToolRequested(_) => continue,
                Fact::ToolAsks(call) => format!("asks about {}", names[&call.identity.tool_call_id]),
                Fact::HostToolAsks(call) => format!("asks the host to run {}", names[&call.identity.tool_call_id]),
                Fact::ToolOutput { call, stdout, stderr } => format!("{} printed {stdout:?} {stderr:?}", names[call]),
                Fact::ToolOutputDelta { call, delta, .. } => format!("{} prints {delta:?}", names[call]),
                Fact::ToolCompleted(outcome) => {
                    let how = if outcome.is_error { "failed" } else { "is done" };
                    format!("{} {how}: {}", names[&outcome.call], outcome.result.clone().unwrap_or_default())
                }
                Fact::RequestCompleted(request) => format!("answered {} {:?}", request.method, request.status),
                Fact::Question(question) => format!("asks {:?}: {:?}", question.message, question.fields),
                Fact::QuestionWithdrawn(_) => "withdraws its question".into(),
                other => format!("{other:?}"),
            };
            let kept = if draft.raw.is_some() { " (raw kept)" } else { "" };
            writeln!(text, "  {line}{kept}").unwrap();
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/claude");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 42, "the traces are missing");
    files
}

#[test]
fn recorded_runs_are_understood_as_before() {
    for path in traces() {
        insta::assert_snapshot!(path.file_stem().unwrap().to_string_lossy().into_owned(), summary(&path));
    }
}

#[test]
fn every_recorded_line_is_known() {
    for path in traces() {
        for (_, line) in recorded(&path).into_iter().filter(|(sent, _)| !sent) {
            let read = wire::parse(&line);
            let known = !matches!(read, Incoming::Unknown { .. } | Incoming::Noise);
            assert!(known, "{}: {line}", path.display());
        }
    }
}

#[test]
fn every_turn_of_a_recorded_run_ends_and_leaves_nothing_open() {
    for path in traces() {
        for (number, drafts) in turns(&path).into_iter().enumerate() {
            let mut ledger = Ledger::new(Mode::Yolo);
            let (mut events, mut end) = (Vec::new(), None);
            for draft in drafts {
                match ledger.enter(draft.fact, &mut events) {
                    Next::Nothing => {}
                    Next::Decide(Asked::Tool(call)) => {
                        let (source, result) = (PolicySource::User, PolicyResult::Allow);
                        let words = vec![ToolPolicyEvaluation { source, result, rule: None }];
                        events.extend(ledger.decide(&call, words, "", Terms::default()));
                    }
                    Next::Decide(Asked::Question(_)) => {}
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
