//! One session of a server: what its events and the session's commands do.
//!
//! What is said to the server is said beside the pump, in requests of their own, which end with it.

use std::time::Duration;

use roost_engine::adapter::{AdapterError, Answer, Draft, TaskEnd};
use roost_model::ids::QuestionId;
use roost_model::payload::NoticeSource;
use roost_model::tool::ToolCallIdentity;
use roost_process::{Batch, Control, Stdin};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::catch_up;
use super::http::{Client, Events, HttpError};
use super::map;
use super::reader::{Errand, Reader};
use super::turn::{METHOD, Turn};
use crate::host::waiting::not_pending;
use crate::host::{Connection, ExitReport, Outbox, Reply, Task, Then, reply};

/// How long a server that hung up has to exit before it is called again.
const EXIT_PATIENCE: Duration = Duration::from_millis(500);
/// How long a server that hung up may take to answer again.
const RETURN_PATIENCE: Duration = Duration::from_secs(60);
/// How long is waited between two tries.
const PAUSE: Duration = Duration::from_millis(100);
/// A server that has said nothing for so long is called again; its heart beats every 10 s.
const SILENCE: Duration = Duration::from_secs(45);

/// What the session asks of the connection.
pub(super) enum Command {
    /// A task: where its drafts go.
    Begin { drafts: mpsc::Sender<Vec<Draft>>, to: Reply },
    /// The task could not be begun.
    Forget,
    /// A decision about a tool call; answered with OpenCode's id of the permission.
    Decide { call: ToolCallIdentity, allow: bool, to: Reply<String> },
    /// An answer to a question; answered with OpenCode's id of it and the answer in its words.
    Answer { question: QuestionId, answer: Answer, to: Reply<(String, Value)> },
    /// The task is to stop.
    Cancel { to: Reply },
    /// Something to say to the server; answered when it has answered.
    Send { errand: Errand, to: Reply },
}

/// A connection with a server.
pub(super) struct OpencodeConnection {
    client: Client,
    events: Events,
    reader: Reader,
    /// The process, if it is ours. Its stdin is kept open: some servers read its end as a wish to stop.
    server: Option<(Control, Stdin)>,
    /// Requests that are on their way; they end with the connection.
    errands: JoinSet<()>,
}

/// What is heard of a server.
pub(super) enum Heard {
    Events(Vec<String>),
    HungUp,
}

impl OpencodeConnection {
    /// A connection with a server whose events these are, for what the reader knows.
    pub(super) fn new(client: Client, events: Events, reader: Reader, server: Option<(Control, Stdin)>) -> Self {
        Self { client, events, reader, server, errands: JoinSet::new() }
    }
}

impl Connection for OpencodeConnection {
    const NAME: &'static str = "OpenCode";
    const STDIO: bool = false;

    type Turn = Turn;
    type Command = Command;
    type Message = Heard;

    fn outbox(&mut self) -> &mut Outbox<Turn> {
        &mut self.reader.out
    }

    fn on_command(&mut self, command: Command) -> Then {
        match command {
            Command::Begin { drafts, to } => reply(to, self.begin(drafts)),
            Command::Forget => self.outbox().turn = None,
            Command::Decide { call, allow, to } => reply(to, self.decide(&call, allow)),
            Command::Answer { question, answer, to } => reply(to, self.give(&question, answer)),
            Command::Cancel { to } => reply(to, self.cancel()),
            Command::Send { errand: Errand { path, body }, to } => {
                let client = self.client.clone();
                self.errands.spawn(async move {
                    let answer = client.post(&path, &body).await;
                    reply(to, answer.map(drop).map_err(Into::into));
                });
            }
        }
        Then::Continue
    }

    fn on_stdout(&mut self, lines: Batch<'_>) -> Then {
        lines.for_each(|line| self.outbox().notice(map::noise(NoticeSource::Stdout, line.text().into_owned())));
        Then::Continue
    }

