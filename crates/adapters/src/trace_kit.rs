//! Shared by the tests with recorded runs: reads recordings, summarises drafts, and checks the rules of every turn.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_engine::ledger::{Asked, Ledger, Next, Terms};
use roost_model::event::EventBody;
use roost_model::ids::ToolCallId;
use roost_model::mode::Mode;
use roost_model::payload::{ModelOutputDeltaKind, ToolCallRequestedPayload};
use roost_model::tool::{PolicyResult, PolicySource, ToolPolicyEvaluation};
use serde_json::Value;

/// The recordings in a folder of `tests/traces`, sorted; panics if there are fewer than `at_least`.
pub(crate) fn traces(folder: &str, at_least: usize) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= at_least, "the traces are missing");
    files
}

/// One line of a recording, in either direction.
pub(crate) struct RecordedMessage {
    /// The host sent it to the runtime, not the other way round.
    pub(crate) sent: bool,
    pub(crate) text: String,
}

/// The lines of a recording in order; its remarks and stderr are left out.
pub(crate) fn recorded(path: &Path) -> Vec<RecordedMessage> {
    let text = std::fs::read_to_string(path).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines = records.filter(|record| record["dir"] == "in" || record["dir"] == "out");
    let text = |line: &Value| line.as_str().map_or_else(|| line.to_string(), Into::into);
    lines.map(|record| RecordedMessage { sent: record["dir"] == "in", text: text(&record["line"]) }).collect()
}

/// The runtime's ids of the calls, by Roost's ids, which differ with every run.
pub(crate) type Names = HashMap<ToolCallId, String>;

/// The parts of a summary that differ between runtimes.
pub(crate) struct Words {
    /// Describes a call, after its name.
    pub(crate) wants: fn(&ToolCallRequestedPayload) -> String,
    /// Describes a draft in place of [`usual`]; `None` leaves it to that.
    pub(crate) own: fn(&Draft, &Names) -> Option<String>,
}

/// Summarises the turns of a recording, one line for each draft; consecutive deltas share a line.
pub(crate) fn summary(turns: Vec<Vec<Draft>>, words: &Words) -> String {
    let mut text = String::new();
    for (number, drafts) in turns.into_iter().enumerate() {
        writeln!(text, "turn {}", number + 1).unwrap();
        let (mut names, mut reported, mut pieces) = (Names::new(), HashSet::new(), Pieces::default());
        for draft in drafts {
            if let Fact::Delta(piece) = &draft.fact {
                pieces.add(piece.kind, &piece.delta, &mut text);
                continue;
            }
            pieces.flush(&mut text);
            if let Fact::ToolRequested(call) | Fact::ToolAsks(call) | Fact::HostToolAsks(call) = &draft.fact
                && reported.insert((call.identity.tool_call_id.clone(), call.identity.attempt))
            {
                let native = call.identity.runtime_tool_call_id.clone().unwrap();
                names.insert(call.identity.tool_call_id.clone(), native);
                writeln!(text, "  wants {} {}: {}", call.name, (words.wants)(call), call.input).unwrap();
            }
            if let Some(line) = (words.own)(&draft, &names).or_else(|| usual(&draft, &names)) {
                writeln!(text, "  {line}").unwrap();
            }
        }
        pieces.flush(&mut text);
    }
    text
}

/// The default description of a draft; `None` for a requested call, which the summary describes itself.
pub(crate) fn usual(draft: &Draft, names: &Names) -> Option<String> {
    Some(match &draft.fact {
        Fact::Output(output) => format!("said {:?}", output.content),
        Fact::ToolRequested(_) => return None,
        Fact::ToolAsks(call) => format!("asks about {}", names[&call.identity.tool_call_id]),
        Fact::ToolOutputDelta { call, delta, .. } => format!("{} prints {delta:?}", names[call]),
        Fact::ToolCompleted(outcome) => {
            let how = if outcome.is_error { "failed" } else { "is done" };
            format!("{} {how}: {}", names[&outcome.call], outcome.result.clone().unwrap_or_default())
        }
        Fact::ToolRefused { call, reason } => format!("{} is refused: {reason}", names[call]),
        Fact::RequestCompleted(request) => format!("answered {} {:?}", request.method, request.status),
        Fact::Question(question) => format!("asks {:?}: {:?}", question.message, question.fields),
        other => format!("{other:?}"),
    })
}

/// Counts the characters of consecutive deltas of one kind, which the summary shows as one line.
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

/// Asserts that every turn of a recording ends and that every requested call was decided.
pub(crate) fn assert_nothing_is_open(path: &Path, turns: Vec<Vec<Draft>>) {
    for (number, drafts) in turns.into_iter().enumerate() {
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
