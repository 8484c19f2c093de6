//! The tool calls of one task: what Codex announced, asked about, ran and finished.

use std::collections::BTreeMap;

use roost_engine::adapter::{Draft, Fact, ToolOutcome};
use roost_proto::canonical;
use roost_proto::ids::ToolCallId;
use roost_proto::payload::{OutputStream, ToolCallRequestedPayload};
use roost_proto::tool::ToolCallIdentity;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::item::ToolItem;
use super::wire::ItemStatus;

/// What is known of one attempt at a tool call.
#[derive(Debug)]
struct Tool {
    turn: String,
    item: ToolItem,
    attempt: u32,
    /// It has been reported, with the input of this hash.
    reported: Option<String>,
    /// Codex asked about it.
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

    fn report(&mut self, drafts: &mut Vec<Draft>) -> ToolCallId {
        let id = self.id();
        if self.reported.is_some() {
            return id;
        }
        let item = &self.item;
        let input_hash = canonical::hash(&item.input);
        self.reported = Some(input_hash.clone());
        let identity = ToolCallIdentity {
            tool_call_id: id.clone(),
            runtime_tool_call_id: Some(item.id.clone()),
            attempt: self.attempt,
            input_hash,
        };
        let (name, input, title, kind) = (item.name.clone(), item.input.clone(), item.title.clone(), Some(item.kind));
        let request = ToolCallRequestedPayload { identity, name, input, input_ref: None, title, kind };
        drafts.push(Fact::ToolRequested(request).into());
        id
    }

    fn complete(&mut self, result: Option<Value>, is_error: bool, drafts: &mut Vec<Draft>) {
        let call = self.report(drafts);
        if !std::mem::replace(&mut self.done, true) {
            drafts.push(Fact::ToolCompleted(ToolOutcome::of_runtime(call, result, is_error)).into());
        }
    }
}

/// A request for permission.
pub(super) struct Asked {
    /// The call that it is about.
    pub(super) call: ToolCallId,
    /// Requests about an earlier input of the same call are void.
    pub(super) anew: bool,
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
        } else if !tool.item.may_ask {
            tool.report(drafts);
        }
    }

    /// Codex asks about an item, in so many more words. One that was asked about with other words is another attempt:
    /// leave for the one is no leave for the other.
    pub(super) fn asked(&mut self, turn: &str, item: ToolItem, drafts: &mut Vec<Draft>) -> Asked {
        let hash = canonical::hash(&item.input);
        let tool = self.know(turn, item);
        let anew = tool.reported.as_ref().is_some_and(|reported| *reported != hash);
        if anew || tool.done {
            tool.complete(Some("Codex asked again, for more".into()), true, drafts);
            tool.attempt += 1;
            (tool.reported, tool.done, tool.running) = (None, false, false);
        }
        tool.asked = true;
        Asked { call: tool.report(drafts), anew }
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

    /// Takes what is now known of an item; the words of a question are more than those of the item itself.
    fn know(&mut self, turn: &str, item: ToolItem) -> &mut Tool {
        let fresh = |item: ToolItem| Tool {
            turn: turn.to_owned(),
            item,
            attempt: 1,
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
                tool.item = ToolItem { runs, ..item };
                tool
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roost_proto::payload::ToolKind;
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

    fn ask(tools: &mut Tools, reason: Option<&str>) -> (Asked, Vec<(u32, &'static str)>) {
        let mut drafts = Vec::new();
        let asked = tools.asked("turn", command(reason), &mut drafts);
        let told = drafts.iter().map(|draft| match &draft.fact {
            Fact::ToolRequested(request) => (request.identity.attempt, "requested"),
            Fact::ToolCompleted(_) => (0, "completed"),
            other => panic!("{other:?}"),
        });
        (asked, told.collect())
    }

    #[test]
    fn asking_again_about_the_same_is_the_same_request() {
        let mut tools = Tools::default();
        let (first, told) = ask(&mut tools, None);
        assert_eq!(told, [(1, "requested")]);
        let (second, told) = ask(&mut tools, None);
        assert_eq!((second.call, second.anew, told), (first.call, false, vec![]));
    }

    #[test]
    fn leave_to_run_is_no_leave_to_run_with_more_rights() {
        let mut tools = Tools::default();
        let (first, _) = ask(&mut tools, None);
        tools.allowed(&first.call, &mut Vec::new());
        let (second, told) = ask(&mut tools, Some("without the sandbox"));
        assert_eq!((second.call, second.anew), (first.call, true));
        assert_eq!(told, [(0, "completed"), (2, "requested")]);
    }

    #[test]
    fn leave_that_nobody_asked_for_is_no_leave_for_more() {
        let mut tools = Tools::default();
        let running = ToolItem { runs: true, ..command(None) };
        tools.started("turn", running, &mut Vec::new());
        let (asked, told) = ask(&mut tools, Some("the network"));
        assert!(asked.anew);
        assert_eq!(told, [(0, "completed"), (2, "requested")]);
    }

    #[test]
    fn a_call_has_the_same_id_for_every_daemon_and_another_in_every_turn() {
        let id = |turn: &str| Tools::default().asked(turn, command(None), &mut Vec::new()).call;
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
