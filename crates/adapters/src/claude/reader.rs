//! Reads the CLI's lines: updates the turn, answers the CLI's requests, completes ours, and fills the outbox.

use roost_engine::adapter::{AdapterError, Draft, Fact};
use roost_model::payload::{NoticeLevel, NoticeSource, RequestStatus};
use roost_process::Line;
use serde_json::{Value, json};

use super::background::Remaining;
use super::connection::{ClaudeConnection, Complaint};
use super::host_server::{self, HostCall, McpAction};
use super::messages::{CanUseTool, ControlRequest, System, TurnResult};
use super::turn::{HostRequest, PendingPermission};
use super::wire::{self, ClaudeMessage};
use super::{map, outcome, questions};
use crate::host::{notice, reply, skipped_line};

/// Part of the CLI's error message when the id given to `--resume` is not on its disk.
const UNKNOWN_SESSION: &str = "No conversation found";
/// The reason given to the agent when it asks for a tool while no task runs.
const NO_TASK: &str = "no task is running; wait for the user";
/// What people are told about a turn that the CLI began by itself while no task ran.
const CUT_TURN: &str =
    "Claude Code began a turn by itself while no task ran; it was interrupted, because nobody would have seen it";
/// The reason given for a request that a newer request about the same call has replaced.
const REQUEST_REPLACED: &str = "the same call was asked about again";

impl ClaudeConnection {
    /// Handles one line of the CLI's stdout. A line that is too long, unknown or no JSON becomes a notice.
    pub(super) fn on_line(&mut self, line: Line<'_>) {
        if let Line::TooLong { bytes, .. } = line {
            self.report(skipped_line(bytes));
            return;
        }
        let text = line.text();
        match wire::parse(&text) {
            ClaudeMessage::Piece(piece) => {
                if let Some((turn, drafts)) = self.out.live() {
                    turn.mapper.piece(piece, drafts);
                }
            }
            ClaudeMessage::Stream(update) => {
                if let Some((turn, drafts)) = self.out.live() {
                    turn.mapper.stream_event(update, drafts);
                }
            }
            ClaudeMessage::System(system) => self.on_system(&system, &text),
            ClaudeMessage::Assistant(message) => {
                if let Some((turn, drafts)) = self.out.live() {
                    turn.mapper.assistant(*message, drafts);
                }
            }
            ClaudeMessage::User(message) => {
                let Some((turn, drafts)) = self.out.live() else { return };
                turn.local_output.extend(message.local_output().map(str::to_owned));
                if let Some(uuid) = message.uuid.as_ref().filter(|_| message.is_replay) {
                    turn.unacknowledged.remove(uuid);
                } else {
                    for native in message.results() {
                        self.activity.on_tool_result(native, message.tool_use_result.as_ref());
                    }
                    turn.mapper.user(*message, turn.cancelled, &mut self.plan, drafts);
                }
            }
            ClaudeMessage::Result(result) => self.on_result(*result),
            ClaudeMessage::Request { id, request } => self.on_request(id, request, &text),
            ClaudeMessage::Withdrawn { id } => self.on_withdrawn(&id),
            // Without a matching call this is the CLI's acknowledgement of an answer that we sent.
            ClaudeMessage::Response { id, result } => {
                if let Some(to) = self.calls.remove(&id) {
                    reply(to, Ok(result));
                }
            }
            ClaudeMessage::Idle => {}
            ClaudeMessage::Unknown { kind } => {
                let message = format!("a message that Roost does not know: {kind}");
                self.report_unknown(message, &text);
            }
            ClaudeMessage::Noise if text.trim().is_empty() => {}
            ClaudeMessage::Noise => self.report(notice(NoticeLevel::Info, NoticeSource::Stdout, text)),
        }
    }

    /// Sends a control request and returns its id, which the CLI repeats in its answer.
    pub(super) fn request(&mut self, request: &Value) -> Result<String, AdapterError> {
        self.requests += 1;
        let id = format!("roost_{}", self.requests);
        self.send(wire::request(&id, request))?;
        Ok(id)
    }

    /// Queues a line for the CLI's stdin without waiting; an error if the queue is full or stdin is closed.
    pub(super) fn send(&self, line: String) -> Result<(), AdapterError> {
        self.writer.send(line)
    }

    /// Adds a draft to the running turn. Between turns there is no listener, so the draft is dropped.
    pub(super) fn report(&mut self, draft: Draft) {
        if let Some((_, drafts)) = self.out.live() {
            drafts.push(draft);
        }
    }

