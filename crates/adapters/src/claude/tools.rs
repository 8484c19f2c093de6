//! The tool calls of one task: announced by the model, asked about by the CLI, answered by a result.
//!
//! A call is reported when the CLI asks about it, because only then its input is the one that will run. A call that
//! ends unasked is reported at its end, and one that never runs at the end of the turn. If a call changes after it was
//! reported, or is asked about again, that is another attempt.

use std::collections::HashMap;

use roost_engine::adapter::{Draft, Fact, ToolOutcome};
use roost_engine::ledger::adds_to;
use roost_model::canonical;
use roost_model::ids::ToolCallId;
use roost_model::payload::{OutputStream, ToolCallRequestedPayload, ToolKind};
use roost_model::tool::ToolCallIdentity;
use serde_json::Value;

use super::background::is_async_launch;
use super::host_server;
use super::messages::CanUseTool;
use super::questions;

/// The two names of the tool that starts a sub-agent: the model uses one, the CLI's requests the other.
const SUB_AGENT: [&str; 2] = ["Agent", "Task"];

/// What is known about one tool call, and what was reported of it.
#[derive(Debug)]
struct ToolCallState {
    id: ToolCallId,
    /// How many calls came before it in this task.
    order: usize,
    name: String,
    input: Value,
    title: Option<String>,
    /// The number of the last attempt that was reported or asked about; 0 before the first.
    attempt: u32,
    /// The fingerprint that was reported last: the tool's name and the hash of the input.
    reported: Option<(String, String)>,
    /// The CLI has requested permission for the last reported attempt.
    permission_requested: bool,
    /// The CLI has requested permission for any attempt at this call.
    ever_requested: bool,
    done: bool,
    /// The result which says that the call has started an agent in the background; the call is done when that is.
    launched: Option<Value>,
}

/// The result of a tool call, as the CLI reports it.
pub(super) struct ToolResult<'a> {
    /// The model's id of the call.
    pub(super) native: &'a str,
    /// The result that the model is shown.
    pub(super) content: Value,
    pub(super) is_error: bool,
    /// The result as structured data, such as `stdout` and `stderr` of a command.
    pub(super) details: Option<&'a Value>,
}

/// The tool calls of one task, by the model's id.
#[derive(Debug, Default)]
pub(super) struct ClaudeTools {
    known: HashMap<String, ToolCallState>,
}

impl ClaudeTools {
    /// Roost's id of a call; a call that is not known yet gets one.
    pub(super) fn id_of(&mut self, native: &str) -> ToolCallId {
        self.entry(native).id.clone()
    }

    /// Handles a finished tool call of the model's. It is reported only if it changes a call that was reported before.
    pub(super) fn announce(&mut self, native: &str, name: &str, input: Value, drafts: &mut Vec<Draft>) {
        let tool = self.entry(native);
        let is_new = tool.reported.is_none();
        (tool.name, tool.input) = (host_server::plain_name(name).to_owned(), input);
        if !is_new {
            tool.report(native, drafts);
        }
    }

    /// Handles a permission request and returns the call that it is about. Every request is an attempt of its own: an
    /// earlier permission, even for the same input, does not count.
    pub(super) fn on_permission_request(
        &mut self,
        call: &CanUseTool,
        drafts: &mut Vec<Draft>,
    ) -> ToolCallRequestedPayload {
        let native = &call.tool_use_id;
        let tool = self.entry(native);
        let name = host_server::plain_name(&call.tool_name);
        if [tool.name.as_str(), name].iter().all(|name| SUB_AGENT.contains(name)) {
            tool.name = name.to_owned();
        }
        let announced = (tool.reported.is_none() && !tool.name.is_empty()).then(|| tool.request(native));
        tool.name = name.to_owned();
        tool.input = call.input.clone();
        tool.title = call.description.clone();
        if let Some((fingerprint, announced)) = announced
            && !adds_to(&announced, &tool.request(native).1)
        {
            // The request is about something else than the model wanted; both are reported.
            (tool.attempt, tool.reported) = (announced.identity.attempt, Some(fingerprint));
            drafts.push(Fact::ToolRequested(announced).into());
        }
        let (fingerprint, mut request) = tool.request(native);
        if tool.reported.as_ref() == Some(&fingerprint) && !tool.permission_requested {
            request.identity.attempt = tool.attempt;
        }
        (tool.attempt, tool.reported, tool.permission_requested) = (request.identity.attempt, Some(fingerprint), true);
        (tool.done, tool.ever_requested) = (false, true);
        request
    }

