//! The model's side of the tool calls of a task: what it called, and what it was answered.
//!
//! Codex tells it (`rawResponseItem/completed`) for threads that were started by Roost, not for resumed ones.

use std::collections::BTreeMap;

use serde_json::Value;

use super::item::failed_command;
use super::wire::RawItem;

/// The tools with which a model runs a command.
const COMMAND_TOOLS: [&str; 3] = ["exec_command", "shell", "shell_command"];
/// Stands before the exit code in the answer to a command that has ended.
const EXITED: &str = "Process exited with code ";
/// Stands in the answer to a command that goes on.
const STILL_RUNS: &str = "Process running with session ID ";
/// Stands before what a command printed.
const OUTPUT: &str = "\nOutput:\n";

/// A call, as the model made it.
#[derive(Debug)]
struct RawCall {
    turn: String,
    /// `None` for a tool that runs no command.
    command: Option<Value>,
    sandbox_permissions: Option<String>,
    /// What the model was answered; taken once.
    output: Option<String>,
}

/// The calls of one task, by the id that the model gave them, which is also that of Codex's item.
#[derive(Debug, Default)]
pub(super) struct RawCalls(BTreeMap<String, RawCall>);

/// What the model was answered to a call.
#[derive(Debug)]
pub(super) struct RawResult {
    pub(super) call_id: String,
    /// The input of a tool that runs commands; `None` for other tools.
    pub(super) command: Option<Value>,
    pub(super) output: String,
}

impl RawCalls {
    /// Notes a call or its answer.
    pub(super) fn on_item(&mut self, turn: &str, item: RawItem) {
        match item {
            RawItem::FunctionCall { call_id, name, arguments } => {
                let arguments: Value = serde_json::from_str(&arguments).unwrap_or_default();
                let field = |names: &[&str]| names.iter().find_map(|name| arguments.get(*name)).cloned();
                let command = COMMAND_TOOLS
                    .contains(&name.as_str())
                    .then(|| serde_json::json!({ "command": field(&["cmd", "command"]), "cwd": field(&["workdir"]) }));
                let sandbox_permissions =
                    field(&["sandbox_permissions"]).and_then(|value| Some(value.as_str()?.to_owned()));
                let call = RawCall { turn: turn.to_owned(), command, sandbox_permissions, output: None };
                self.0.insert(call_id, call);
            }
            RawItem::FunctionCallOutput { call_id, output } => {
                if let Some(call) = self.0.get_mut(&call_id) {
                    call.output = Some(output.as_str().map_or_else(|| output.to_string(), str::to_owned));
                }
            }
            RawItem::Other => {}
        }
    }

    /// Whether the model's side of this call is known.
    pub(super) fn knows(&self, call_id: &str) -> bool {
        self.0.contains_key(call_id)
    }

    /// The `sandbox_permissions` of a known call; Codex's default if the model named none.
    pub(super) fn sandbox_permissions(&self, call_id: &str) -> Option<&str> {
        self.0.get(call_id).map(|call| call.sandbox_permissions.as_deref().unwrap_or("use_default"))
    }

    /// The answers since the last time, with the turn of their calls. A command that goes on has none yet.
    pub(super) fn take_results(&mut self) -> Vec<(String, RawResult)> {
        let result = |(call_id, call): (&String, &mut RawCall)| {
            let output = call.output.take().filter(|output| !output.contains(STILL_RUNS))?;
            let result = RawResult { call_id: call_id.clone(), command: call.command.clone(), output };
            Some((call.turn.clone(), result))
        };
        self.0.iter_mut().filter_map(result).collect()
    }
}

impl RawResult {
    /// The result of the call, and whether it is an error. An answer without an exit code says why the call failed.
    pub(super) fn outcome(self) -> (Value, bool) {
        let code = self.output.split_once(EXITED).and_then(|(_, rest)| rest.lines().next()?.trim().parse::<i64>().ok());
        let printed = self.output.split_once(OUTPUT).map_or(self.output.as_str(), |(_, printed)| printed);
        match code {
            Some(0) => (printed.into(), false),
            Some(code) => (failed_command(Some(code), printed).into(), true),
            None => (self.output.into(), true),
        }
    }
}