    /// Reports a message without a meaning here, with the raw line, and counts it for the log.
    fn report_unknown(&mut self, message: String, line: &str) {
        self.unknown += 1;
        self.report(map::unknown(message, line));
    }

    /// Sends an answer to the CLI; a failure to do so becomes a notice, because nobody waits for the result.
    fn answer(&mut self, line: String) {
        if let Err(error) = self.send(line) {
            self.report(notice(NoticeLevel::Error, NoticeSource::Protocol, error.to_string()));
        }
    }

    fn on_system(&mut self, system: &System, line: &str) {
        if let Some(mode) = &system.permission_mode {
            self.mode.clone_from(mode);
        }
        let call = system.task.tool_use_id.as_ref().zip(self.out.live());
        let command = call.and_then(|(native, (turn, _))| {
            let (_, input) = turn.mapper.tools.call(native)?;
            input.get("command")?.as_str().map(ToOwned::to_owned)
        });
        self.activity.on_system(system, command);
        let Some((turn, drafts)) = self.out.live() else {
            // The CLI begins a turn by itself when a background command ends or a timer fires. Without a task nobody
            // would record it, so it is interrupted; the agent sees the news at the next prompt.
            if system.subtype == "init" {
                // If the process does not read its input, the next command reports that.
                let _ = self.request(&json!({ "subtype": "interrupt" }));
                self.out.notice(notice(NoticeLevel::Warning, NoticeSource::Protocol, CUT_TURN));
            }
            return;
        };
        match system.subtype.as_str() {
            // Another turn of the same task.
            "init" => turn.result = None,
            "task_notification" => {
                if let Some(native) = &system.task.tool_use_id {
                    let failed = system.status.as_deref() != Some("completed");
                    turn.mapper.tools.on_agent_ended(native, system.summary.clone(), failed, drafts);
                }
            }
            _ => {}
        }
        if map::system(system, &mut self.model, drafts).is_none() {
            self.report_unknown(format!("a message that Roost does not know: system/{}", system.subtype), line);
        }
        self.end_if_at_rest();
    }

    fn on_request(&mut self, id: String, request: ControlRequest, line: &str) {
        match request {
            ControlRequest::HookCallback { input } => {
                // The host decides about every call: about its own tools when they are called, about all others when
                // the CLI asks, which it does for every one because of this answer.
                let decision = match (self.out.live(), host_server::is_ours(&input.tool_name)) {
                    (None, _) => "deny",
                    (Some(_), true) => "allow",
                    (Some(_), false) => "ask",
                };
                let mut output = json!({ "hookEventName": "PreToolUse", "permissionDecision": decision });
                if decision == "deny" {
                    output["permissionDecisionReason"] = NO_TASK.into();
                }
                self.answer(wire::response(&id, &json!({ "hookSpecificOutput": output })));
            }
            ControlRequest::CanUseTool(call) => self.on_can_use_tool(id, *call),
            ControlRequest::McpMessage { message } => match host_server::handle_message(&self.tools, &message) {
                McpAction::Answer(answer) => self.answer(wire::response(&id, &answer)),
                McpAction::Call(call) => self.on_host_call(id, call),
            },
            ControlRequest::Other => {
                self.report_unknown("a request that Roost does not know".into(), line);
                self.answer(wire::refusal(&id, "this host does not offer that"));
            }
        }
    }

    fn on_can_use_tool(&mut self, id: String, call: CanUseTool) {
        let Some((turn, drafts)) = self.out.live() else { return self.answer(denial(&id, NO_TASK)) };
        if host_server::is_ours(&call.tool_name) {
            return self.answer(allowance(&id, &call.input));
        }
        if questions::is_question(&call.tool_name) {
            return match questions::question(&call.input) {
                Some(question) => {
                    let waiting = PendingPermission { id, input: call.input };
                    turn.questions.insert(question.question_id.clone(), waiting);
                    drafts.push(Fact::Question(question).into());
                }
                None => self.answer(denial(&id, "this question cannot be shown; ask it in your answer")),
            };
        }
        let request = turn.mapper.tools.on_permission_request(&call, drafts);
        let void = turn.permissions.ask(&request.identity, PendingPermission { id, input: call.input });
        drafts.push(Fact::ToolAsks(request).into());
        if let Some(void) = void {
            self.answer(denial(&void.id, REQUEST_REPLACED));
        }
    }