    /// Reports the result of a call. The CLI asks about every call before it runs, so a failed one that was never asked
    /// about was refused by the CLI's own rules, hooks or checks. In a turn that is being stopped it only was not reached,
    /// and has no result.
    pub(super) fn on_result(&mut self, result: ToolResult<'_>, stopping: bool, drafts: &mut Vec<Draft>) {
        let Some(tool) = self.known.get_mut(result.native) else { return };
        if is_async_launch(result.details) && !tool.done {
            tool.report(result.native, drafts);
            tool.launched = Some(result.content);
            return;
        }
        if questions::is_question(&tool.name) || std::mem::replace(&mut tool.done, true) {
            return;
        }
        let call = tool.report(result.native, drafts);
        if result.is_error && !tool.ever_requested {
            if !stopping {
                drafts.push(Fact::ToolRefused { call, reason: error_text(&result.content) }.into());
            }
            return;
        }
        let stream = |name: &str| {
            let text = result.details?.get(name)?.as_str().filter(|text| !text.is_empty())?;
            Some(text.to_owned())
        };
        let (mut stdout, stderr) = (stream("stdout"), stream("stderr"));
        if result.is_error && stdout.is_none() && stderr.is_none() {
            stdout = failed_command_output(&error_text(&result.content)).map(ToOwned::to_owned);
        }
        if stdout.is_some() || stderr.is_some() {
            drafts.push(Fact::ToolOutput { call: call.clone(), stdout, stderr }.into());
        }
        let content = Some(result.content).filter(|content| !content.is_null());
        drafts.push(Fact::ToolCompleted(ToolOutcome::of_runtime(call, content, result.is_error)).into());
    }

    /// Completes the call that started an agent in the background, now that the agent has ended.
    pub(super) fn on_agent_ended(
        &mut self,
        native: &str,
        summary: Option<String>,
        failed: bool,
        drafts: &mut Vec<Draft>,
    ) {
        let Some(tool) = self.known.get_mut(native) else { return };
        let Some(launched) = tool.launched.take() else { return };
        tool.done = true;
        let content = summary.map_or(launched, Value::String);
        drafts.push(Fact::ToolCompleted(ToolOutcome::of_runtime(tool.id.clone(), Some(content), failed)).into());
    }

    /// Reports a sub-agent's text as output of the call that started it.
    pub(super) fn on_sub_agent_text(&mut self, native: &str, text: &str, drafts: &mut Vec<Draft>) {
        let Some(tool) = self.known.get_mut(native).filter(|tool| !tool.done) else { return };
        let (call, delta) = (tool.report(native, drafts), format!("{text}\n"));
        drafts.push(Fact::ToolOutputDelta { call, stream: OutputStream::Stdout, delta }.into());
    }

    /// Reports, in their order, the calls that were announced and nothing more. Calls whose agents go on in the
    /// background are completed with what the model was told of them, unless they are being stopped. Called at the end
    /// of the task.
    pub(super) fn flush(&mut self, stopping: bool, drafts: &mut Vec<Draft>) {
        let mut left: Vec<_> = self.known.iter_mut().collect();
        left.sort_by_key(|(_, tool)| tool.order);
        for (native, tool) in left {
            // A call without a name was cut while its input was being written; it is not reported.
            if !tool.name.is_empty() && !questions::is_question(&tool.name) {
                tool.report(native, drafts);
            }
            if let Some(launched) = tool.launched.take().filter(|_| !stopping) {
                let outcome = ToolOutcome::of_runtime(tool.id.clone(), Some(launched), false);
                drafts.push(Fact::ToolCompleted(outcome).into());
            }
        }
    }

