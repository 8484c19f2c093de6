//! Tracks the tool calls of one task: what Codex announced, requested approval for, ran and completed.
//!
//! Some calls have no items, or items that never end: those that Codex's own rules or hooks refuse, and commands that
//! its sandbox stopped. What became of them is known only from the model's side of the conversation
//! ([`super::raw_calls`]).

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
use super::raw_calls::{RawCalls, RawResult};
use super::wire::{ItemStatus, RawItem};

/// What is known of one tool call, in its current attempt.
#[derive(Debug)]
struct TrackedItem {
    turn: String,
    item: ToolItem,
    /// The number of the last attempt. A new one begins when the call changes, or when Codex requests approval again.
    attempt: u32,
    /// The name and the input hash of the last report; `None` before the first.
    reported: Option<(String, String)>,
    /// Codex has requested approval for what was reported.
    approval_requested: bool,
    running: bool,
    done: bool,
    /// The output that was sent as deltas.
    streamed_output: String,
}

impl TrackedItem {
    /// Derived from Codex's ids, so that a later daemon gives the same call the same id and finds the decision that an
    /// earlier one waited for.
    fn id(&self) -> ToolCallId {
        let name = format!("{}/{}", self.turn, self.item.id);
        format!("tc_{}", Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).simple()).into()
    }

    /// The next report of the call, as a new attempt; and its key for [`Self::reported`].
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

    /// Reports the call, unless it was last reported with the same name and input.
    fn report(&mut self, drafts: &mut Vec<Draft>) -> ToolCallId {
        let (about, request) = self.request();
        if self.reported.as_ref() != Some(&about) {
            (self.attempt, self.reported, self.approval_requested) = (request.identity.attempt, Some(about), false);
            drafts.push(Fact::ToolRequested(request).into());
        }
        self.id()
    }

    /// Sends what no delta brought of the complete output: Codex loses deltas, often the first, and sends none for a
    /// command that ends at once.
    fn send_missed_output(&mut self, output: String, drafts: &mut Vec<Draft>) {
        let (call, stream, streamed) = (self.report(drafts), OutputStream::Stdout, self.streamed_output.as_str());
        if let Some(rest) = output.strip_prefix(streamed) {
            drafts.push(Fact::ToolOutputDelta { call, stream, delta: rest.to_owned() }.into());
            return;
        }
        // The beginning comes late, so the record also gets the whole in its right order.
        if let Some(beginning) = output.strip_suffix(streamed) {
            let delta = beginning.to_owned();
            drafts.push(Fact::ToolOutputDelta { call: call.clone(), stream, delta }.into());
        }
        drafts.push(Fact::ToolOutput { call, stdout: Some(output), stderr: None }.into());
    }

    /// Reports that Codex itself refused the call, so that it never ran; once.
    fn refuse(&mut self, reason: String, drafts: &mut Vec<Draft>) {
        let call = self.report(drafts);
        if !std::mem::replace(&mut self.done, true) {
            drafts.push(Fact::ToolRefused { call, reason }.into());
        }
    }

    /// Reports the completion; once per attempt.
    fn complete(&mut self, result: Option<Value>, is_error: bool, drafts: &mut Vec<Draft>) {
        let before = self.attempt;
        let call = self.report(drafts);
        if !std::mem::replace(&mut self.done, true) || self.attempt != before {
            drafts.push(Fact::ToolCompleted(ToolOutcome::of_runtime(call, result, is_error)).into());
        }
    }
}

/// The tool calls of one task, by Codex's id of the item.
#[derive(Debug, Default)]
pub(super) struct ItemTracker {
    known: BTreeMap<String, TrackedItem>,
    raw: RawCalls,
}

impl ItemTracker {
    /// Called when an item starts or changes. A call that Codex may still request approval for is not reported before
    /// it runs, because the request brings more input.
    pub(super) fn on_started(&mut self, turn: &str, item: ToolItem, drafts: &mut Vec<Draft>) {
        let tool = self.upsert(turn, item);
        if tool.item.runs {
            let call = tool.report(drafts);
            tool.running = true;
            drafts.push(Fact::ToolStarted(call).into());
        } else if !tool.item.may_ask || tool.reported.is_some() {
            tool.report(drafts);
        }
    }

