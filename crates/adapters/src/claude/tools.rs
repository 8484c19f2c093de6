//! The tool calls of one task: announced by the model, asked about by the CLI, answered by a result.
//!
//! A call is reported when the CLI asks about it, because only then its input is the one that will run. One that comes
//! to an end unasked is reported then, and one that never comes to anything at the end of the turn. One that becomes
//! another after it was reported, or that is asked about again, is another attempt.

use std::collections::HashMap;

use roost_engine::adapter::{Draft, Fact, ToolOutcome};
use roost_engine::ledger::adds_to;
use roost_model::canonical;
use roost_model::ids::ToolCallId;
use roost_model::payload::{OutputStream, ToolCallRequestedPayload, ToolKind};
use roost_model::tool::ToolCallIdentity;
use serde_json::Value;

use super::host_server;
use super::messages::Asked;
use super::questions;

/// The tool that starts a sub-agent: the model and the CLI have a name each for it.
const SUB_AGENT: [&str; 2] = ["Agent", "Task"];

/// What is known of a tool call.
#[derive(Debug)]
struct Tool {
    id: ToolCallId,
    place: usize,
    name: String,
    input: Value,
    title: Option<String>,
    /// How often it was reported as something else, or asked about.
    attempt: u32,
    /// The tool and the hash of the input that were reported.
    reported: Option<(String, String)>,
    /// The CLI has asked about what was reported.
    asked: bool,
    /// The CLI has asked about the call at all.
    ever_asked: bool,
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
    pub(super) fn announce(&mut self, native: &str, name: &str, input: Value, drafts: &mut Vec<Draft>) {
        let tool = self.entry(native);
        let is_new = tool.reported.is_none();
        (tool.name, tool.input) = (host_server::plain_name(name).to_owned(), input);
        if !is_new {
            tool.report(native, drafts);
        }
    }

    /// The CLI asks about a call; what it asks about. Each request is one of its own: leave for another, or for the same
    /// one before, is no leave for it.
    pub(super) fn asked(&mut self, asked: &Asked, drafts: &mut Vec<Draft>) -> ToolCallRequestedPayload {
        let native = &asked.tool_use_id;
        let tool = self.entry(native);
        let name = host_server::plain_name(&asked.tool_name);
        if [tool.name.as_str(), name].iter().all(|name| SUB_AGENT.contains(name)) {
            tool.name = name.to_owned();
        }
        let announced = (tool.reported.is_none() && !tool.name.is_empty()).then(|| tool.request(native));
        tool.name = name.to_owned();
        tool.input = asked.input.clone();
        tool.title = asked.description.clone();
        if let Some((about, announced)) = announced
            && !adds_to(&announced, &tool.request(native).1)
        {
            // It asks about something else than the model wanted, and both are to be seen.
            (tool.attempt, tool.reported) = (announced.identity.attempt, Some(about));
            drafts.push(Fact::ToolRequested(announced).into());
        }
        let (about, mut request) = tool.request(native);
        if tool.reported.as_ref() == Some(&about) && !tool.asked {
            request.identity.attempt = tool.attempt;
        }
        (tool.attempt, tool.reported, tool.asked) = (request.identity.attempt, Some(about), true);
        (tool.done, tool.ever_asked) = (false, true);
        request
    }

    /// A call came to an end. In a turn that is being stopped, one that nobody asked about never ran.
    pub(super) fn completed(&mut self, told: Told<'_>, stopping: bool, drafts: &mut Vec<Draft>) {
        let Some(tool) = self.known.get_mut(told.native) else { return };
        if questions::is_question(&tool.name) || std::mem::replace(&mut tool.done, true) {
            return;
        }
        let call = tool.report(told.native, drafts);
        if stopping && told.is_error && !tool.ever_asked {
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
            attempt: 0,
            reported: None,
            asked: false,
            ever_asked: false,
            done: false,
        })
    }
}

impl Tool {
    /// The call as it is reported next.
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
        let about = (name.clone(), input_hash);
        (about, ToolCallRequestedPayload { identity, name, input, input_ref: None, title, kind })
    }

    /// Reports the call, unless it was reported as this already.
    fn report(&mut self, native: &str, drafts: &mut Vec<Draft>) -> ToolCallId {
        let (about, request) = self.request(native);
        if self.reported.as_ref() != Some(&about) {
            (self.attempt, self.reported, self.asked) = (request.identity.attempt, Some(about), false);
            drafts.push(Fact::ToolRequested(request).into());
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

    fn ask(tools: &mut Tools, command: &str) -> (u32, Vec<&'static str>) {
        ask_for(tools, "Bash", command)
    }

    fn ask_for(tools: &mut Tools, tool: &str, command: &str) -> (u32, Vec<&'static str>) {
        let mut drafts = Vec::new();
        let (tool_name, tool_use_id) = (tool.to_owned(), "toolu_1".to_owned());
        let asked = Asked { tool_name, input: json!({ "command": command }), tool_use_id, description: None };
        let request = tools.asked(&asked, &mut drafts);
        assert_eq!((request.name.as_str(), &request.input), (tool, &asked.input));
        (request.identity.attempt, told(&drafts))
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
    fn every_question_is_an_attempt_of_its_own() {
        let mut tools = Tools::default();
        assert_eq!(ask(&mut tools, "ls"), (1, vec![]));
        assert_eq!(ask(&mut tools, "ls"), (2, vec![]));
        assert_eq!(ask(&mut tools, "rm -rf x"), (3, vec![]));
        assert_eq!(ask_for(&mut tools, "Other", "rm -rf x"), (4, vec![]));
    }

    #[test]
    fn what_the_model_wanted_is_told_where_the_cli_asks_about_something_else() {
        let mut tools = Tools::default();
        tools.announce("toolu_1", "Bash", json!({ "command": "ls" }), &mut Vec::new());
        assert_eq!(ask(&mut tools, "rm -rf x"), (2, vec!["requested"]));
    }

    #[test]
    fn a_call_that_changes_after_it_was_asked_about_is_told_again() {
        let mut tools = Tools::default();
        ask(&mut tools, "ls");
        let mut drafts = Vec::new();
        tools.announce("toolu_1", "Bash", json!({ "command": "ls" }), &mut drafts);
        assert_eq!(told(&drafts), [""; 0]);
        tools.announce("toolu_1", "Bash", json!({ "command": "rm -rf x" }), &mut drafts);
        assert_eq!(told(&drafts), ["requested again"]);
    }

    #[test]
    fn what_is_asked_about_is_what_will_run() {
        let mut tools = Tools::default();
        tools.announce("toolu_1", "Bash", json!({}), &mut Vec::new());
        ask(&mut tools, "ls");
        assert_eq!(tools.call("toolu_1"), Some(("Bash", &json!({ "command": "ls" }))));
    }

    #[test]
    fn a_call_that_nobody_asked_about_never_ran_in_a_stopped_turn() {
        let cases = [(true, true, vec!["requested"]), (false, true, vec!["requested", "completed"])];
        for (stopping, is_error, expected) in cases {
            let mut tools = Tools::default();
            tools.announce("toolu_1", "Read", json!({ "file_path": "a" }), &mut Vec::new());
            let mut drafts = Vec::new();
            let result = Told { native: "toolu_1", content: json!("no"), is_error, details: None };
            tools.completed(result, stopping, &mut drafts);
            assert_eq!(told(&drafts), expected);
        }
    }
}
