//! Recorded runs of real agents, read by the same code that reads live ones. The summaries are golden files: a change
//! in how a real agent is understood shows up as a diff.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema as acp;
use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_engine::ledger::{Asked, Ledger, Next, Terms};
use roost_model::event::EventBody;
use roost_model::ids::ToolCallId;
use roost_model::mode::Mode;
use roost_model::payload::ModelOutputDeltaKind;
use roost_process::Line;
use serde_json::Value;
use tokio::sync::mpsc;

use super::connection::{AcpConnection, Pending};
use super::cost::Spent;
use super::presets::{Observed, preset};
use super::turn::{PROMPT, Turn};
use super::wire;
use crate::host::json_rpc::Incoming;
use crate::host::{Task, Writer};

struct Recorded {
    sent: bool,
    line: Value,
}

fn recorded(path: &Path) -> Vec<Recorded> {
    let text = std::fs::read_to_string(path).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines = records.filter(|record| record["dir"] == "in" || record["dir"] == "out");
    lines.map(|record| Recorded { sent: record["dir"] == "in", line: record["line"].clone() }).collect()
}

/// Every turn of a trace as drafts.
fn turns(path: &Path) -> Vec<Vec<Draft>> {
    let (writer, mut written) = Writer::new("nobody reads this");
    let agent = path.parent().unwrap().file_name().unwrap().to_string_lossy();
    let observed = preset(&agent).map_or(Observed::ALL, |preset| preset.observed);
    let mut connection = AcpConnection::new(writer, observed);
    let mut turns = Vec::new();
    for Recorded { sent, line } in recorded(path) {
        let text = line.as_str().map_or_else(|| line.to_string(), Into::into);
        if sent {
            let message: Value = serde_json::from_str(&text).unwrap_or_default();
            if message["method"] == "session/prompt" {
                connection.native = message["params"]["sessionId"].as_str().map(Into::into);
                turns.push(std::mem::replace(&mut connection.out.drafts, connection.between.take()));
                let (drafts, _) = mpsc::channel(1);
                connection.peer.expect(message["id"].as_u64().unwrap(), Pending::Prompt);
                connection.out.turn = Some(Turn::new(Task::new(PROMPT, drafts), observed));
            } else if let (Some(id), true) = (message["id"].as_u64(), message["method"].is_string()) {
                if message["method"] == "session/new" {
                    connection.spent = Spent::NOTHING;
                }
                connection.peer.expect(id, Pending::Reply(tokio::sync::oneshot::channel().0));
            }
            if message["method"] == "session/cancel"
                && let Some(turn) = &mut connection.out.turn
            {
                turn.cancelled = true;
            }
        } else {
            connection.line(Line::Bytes(text.as_bytes()));
            while written.try_recv().is_ok() {}
        }
    }
    turns.push(connection.out.drafts);
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
                writeln!(text, "  wants {} ({:?}): {}", call.name, call.title, call.input).unwrap();
            }
            let line = match &draft.fact {
                Fact::Output(output) => format!("said {:?}", output.content),
                Fact::ToolRequested(_) => continue,
                Fact::ToolAsks(call) => format!("asks about {}", names[&call.identity.tool_call_id]),
                Fact::ToolOutputDelta { call, delta, .. } => format!("{} prints {delta:?}", names[call]),
                Fact::ToolCompleted(outcome) => {
                    let how = if outcome.is_error { "failed" } else { "is done" };
                    format!("{} {how}: {}", names[&outcome.call], outcome.result.clone().unwrap_or_default())
                }
                Fact::RequestCompleted(request) => format!("answered {} {:?}", request.method, request.status),
                Fact::Question(question) => format!("asks {:?}: {:?}", question.message, question.fields),
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
    let agents = ["claude-agent-acp", "codex-acp", "gemini", "opencode-acp"];
    agents.into_iter().flat_map(traces_of).collect()
}

