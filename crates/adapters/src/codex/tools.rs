//! The tool calls of one task: what Codex announced, asked about, ran and finished.

use std::collections::BTreeMap;

use roost_engine::adapter::{Draft, Fact, ToolOutcome};
use roost_engine::ledger::adds_to;
use roost_model::canonical;
use roost_model::ids::ToolCallId;
use roost_model::payload::{OutputStream, ToolCallRequestedPayload};
use roost_model::tool::ToolCallIdentity;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::item::ToolItem;
use super::wire::ItemStatus;

/// What is known of one attempt at a tool call.
#[derive(Debug)]
struct Tool {
    turn: String,
    item: ToolItem,
    /// How often it was reported as something else, or asked about.
    attempt: u32,
    /// It has been reported, with this name and the input of this hash.
    reported: Option<(String, String)>,
    /// Codex has asked about what was reported.
    asked: bool,
    running: bool,
    done: bool,
    /// The output that was passed on already.
    shown: String,
}

impl Tool {
    /// The same for every daemon that looks at the same call, so that a decision which one of them waits for is found
    /// again by the next.
    fn id(&self) -> ToolCallId {
        let name = format!("{}/{}", self.turn, self.item.id);
        format!("tc_{}", Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).simple()).into()
    }

    /// The call as it is reported next.
    fn request(&self) -> ((String, String), ToolCallRequestedPayload) {
        let item = &self.item;
        let input_hash = canonical::hash(&item.input);
        let about = (item.name.clone(), input_hash.clone());
        let identity = ToolCallIdentity {
            tool_call_id: self.id(),
            runtime_tool_call_id: Some(item.id.clone()),
            attempt: self.attempt + 1,
            input_hash,
        };
        let (name, input, title, kind) = (item.name.clone(), item.input.clone(), item.title.clone(), Some(item.kind));
        (about, ToolCallRequestedPayload { identity, name, input, input_ref: None, title, kind })
    }

    /// Reports the call, unless it was reported as this already.
    fn report(&mut self, drafts: &mut Vec<Draft>) -> ToolCallId {
        let (about, request) = self.request();
        if self.reported.as_ref() != Some(&about) {
            (self.attempt, self.reported, self.asked) = (request.identity.attempt, Some(about), false);
            drafts.push(Fact::ToolRequested(request).into());
        }
        self.id()
    }

    /// Tells that it is over; once, unless it turns out to have been something else.
    fn complete(&mut self, result: Option<Value>, is_error: bool, drafts: &mut Vec<Draft>) {
        let before = self.attempt;
        let call = self.report(drafts);
        if !std::mem::replace(&mut self.done, true) || self.attempt != before {
            drafts.push(Fact::ToolCompleted(ToolOutcome::of_runtime(call, result, is_error)).into());
        }
    }
}

/// The tool calls of one task, by Codex's id.
#[derive(Debug, Default)]
pub(super) struct Tools {
    known: BTreeMap<String, Tool>,
}

impl Tools {
    /// A tool item began, or changed.
    pub(super) fn started(&mut self, turn: &str, item: ToolItem, drafts: &mut Vec<Draft>) {
        let tool = self.know(turn, item);
        if tool.item.runs {
            let call = tool.report(drafts);
            tool.running = true;
            drafts.push(Fact::ToolStarted(call).into());
        } else if !tool.item.may_ask || tool.reported.is_some() {
            tool.report(drafts);
        }
    }

    /// Codex asks about an item, in so many more words; what it asks about. Each request is one of its own: leave for
    /// another, or for the same one before, is no leave for it.
    pub(super) fn asked(&mut self, turn: &str, item: ToolItem, drafts: &mut Vec<Draft>) -> ToolCallRequestedPayload {
        let announced = self.known.get(&item.id).filter(|tool| tool.reported.is_none()).map(Tool::request);
        let tool = self.know(turn, item);
        if let Some((about, announced)) = announced
            && !adds_to(&announced, &tool.request().1)
        {
            // It asks about something else than it announced, and both are to be seen.
            (tool.attempt, tool.reported) = (announced.identity.attempt, Some(about));
            drafts.push(Fact::ToolRequested(announced).into());
        }
        let (about, mut request) = tool.request();
        if tool.reported.as_ref() == Some(&about) && !tool.asked && !tool.done {
            request.identity.attempt = tool.attempt;
        }
        (tool.attempt, tool.reported, tool.asked) = (request.identity.attempt, Some(about), true);
        (tool.done, tool.running) = (false, false);
        request
    }

