//! What the CLI's lines do: to the task, to whoever waits for an answer, and to the outbox.

use std::collections::HashMap;

use roost_engine::adapter::{AdapterError, Draft, Fact};
use roost_model::payload::{NoticeLevel, NoticeSource, RequestStatus, RuntimeRequestCompletedPayload};
use roost_model::tool::ToolManifest;
use roost_process::Line;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::host_server::{self, HostCall, Wanted};
use super::messages::{Asked, Request, System, TurnResult};
use super::plan::Plan;
use super::turn::{HostRequest, Permission, Turn};
use super::wire::{self, Incoming};
use super::{map, outcome, questions};

/// What an agent is told that wants to act while no task runs.
const NO_TASK: &str = "no task is running; wait for the user";
/// What an agent is told about a question in whose place it put another.
const ASKED_AGAIN: &str = "the same call was asked about again";
/// The method that a task's request is recorded under.
pub(super) const METHOD: &str = "user";

pub(super) type Reply<T = ()> = oneshot::Sender<Result<T, AdapterError>>;

/// What the CLI said to a request of ours.
pub(super) type CallResult = Result<Value, String>;

/// The conversation with one process.
pub(super) struct Talk {
    writer: mpsc::Sender<Vec<u8>>,
    pub(super) calls: HashMap<String, Reply<CallResult>>,
    pub(super) turn: Option<Turn>,
    pub(super) outbox: Vec<Draft>,
    /// The host's tools.
    pub(super) tools: ToolManifest,
    /// The CLI's own permission mode, as it last told.
    pub(super) mode: String,
    /// What it complained about outside of a task: the reason why it ends, as a rule.
    pub(super) complaint: Option<String>,
    /// Messages of which Roost makes nothing.
    pub(super) unknown: u64,
    plan: Plan,
    model: Option<String>,
    spent: f64,
    requests: u64,
}

