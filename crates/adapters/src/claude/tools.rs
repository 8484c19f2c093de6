//! The tool calls of one task: announced by the model, asked about by the CLI, answered by a result.
//!
//! A call is reported when the CLI asks about it, because only then its input is the one that will run. One that comes
//! to an end unasked is reported then, and one that never comes to anything at the end of the turn.

use std::collections::HashMap;

use roost_engine::adapter::{Draft, Fact, ToolOutcome};
use roost_proto::canonical;
use roost_proto::ids::ToolCallId;
use roost_proto::payload::{OutputStream, ToolCallRequestedPayload, ToolKind};
use roost_proto::tool::ToolCallIdentity;
use serde_json::Value;

use super::host_server;
use super::messages::Asked;
use super::questions;

/// What is known of a tool call.
#[derive(Debug)]
struct Tool {
    id: ToolCallId,
    place: usize,
    name: String,
    input: Value,
    title: Option<String>,
    attempt: u32,
    /// The hash of the input that was reported.
    reported: Option<String>,
    asked: bool,
    done: bool,
}

/// What came of a tool call, as the CLI tells it.
pub(super) struct Told<'a> {
    /// Which call.
    pub(super) native: &'a str,
    /// What the model was shown.
    pub(super) content: Value,
    /// It failed.
    pub(super) is_error: bool,
    /// What the CLI itself knows of it.
    pub(super) details: Option<&'a Value>,
}

/// The tool calls of one task, by the model's id.
#[derive(Debug, Default)]
pub(super) struct Tools {
    known: HashMap<String, Tool>,
}

impl Tools {
    /// The id under which a call is known in Roost.
    pub(super) fn id_of(&mut self, native: &str) -> ToolCallId {
        self.entry(native).id.clone()
    }

    /// The model wants this call.
    pub(super) fn announce(&mut self, native: &str, name: &str, input: Value) {
        let tool = self.entry(native);
        if tool.reported.is_none() {
            (tool.name, tool.input) = (host_server::plain_name(name).to_owned(), input);
        }
    }

    /// The CLI asks about a call. One that was asked about with another input is another attempt: leave for the one is
    /// no leave for the other.
    pub(super) fn asked(&mut self, asked: &Asked, drafts: &mut Vec<Draft>) -> ToolCallId {
        let native = &asked.tool_use_id;
        let tool = self.entry(native);
        let anew = tool.reported.as_ref().is_some_and(|hash| *hash != canonical::hash(&asked.input));
        if anew {
            let result = Some("the agent asked about another input instead".into());
            drafts.push(Fact::ToolCompleted(ToolOutcome::of_runtime(tool.id.clone(), result, true)).into());
            (tool.attempt, tool.reported) = (tool.attempt + 1, None);
        }
        tool.name = host_server::plain_name(&asked.tool_name).to_owned();
        tool.input = asked.input.clone();
        tool.title = asked.description.clone();
        tool.asked = true;
        tool.report(native, drafts)
    }

    /// A call came to an end. In a turn that is being stopped, one that nobody asked about never ran.
    pub(super) fn completed(&mut self, told: Told<'_>, stopping: bool, drafts: &mut Vec<Draft>) {
        let Some(tool) = self.known.get_mut(told.native) else { return };
        if questions::is_question(&tool.name) || std::mem::replace(&mut tool.done, true) {
            return;
        }
        let call = tool.report(told.native, drafts);
        if stopping && told.is_error && !tool.asked {
            return;
        }
        let stream = |name: &str| {
            let text = told.details?.get(name)?.as_str().filter(|text| !text.is_empty())?;
            Some(text.to_owned())
        };
        let (stdout, stderr) = (stream("stdout"), stream("stderr"));
        if stdout.is_some() || stderr.is_some() {
            drafts.push(Fact::ToolOutput { call: call.clone(), stdout, stderr }.into());
        }
        let result = Some(told.content).filter(|content| !content.is_null());
        drafts.push(Fact::ToolCompleted(ToolOutcome::of_runtime(call, result, told.is_error)).into());
    }

    /// A sub-agent says something: its call shows it.
    pub(super) fn sub_agent_says(&mut self, native: &str, text: &str, drafts: &mut Vec<Draft>) {
        let Some(tool) = self.known.get_mut(native).filter(|tool| !tool.done) else { return };
        let (call, delta) = (tool.report(native, drafts), format!("{text}\n"));
        drafts.push(Fact::ToolOutputDelta { call, stream: OutputStream::Stdout, delta }.into());
    }

