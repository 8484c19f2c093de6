//! RecordedMessage runs of the real Codex, read by the same code that reads live ones. The summaries are golden files: a change
//! in how Codex is understood shows up as a diff.

use std::path::{Path, PathBuf};

use roost_engine::adapter::{Draft, Fact};
use roost_model::payload::ToolCallRequestedPayload;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::connection::{Dialog, PendingCall};
use super::turn::{CodexTurn, START_METHOD};
use crate::host::json_rpc::{self, Incoming};
use crate::host::{Task, Writer};
use crate::trace_kit::{self, Names, RecordedMessage, Words, assert_nothing_is_open, recorded};

/// A dialog that is fed from a recording instead of a server.
struct Replay {
    dialog: Dialog,
    turns: Vec<Vec<Draft>>,
}

impl Replay {
    fn run(path: &Path) -> Vec<Vec<Draft>> {
        let (writer, mut written) = Writer::new("nobody reads this");
        let mut replay = Self { dialog: Dialog::new(writer), turns: Vec::new() };
        for RecordedMessage { sent, text } in recorded(path) {
            match sent {
                true => replay.sent(&serde_json::from_str(&text).unwrap()),
                false => replay.dialog.on_message(&text),
            }
            while written.try_recv().is_ok() {}
        }
        replay.next_turn();
        replay.turns
    }

    /// Applies a message of the recorded host to the state, as our own would have changed it.
    fn sent(&mut self, message: &Value) {
        match message["method"].as_str() {
            Some("turn/start") => {
                self.next_turn();
                self.dialog.thread = message["params"]["threadId"].as_str().map(Into::into);
                let (drafts, _) = mpsc::channel(1);
                let out = &mut self.dialog.out;
                out.turn = Some(CodexTurn::new(Task::new(START_METHOD, drafts)));
                out.drafts.append(&mut out.early);
                let (to, _) = oneshot::channel();
                self.dialog.peer.expect(message["id"].as_u64().unwrap(), PendingCall::TurnStart(to));
            }
            Some(_) => {
                self.dialog.peer.expect(message["id"].as_u64().unwrap_or(u64::MAX), PendingCall::Ignore);
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
                    turn.mapper.tools.on_allowed(&call.tool_call_id, &mut self.dialog.out.drafts);
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
    let own = |draft: &Draft, names: &Names| match &draft.fact {
        Fact::HostToolAsks(call) => Some(format!("wants the host to run {}", names[&call.identity.tool_call_id])),
        Fact::ToolStarted(call) => Some(format!("runs {}", names[call])),
        Fact::Notice(notice) => Some(format!("notes ({:?}) {}", notice.level, notice.message)),
        _ => None,
    };
    let wants = |call: &ToolCallRequestedPayload| format!("({:?}), attempt {}", call.title, call.identity.attempt);
    trace_kit::summary(Replay::run(path), &Words { wants, own })
}

fn traces() -> Vec<PathBuf> {
    trace_kit::traces("codex", 33)
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
        for draft in Replay::run(&path).into_iter().flatten() {
            if let Fact::Notice(notice) = &draft.fact {
                assert!(!notice.message.contains("Roost does not know"), "{}: {draft:?}", path.display());
            }
        }
    }
}

#[test]
fn every_recorded_turn_ends_and_leaves_nothing_open() {
    traces().iter().for_each(|path| assert_nothing_is_open(path, Replay::run(path)));
}
