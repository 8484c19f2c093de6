//! RecordedMessage runs of real agents, read by the same code that reads live ones. The summaries are golden files: a change
//! in how a real agent is understood shows up as a diff.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::{Draft, Fact};
use roost_model::payload::ToolCallRequestedPayload;
use roost_process::{Exit, Line};
use serde_json::Value;
use tokio::sync::mpsc;

use super::connection::{AcpConnection, PendingReply};
use super::cost::SessionCost;
use super::presets::{AgentProfile, preset};
use super::turn::{AcpTurn, PROMPT};
use super::wire;
use crate::gemini;
use crate::host::json_rpc::Incoming;
use crate::host::{Connection as _, ExitReport, Task, Writer};
use crate::trace_kit::{self, RecordedMessage, Words, assert_nothing_is_open, recorded};

/// Every turn of a trace as drafts.
fn turns(path: &Path) -> Vec<Vec<Draft>> {
    let (writer, mut written) = Writer::new("nobody reads this");
    let agent = path.parent().unwrap().file_name().unwrap().to_string_lossy();
    let profile = match preset(&agent) {
        Some(preset) => preset.profile,
        None if agent == "gemini" => gemini::PROFILE,
        None => AgentProfile::CONFORMING,
    };
    let mut connection = AcpConnection::new(writer, profile, None);
    let mut turns = Vec::new();
    for RecordedMessage { sent, text } in recorded(path) {
        if sent {
            let message: Value = serde_json::from_str(&text).unwrap_or_default();
            if message["method"] == "session/prompt" {
                connection.native = message["params"]["sessionId"].as_str().map(Into::into);
                turns.push(std::mem::replace(&mut connection.out.drafts, connection.backlog.drain()));
                let (drafts, _) = mpsc::channel(1);
                connection.peer.expect(message["id"].as_u64().unwrap(), PendingReply::Prompt);
                connection.out.turn = Some(AcpTurn::new(Task::new(PROMPT, drafts), profile));
            } else if let (Some(id), true) = (message["id"].as_u64(), message["method"].is_string()) {
                if message["method"] == "session/new" {
                    connection.cost = SessionCost::ZERO;
                }
                connection.peer.expect(id, PendingReply::Call(tokio::sync::oneshot::channel().0));
            }
            if message["method"] == "session/cancel"
                && let Some(turn) = &mut connection.out.turn
            {
                turn.cancelled = true;
            }
        } else {
            connection.on_line(Line::Bytes(text.as_bytes()));
            while written.try_recv().is_ok() {}
        }
    }
    if was_killed(path) {
        connection.on_exit(&ExitReport::new::<AcpConnection>(Some(Exit::Signal(9)), None));
    }
    turns.push(connection.out.drafts);
    turns.remove(0);
    turns
}

/// Whether the agent of a recording was killed at its end.
fn was_killed(path: &Path) -> bool {
    let last = std::fs::read_to_string(path).unwrap().lines().last().map(ToOwned::to_owned);
    last.is_some_and(|line| line.contains(r#"{\"exit\": -9}"#))
}

fn summary(path: &Path) -> String {
    let wants = |call: &ToolCallRequestedPayload| format!("({:?})", call.title);
    // Ids of calls differ with every run.
    let own = |draft: &Draft, names: &trace_kit::Names| match &draft.fact {
        Fact::ToolStarted(call) => Some(format!("{} has begun", names[call])),
        _ => None,
    };
    trace_kit::summary(turns(path), &Words { wants, own })
}

fn traces() -> Vec<PathBuf> {
    let agents = ["claude-agent-acp", "codex-acp", "gemini", "opencode-acp"];
    agents.into_iter().flat_map(|agent| trace_kit::traces(agent, 1)).collect()
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

/// The kind of a line; "kept raw" marks a line without a meaning here, which becomes a notice.
fn kind(line: &str) -> String {
    let message = match wire::parse(line) {
        wire::AcpMessage::Chunk(chunk) => return if chunk.thought { "thought" } else { "text" }.to_owned(),
        wire::AcpMessage::Rpc(message) => message,
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
    // Lines that are not protocol are counted too.
    for path in ["gemini", "gemini-print"].into_iter().flat_map(|agent| trace_kit::traces(agent, 1)) {
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for RecordedMessage { text, .. } in recorded(&path).iter().filter(|record| !record.sent) {
            *kinds.entry(kind(text)).or_default() += 1;
        }
        writeln!(table, "{}", path.file_stem().unwrap().to_string_lossy()).unwrap();
        kinds.iter().for_each(|(kind, count)| writeln!(table, "  {count} {kind}").unwrap());
    }
    insta::assert_snapshot!("gemini_lines", table);
}

#[test]
fn every_line_of_a_recorded_agent_is_of_the_protocol_and_what_is_not_understood_is_kept() {
    for path in traces() {
        for RecordedMessage { text, .. } in recorded(&path).into_iter().filter(|line| !line.sent) {
            assert!(
                !matches!(wire::parse(&text), wire::AcpMessage::Rpc(Incoming::Noise)),
                "{}: {text}",
                path.display()
            );
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
    traces().iter().for_each(|path| assert_nothing_is_open(path, turns(path)));
}

#[test]
fn a_call_that_had_begun_when_its_agent_was_killed_is_not_recorded_as_denied() {
    let path = trace_kit::traces("claude-agent-acp", 1).into_iter().find(|path| path.ends_with("orphan_kill9.jsonl"));
    let drafts = turns(&path.unwrap()).into_iter().flatten();
    let told: Vec<_> = drafts.skip_while(|draft| !matches!(draft.fact, Fact::ToolRequested(_))).collect();
    let [requested, started, ended] = told.as_slice() else { panic!("{told:?}") };
    assert!(matches!(&requested.fact, Fact::ToolRequested(call) if call.input["command"] == "sleep 60"));
    assert!(matches!(started.fact, Fact::ToolStarted(_)) && matches!(ended.fact, Fact::Ended(_)), "{told:?}");
}
