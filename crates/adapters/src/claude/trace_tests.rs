//! Recorded runs of the real CLI, read by the same code that reads live ones. The summaries are golden files: a change
//! in how it is understood shows up as a diff.

use std::path::{Path, PathBuf};

use roost_engine::adapter::{Draft, Fact};
use roost_model::payload::ToolCallRequestedPayload;
use roost_process::Line;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::connection::{ClaudeCommand, ClaudeConnection, METHOD};
use super::turn::ClaudeTurn;
use super::wire::{self, ClaudeMessage};
use crate::host::{Connection, Task, Writer};
use crate::trace_kit::{self, Names, RecordedMessage, Words, assert_nothing_is_open, recorded, usual};

/// Every task of a trace as drafts.
fn turns(path: &Path) -> Vec<Vec<Draft>> {
    let (writer, mut written) = Writer::new("nobody reads this");
    let mut connection = ClaudeConnection::new(writer, "default");
    let mut turns = Vec::new();
    for RecordedMessage { sent, text: line } in recorded(path) {
        if !sent {
            connection.on_line(Line::Bytes(line.as_bytes()));
            while written.try_recv().is_ok() {}
            continue;
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["type"] == "user" {
            // Older recordings acknowledge nothing, and have one prompt for each turn.
            let uuid = message["uuid"].as_str().map(ToOwned::to_owned);
            match &mut connection.out.turn {
                Some(turn) if !turn.task.is_over() => {
                    turn.unacknowledged.extend(uuid);
                }
                _ => {
                    turns.push(std::mem::take(&mut connection.out.drafts));
                    let (drafts, _) = mpsc::channel(1);
                    let mut turn = ClaudeTurn::new(String::new(), Task::new(METHOD, drafts));
                    turn.unacknowledged = uuid.into_iter().collect();
                    connection.out.turn = Some(turn);
                }
            }
        }
        if message["request"]["subtype"] == "interrupt" {
            let (to, _) = oneshot::channel();
            connection.on_command(ClaudeCommand::Cancel { to });
        }
    }
    turns.push(std::mem::take(&mut connection.out.drafts));
    turns.remove(0);
    turns
}

fn summary(path: &Path) -> String {
    let own = |draft: &Draft, names: &Names| {
        let line = match &draft.fact {
            Fact::HostToolAsks(call) => format!("asks the host to run {}", names[&call.identity.tool_call_id]),
            Fact::ToolOutput { call, stdout, stderr } => format!("{} printed {stdout:?} {stderr:?}", names[call]),
            Fact::QuestionWithdrawn(_) => "withdraws its question".into(),
            _ => usual(draft, names)?,
        };
        let kept = if draft.raw.is_some() { " (raw kept)" } else { "" };
        Some(format!("{line}{kept}"))
    };
    let wants = |call: &ToolCallRequestedPayload| format!("({:?}, {:?})", call.title, call.kind.unwrap());
    trace_kit::summary(turns(path), &Words { wants, own })
}

fn traces() -> Vec<PathBuf> {
    trace_kit::traces("claude", 42)
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
        for RecordedMessage { text: line, .. } in recorded(&path).into_iter().filter(|recorded| !recorded.sent) {
            let read = wire::parse(&line);
            let known = !matches!(read, ClaudeMessage::Unknown { .. } | ClaudeMessage::Noise);
            assert!(known, "{}: {line}", path.display());
        }
    }
}

#[test]
fn every_turn_of_a_recorded_run_ends_and_leaves_nothing_open() {
    traces().iter().for_each(|path| assert_nothing_is_open(path, turns(path)));
}
