//! What the CLI's lines do: to the task, to whoever waits for an answer, and to the outbox.

use std::collections::HashMap;

use roost_engine::adapter::{AdapterError, Draft, Fact};
use roost_model::ids::RuntimeSessionId;
use roost_model::payload::{NoticeLevel, NoticeSource, RequestStatus};
use roost_model::tool::ToolManifest;
use roost_process::Line;
use serde_json::{Value, json};

use super::host_server::{self, HostCall, Wanted};
use super::messages::{Asked, Request, System, TurnResult};
use super::plan::Plan;
use super::turn::{HostRequest, Permission, Turn};
use super::wire::{self, Incoming};
use super::{map, outcome, questions};
use crate::host::{Outbox, Reply, Writer, reply};

/// How the CLI says that it does not know a session.
const UNKNOWN_SESSION: &str = "No conversation found";
/// What an agent is told that wants to act while no task runs.
const NO_TASK: &str = "no task is running; wait for the user";
/// What an agent is told about a question in whose place it put another.
const ASKED_AGAIN: &str = "the same call was asked about again";
/// The method that a task's request is recorded under.
pub(super) const METHOD: &str = "user";

/// What the CLI said to a request of ours.
pub(super) type CallResult = Result<Value, String>;

/// What the CLI said on its way out.
#[derive(Debug)]
pub(super) enum Complaint {
    /// It does not know the session that it was to go on with.
    UnknownSession(RuntimeSessionId),
    Other(String),
}

/// The conversation with one process.
pub(super) struct Talk {
    writer: Writer,
    pub(super) calls: HashMap<String, Reply<CallResult>>,
    pub(super) out: Outbox<Turn>,
    /// The host's tools.
    pub(super) tools: ToolManifest,
    /// The CLI's own permission mode, as it last told.
    pub(super) mode: String,
    /// What it complained about outside of a task: the reason why it ends, as a rule.
    pub(super) complaint: Option<Complaint>,
    /// Messages of which Roost makes nothing.
    unknown: u64,
    /// The CLI's id of the session that it goes on with, unless that is new.
    pub(super) known_as: Option<RuntimeSessionId>,
    plan: Plan,
    model: Option<String>,
    spent: f64,
    requests: u64,
}

impl Talk {
    /// A conversation that has not begun, with a process in this permission mode.
    pub(super) fn new(writer: Writer, mode: &str) -> Self {
        Self {
            writer,
            calls: HashMap::new(),
            out: Outbox::default(),
            tools: ToolManifest::default(),
            mode: mode.to_owned(),
            complaint: None,
            unknown: 0,
            known_as: None,
            plan: Plan::default(),
            model: None,
            spent: 0.0,
            requests: 0,
        }
    }

    /// Takes one line.
    pub(super) fn line(&mut self, line: Line<'_>) {
        if let Line::TooLong { bytes } = line {
            let message = format!("a line of {bytes} bytes was skipped; the longest allowed has 64 MiB");
            self.note(map::notice(NoticeLevel::Warning, NoticeSource::Stdout, message));
            return;
        }
        let text = line.text();
        match wire::parse(&text) {
            Incoming::Piece(piece) => {
                if let Some((turn, drafts)) = self.out.live() {
                    turn.mapper.piece(piece, drafts);
                }
            }
            Incoming::Stream(streamed) => {
                if let Some((turn, _)) = self.out.live() {
                    turn.mapper.streamed(streamed);
                }
            }
            Incoming::System(system) => self.system(&system, &text),
            Incoming::Assistant(message) => {
                if let Some((turn, drafts)) = self.out.live() {
                    turn.mapper.assistant(*message, drafts);
                }
            }
            Incoming::User(message) => {
                let Some((turn, drafts)) = self.out.live() else { return };
                if let Some(uuid) = message.uuid.as_ref().filter(|_| message.is_replay) {
                    turn.unheard.remove(uuid);
                } else {
                    turn.mapper.user(*message, turn.cancelled, &mut self.plan, drafts);
                }
            }
            Incoming::Result(result) => self.result(*result),
            Incoming::Request { id, request } => self.request(id, request, &text),
            Incoming::Withdrawn { id } => self.withdrawn(&id),
            // What is not an answer to us is our own answer, acknowledged.
            Incoming::Response { id, result } => {
                if let Some(to) = self.calls.remove(&id) {
                    reply(to, Ok(result));
                }
            }
            Incoming::Idle => {}
            Incoming::Unknown { kind } => {
                let message = format!("a message that Roost does not know: {kind}");
                self.unknown(message, &text);
            }
            Incoming::Noise if text.trim().is_empty() => {}
            Incoming::Noise => self.note(map::notice(NoticeLevel::Info, NoticeSource::Stdout, text)),
        }
    }

    /// Sends a request; the id under which it will be answered.
    pub(super) fn ask(&mut self, request: &Value) -> Result<String, AdapterError> {
        self.requests += 1;
        let id = format!("roost_{}", self.requests);
        self.send(wire::request(&id, request))?;
        Ok(id)
    }

    /// Hands a line to the writer, which never waits.
    pub(super) fn send(&self, line: String) -> Result<(), AdapterError> {
        self.writer.send(line)
    }

    /// Something to know about; outside of a task nobody listens.
    pub(super) fn note(&mut self, draft: Draft) {
        if let Some((_, drafts)) = self.out.live() {
            drafts.push(draft);
        }
    }

    fn unknown(&mut self, message: String, line: &str) {
        self.unknown += 1;
        self.note(map::unknown(message, line));
    }