    fn on_host_call(&mut self, id: String, call: HostCall) {
        let Some((turn, drafts)) = self.out.live().filter(|(turn, _)| !turn.cancelled) else {
            return self.answer(wire::response(&id, &host_server::tool_result(&call.id, &NO_TASK.into(), true)));
        };
        // Without the model's id of the call, the id of the request identifies it.
        let tool_use_id = call.native.unwrap_or_else(|| id.clone());
        let tool = CanUseTool { tool_name: call.name, input: call.input, tool_use_id, description: None };
        let request = turn.mapper.tools.on_permission_request(&tool, drafts);
        let void = turn.host_calls.ask(&request.identity, HostRequest { id, message: call.id });
        drafts.push(Fact::HostToolAsks(request).into());
        if let Some(void) = void {
            let result = host_server::tool_result(&void.message, &REQUEST_REPLACED.into(), true);
            self.answer(wire::response(&void.id, &result));
        }
    }

    /// Forgets a request that the CLI has cancelled. A cancelled tool call still ends with a result message.
    fn on_withdrawn(&mut self, id: &str) {
        let Some((turn, drafts)) = self.out.live() else { return };
        turn.permissions.drop_if(|waiting| waiting.id == id);
        turn.host_calls.drop_if(|waiting| waiting.id == id);
        let gone = turn.questions.extract_if(|_, waiting| waiting.id == id);
        drafts.extend(gone.map(|(question, _)| Fact::QuestionWithdrawn(question).into()));
    }

    fn on_result(&mut self, result: TurnResult) {
        let Some((turn, drafts)) = self.out.live() else {
            self.cost_so_far = result.total_cost_usd;
            let words = result.errors.join("; ");
            self.complaint = match &self.known_as {
                Some(session) if words.contains(UNKNOWN_SESSION) => Some(Complaint::UnknownSession(session.clone())),
                _ => (!words.is_empty()).then_some(Complaint::Other(words)),
            };
            return;
        };
        drafts.extend(outcome::usage(&result, turn.mapper.last_request, &mut self.cost_so_far));
        // The CLI acknowledges every prompt but a command that it answers itself, without the model.
        let ours = turn.unacknowledged.is_empty() || turn.cancelled || result.num_turns == 0;
        turn.mapper.close_blocks(drafts);
        if !ours {
            return;
        }
        let local_output = std::mem::take(&mut turn.local_output);
        if result.num_turns == 0 {
            local_output.into_iter().for_each(|text| turn.mapper.finish_text(text, drafts));
        }
        let status = if result.is_error { RequestStatus::Error } else { RequestStatus::Ok };
        turn.task.request_completed(status, drafts);
        turn.result = Some(result);
        // As a rule the CLI becomes idle only after its `result`; older versions report no state at all. A task that was
        // stopped does not wait for a follow-up turn.
        if turn.cancelled || self.activity.remaining() == Remaining::Nothing {
            self.end_task();
        }
    }

    /// Ends the task if its last turn has its `result` and the CLI has nothing left to do, or only waits for what runs in
    /// the background while another prompt waits for it.
    pub(super) fn end_if_at_rest(&mut self) {
        let Some((turn, drafts)) = self.out.live() else { return };
        if turn.result.is_none() {
            return;
        }
        match self.activity.remaining() {
            Remaining::Turn => {}
            Remaining::Background if !turn.prompt_waiting => {
                if !std::mem::replace(&mut turn.wait_reported, true) {
                    let message = format!(
                        "waits for what runs in the background ({}); send a prompt to go on without it",
                        self.activity.describe()
                    );
                    drafts.push(notice(NoticeLevel::Warning, NoticeSource::Protocol, message));
                }
            }
            Remaining::Background | Remaining::Nothing => self.end_task(),
        }
    }

    /// Ends the task with the `result` of its last turn.
    pub(super) fn end_task(&mut self) {
        let Some((turn, drafts)) = self.out.live() else { return };
        let Some(result) = turn.result.take() else { return };
        if self.activity.remaining() == Remaining::Background && !turn.cancelled {
            let message = format!("goes on in the background: {}", self.activity.describe());
            drafts.push(notice(NoticeLevel::Warning, NoticeSource::Protocol, message));
        }
        turn.mapper.end(turn.cancelled, drafts);
        let end = outcome::end(result, turn.mapper.failure.as_deref(), turn.cancelled);
        turn.task.end(end, drafts);
    }
}

/// The answer to `can_use_tool` that lets the tool run, with `input` in place of what the model wrote.
pub(super) fn allowance(id: &str, input: &Value) -> String {
    wire::response(id, &json!({ "behavior": "allow", "updatedInput": input }))
}

/// The answer to `can_use_tool` that denies the call; the model is shown `reason`.
pub(super) fn denial(id: &str, reason: &str) -> String {
    wire::response(id, &json!({ "behavior": "deny", "message": reason }))
}
