//! The connection to a server for one session, and what the session's commands do to it. Events are handled in
//! [`super::reader`].
//!
//! Requests to the server run in tasks of their own, so that they never block the pump; they are aborted with the
//! connection.

use std::time::Duration;

use roost_engine::adapter::{AdapterError, Answer, Draft, TaskEnd};
use roost_model::ids::QuestionId;
use roost_model::tool::ToolCallIdentity;
use roost_process::{Batch, Control, Stdin};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::catch_up;
use super::http::{Client, EventStream, HttpError};
use super::reader::{OutgoingRequest, Reader};
use super::turn::{OpencodeTurn, PROMPT_METHOD};
use crate::host::pending_decisions::not_pending;
use crate::host::{Connection, ExitReport, Outbox, PumpAction, Reply, Task, reply};

/// How long a server whose event stream broke has to exit before the stream is opened again.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);
/// How long opening the event stream again may take before the server counts as gone.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(60);
/// The pause between two tries to open it.
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);
/// An event stream that was silent for this long counts as broken; the server sends a heartbeat every 10 s.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(45);

/// A command from the session to the task that owns the connection.
pub(super) enum OpencodeCommand {
    /// Starts a turn, before the prompt is sent; it tells these notices first.
    Begin { drafts: mpsc::Sender<Vec<Draft>>, notices: Vec<Draft>, to: Reply },
    /// Drops the turn, because the prompt could not be sent.
    Forget,
    /// Takes a decision about a tool call; answered with OpenCode's id of the permission, to reply to.
    Decide { call: ToolCallIdentity, allow: bool, to: Reply<String> },
    /// Takes an answer to a question; answered with OpenCode's id of the question and the body of the reply.
    Answer { question: QuestionId, answer: Answer, to: Reply<(String, Value)> },
    /// Marks the turn as cancelled.
    Cancel { to: Reply },
    /// Sends a request; answered with its outcome.
    Send { request: OutgoingRequest, to: Reply },
}

/// The connection to a server for one session.
pub(super) struct OpencodeConnection {
    client: Client,
    events: EventStream,
    reader: Reader,
    /// The process and its stdin, if Roost started the server. stdin is held open: some servers read its end as a wish
    /// to stop.
    server: Option<(Control, Stdin)>,
    /// Requests that are running; aborted with the connection.
    in_flight: JoinSet<()>,
}

/// What the event stream brings.
pub(super) enum ServerSignal {
    Events(Vec<String>),
    HungUp,
}

impl OpencodeConnection {
    /// A connection over an open event stream.
    pub(super) fn new(client: Client, events: EventStream, reader: Reader, server: Option<(Control, Stdin)>) -> Self {
        Self { client, events, reader, server, in_flight: JoinSet::new() }
    }
}

impl Connection for OpencodeConnection {
    const NAME: &'static str = "OpenCode";
    const STDIO: bool = false;

    type Turn = OpencodeTurn;
    type Command = OpencodeCommand;
    type Message = ServerSignal;

    fn outbox(&mut self) -> &mut Outbox<OpencodeTurn> {
        &mut self.reader.out
    }

    fn on_command(&mut self, command: OpencodeCommand) -> PumpAction {
        match command {
            OpencodeCommand::Begin { drafts, notices, to } => reply(to, self.begin(drafts, notices)),
            OpencodeCommand::Forget => self.outbox().turn = None,
            OpencodeCommand::Decide { call, allow, to } => reply(to, self.decide(&call, allow)),
            OpencodeCommand::Answer { question, answer, to } => reply(to, self.answer_question(&question, answer)),
            OpencodeCommand::Cancel { to } => reply(to, self.cancel()),
            OpencodeCommand::Send { request: OutgoingRequest { path, body }, to } => {
                let client = self.client.clone();
                self.in_flight.spawn(async move {
                    let answer = client.post(&path, &body).await;
                    reply(to, answer.map(drop).map_err(Into::into));
                });
            }
        }
        PumpAction::Continue
    }

    fn on_stdout(&mut self, lines: Batch<'_>) -> PumpAction {
        self.outbox().stdout_noise(lines);
        PumpAction::Continue
    }

    fn on_stderr(&mut self, line: String) {
        self.outbox().stderr_noise(line);
    }

    async fn next_message(&mut self) -> Option<ServerSignal> {
        loop {
            let Self { events, in_flight, .. } = self;
            tokio::select! {
                biased;
                Some(_) = in_flight.join_next(), if !in_flight.is_empty() => {}
                texts = tokio::time::timeout(SILENCE_TIMEOUT, events.next_batch()) => {
                    return Some(texts.ok().flatten().map_or(ServerSignal::HungUp, ServerSignal::Events));
                }
            }
        }
    }

