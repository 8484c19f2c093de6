//! What Gemini does not tell over ACP, taken from its own record of the session, which it writes right after it reports
//! that a call is completed: the exit code of a command that failed, and the entries of a to-do list.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use roost_engine::adapter::{DRAFT_QUEUE, Draft, Fact, RuntimeTask, ToolOutcome};
use roost_model::ids::ToolCallId;
use roost_model::payload::{PlanEntry, PlanPriority, PlanStatus, PlanUpdatedPayload};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::calls::{SHELL, TODOS};
use super::chats;

/// How long the record of a call may take; without it the call counts as Gemini reported it.
const RECORD_TIMEOUT: Duration = Duration::from_millis(500);
/// The pause between two looks at the record.
const POLL: Duration = Duration::from_millis(10);
/// How much of the record's end is read, in bytes. Gemini keeps at most 40,000 characters of an output.
const TAIL: u64 = 1024 * 1024;

/// Where Gemini's record of a session is.
#[derive(Clone, Debug)]
pub(super) struct RecordLocation {
    pub(super) home: PathBuf,
    pub(super) cwd: PathBuf,
    /// Gemini's id of the session.
    pub(super) id: String,
}

/// Passes on the drafts of a task, with what the record adds to them. The forwarding ends with the task.
pub(super) fn add_recorded_details(task: RuntimeTask, location: RecordLocation) -> RuntimeTask {
    let RuntimeTask { drafts: mut source, control } = task;
    let (sender, drafts) = mpsc::channel(DRAFT_QUEUE);
    tokio::spawn(async move {
        let mut calls = HashMap::new();
        loop {
            let batch = tokio::select! {
                batch = source.recv() => batch,
                () = sender.closed() => None,
            };
            let Some(batch) = batch else { return };
            let mut told = Vec::with_capacity(batch.len());
            for mut draft in batch {
                let plan = amend(&mut draft, &mut calls, &location).await;
                told.push(draft);
                told.extend(plan);
            }
            if sender.send(told).await.is_err() {
                return;
            }
        }
    });
    RuntimeTask { drafts, control }
}

/// Notes Gemini's id of a call whose record has more. Adds the exit code to a command that has ended, and returns the
/// plan of a to-do list that was written.
async fn amend(draft: &mut Draft, calls: &mut HashMap<ToolCallId, String>, location: &RecordLocation) -> Option<Draft> {
    match &mut draft.fact {
        Fact::ToolRequested(call) | Fact::ToolAsks(call) if [SHELL, TODOS].contains(&call.name.as_str()) => {
            calls.insert(call.identity.tool_call_id.clone(), call.identity.runtime_tool_call_id.clone()?);
            None
        }
        Fact::ToolCompleted(outcome) => {
            let recorded = recorded_call(location, calls.remove(&outcome.call)?).await?;
            if recorded["name"] == TODOS {
                return plan(&recorded);
            }
            if let Some(code) = exit_code(result(&recorded)) {
                let output = printed(outcome);
                outcome.is_error = true;
                outcome.result = Some(json!({ "exit_code": code, "output": output }));
            }
            None
        }
        _ => None,
    }
}

/// The agent's plan by the arguments of the call that wrote it; without cancelled entries.
fn plan(call: &Value) -> Option<Draft> {
    let todos = call.pointer("/args/todos")?.as_array()?;
    let entries = todos.iter().filter_map(|todo| {
        let status = match todo["status"].as_str() {
            Some("in_progress") => PlanStatus::InProgress,
            Some("completed") => PlanStatus::Completed,
            Some("cancelled") => return None,
            _ => PlanStatus::Pending,
        };
        let content = todo["description"].as_str()?.to_owned();
        Some(PlanEntry { content, priority: PlanPriority::Medium, status })
    });
    Some(Fact::Plan(PlanUpdatedPayload { entries: entries.collect() }).into())
}

/// What the command printed, as Gemini shows it; empty if that is only how it failed.
fn printed(outcome: &ToolOutcome) -> String {
    let pieces = outcome.result.iter().filter_map(Value::as_array).flatten();
    let text: String = pieces.filter_map(|piece| piece.pointer("/content/text")?.as_str()).collect();
    if outcome.is_error { String::new() } else { text }
}

/// The record of a call; `None` if it does not come in time.
async fn recorded_call(location: &RecordLocation, call: String) -> Option<Value> {
    let deadline = Instant::now() + RECORD_TIMEOUT;
    loop {
        let (location, call) = (location.clone(), call.clone());
        let read = tokio::task::spawn_blocking(move || location.find(&call)).await.ok()?;
        match read {
            Ok(Some(call)) => return Some(call),
            _ if Instant::now() >= deadline => return None,
            _ => tokio::time::sleep(POLL).await,
        }
    }
}

impl RecordLocation {
    /// The record of a call; `None` if it is not written yet. Blocks on the disk.
    fn find(&self, call: &str) -> io::Result<Option<Value>> {
        for file in chats::files_of(&self.home, &self.cwd, &self.id)? {
            if let Some(found) = tail(&file)?.lines().rev().find_map(|line| find_call(line, call)) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The end of a file; its first line may be cut.
fn tail(file: &Path) -> io::Result<String> {
    let mut file = File::open(file)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A call that is over, if this line of the record has it.
fn find_call(line: &str, call: &str) -> Option<Value> {
    // Most lines are about something else, and parsing is not free.
    let message: Value = line.contains(call).then(|| serde_json::from_str(line).ok())??;
    let calls = message.get("toolCalls")?.as_array()?;
    calls.iter().find(|one| one["id"] == call && !one["result"].is_null()).cloned()
}

/// What the model was told of a call.
fn result(call: &Value) -> &str {
    call.pointer("/result/0/functionResponse/response/output").and_then(Value::as_str).unwrap_or_default()
}

/// The exit code in what the model was told. It stands behind the output, which can contain anything.
fn exit_code(told: &str) -> Option<i64> {
    let behind = ["</untrusted_context>", "Process Group PGID: ", "Background PIDs: ", "Signal: "];
    let line = told.lines().rev().find(|line| !behind.iter().any(|start| line.starts_with(start)))?;
    line.strip_prefix("Exit Code: ")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_read_behind_the_output_only() {
        let told = |output: &str, rest: &str| {
            exit_code(&format!(
                "<untrusted_context>\nOutput: {output}\n{rest}Process Group PGID: 7\n</untrusted_context>"
            ))
        };
        assert_eq!(told("no", "Exit Code: 3\n"), Some(3));
        assert_eq!(told("Exit Code: 0\nmore", "Exit Code: 3\n"), Some(3));
        assert_eq!(told("Exit Code: 3\nmore", ""), None);
        assert_eq!(told("ok", ""), None);
    }

    #[test]
    fn a_record_belongs_to_its_call() {
        let line = json!({ "toolCalls": [
            { "id": "run_shell_command__1", "result": [{ "functionResponse": { "response": { "output": "one" } } }] },
            { "id": "run_shell_command__2" },
        ] })
        .to_string();
        assert_eq!(find_call(&line, "run_shell_command__1").as_ref().map(result), Some("one"));
        assert_eq!(find_call(&line, "run_shell_command__2"), None, "it still runs");
        assert_eq!(find_call("run_shell_command__1 {", "run_shell_command__1"), None);
    }
}
