//! One session that is open in an editor: an actor that sends its prompts, follows its events and asks the editor.
//!
//! It does one thing after the other. So it knows the task of a prompt before it reads the task's events, and the answer
//! to a prompt is queued behind every update that belongs before it.

use std::collections::HashMap;
use std::future::pending;
use std::sync::Arc;

use agent_client_protocol_schema::v1::{self as acp, RequestId};
use roost_client::{Client, Subscription};
use roost_model::approval::{PendingAsk, PendingChange};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::{PromptId, TaskId, ToolCallId};
use roost_model::payload::{SessionUpdatedPayload, TaskStoppedPayload};
use roost_rpc::{
    AgentCommandsParams, LogReadParams, PendingParams, SessionSendParams, SessionStopParams, StopWhat, SubscribeParams,
    method,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use crate::choices::SessionChoices;
use crate::editor::{EditorAnswer, EditorConnection};
use crate::error;
use crate::evidence::Evidence;
use crate::message_queue::MessageRoom;
use crate::permission;
use crate::profile::OWN_META;
use crate::projection::{Projection, Shows};
use crate::question;
use crate::v2::{self, SessionState};

/// Commands that may wait for a session; beyond it their senders wait.
const MAILBOX: usize = 32;
/// Events that are read at once for a replay.
const PAGE: u32 = 1000;

/// The variables by which a turn ends that its runtime did not end. The reason of a task that one ended names it.
const IDLE_TIMEOUT: &str = "ACPLB_IDLE_TIMEOUT_MS";
const NOTIFY_PATH: &str = "ACPLB_NOTIFY_PATH";

/// What a session can be told to do.
pub(crate) enum SessionCommand {
    /// Sends a prompt; the end of its task answers the request.
    Prompt { request: RequestId, params: Box<SessionSendParams>, room: MessageRoom },
    /// Stops every prompt that was sent from here.
    Cancel,
    /// Stops the prompt of this request, if it is one of this session.
    CancelRequest(RequestId),
    /// Shows everything that happened.
    Replay(oneshot::Sender<Result<(), acp::Error>>),
    /// Tells the editor what stands beside the conversation: commands, and what waits for an answer.
    Announce,
    /// Shows a terminal that the editor runs inside a tool call.
    ShowTerminal { call: ToolCallId, terminal: String },
    /// Stops the session and forgets it here; open prompts are answered first.
    Close(oneshot::Sender<Result<(), acp::Error>>),
}

/// An open session. Dropping it ends its actor, and nothing else: the session goes on in the daemon.
pub(crate) struct SessionHandle {
    commands: mpsc::Sender<SessionCommand>,
    _actor: AbortOnDropHandle<()>,
}

impl SessionHandle {
    /// The way to the actor; `None` if it has ended, because the daemon did.
    pub(crate) fn commands(&self) -> Option<mpsc::Sender<SessionCommand>> {
        (!self.commands.is_closed()).then(|| self.commands.clone())
    }
}

/// Which session is opened, and for whom.
pub(crate) struct SessionOpening {
    pub(crate) id: String,
    pub(crate) choices: SessionChoices,
    /// What it has cost so far, in US dollars.
    pub(crate) cost_usd: f64,
    pub(crate) editor: EditorConnection,
    pub(crate) evidence: Evidence,
    pub(crate) client: Arc<Client>,
    pub(crate) shows: Shows,
}

impl SessionOpening {
    /// Begins to follow the session's new events.
    pub(crate) async fn start(self) -> Result<SessionHandle, acp::Error> {
        let only = SubscribeParams { sessions: Some(vec![self.id.clone()]), ..SubscribeParams::default() };
        let events = self.client.subscribe(only).await.map_err(error::from_daemon)?;
        let (commands, mailbox) = mpsc::channel(MAILBOX);
        let actor = SessionActor {
            projection: Projection::new(self.shows).after_cost(self.cost_usd),
            state: SessionState::default(),
            open: self,
            events,
            last_seq: 0,
            turns: Vec::new(),
            asks: HashMap::new(),
            answers: JoinSet::new(),
            stops: JoinSet::new(),
            closing: None,
        };
        let task = tokio::spawn(actor.run(mailbox));
        Ok(SessionHandle { commands, _actor: AbortOnDropHandle::new(task) })
    }
}

/// A prompt whose request is not answered yet.
struct OpenTurn {
    request: RequestId,
    /// The request was answered when the prompt was taken, as version 2 wants it.
    is_answered: bool,
    work: TurnWork,
    is_cancelled: bool,
}

impl OpenTurn {
    /// Whether the event begins the task of this prompt.
    fn is_begun_by(&self, event: &NormalizedEvent) -> bool {
        let EventBody::TaskStarted(started) = &event.body else { return false };
        match &self.work {
            TurnWork::Task(task) => event.trace.task_id.as_ref() == Some(task),
            TurnWork::Queued(prompt) => started.prompt_id.as_ref() == Some(prompt),
        }
    }

    /// Whether the event belongs to the task of this prompt; meant for the event that ends it.
    fn is_ended_by(&self, event: &NormalizedEvent) -> bool {
        matches!(&self.work, TurnWork::Task(task) if event.trace.task_id.as_ref() == Some(task))
    }
}

/// What the daemon made of a prompt.
enum TurnWork {
    Task(TaskId),
    Queued(PromptId),
}

/// An approval or a question that the editor was asked about.
struct OpenAsk {
    ask: PendingAsk,
    /// The id of the request to the editor.
    request_id: i64,
}

struct SessionActor {
    open: SessionOpening,
    events: Subscription,
    projection: Projection,
    /// What an editor of version 2 was told about the session.
    state: SessionState,
    /// The last event that was shown; those that a replay has shown are skipped.
    last_seq: u64,
    turns: Vec<OpenTurn>,
    /// By the id of the tool call or the question.
    asks: HashMap<String, OpenAsk>,
    /// The editor's answers to them, by that id and the id of the request.
    answers: JoinSet<(String, i64, EditorAnswer)>,
    stops: JoinSet<()>,
    closing: Option<oneshot::Sender<Result<(), acp::Error>>>,
}

impl SessionActor {
    async fn run(mut self, mut mailbox: mpsc::Receiver<SessionCommand>) {
        let end = loop {
            if self.turns.is_empty()
                && let Some(closing) = self.closing.take()
            {
                let _ = closing.send(Ok(()));
                return;
            }
            let answer = async {
                match self.answers.is_empty() {
                    true => pending().await,
                    false => self.answers.join_next().await,
                }
            };
            tokio::select! {
                command = mailbox.recv() => match command {
                    Some(command) => self.on_command(command).await,
                    None => return,
                },
                batch = self.events.next() => match batch {
                    Ok(batch) => {
                        for event in batch.events {
                            match serde_json::from_str::<NormalizedEvent>(event.get()) {
                                Ok(event) => self.on_event(&event).await,
                                Err(error) => tracing::warn!(%error, "An event could not be read; skipped."),
                            }
                        }
                    }
                    Err(error) => break error,
                },
                Some(Ok((id, request_id, answer))) = answer => self.on_answer(&id, request_id, answer).await,
                Some(_) = self.stops.join_next(), if !self.stops.is_empty() => {}
            }
        };
        // From here on a prompt opens the session anew; what is in the mailbox already is refused.
        mailbox.close();
        let end = error::from_daemon(end);
        let mut unanswered: Vec<_> = std::mem::take(&mut self.turns)
            .into_iter()
            .filter(|turn| !turn.is_answered)
            .map(|turn| turn.request)
            .collect();
        while let Some(command) = mailbox.recv().await {
            if let SessionCommand::Prompt { request, .. } = command {
                unanswered.push(request);
            }
        }
        for request in unanswered {
            self.open.editor.reply(&request, Err::<(), _>(end.clone())).await;
        }
    }

    async fn on_command(&mut self, command: SessionCommand) {
        match command {
            SessionCommand::Prompt { request, params, room } => {
                self.prompt(request, *params).await;
                drop(room);
            }
            SessionCommand::Cancel => self.cancel(|_| true).await,
            SessionCommand::CancelRequest(request) => {
                self.cancel(|turn| !turn.is_answered && turn.request == request).await
            }
            SessionCommand::Replay(done) => {
                let replayed = self.replay().await;
                // Whoever gave up waiting does not mind.
                let _ = done.send(replayed);
            }
            SessionCommand::Announce => self.announce().await,
            SessionCommand::ShowTerminal { call, terminal } => {
                let updates = self.projection.show_terminal(&call, terminal);
                self.show(updates, self.last_seq).await;
            }
            SessionCommand::Close(done) => match self.stop(StopWhat::Session, "closed by the editor").await {
                Ok(()) => self.closing = Some(done),
                Err(error) => drop(done.send(Err(error::from_daemon(error)))),
            },
        }
    }

    async fn prompt(&mut self, request: RequestId, params: SessionSendParams) {
        let sent = match self.open.client.call::<method::SessionSend>(params).await {
            Ok(sent) => sent,
            Err(error) => {
                self.open.editor.reply(&request, Err::<(), _>(error::from_daemon(error))).await;
                return;
            }
        };
        let work = match (sent.task_id, sent.prompt_id) {
            (Some(task), _) => TurnWork::Task(task.into()),
            (None, prompt) => TurnWork::Queued(prompt.unwrap_or_default().into()),
        };
        self.open.evidence.record("prompt_started", Some(&self.open.id), json!({ "messageCount": 1 }));
        let mut turn = OpenTurn { request, is_answered: false, work, is_cancelled: false };
        if let (true, TurnWork::Queued(prompt)) = (self.open.shows.v2, &turn.work) {
            self.open.editor.reply(&turn.request, Ok(v2::accepted(prompt.as_str()))).await;
            turn.is_answered = true;
        }
        self.turns.push(turn);
    }

    /// Cancels the chosen prompts. A queued one leaves the queue and is answered at once; the others are answered when
    /// their tasks have ended.
    async fn cancel(&mut self, is_meant: impl Fn(&OpenTurn) -> bool) {
        let mut is_running = false;
        for mut turn in std::mem::take(&mut self.turns) {
            if is_meant(&turn) {
                turn.is_cancelled = true;
                is_running |= matches!(turn.work, TurnWork::Task(_));
                if let TurnWork::Queued(prompt) = &turn.work
                    && self.remove_queued(prompt).await
                {
                    self.answer_cancelled(&turn).await;
                    continue;
                }
            }
            self.turns.push(turn);
        }
        if is_running {
            self.stop_task();
        }
    }

    /// Whether the prompt left the queue. One that has begun meanwhile is stopped when the event of its start comes.
    async fn remove_queued(&self, prompt: &PromptId) -> bool {
        let mut params = self.stop_params(StopWhat::Task, "cancelled by the editor");
        params.prompt_id = Some(prompt.to_string());
        let removed = self.open.client.call::<method::SessionStop>(params).await;
        removed.inspect_err(|error| tracing::debug!(%error, "A prompt could not be removed from the queue.")).is_ok()
    }

    /// Answers a prompt that never became a task.
    async fn answer_cancelled(&self, turn: &OpenTurn) {
        if turn.is_answered {
            return;
        }
        let meta = json!({ OWN_META: { "sessionId": self.open.id, "endedBy": "cancel" } });
        let answer = acp::PromptResponse::new(acp::StopReason::Cancelled).meta(meta.as_object().cloned());
        self.open.editor.reply(&turn.request, Ok(answer)).await;
    }

    /// Stops the running task; its end comes as an event.
    fn stop_task(&mut self) {
        let (client, params) = (self.open.client.clone(), self.stop_params(StopWhat::Task, "cancelled by the editor"));
        self.stops.spawn(async move {
            if let Err(error) = client.call::<method::SessionStop>(params).await {
                tracing::warn!(%error, "A task could not be stopped.");
            }
        });
    }

    async fn stop(&self, what: StopWhat, reason: &str) -> Result<(), roost_client::Error> {
        self.open.client.call::<method::SessionStop>(self.stop_params(what, reason)).await.map(drop)
    }

    fn stop_params(&self, what: StopWhat, reason: &str) -> SessionStopParams {
        let (session_id, reason) = (self.open.id.clone(), Some(reason.to_owned()));
        SessionStopParams { session_id, what: Some(what), reason, prompt_id: None, agent_type: None }
    }

    /// Shows the session from its first event to its last one now.
    async fn replay(&mut self) -> Result<(), acp::Error> {
        let mut projection = Projection::replay(self.open.shows);
        let mut after = 0;
        loop {
            let params = LogReadParams {
                session_id: self.open.id.clone(),
                after_seq: Some(after),
                before_seq: None,
                types: None,
                limit: Some(PAGE),
            };
            let page = self.open.client.call::<method::LogRead>(params).await.map_err(error::from_daemon)?;
            for event in &page.events {
                let event: NormalizedEvent =
                    serde_json::from_str(event.get()).map_err(|failed| error::internal(failed.to_string()))?;
                self.show(projection.project(&event, false), event.seq).await;
            }
            after = page.last_seq;
            if !page.has_more {
                break;
            }
        }
        self.show(projection.end_replay(), after).await;
        (self.projection, self.last_seq) = (projection, after);
        Ok(())
    }

    async fn announce(&mut self) {
        let params = AgentCommandsParams { session_id: Some(self.open.id.clone()), ..AgentCommandsParams::default() };
        if let Ok(listed) = self.open.client.call::<method::AgentCommands>(params).await {
            let commands = listed.commands.into_iter().map(|command| {
                let name = command.name.strip_prefix('/').unwrap_or(&command.name).to_owned();
                acp::AvailableCommand::new(name, command.description.unwrap_or_default())
            });
            let update = acp::AvailableCommandsUpdate::new(commands.collect());
            self.show(vec![acp::SessionUpdate::AvailableCommandsUpdate(update)], self.last_seq).await;
        }
        let params = PendingParams { session_id: Some(self.open.id.clone()) };
        match self.open.client.call::<method::PermissionPending>(params).await {
            Ok(waiting) => {
                for request in waiting.requests {
                    self.ask(request.pending.id().to_owned(), request.pending.ask).await;
                }
            }
            Err(error) => tracing::warn!(%error, "What waits for an answer could not be listed."),
        }
    }

    async fn on_event(&mut self, event: &NormalizedEvent) {
        if event.seq <= self.last_seq {
            return;
        }
        self.last_seq = event.seq;
        // Version 2 repeats a prompt to whoever sent it, with its id.
        let is_own = !self.open.shows.v2 && self.turns.iter().any(|turn| turn.is_begun_by(event));
        let updates = self.projection.project(event, is_own);
        self.show(updates, event.seq).await;
        if self.open.shows.v2 {
            self.tell_state(event).await;
        }
        match PendingChange::from_event(event) {
            Some(PendingChange::Opened(opened)) => self.ask(opened.id().to_owned(), opened.ask).await,
            Some(PendingChange::Closed(id)) => {
                if let Some(ask) = self.asks.remove(&id) {
                    self.open.editor.withdraw(ask.request_id).await;
                }
            }
            None => {}
        }
        match &event.body {
            EventBody::TaskStarted(_) => {
                let Some(task) = &event.trace.task_id else { return };
                let is_queued = |turn: &&mut OpenTurn| matches!(turn.work, TurnWork::Queued(_));
                let mut queued = self.turns.iter_mut().filter(is_queued);
                if let Some(turn) = queued.find(|turn| turn.is_begun_by(event)) {
                    turn.work = TurnWork::Task(task.clone());
                    if turn.is_cancelled {
                        self.stop_task();
                    }
                }
            }
            EventBody::SessionUpdated(updated) => self.on_updated(updated).await,
            body if body.ends_task() => self.on_task_end(event).await,
            _ => {}
        }
    }

    /// Answers the prompt that the ended task worked for.
    async fn on_task_end(&mut self, event: &NormalizedEvent) {
        if let Some(at) = self.turns.iter().position(|turn| turn.is_ended_by(event)) {
            let turn = self.turns.remove(at);
            let answer = self.turn_end(turn.is_cancelled, event);
            self.open.evidence.record_end(&self.open.id, &answer);
            if !turn.is_answered {
                self.open.editor.reply(&turn.request, answer).await;
            }
        }
    }

    /// Answers a prompt that has begun and tells what the session does now, as version 2 wants it.
    async fn tell_state(&mut self, event: &NormalizedEvent) {
        if let EventBody::TaskStarted(started) = &event.body
            && let Some(turn) = self.turns.iter_mut().find(|turn| !turn.is_answered && turn.is_begun_by(event))
        {
            let message = started.prompt_id.as_ref().map(ToString::to_string).unwrap_or_default();
            self.open.editor.reply(&turn.request, Ok(v2::accepted(&message))).await;
            turn.is_answered = true;
        }
        let end = event.body.ends_task().then(|| {
            let is_cancelled = self.turns.iter().any(|turn| turn.is_cancelled && turn.is_ended_by(event));
            self.turn_end(is_cancelled, event)
        });
        if let Some(update) = self.state.after(event, end.as_ref()) {
            let params = json!({ "sessionId": self.open.id, "update": update });
            self.open.editor.notify("session/update", params).await;
        }
    }

    fn turn_end(&self, is_cancelled: bool, event: &NormalizedEvent) -> Result<acp::PromptResponse, acp::Error> {
        let mut ended_by = "runtime";
        let stop_reason = match &event.body {
            _ if is_cancelled => acp::StopReason::Cancelled,
            EventBody::TaskFailed(failed) => return Err(error::from_task(&failed.reason, &failed.error)),
            EventBody::TaskCompleted(completed) => match completed.reason.as_str() {
                "max_tokens" => acp::StopReason::MaxTokens,
                "max_turn_requests" => acp::StopReason::MaxTurnRequests,
                "refusal" => acp::StopReason::Refusal,
                reason if reason.contains(NOTIFY_PATH) => {
                    ended_by = "notify";
                    acp::StopReason::EndTurn
                }
                _ => acp::StopReason::EndTurn,
            },
            EventBody::TaskStopped(stopped) if stopped.reason.contains(IDLE_TIMEOUT) => {
                ended_by = "idle_timeout";
                acp::StopReason::EndTurn
            }
            _ => acp::StopReason::Cancelled,
        };
        if stop_reason == acp::StopReason::Cancelled {
            ended_by = "cancel";
        }
        let mut own = json!({ "sessionId": self.open.id, "taskId": event.trace.task_id, "endedBy": ended_by });
        if let EventBody::TaskStopped(TaskStoppedPayload { stopped_by: Some(by), .. }) = &event.body {
            own["stoppedBy"] = json!({ "clientId": by.client_id, "userId": by.user_id, "from": by.from });
        }
        let meta = json!({ OWN_META: own });
        Ok(acp::PromptResponse::new(stop_reason).meta(meta.as_object().cloned()))
    }

    async fn on_updated(&mut self, updated: &SessionUpdatedPayload) {
        let mut choices = self.open.choices.clone();
        choices.mode = updated.mode.unwrap_or(choices.mode);
        choices.model = updated.model.clone().or(choices.model);
        if let (Some(thought), Some(settings)) = (&mut choices.thought_level, &updated.runtime_config) {
            thought.current = settings.get(&thought.setting).and_then(Value::as_str).map(ToOwned::to_owned);
        }
        if choices != self.open.choices {
            let mut updates = Vec::new();
            if choices.mode != self.open.choices.mode {
                updates.push(acp::SessionUpdate::CurrentModeUpdate(acp::CurrentModeUpdate::new(choices.mode.as_str())));
            }
            updates.push(acp::SessionUpdate::ConfigOptionUpdate(acp::ConfigOptionUpdate::new(choices.options())));
            self.open.choices = choices;
            self.show(updates, self.last_seq).await;
        }
        // A prompt that is held runs only when somebody prompts again: its request would wait for ever.
        for prompt in updated.queue.iter().flatten().filter(|prompt| prompt.held) {
            let is_held = |turn: &OpenTurn| matches!(&turn.work, TurnWork::Queued(id) if *id == prompt.prompt_id);
            if let Some(at) = self.turns.iter().position(is_held) {
                let turn = self.turns.remove(at);
                self.answer_cancelled(&turn).await;
            }
        }
    }

    /// Asks the editor, unless it was asked the same already, or has no way to answer.
    async fn ask(&mut self, id: String, ask: PendingAsk) {
        match self.asks.remove(&id) {
            Some(open) if open.ask == ask => {
                self.asks.insert(id, open);
                return;
            }
            Some(other) => self.open.editor.withdraw(other.request_id).await,
            None => {}
        }
        let (editor, session) = (&self.open.editor, &self.open.id);
        let request = match &ask {
            PendingAsk::Approval(asked) => {
                let request = permission::request(session, asked);
                match self.open.shows.v2 {
                    true => editor.request("session/request_permission", v2::permission(&request)).await,
                    false => editor.request("session/request_permission", request).await,
                }
            }
            PendingAsk::Question(asked) if self.open.shows.forms => {
                editor.request("elicitation/create", question::request(session, asked)).await
            }
            PendingAsk::Question(_) => return,
        };
        let request_id = request.id();
        self.asks.insert(id.clone(), OpenAsk { ask, request_id });
        self.answers.spawn(async move { (id, request_id, request.answer().await) });
    }

    /// Passes the editor's answer on. The daemon counts the first answer of all clients and refuses the others.
    async fn on_answer(&mut self, id: &str, request_id: i64, answer: EditorAnswer) {
        if self.asks.get(id).is_none_or(|ask| ask.request_id != request_id) {
            return;
        }
        let Some(OpenAsk { ask, .. }) = self.asks.remove(id) else { return };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(message = error.message, "The client cannot be asked; another client has to answer.");
                return;
            }
        };
        let is_stopping = self.turns.iter().any(|turn| turn.is_cancelled);
        let params = match ask {
            PendingAsk::Approval(asked) => {
                let outcome = serde_json::from_value::<acp::RequestPermissionResponse>(answer);
                let outcome = outcome.map_or(acp::RequestPermissionOutcome::Cancelled, |response| response.outcome);
                if is_stopping && matches!(outcome, acp::RequestPermissionOutcome::Cancelled) {
                    // The task is being stopped, which ends the approval too.
                    return;
                }
                permission::respond(&self.open.id, &asked, &outcome)
            }
            PendingAsk::Question(asked) => {
                let action = serde_json::from_value::<acp::CreateElicitationResponse>(answer);
                let action = action.map_or(acp::ElicitationAction::Cancel, |response| response.action);
                question::respond(&self.open.id, &asked, action)
            }
        };
        if let Err(error) = self.open.client.call::<method::PermissionRespond>(params).await {
            tracing::debug!(%error, "An answer came too late or was refused.");
        }
    }

    /// Sends updates; `seq` is the number of the event that they came of.
    async fn show(&self, updates: Vec<acp::SessionUpdate>, seq: u64) {
        for update in updates {
            if self.open.shows.v2 {
                if let Some(update) = v2::update(&update, seq) {
                    let params = json!({ "sessionId": self.open.id, "update": update });
                    self.open.editor.notify("session/update", params).await;
                }
                continue;
            }
            let params = acp::SessionNotification::new(self.open.id.clone(), update);
            self.open.editor.notify("session/update", params).await;
        }
    }
}