    fn say(&mut self, line: String) {
        if let Err(error) = self.send(line) {
            self.note(map::notice(NoticeLevel::Error, NoticeSource::Protocol, error.to_string()));
        }
    }

    fn system(&mut self, system: &System, line: &str) {
        if let Some(mode) = &system.permission_mode {
            self.mode.clone_from(mode);
        }
        if self.out.live().is_none() {
            // The CLI begins a turn by itself when a background command ends or a timer fires. Nothing goes on unseen:
            // it is cut, and the agent finds the news when its user speaks to it.
            if system.subtype == "init" {
                // A process that does not read its input is found out when it is spoken to.
                let _ = self.ask(&json!({ "subtype": "interrupt" }));
            }
            return;
        }
        if map::system(system, &mut self.model, &mut self.out.drafts).is_none() {
            self.unknown(format!("a message that Roost does not know: system/{}", system.subtype), line);
        }
    }

    fn request(&mut self, id: String, request: Request, line: &str) {
        match request {
            Request::HookCallback { input } => {
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
                self.say(wire::response(&id, &json!({ "hookSpecificOutput": output })));
            }
            Request::CanUseTool(asked) => self.can_use_tool(id, *asked),
            Request::McpMessage { message } => match host_server::read(&self.tools, &message) {
                Wanted::Answer(answer) => self.say(wire::response(&id, &answer)),
                Wanted::Call(call) => self.host_call(id, call),
            },
            Request::Other => {
                self.unknown("a request that Roost does not know".into(), line);
                self.say(wire::refusal(&id, "this host does not offer that"));
            }
        }
    }

    fn can_use_tool(&mut self, id: String, asked: Asked) {
        let Some((turn, drafts)) = self.out.live() else { return self.say(denial(&id, NO_TASK)) };
        if host_server::is_ours(&asked.tool_name) {
            return self.say(allowance(&id, &asked.input));
        }
        if questions::is_question(&asked.tool_name) {
            return match questions::question(&asked.input) {
                Some(question) => {
                    let waiting = Permission { id, input: asked.input };
                    turn.questions.insert(question.question_id.clone(), waiting);
                    drafts.push(Fact::Question(question).into());
                }
                None => self.say(denial(&id, "this question cannot be shown; ask it in your answer")),
            };
        }
        let request = turn.mapper.tools.asked(&asked, drafts);
        let void = turn.permissions.ask(&request.identity, Permission { id, input: asked.input });
        drafts.push(Fact::ToolAsks(request).into());
        if let Some(void) = void {
            self.say(denial(&void.id, ASKED_AGAIN));
        }
    }

    fn host_call(&mut self, id: String, call: HostCall) {
        let Some((turn, drafts)) = self.out.live().filter(|(turn, _)| !turn.cancelled) else {
            return self.say(wire::response(&id, &host_server::told(&call.id, &NO_TASK.into(), true)));
        };
        // A CLI that does not tell the model's id still has one for the request.
        let tool_use_id = call.native.unwrap_or_else(|| id.clone());
        let asked = Asked { tool_name: call.name, input: call.input, tool_use_id, description: None };
        let request = turn.mapper.tools.asked(&asked, drafts);
        let void = turn.host_calls.ask(&request.identity, HostRequest { id, message: call.id });
        drafts.push(Fact::HostToolAsks(request).into());
        if let Some(void) = void {
            let told = host_server::told(&void.message, &ASKED_AGAIN.into(), true);
            self.say(wire::response(&void.id, &told));
        }
    }

    /// The CLI no longer waits for an answer. A tool call that it gave up ends in a result that says so.
    fn withdrawn(&mut self, id: &str) {
        let Some((turn, drafts)) = self.out.live() else { return };
        turn.permissions.drop_if(|waiting| waiting.id == id);
        turn.host_calls.drop_if(|waiting| waiting.id == id);
        let gone = turn.questions.extract_if(|_, waiting| waiting.id == id);
        drafts.extend(gone.map(|(question, _)| Fact::QuestionWithdrawn(question).into()));
    }

    fn result(&mut self, result: TurnResult) {
        let Some((turn, drafts)) = self.out.live() else {
            self.spent = result.total_cost_usd;
            let words = result.errors.join("; ");
            self.complaint = match &self.known_as {
                Some(session) if words.contains(UNKNOWN_SESSION) => Some(Complaint::UnknownSession(session.clone())),
                _ => (!words.is_empty()).then_some(Complaint::Other(words)),
            };
            return;
        };
        drafts.extend(outcome::usage(&result, turn.mapper.last_request, &mut self.spent));
        // The CLI acknowledges every prompt but a command that it answers itself, without the model.
        let ours = turn.unheard.is_empty() || turn.cancelled || result.num_turns == 0;
        if !ours {
            return;
        }
        turn.mapper.end(drafts);
        let status = if result.is_error { RequestStatus::Error } else { RequestStatus::Ok };
        turn.task.request_completed(status, drafts);
        let end = outcome::end(result, turn.mapper.failure.as_deref(), turn.cancelled);
        turn.task.end(end, drafts);
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        if self.unknown > 0 {
            tracing::info!(count = self.unknown, "Claude Code sent messages that Roost does not know.");
        }
    }
}

/// The tool may run with this input.
pub(super) fn allowance(id: &str, input: &Value) -> String {
    wire::response(id, &json!({ "behavior": "allow", "updatedInput": input }))
}

/// The tool may not run; the model is shown why.
pub(super) fn denial(id: &str, reason: &str) -> String {
    wire::response(id, &json!({ "behavior": "deny", "message": reason }))
}