    fn on_stderr(&mut self, line: String) {
        self.outbox().notice(map::noise(NoticeSource::Stderr, line));
    }

    async fn next_message(&mut self) -> Option<Heard> {
        loop {
            let Self { events, errands, .. } = self;
            tokio::select! {
                biased;
                Some(_) = errands.join_next(), if !errands.is_empty() => {}
                texts = tokio::time::timeout(SILENCE, events.next_batch()) => {
                    return Some(texts.ok().flatten().map_or(Heard::HungUp, Heard::Events));
                }
            }
        }
    }

    async fn on_message(&mut self, heard: Heard) -> Then {
        match heard {
            Heard::Events(texts) => {
                texts.iter().for_each(|text| self.reader.message(text));
                self.send_errands();
                Then::Continue
            }
            Heard::HungUp if self.has_exited().await || !self.listen_again().await => Then::Finish,
            Heard::HungUp => Then::Continue,
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
    /// Sends what reading has made necessary; nobody waits for an answer.
    fn send_errands(&mut self) {
        for Errand { path, body } in self.reader.errands.drain(..) {
            let client = self.client.clone();
            self.errands.spawn(async move {
                if let Err(error) = client.post(&path, &body).await {
                    tracing::debug!(%error, path, "OpenCode did not take a request that nobody waits for");
                }
            });
        }
    }

    fn begin(&mut self, drafts: mpsc::Sender<Vec<Draft>>) -> Result<(), AdapterError> {
        self.outbox().refuse_if_busy::<Self>()?;
        self.outbox().begin(Turn::new(Task::new(METHOD, drafts)));
        Ok(())
    }

    fn decide(&mut self, call: &ToolCallIdentity, allow: bool) -> Result<String, AdapterError> {
        let out = self.outbox();
        let tools = out.turn.as_mut().map(|turn| &mut turn.mapper.tools);
        let permission = tools.and_then(|tools| tools.decide(call, allow, &mut out.drafts));
        permission.ok_or_else(|| not_pending(call))
    }

    fn give(&mut self, question: &QuestionId, answer: Answer) -> Result<(String, Value), AdapterError> {
        let asked = self.outbox().turn.as_mut().and_then(|turn| turn.questions.remove(question));
        let asked = asked.ok_or_else(|| AdapterError::NotPending(format!("an answer to {question}")))?;
        let said = asked.answer(answer);
        Ok((asked.native, said))
    }

    /// What OpenCode waits for it does not withdraw when it is stopped; that is done when the turn is over.
    fn cancel(&mut self) -> Result<(), AdapterError> {
        let (turn, _) = self.outbox().live().ok_or_else(|| AdapterError::NotPending("a stop".into()))?;
        turn.cancelled = true;
        Ok(())
    }

    /// A server of ours that hung up has ended.
    async fn has_exited(&self) -> bool {
        match &self.server {
            Some((control, _)) => tokio::time::timeout(EXIT_PATIENCE, control.wait_exit()).await.is_ok(),
            None => false,
        }
    }

    /// Listens to a server that hung up and lives; what happened meanwhile is asked for.
    async fn listen_again(&mut self) -> bool {
        let (client, Reader { family, last_prompt, .. }) = (&self.client, &self.reader);
        let again = async {
            loop {
                let answer = async {
                    let events = client.events().await?;
                    Ok::<_, HttpError>((events, catch_up::missed(client, family.first(), last_prompt).await?))
                };
                match answer.await {
                    Ok(answer) => return answer,
                    Err(error) => tracing::debug!(%error, "OpenCode does not answer; it is asked again"),
                }
                tokio::time::sleep(PAUSE).await;
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
            () = tokio::time::sleep(RETURN_PATIENCE) => return false,
        };
        self.events = events;
        missed.iter().for_each(|event| self.reader.message(&event.to_string()));
        self.send_errands();
        if let Some(turn) = &mut self.outbox().turn {
            turn.mapper.missed_some();
        }
        true
    }
}