fn traces_of(agent: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(agent);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn recorded_agents_are_understood_as_before() {
    let files = traces();
    assert!(files.len() >= 55, "the traces are missing");
    for path in files {
        let agent = path.parent().unwrap().file_name().unwrap().to_string_lossy();
        let scenario = path.file_stem().unwrap().to_string_lossy();
        insta::assert_snapshot!(format!("{agent}__{scenario}"), summary(&path));
    }
}

/// What a line is taken for; what means nothing to us is kept as it is, as a notice.
fn kind(line: &str) -> String {
    let message = match wire::parse(line) {
        wire::Incoming::Chunk(chunk) => return if chunk.thought { "thought" } else { "text" }.to_owned(),
        wire::Incoming::Rpc(message) => message,
    };
    match message {
        Incoming::Notification { method, params } if method == "session/update" => {
            let known = serde_json::from_str::<acp::SessionNotification>(params.get()).is_ok();
            let update: Value = serde_json::from_str(params.get()).unwrap();
            let name = update["update"]["sessionUpdate"].as_str().unwrap_or_default().to_owned();
            if known { name } else { format!("{name} (kept raw)") }
        }
        Incoming::Notification { method, .. } => format!("{method} (kept raw)"),
        Incoming::Request { method, .. } => format!("asks {method}"),
        Incoming::Response { result, .. } => if result.is_ok() { "answer" } else { "error" }.to_owned(),
        Incoming::Noise if line.trim().is_empty() => "blank".to_owned(),
        Incoming::Noise => "noise (kept raw)".to_owned(),
    }
}

#[test]
fn every_line_of_a_recorded_gemini_is_read_or_kept_as_it_is() {
    let mut table = String::new();
    // What it prints without the protocol means nothing to us.
    for path in traces_of("gemini").into_iter().chain(traces_of("gemini-print")) {
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for Recorded { line, .. } in recorded(&path).iter().filter(|record| !record.sent) {
            let text = line.as_str().map_or_else(|| line.to_string(), Into::into);
            *kinds.entry(kind(&text)).or_default() += 1;
        }
        writeln!(table, "{}", path.file_stem().unwrap().to_string_lossy()).unwrap();
        kinds.iter().for_each(|(kind, count)| writeln!(table, "  {count} {kind}").unwrap());
    }
    insta::assert_snapshot!("gemini_lines", table);
}

#[test]
fn every_line_of_a_recorded_agent_is_of_the_protocol_and_what_is_not_understood_is_kept() {
    for path in traces() {
        for Recorded { line, .. } in recorded(&path).into_iter().filter(|line| !line.sent) {
            let text = line.as_str().map_or_else(|| line.to_string(), Into::into);
            assert!(!matches!(wire::parse(&text), wire::Incoming::Rpc(Incoming::Noise)), "{}: {text}", path.display());
        }
        for draft in turns(&path).into_iter().flatten() {
            if matches!(draft.fact, Fact::Notice(_) | Fact::Usage(_)) {
                assert!(draft.raw.is_some(), "{}: {:?}", path.display(), draft.fact);
            }
        }
    }
}

#[test]
fn every_turn_of_a_recorded_agent_ends_and_leaves_nothing_open() {
    for path in traces() {
        for (number, drafts) in turns(&path).into_iter().enumerate() {
            let mut ledger = Ledger::new(Mode::Yolo);
            let (mut events, mut end) = (Vec::new(), None);
            for draft in drafts {
                match ledger.enter(draft.fact, &mut events) {
                    Next::Nothing => {}
                    Next::Decide(Asked::Tool(call)) => {
                        let words = roost_policy_words();
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

fn roost_policy_words() -> Vec<roost_model::tool::ToolPolicyEvaluation> {
    use roost_model::tool::{PolicyResult, PolicySource, ToolPolicyEvaluation};
    vec![ToolPolicyEvaluation { source: PolicySource::User, result: PolicyResult::Allow, rule: None }]
}