    /// Called when Codex requests approval for an item, and returns the request to decide. Every request is decided on
    /// its own: an approval of another call, or of an earlier request for this one, does not count.
    pub(super) fn on_approval_requested(
        &mut self,
        turn: &str,
        item: ToolItem,
        drafts: &mut Vec<Draft>,
    ) -> ToolCallRequestedPayload {
        let announced = self.known.get(&item.id).filter(|tool| tool.reported.is_none()).map(TrackedItem::request);
        let tool = self.upsert(turn, item);
        if let Some((about, announced)) = announced
            && !adds_to(&announced, &tool.request().1)
        {
            // The request differs from what was announced, so both are recorded.
            (tool.attempt, tool.reported) = (announced.identity.attempt, Some(about));
            drafts.push(Fact::ToolRequested(announced).into());
        }
        let (about, mut request) = tool.request();
        if tool.reported.as_ref() == Some(&about) && !tool.approval_requested && !tool.done {
            request.identity.attempt = tool.attempt;
        }
        (tool.attempt, tool.reported, tool.approval_requested) = (request.identity.attempt, Some(about), true);
        (tool.done, tool.running) = (false, false);
        request
    }

    /// Called for every item of the model's API, for a thread that tells them.
    pub(super) fn on_raw_item(&mut self, turn: &str, item: RawItem) {
        self.raw.on_item(turn, item);
    }

    /// The `sandbox_permissions` that the model asked for in this call; `None` if the call is not known from the
    /// model's side.
    pub(super) fn requested_sandbox(&self, native: &str) -> Option<&str> {
        self.raw.sandbox_permissions(native)
    }

    /// Called when the model has answered again: completes the calls whose results it has read and that have no end of
    /// their own.
    pub(super) fn on_model_response(&mut self, drafts: &mut Vec<Draft>) {
        for (turn, result) in self.raw.take_results() {
            match self.known.get_mut(&result.call_id) {
                Some(tool) if tool.done => {}
                Some(tool) => {
                    let (result, is_error) = result.outcome();
                    tool.complete(Some(result), is_error, drafts);
                }
                None => {
                    let RawResult { call_id, command: Some(command), output } = result else { continue };
                    self.upsert(&turn, ToolItem::refused_command(call_id, command)).refuse(output, drafts);
                }
            }
        }
    }

    /// Whether Codex has requested approval for this item before.
    pub(super) fn was_asked_about(&self, native: &str) -> bool {
        self.known.get(native).is_some_and(|tool| tool.approval_requested)
    }