    /// The item that a question about an item is about, with what the question adds to it.
    pub(super) fn question_about(&self, native: &str, extra: Map<String, Value>) -> Option<ToolItem> {
        let item = &self.known.get(native)?.item;
        let mut input = item.input.clone();
        input.as_object_mut()?.extend(extra);
        let (id, name, title) = (item.id.clone(), item.name.clone(), item.title.clone());
        let (may_ask, output, result) = (item.may_ask, None, None);
        Some(ToolItem {
            id,
            name,
            title,
            input,
            may_ask,
            output,
            result,
            kind: item.kind,
            runs: false,
            state: item.state,
        })
    }

    /// The call to a tool server that a question without a call's id is about.
    pub(super) fn mcp_call(&self, prefix: &str, input: &Value) -> Option<&str> {
        let open = |tool: &&Tool| !tool.asked && !tool.done && tool.item.name.starts_with(prefix);
        let same = self.known.values().filter(open).find(|tool| tool.item.input == *input);
        same.or_else(|| self.known.values().find(open)).map(|tool| tool.item.id.as_str())
    }

    /// The call that was allowed runs from here on; Codex does not say so.
    pub(super) fn allowed(&mut self, call: &ToolCallId, drafts: &mut Vec<Draft>) {
        if let Some(tool) = self.known.values_mut().find(|tool| tool.id() == *call) {
            tool.running = true;
            drafts.push(Fact::ToolStarted(call.clone()).into());
        }
    }

    /// A piece of a command's output.
    pub(super) fn output(&mut self, native: &str, delta: &str, drafts: &mut Vec<Draft>) {
        let Some(tool) = self.known.get_mut(native).filter(|tool| !tool.done) else { return };
        let (call, stream) = (tool.report(drafts), OutputStream::Stdout);
        tool.running = true;
        tool.shown.push_str(delta);
        drafts.push(Fact::ToolOutputDelta { call, stream, delta: delta.to_owned() }.into());
    }

    /// A tool item is over.
    pub(super) fn completed(&mut self, turn: &str, mut item: ToolItem, drafts: &mut Vec<Draft>) {
        let (result, output) = (item.result.take(), item.output.take());
        let is_error = item.state != ItemStatus::Completed;
        let tool = self.know(turn, item);
        let missed = output.filter(|whole| !tool.shown.is_empty() && tool.shown != *whole);
        if let Some(stdout) = missed.filter(|_| !tool.done) {
            // Codex loses pieces, mostly the first.
            let call = tool.report(drafts);
            drafts.push(Fact::ToolOutput { call, stdout: Some(stdout), stderr: None }.into());
        }
        tool.complete(result, is_error, drafts);
    }

    /// The turn is over. What still runs goes on in the background, which is no failure, unless the turn was cut.
    pub(super) fn end(&mut self, cut: bool, drafts: &mut Vec<Draft>) {
        for tool in self.known.values_mut().filter(|tool| !tool.done) {
            tool.report(drafts);
            if tool.running && !cut {
                tool.complete(Some("it goes on in the background".into()), false, drafts);
            }
        }
    }

    /// Some command has not ended.
    pub(super) fn any_running(&self) -> bool {
        self.known.values().any(|tool| tool.running && !tool.done)
    }