    /// Reports the calls that were announced and never became more.
    pub(super) fn flush(&mut self, drafts: &mut Vec<Draft>) {
        let mut left: Vec<_> = self.known.iter_mut().collect();
        left.sort_by_key(|(_, tool)| tool.place);
        for (native, tool) in left {
            // A call whose input was still being written has no name yet: it is not a call.
            if !tool.name.is_empty() && !questions::is_question(&tool.name) {
                tool.report(native, drafts);
            }
        }
    }

    /// The name and input of a call.
    pub(super) fn call(&self, native: &str) -> Option<(&str, &Value)> {
        self.known.get(native).map(|tool| (tool.name.as_str(), &tool.input))
    }

    fn entry(&mut self, native: &str) -> &mut Tool {
        let place = self.known.len();
        self.known.entry(native.to_owned()).or_insert_with(|| Tool {
            id: ToolCallId::new(),
            place,
            name: String::new(),
            input: Value::Null,
            title: None,
            attempt: 1,
            reported: None,
            asked: false,
            done: false,
        })
    }
}

impl Tool {
    fn report(&mut self, native: &str, drafts: &mut Vec<Draft>) -> ToolCallId {
        if self.reported.is_none() {
            let input_hash = canonical::hash(&self.input);
            self.reported = Some(input_hash.clone());
            let identity = ToolCallIdentity {
                tool_call_id: self.id.clone(),
                runtime_tool_call_id: Some(native.to_owned()),
                attempt: self.attempt,
                input_hash,
            };
            let (name, input, title) = (self.name.clone(), self.input.clone(), self.title.clone());
            let kind = Some(kind(&name));
            drafts.push(
                Fact::ToolRequested(ToolCallRequestedPayload { identity, name, input, input_ref: None, title, kind })
                    .into(),
            );
        }
        self.id.clone()
    }
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

    fn ask(tools: &mut Tools, command: &str) -> (ToolCallId, Vec<&'static str>) {
        let mut drafts = Vec::new();
        let (tool_name, tool_use_id) = ("Bash".to_owned(), "toolu_1".to_owned());
        let asked = Asked { tool_name, input: json!({ "command": command }), tool_use_id, description: None };
        let call = tools.asked(&asked, &mut drafts);
        (call, told(&drafts))
    }

    fn told(drafts: &[Draft]) -> Vec<&'static str> {
        let told = drafts.iter().map(|draft| match &draft.fact {
            Fact::ToolRequested(request) if request.identity.attempt == 1 => "requested",
            Fact::ToolRequested(_) => "requested again",
            Fact::ToolCompleted(_) => "completed",
            other => panic!("{other:?}"),
        });
        told.collect()
    }

    #[test]
    fn leave_for_one_input_is_no_leave_for_another() {
        let mut tools = Tools::default();
        let (first, facts) = ask(&mut tools, "ls");
        assert_eq!(facts, ["requested"]);
        let (same, facts) = ask(&mut tools, "ls");
        assert_eq!((&same, facts), (&first, vec![]));
        let (other, facts) = ask(&mut tools, "rm -rf x");
        assert_eq!((other, facts), (first, vec!["completed", "requested again"]));
    }

    #[test]
    fn what_is_asked_about_is_what_will_run() {
        let mut tools = Tools::default();
        tools.announce("toolu_1", "Bash", json!({}));
        ask(&mut tools, "ls");
        assert_eq!(tools.call("toolu_1"), Some(("Bash", &json!({ "command": "ls" }))));
    }

    #[test]
    fn a_call_that_nobody_asked_about_never_ran_in_a_stopped_turn() {
        let cases = [(true, true, vec!["requested"]), (false, true, vec!["requested", "completed"])];
        for (stopping, is_error, expected) in cases {
            let mut tools = Tools::default();
            tools.announce("toolu_1", "Read", json!({ "file_path": "a" }));
            let mut drafts = Vec::new();
            let result = Told { native: "toolu_1", content: json!("no"), is_error, details: None };
            tools.completed(result, stopping, &mut drafts);
            assert_eq!(told(&drafts), expected);
        }
    }
}