    /// The known item that a request is about, with the input that the request adds.
    pub(super) fn item_for_request(&self, native: &str, extra: Map<String, Value>) -> Option<ToolItem> {
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

    /// The open call of an MCP server that a request without a call id is about: the first one with this input, or
    /// else the first one at all.
    pub(super) fn find_mcp_call(&self, prefix: &str, input: &Value) -> Option<&str> {
        let open = |tool: &&TrackedItem| !tool.approval_requested && !tool.done && tool.item.name.starts_with(prefix);
        let same = self.known.values().filter(open).find(|tool| tool.item.input == *input);
        same.or_else(|| self.known.values().find(open)).map(|tool| tool.item.id.as_str())
    }

    /// Called when a call was approved. It counts as running from here on, because Codex sends no notification of
    /// that.
    pub(super) fn on_allowed(&mut self, call: &ToolCallId, drafts: &mut Vec<Draft>) {
        if let Some(tool) = self.known.values_mut().find(|tool| tool.id() == *call) {
            tool.running = true;
            drafts.push(Fact::ToolStarted(call.clone()).into());
        }
    }

    /// Called for each piece of a command's output.
    pub(super) fn on_output(&mut self, native: &str, delta: &str, drafts: &mut Vec<Draft>) {
        let Some(tool) = self.known.get_mut(native).filter(|tool| !tool.done) else { return };
        let (call, stream) = (tool.report(drafts), OutputStream::Stdout);
        tool.running = true;
        tool.streamed_output.push_str(delta);
        drafts.push(Fact::ToolOutputDelta { call, stream, delta: delta.to_owned() }.into());
    }

    /// Called when an item is completed. Output that the deltas did not bring is sent first.
    pub(super) fn on_completed(&mut self, turn: &str, mut item: ToolItem, drafts: &mut Vec<Draft>) {
        let (result, output) = (item.result.take(), item.output.take());
        let state = item.state;
        let tool = self.upsert(turn, item);
        if state == ItemStatus::Declined {
            // After a no of ours this only repeats it.
            return tool.refuse("Codex declined it".into(), drafts);
        }
        if let Some(output) = output.filter(|output| !tool.done && tool.streamed_output != *output) {
            tool.send_missed_output(output, drafts);
        }
        tool.complete(result, state != ItemStatus::Completed, drafts);
    }

    /// Called when the turn ends. Calls that still run are completed as going on in the background, unless the turn
    /// was `cut`.
    pub(super) fn on_turn_end(&mut self, cut: bool, drafts: &mut Vec<Draft>) {
        self.on_model_response(drafts);
        for tool in self.known.values_mut().filter(|tool| !tool.done) {
            tool.report(drafts);
            if tool.running && !cut {
                let result = match self.raw.knows(&tool.item.id) {
                    true => "it goes on in the background",
                    // A resumed thread does not tell the model's side.
                    false => "it goes on in the background, or Codex's sandbox stopped it; Codex does not say which",
                };
                tool.complete(Some(result.into()), false, drafts);
            }
        }
    }

    /// Whether a call still runs.
    pub(super) fn any_running(&self) -> bool {
        self.known.values().any(|tool| tool.running && !tool.done)
    }

    /// Inserts or updates an item. The input of a request has more fields than the item itself, so fields that were
    /// reported are kept.
    fn upsert(&mut self, turn: &str, item: ToolItem) -> &mut TrackedItem {
        let fresh = |item: ToolItem| TrackedItem {
            turn: turn.to_owned(),
            item,
            attempt: 0,
            reported: None,
            approval_requested: false,
            running: false,
            done: false,
            streamed_output: String::new(),
        };
        match self.known.entry(item.id.clone()) {
            std::collections::btree_map::Entry::Vacant(entry) => entry.insert(fresh(item)),
            std::collections::btree_map::Entry::Occupied(entry) => {
                let tool = entry.into_mut();
                let runs = item.runs || tool.item.runs;
                let input = match (std::mem::take(&mut tool.item.input), item.input) {
                    (Value::Object(mut known), Value::Object(update)) if tool.reported.is_some() => {
                        known.extend(update);
                        Value::Object(known)
                    }
                    (_, update) => update,
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

    fn ask(tools: &mut ItemTracker, reason: Option<&str>) -> (u32, Vec<u32>) {
        let mut drafts = Vec::new();
        let request = tools.on_approval_requested("turn", command(reason), &mut drafts);
        assert_eq!(request.input, command(reason).input);
        (request.identity.attempt, announced(&drafts))
    }

    /// The attempts that were reported.
    fn announced(drafts: &[Draft]) -> Vec<u32> {
        let attempt = |draft: &Draft| match &draft.fact {
            Fact::ToolRequested(request) => Some(request.identity.attempt),
            _ => None,
        };
        drafts.iter().filter_map(attempt).collect()
    }

    #[test]
    fn every_question_is_an_attempt_of_its_own() {
        let mut tools = ItemTracker::default();
        assert_eq!(ask(&mut tools, None), (1, vec![]));
        assert_eq!(ask(&mut tools, None), (2, vec![]));
        assert_eq!(ask(&mut tools, Some("without the sandbox")), (3, vec![]));
    }

    #[test]
    fn leave_that_nobody_asked_for_is_no_leave_for_more() {
        let mut tools = ItemTracker::default();
        let running = ToolItem { runs: true, ..command(None) };
        tools.on_started("turn", running, &mut Vec::new());
        assert_eq!(ask(&mut tools, Some("the network")), (2, vec![]));
    }

    #[test]
    fn what_was_announced_is_told_where_codex_asks_about_something_else() {
        let mut tools = ItemTracker::default();
        let other = ToolItem { input: json!({ "command": "rm -rf x" }), ..command(None) };
        tools.on_started("turn", other, &mut Vec::new());
        assert_eq!(ask(&mut tools, None), (2, vec![1]));
    }

    #[test]
    fn an_item_that_changes_after_it_was_asked_about_is_told_again_and_less_words_are_no_change() {
        let mut tools = ItemTracker::default();
        ask(&mut tools, Some("because"));
        let mut drafts = Vec::new();
        let fewer = ToolItem { input: json!({ "command": "ls" }), ..command(None) };
        tools.on_started("turn", fewer, &mut drafts);
        tools.on_completed("turn", ToolItem { state: ItemStatus::Completed, ..command(Some("because")) }, &mut drafts);
        assert_eq!(announced(&drafts), [0; 0]);
        let other = ToolItem { input: json!({ "command": "rm -rf x" }), ..command(None) };
        tools.on_completed("turn", ToolItem { state: ItemStatus::Completed, ..other }, &mut drafts);
        assert_eq!(announced(&drafts), [2]);
        assert!(matches!(drafts.last().map(|draft| &draft.fact), Some(Fact::ToolCompleted(_))), "{drafts:?}");
    }

    #[test]
    fn a_call_has_the_same_id_for_every_daemon_and_another_in_every_turn() {
        let id = |turn: &str| {
            ItemTracker::default().on_approval_requested(turn, command(None), &mut Vec::new()).identity.tool_call_id
        };
        assert_eq!(id("one"), id("one"));
        assert_ne!(id("one"), id("two"));
    }

    #[test]
    fn output_that_the_deltas_did_not_bring_is_sent_at_the_end_and_nothing_twice() {
        let cases: [(&[&str], &str, &[&str], bool); 5] = [
            (&[], "1\n2\n", &["1\n2\n"], false),
            (&["1\n"], "1\n2\n", &["1\n", "2\n"], false),
            (&["1\n", "2\n"], "1\n2\n", &["1\n", "2\n"], false),
            (&["2\n"], "1\n2\n", &["2\n", "1\n"], true),
            (&["2\n"], "1\n2\n3\n", &["2\n"], true),
        ];
        for (streamed, whole, pieces, in_order) in cases {
            let (mut tools, mut drafts) = (ItemTracker::default(), Vec::new());
            tools.on_started("turn", command(None), &mut drafts);
            streamed.iter().for_each(|piece| tools.on_output("call", piece, &mut drafts));
            let done = ToolItem { state: ItemStatus::Completed, output: Some(whole.into()), ..command(None) };
            tools.on_completed("turn", done, &mut drafts);
            let sent = drafts.iter().filter_map(|draft| match &draft.fact {
                Fact::ToolOutputDelta { delta, .. } => Some(delta.as_str()),
                _ => None,
            });
            assert_eq!(sent.collect::<Vec<_>>(), pieces, "{streamed:?} of {whole:?}");
            let is_whole = |draft: &Draft| matches!(&draft.fact, Fact::ToolOutput { stdout, .. } if stdout.as_deref() == Some(whole));
            assert_eq!(drafts.iter().any(is_whole), in_order, "{streamed:?} of {whole:?}");
        }
    }

    fn raw(tools: &mut ItemTracker, item: Value) {
        tools.on_raw_item("turn", serde_json::from_value(item).unwrap());
    }

    fn model_calls(tools: &mut ItemTracker, arguments: &Value) {
        let arguments = arguments.to_string();
        raw(
            tools,
            json!({ "type": "function_call", "call_id": "call", "name": "exec_command", "arguments": arguments }),
        );
    }

    #[test]
    fn a_command_without_an_item_was_refused_by_codex_itself() {
        let (mut tools, mut drafts) = (ItemTracker::default(), Vec::new());
        model_calls(&mut tools, &json!({ "cmd": "touch x", "workdir": "/w" }));
        tools.on_model_response(&mut drafts);
        assert_eq!(drafts, []);
        raw(
            &mut tools,
            json!({ "type": "function_call_output", "call_id": "call", "output": "rejected: no touching" }),
        );
        tools.on_model_response(&mut drafts);
        let facts: Vec<_> = drafts.iter().map(|draft| &draft.fact).collect();
        let [Fact::ToolRequested(request), Fact::ToolRefused { call, reason }] = facts.as_slice() else {
            panic!("{drafts:?}")
        };
        assert_eq!((&request.identity.tool_call_id, reason.as_str()), (call, "rejected: no touching"));
        assert_eq!(request.input, json!({ "command": "touch x", "cwd": "/w" }));
    }

    #[test]
    fn a_command_that_the_sandbox_stopped_fails_with_what_the_model_read() {
        let (mut tools, mut drafts) = (ItemTracker::default(), Vec::new());
        model_calls(&mut tools, &json!({ "cmd": "touch /x" }));
        tools.on_started("turn", command(None), &mut drafts);
        let output = "Chunk ID: 1\nProcess exited with code 1\nOutput:\ntouch: Read-only file system\n";
        raw(&mut tools, json!({ "type": "function_call_output", "call_id": "call", "output": output }));
        tools.on_turn_end(false, &mut drafts);
        let Some(Fact::ToolCompleted(outcome)) = drafts.last().map(|draft| &draft.fact) else { panic!("{drafts:?}") };
        assert_eq!(outcome.result, Some("exit code 1\ntouch: Read-only file system\n".into()));
        assert!(outcome.is_error);
    }

    #[test]
    fn a_command_that_still_runs_when_its_turn_ends_goes_on_in_the_background() {
        let (mut tools, mut drafts) = (ItemTracker::default(), Vec::new());
        model_calls(&mut tools, &json!({ "cmd": "sleep 60" }));
        tools.on_started("turn", ToolItem { runs: true, ..command(None) }, &mut drafts);
        let output = "Chunk ID: 1\nProcess running with session ID 7\nOutput:\n";
        raw(&mut tools, json!({ "type": "function_call_output", "call_id": "call", "output": output }));
        tools.on_turn_end(false, &mut drafts);
        let Some(Fact::ToolCompleted(outcome)) = drafts.last().map(|draft| &draft.fact) else { panic!("{drafts:?}") };
        assert_eq!((outcome.result.clone(), outcome.is_error), (Some("it goes on in the background".into()), false));
    }
}