    /// Takes what is now known of an item; the words of a question are more than those of the item itself, and what was
    /// reported of it is not taken back.
    fn know(&mut self, turn: &str, item: ToolItem) -> &mut Tool {
        let fresh = |item: ToolItem| Tool {
            turn: turn.to_owned(),
            item,
            attempt: 0,
            reported: None,
            asked: false,
            running: false,
            done: false,
            shown: String::new(),
        };
        match self.known.entry(item.id.clone()) {
            std::collections::btree_map::Entry::Vacant(place) => place.insert(fresh(item)),
            std::collections::btree_map::Entry::Occupied(place) => {
                let tool = place.into_mut();
                let runs = item.runs || tool.item.runs;
                let input = match (std::mem::take(&mut tool.item.input), item.input) {
                    (Value::Object(mut known), Value::Object(said)) if tool.reported.is_some() => {
                        known.extend(said);
                        Value::Object(known)
                    }
                    (_, said) => said,
                };
                tool.item = ToolItem { runs, input, ..item };
                tool
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roost_model::payload::ToolKind;
    use serde_json::json;

    fn command(reason: Option<&str>) -> ToolItem {
        ToolItem {
            id: "call".into(),
            name: "commandExecution".into(),
            title: None,
            kind: ToolKind::Execute,
            input: json!({ "command": "ls", "reason": reason }),
            may_ask: true,
            runs: false,
            state: ItemStatus::InProgress,
            output: None,
            result: None,
        }
    }

    fn ask(tools: &mut Tools, reason: Option<&str>) -> (u32, Vec<u32>) {
        let mut drafts = Vec::new();
        let asked = tools.asked("turn", command(reason), &mut drafts);
        assert_eq!(asked.input, command(reason).input);
        (asked.identity.attempt, announced(&drafts))
    }

    /// The attempts that were told of.
    fn announced(drafts: &[Draft]) -> Vec<u32> {
        let attempt = |draft: &Draft| match &draft.fact {
            Fact::ToolRequested(request) => Some(request.identity.attempt),
            _ => None,
        };
        drafts.iter().filter_map(attempt).collect()
    }

    #[test]
    fn every_question_is_an_attempt_of_its_own() {
        let mut tools = Tools::default();
        assert_eq!(ask(&mut tools, None), (1, vec![]));
        assert_eq!(ask(&mut tools, None), (2, vec![]));
        assert_eq!(ask(&mut tools, Some("without the sandbox")), (3, vec![]));
    }

    #[test]
    fn leave_that_nobody_asked_for_is_no_leave_for_more() {
        let mut tools = Tools::default();
        let running = ToolItem { runs: true, ..command(None) };
        tools.started("turn", running, &mut Vec::new());
        assert_eq!(ask(&mut tools, Some("the network")), (2, vec![]));
    }

    #[test]
    fn what_was_announced_is_told_where_codex_asks_about_something_else() {
        let mut tools = Tools::default();
        let other = ToolItem { input: json!({ "command": "rm -rf x" }), ..command(None) };
        tools.started("turn", other, &mut Vec::new());
        assert_eq!(ask(&mut tools, None), (2, vec![1]));
    }

    #[test]
    fn an_item_that_changes_after_it_was_asked_about_is_told_again_and_less_words_are_no_change() {
        let mut tools = Tools::default();
        ask(&mut tools, Some("because"));
        let mut drafts = Vec::new();
        let fewer = ToolItem { input: json!({ "command": "ls" }), ..command(None) };
        tools.started("turn", fewer, &mut drafts);
        tools.completed("turn", ToolItem { state: ItemStatus::Completed, ..command(Some("because")) }, &mut drafts);
        assert_eq!(announced(&drafts), [0; 0]);
        let other = ToolItem { input: json!({ "command": "rm -rf x" }), ..command(None) };
        tools.completed("turn", ToolItem { state: ItemStatus::Completed, ..other }, &mut drafts);
        assert_eq!(announced(&drafts), [2]);
        assert!(matches!(drafts.last().map(|draft| &draft.fact), Some(Fact::ToolCompleted(_))), "{drafts:?}");
    }

    #[test]
    fn a_call_has_the_same_id_for_every_daemon_and_another_in_every_turn() {
        let id = |turn: &str| Tools::default().asked(turn, command(None), &mut Vec::new()).identity.tool_call_id;
        assert_eq!(id("one"), id("one"));
        assert_ne!(id("one"), id("two"));
    }

    #[test]
    fn output_that_was_lost_on_the_way_is_told_whole() {
        let mut tools = Tools::default();
        let mut drafts = Vec::new();
        tools.started("turn", command(None), &mut drafts);
        tools.output("call", "line 2\n", &mut drafts);
        let whole = Some("line 1\nline 2\n".to_owned());
        let done = ToolItem { state: ItemStatus::Completed, output: whole.clone(), ..command(None) };
        tools.completed("turn", done, &mut drafts);
        let told =
            drafts.iter().any(|draft| matches!(&draft.fact, Fact::ToolOutput { stdout, .. } if *stdout == whole));
        assert!(told, "{drafts:?}");
    }
}