    /// The name and the latest input of a call.
    pub(super) fn call(&self, native: &str) -> Option<(&str, &Value)> {
        self.known.get(native).map(|tool| (tool.name.as_str(), &tool.input))
    }

    fn entry(&mut self, native: &str) -> &mut ToolCallState {
        let order = self.known.len();
        self.known.entry(native.to_owned()).or_insert_with(|| ToolCallState {
            id: ToolCallId::new(),
            order,
            name: String::new(),
            input: Value::Null,
            title: None,
            attempt: 0,
            reported: None,
            permission_requested: false,
            ever_requested: false,
            done: false,
            launched: None,
        })
    }
}

impl ToolCallState {
    /// The next attempt at the call, as it would be reported now, with its fingerprint.
    fn request(&self, native: &str) -> ((String, String), ToolCallRequestedPayload) {
        let input_hash = canonical::hash(&self.input);
        let identity = ToolCallIdentity {
            tool_call_id: self.id.clone(),
            runtime_tool_call_id: Some(native.to_owned()),
            attempt: self.attempt + 1,
            input_hash: input_hash.clone(),
        };
        let (name, input, title) = (self.name.clone(), self.input.clone(), self.title.clone());
        let kind = Some(kind(&name));
        let fingerprint = (name.clone(), input_hash);
        (fingerprint, ToolCallRequestedPayload { identity, name, input, input_ref: None, title, kind })
    }

    /// Reports the call as a new attempt, unless its fingerprint is the one that was reported last.
    fn report(&mut self, native: &str, drafts: &mut Vec<Draft>) -> ToolCallId {
        let (fingerprint, request) = self.request(native);
        if self.reported.as_ref() != Some(&fingerprint) {
            (self.attempt, self.reported, self.permission_requested) =
                (request.identity.attempt, Some(fingerprint), false);
            drafts.push(Fact::ToolRequested(request).into());
        }
        self.id.clone()
    }
}

/// The text of a failed result, without the tags that the CLI puts around it for the model.
fn error_text(content: &Value) -> String {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    };
    let inner = text.strip_prefix("<tool_use_error>").and_then(|text| text.strip_suffix("</tool_use_error>"));
    inner.map_or_else(|| text.clone(), ToOwned::to_owned)
}

/// What a failed command printed to either stream. The CLI tells it only as the text after the line with the exit code.
fn failed_command_output(text: &str) -> Option<&str> {
    let (code, output) = text.strip_prefix("Exit code ")?.split_once('\n')?;
    code.parse::<i32>().ok().map(|_| output).filter(|output| !output.is_empty())
}