    async fn on_message(&mut self, signal: ServerSignal) -> PumpAction {
        match signal {
            ServerSignal::Events(texts) => {
                texts.iter().for_each(|text| self.reader.on_message(text));
                self.send_outgoing();
                PumpAction::Continue
            }
            ServerSignal::HungUp if self.has_exited().await || !self.reconnect().await => PumpAction::Finish,
            ServerSignal::HungUp => PumpAction::Continue,
        }
    }

    fn on_exit(&mut self, exit: &ExitReport) {
        let out = self.outbox();
        if let Some(turn) = &mut out.turn {
            turn.finish(TaskEnd::Failed(Box::new(exit.failure())), &mut out.drafts);
        }
    }
}

impl OpencodeConnection {
    /// Sends the requests that the reader has queued. Failures are only logged, because nobody waits for these.
    fn send_outgoing(&mut self) {
        for OutgoingRequest { path, body } in self.reader.outgoing.drain(..) {
            let client = self.client.clone();
            self.in_flight.spawn(async move {
                if let Err(error) = client.post(&path, &body).await {
                    tracing::debug!(%error, path, "OpenCode did not take a request that nobody waits for");
                }
            });
        }
    }

    fn begin(&mut self, drafts: mpsc::Sender<Vec<Draft>>, notices: Vec<Draft>) -> Result<(), AdapterError> {
        self.outbox().refuse_if_busy::<Self>()?;
        self.outbox().early.extend(notices);
        self.outbox().begin(OpencodeTurn::new(Task::new(PROMPT_METHOD, drafts)));
        Ok(())
    }

    fn decide(&mut self, call: &ToolCallIdentity, allow: bool) -> Result<String, AdapterError> {
        let out = self.outbox();
        let tools = out.turn.as_mut().map(|turn| &mut turn.mapper.tools);
        let permission = tools.and_then(|tools| tools.decide(call, allow, &mut out.drafts));
        permission.ok_or_else(|| not_pending(call))
    }

    fn answer_question(&mut self, question: &QuestionId, answer: Answer) -> Result<(String, Value), AdapterError> {
        let pending = self.outbox().turn.as_mut().and_then(|turn| turn.questions.remove(question));
        let pending = pending.ok_or_else(|| AdapterError::NotPending(format!("an answer to {question}")))?;
        let body = pending.answer(answer);
        Ok((pending.native, body))
    }

    /// Marks the turn as cancelled. OpenCode does not withdraw its open permissions and questions on a stop; they are
    /// rejected when the turn is over.
    fn cancel(&mut self) -> Result<(), AdapterError> {
        let (turn, _) = self.outbox().live().ok_or_else(|| AdapterError::NotPending("a stop".into()))?;
        turn.cancelled = true;
        Ok(())
    }

    /// Whether the server is a process of ours and exits within [`EXIT_TIMEOUT`].
    async fn has_exited(&self) -> bool {
        match &self.server {
            Some((control, _)) => tokio::time::timeout(EXIT_TIMEOUT, control.wait_exit()).await.is_ok(),
            None => false,
        }
    }

    /// Opens the event stream again and handles what was missed meanwhile; false if the server exits or does not
    /// answer within [`RECONNECT_TIMEOUT`].
    async fn reconnect(&mut self) -> bool {
        let (client, Reader { tree, last_prompt, .. }) = (&self.client, &self.reader);
        let again = async {
            loop {
                let answer = async {
                    let events = client.events().await?;
                    Ok::<_, HttpError>((events, catch_up::fetch_missed(client, tree.root(), last_prompt).await?))
                };
                match answer.await {
                    Ok(answer) => return answer,
                    Err(error) => tracing::debug!(%error, "OpenCode does not answer; it is asked again"),
                }
                tokio::time::sleep(RECONNECT_PAUSE).await;
            }
        };
        let gone = async {
            match &self.server {
                Some((control, _)) => drop(control.wait_exit().await),
                None => std::future::pending().await,
            }
        };
        let (events, missed) = tokio::select! {
            answer = again => answer,
            () = gone => return false,
            () = tokio::time::sleep(RECONNECT_TIMEOUT) => return false,
        };
        self.events = events;
        missed.iter().for_each(|event| self.reader.on_message(&event.to_string()));
        self.send_outgoing();
        if let Some(turn) = &mut self.outbox().turn {
            turn.mapper.mark_gap();
        }
        true
    }
}