impl Talk {
    /// A conversation that has not begun, with a process in this permission mode.
    pub(super) fn new(writer: mpsc::Sender<Vec<u8>>, mode: &str) -> Self {
        Self {
            writer,
            calls: HashMap::new(),
            turn: None,
            outbox: Vec::new(),
            tools: ToolManifest::default(),
            mode: mode.to_owned(),
            complaint: None,
            unknown: 0,
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
                if let Some(turn) = live(&mut self.turn) {
                    turn.mapper.piece(piece, &mut self.outbox);
                }
            }
            Incoming::Stream(streamed) => {
                if let Some(turn) = live(&mut self.turn) {
                    turn.mapper.streamed(streamed);
                }
            }
            Incoming::System(system) => self.system(&system, &text),
            Incoming::Assistant(message) => {
                if let Some(turn) = live(&mut self.turn) {
                    turn.mapper.assistant(*message, &mut self.outbox);
                }
            }
            Incoming::User(message) => {
                let Some(turn) = live(&mut self.turn) else { return };
                if let Some(uuid) = message.uuid.as_ref().filter(|_| message.is_replay) {
                    turn.unheard.remove(uuid);
                } else {
                    turn.mapper.user(*message, turn.cancelled, &mut self.plan, &mut self.outbox);
                }
            }
            Incoming::Result(result) => self.result(*result),
            Incoming::Request { id, request } => self.request(id, request, &text),
            Incoming::Withdrawn { id } => self.withdrawn(&id),
            // What is not an answer to us is our own answer, acknowledged.
            Incoming::Response { id, result } => {
                if let Some(reply) = self.calls.remove(&id) {
                    answer(reply, Ok(result));
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
    pub(super) fn send(&self, line: Vec<u8>) -> Result<(), AdapterError> {
        self.writer
            .try_send(line)
            .map_err(|_| AdapterError::Runtime { message: "Claude Code does not read its input".into(), raw: None })
    }

    /// Something to know about; outside of a task nobody listens.
    pub(super) fn note(&mut self, draft: Draft) {
        if live(&mut self.turn).is_some() {
            self.outbox.push(draft);
        }
    }

    fn unknown(&mut self, message: String, line: &str) {
        self.unknown += 1;
        self.note(map::unknown(message, line));
    }

    fn reply(&mut self, line: Vec<u8>) {
        if let Err(error) = self.send(line) {
            self.note(map::notice(NoticeLevel::Error, NoticeSource::Protocol, error.to_string()));
        }
    }

    fn system(&mut self, system: &System, line: &str) {
        if let Some(mode) = &system.permission_mode {
            self.mode.clone_from(mode);
        }
        if live(&mut self.turn).is_none() {
            // The CLI begins a turn by itself when a background command ends or a timer fires. Nothing goes on unseen:
            // it is cut, and the agent finds the news when its user speaks to it.
            if system.subtype == "init" {
                // A process that does not read its input is found out when it is spoken to.
                let _ = self.ask(&json!({ "subtype": "interrupt" }));
            }
            return;
        }
        if map::system(system, &mut self.model, &mut self.outbox).is_none() {
            self.unknown(format!("a message that Roost does not know: system/{}", system.subtype), line);
        }
    }

    fn request(&mut self, id: String, request: Request, line: &str) {
        match request {
            Request::HookCallback { input } => {
                // The host decides about every call: about its own tools when they are called, about all others when
                // the CLI asks, which it does for every one because of this answer.
                let decision = match (live(&mut self.turn), host_server::is_ours(&input.tool_name)) {
                    (None, _) => "deny",
                    (Some(_), true) => "allow",
                    (Some(_), false) => "ask",
                };
                let mut output = json!({ "hookEventName": "PreToolUse", "permissionDecision": decision });
                if decision == "deny" {
                    output["permissionDecisionReason"] = NO_TASK.into();
                }
                self.reply(wire::response(&id, &json!({ "hookSpecificOutput": output })));
            }
            Request::CanUseTool(asked) => self.can_use_tool(id, *asked),
            Request::McpMessage { message } => match host_server::read(&self.tools, &message) {
                Wanted::Answer(answer) => self.reply(wire::response(&id, &answer)),
                Wanted::Call(call) => self.host_call(id, call),
            },
            Request::Other => {
                self.unknown("a request that Roost does not know".into(), line);
                self.reply(wire::refusal(&id, "this host does not offer that"));
            }
        }
    }

    fn can_use_tool(&mut self, id: String, asked: Asked) {
        let Some(turn) = live(&mut self.turn) else { return self.reply(denial(&id, NO_TASK)) };
        if host_server::is_ours(&asked.tool_name) {
            return self.reply(allowance(&id, &asked.input));
        }
        if questions::is_question(&asked.tool_name) {
            return match questions::question(&asked.input) {
                Some(question) => {
                    let waiting = Permission { id, input: asked.input };
                    turn.questions.insert(question.question_id.clone(), waiting);
                    self.outbox.push(Fact::Question(question).into());
                }
                None => self.reply(denial(&id, "this question cannot be shown; ask it in your answer")),
            };
        }
        let request = turn.mapper.tools.asked(&asked, &mut self.outbox);
        let void = turn.permissions.ask(&request.identity, Permission { id, input: asked.input });
        self.outbox.push(Fact::ToolAsks(request).into());
        if let Some(void) = void {
            self.reply(denial(&void.id, ASKED_AGAIN));
        }
    }

    fn host_call(&mut self, id: String, call: HostCall) {
        let Some(turn) = live(&mut self.turn).filter(|turn| !turn.cancelled) else {
            return self.reply(wire::response(&id, &host_server::told(&call.id, &NO_TASK.into(), true)));
        };
        // A CLI that does not tell the model's id still has one for the request.
        let tool_use_id = call.native.unwrap_or_else(|| id.clone());
        let asked = Asked { tool_name: call.name, input: call.input, tool_use_id, description: None };
        let request = turn.mapper.tools.asked(&asked, &mut self.outbox);
        let void = turn.host_calls.ask(&request.identity, HostRequest { id, message: call.id });
        self.outbox.push(Fact::HostToolAsks(request).into());
        if let Some(void) = void {
            let told = host_server::told(&void.message, &ASKED_AGAIN.into(), true);
            self.reply(wire::response(&void.id, &told));
        }
    }

    /// The CLI no longer waits for an answer. A tool call that it gave up ends in a result that says so.
    fn withdrawn(&mut self, id: &str) {
        let Some(turn) = live(&mut self.turn) else { return };
        turn.permissions.drop_if(|waiting| waiting.id == id);
        turn.host_calls.drop_if(|waiting| waiting.id == id);
        let gone = turn.questions.extract_if(|_, waiting| waiting.id == id);
        self.outbox.extend(gone.map(|(question, _)| Fact::QuestionWithdrawn(question).into()));
    }

    fn result(&mut self, result: TurnResult) {
        let Some(turn) = live(&mut self.turn) else {
            self.spent = result.total_cost_usd;
            self.complaint = (!result.errors.is_empty()).then(|| result.errors.join("; "));
            return;
        };
        self.outbox.extend(outcome::usage(&result, turn.mapper.last_request, &mut self.spent));
        // The CLI acknowledges every prompt but a command that it answers itself, without the model.
        let ours = turn.unheard.is_empty() || turn.cancelled || result.num_turns == 0;
        if !ours {
            return;
        }
        turn.ended = true;
        turn.mapper.end(&mut self.outbox);
        let completed = RuntimeRequestCompletedPayload {
            request_id: turn.request.clone(),
            method: METHOD.into(),
            status: if result.is_error { RequestStatus::Error } else { RequestStatus::Ok },
            duration_ms: u64::try_from(turn.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        self.outbox.push(Fact::RequestCompleted(completed).into());
        let end = outcome::end(result, turn.mapper.failure.as_deref(), turn.cancelled);
        self.outbox.push(Fact::Ended(end).into());
    }
}

/// The task that runs, if it has not ended.
pub(super) fn live(turn: &mut Option<Turn>) -> Option<&mut Turn> {
    turn.as_mut().filter(|turn| !turn.ended)
}

/// The tool may run with this input.
pub(super) fn allowance(id: &str, input: &Value) -> Vec<u8> {
    wire::response(id, &json!({ "behavior": "allow", "updatedInput": input }))
}

/// The tool may not run; the model is shown why.
pub(super) fn denial(id: &str, reason: &str) -> Vec<u8> {
    wire::response(id, &json!({ "behavior": "deny", "message": reason }))
}

pub(super) fn answer<T>(reply: Reply<T>, result: Result<T, AdapterError>) {
    // Whoever asked may have given up; the CLI was told all the same.
    let _ = reply.send(result);
}