fn kind(name: &str) -> ToolKind {
    match name {
        "Read" | "NotebookRead" | "ListMcpResourcesTool" | "ReadMcpResourceTool" => ToolKind::Read,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => ToolKind::Edit,
        "Glob" | "Grep" | "LS" | "ToolSearch" => ToolKind::Search,
        "Bash" => ToolKind::Execute,
        "WebFetch" | "WebSearch" => ToolKind::Fetch,
        "Task" | "Agent" | "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskGet" | "TaskList" => ToolKind::Think,
        "EnterPlanMode" | "ExitPlanMode" => ToolKind::SwitchMode,
        _ => ToolKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask(tools: &mut ClaudeTools, command: &str) -> (u32, Vec<&'static str>) {
        ask_for(tools, "Bash", command)
    }

    fn ask_for(tools: &mut ClaudeTools, tool: &str, command: &str) -> (u32, Vec<&'static str>) {
        let mut drafts = Vec::new();
        let (tool_name, tool_use_id) = (tool.to_owned(), "toolu_1".to_owned());
        let call = CanUseTool { tool_name, input: json!({ "command": command }), tool_use_id, description: None };
        let request = tools.on_permission_request(&call, &mut drafts);
        assert_eq!((request.name.as_str(), &request.input), (tool, &call.input));
        (request.identity.attempt, describe(&drafts))
    }

    fn describe(drafts: &[Draft]) -> Vec<&'static str> {
        let described = drafts.iter().map(|draft| match &draft.fact {
            Fact::ToolRequested(request) if request.identity.attempt == 1 => "requested",
            Fact::ToolRequested(_) => "requested again",
            Fact::ToolCompleted(_) => "completed",
            Fact::ToolRefused { .. } => "refused",
            other => panic!("{other:?}"),
        });
        described.collect()
    }

    #[test]
    fn every_question_is_an_attempt_of_its_own() {
        let mut tools = ClaudeTools::default();
        assert_eq!(ask(&mut tools, "ls"), (1, vec![]));
        assert_eq!(ask(&mut tools, "ls"), (2, vec![]));
        assert_eq!(ask(&mut tools, "rm -rf x"), (3, vec![]));
        assert_eq!(ask_for(&mut tools, "Other", "rm -rf x"), (4, vec![]));
    }

    #[test]
    fn what_the_model_wanted_is_told_where_the_cli_asks_about_something_else() {
        let mut tools = ClaudeTools::default();
        tools.announce("toolu_1", "Bash", json!({ "command": "ls" }), &mut Vec::new());
        assert_eq!(ask(&mut tools, "rm -rf x"), (2, vec!["requested"]));
    }

    #[test]
    fn a_call_that_changes_after_it_was_asked_about_is_told_again() {
        let mut tools = ClaudeTools::default();
        ask(&mut tools, "ls");
        let mut drafts = Vec::new();
        tools.announce("toolu_1", "Bash", json!({ "command": "ls" }), &mut drafts);
        assert_eq!(describe(&drafts), [""; 0]);
        tools.announce("toolu_1", "Bash", json!({ "command": "rm -rf x" }), &mut drafts);
        assert_eq!(describe(&drafts), ["requested again"]);
    }

    #[test]
    fn what_is_asked_about_is_what_will_run() {
        let mut tools = ClaudeTools::default();
        tools.announce("toolu_1", "Bash", json!({}), &mut Vec::new());
        ask(&mut tools, "ls");
        assert_eq!(tools.call("toolu_1"), Some(("Bash", &json!({ "command": "ls" }))));
    }

    #[test]
    fn a_call_that_failed_unasked_was_refused_and_in_a_stopped_turn_it_was_not_reached() {
        let cases = [
            (true, true, vec!["requested"]),
            (false, true, vec!["requested", "refused"]),
            (false, false, vec!["requested", "completed"]),
        ];
        for (stopping, is_error, expected) in cases {
            let mut tools = ClaudeTools::default();
            tools.announce("toolu_1", "Read", json!({ "file_path": "a" }), &mut Vec::new());
            let mut drafts = Vec::new();
            let result = ToolResult { native: "toolu_1", content: json!("no"), is_error, details: None };
            tools.on_result(result, stopping, &mut drafts);
            assert_eq!(describe(&drafts), expected);
        }
    }

    #[test]
    fn a_failed_command_tells_what_it_printed() {
        let cases = [
            ("Exit code 3\nboom\nbang", Some("boom\nbang")),
            ("Exit code 1", None),
            ("Exit code one\nboom", None),
            ("<tool_use_error>no such tool</tool_use_error>", None),
        ];
        for (text, expected) in cases {
            let mut tools = ClaudeTools::default();
            ask(&mut tools, "make");
            let mut drafts = Vec::new();
            let result = ToolResult { native: "toolu_1", content: json!(text), is_error: true, details: None };
            tools.on_result(result, false, &mut drafts);
            let printed = drafts.iter().find_map(|draft| match &draft.fact {
                Fact::ToolOutput { stdout, .. } => stdout.as_deref(),
                _ => None,
            });
            assert_eq!(printed, expected, "{text}");
        }
    }
}
