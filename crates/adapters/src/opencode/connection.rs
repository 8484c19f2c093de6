//! One session of a server and the one task that hears its events and knows what both sides wait for.
//!
//! The pump never waits for anybody: what the session has not taken yet stays in the outbox, and while there is some,
//! the server's events are not read. That is the backpressure; commands are still heard. What is said to the server is
//! said beside the pump, which owns it.

use std::time::Duration;

use roost_engine::adapter::{AdapterError, Answer, Draft, Fact, TaskEnd};
use roost_model::failure::{FailureCode, TaskError};
use roost_model::ids::{QuestionId, RequestId};
use roost_model::payload::{NoticeSource, RuntimeRequestStartedPayload};
use roost_model::tool::ToolCallIdentity;
use roost_process::Exit;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::catch_up;
use super::family::Family;
use super::http::{Client, Events, HttpError};
use super::map;
use super::reader::{Errand, Reader};
use super::server::Server;
use super::turn::{METHOD, Turn};
use crate::waiting::not_pending;

/// Commands that may wait for the pump.
const QUEUE: usize = 256;
/// How long a server that hung up has to exit before it is called again.
const EXIT_PATIENCE: Duration = Duration::from_millis(500);
/// How long a server that hung up may take to answer again.
const RETURN_PATIENCE: Duration = Duration::from_secs(60);
/// How long is waited between two tries.
const PAUSE: Duration = Duration::from_millis(100);
/// A server that has said nothing for so long is called again; its heart beats every 10 s.
const SILENCE: Duration = Duration::from_secs(45);

/// Whoever waits for an answer.
pub(super) type Reply<T = ()> = oneshot::Sender<Result<T, AdapterError>>;

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

/// Starts the pump of this session; it ends when the command channel closes or the server does. `server` is there if
/// it is ours.
pub(super) fn start(server: Option<Server>, client: Client, events: Events, session: String) -> mpsc::Sender<Command> {
    let (commands, inbox) = mpsc::channel(QUEUE);
    let early = server.iter().flat_map(|server| &server.early);
    let early = early.map(|line| map::noise(NoticeSource::Stdout, line.clone())).collect();
    let pump = Pump {
        client,
        events,
        family: Family::of(session),
        server,
        commands: inbox,
        turn: None,
        last_prompt: String::new(),
        outbox: Vec::new(),
        early,
        errands: JoinSet::new(),
    };
    tokio::spawn(pump.run());
    commands
}

/// The pump's own state.
struct Pump {
    client: Client,
    events: Events,
    family: Family,
    server: Option<Server>,
    commands: mpsc::Receiver<Command>,
    turn: Option<Turn>,
    last_prompt: String,
    outbox: Vec<Draft>,
    early: Vec<Draft>,
    /// Requests that nobody waits for; they end with the pump.
    errands: JoinSet<()>,
}

/// What can happen to a connection.
enum Happening {
    Command(Command),
    Abandoned,
    Delivered,
    Events(Vec<String>),
    Noise(NoticeSource, Vec<String>),
    ErrandDone,
    HungUp,
}

impl Pump {
    async fn run(mut self) {
        loop {
            match self.next().await {
                Happening::Command(command) => self.command(command),
                Happening::Abandoned => return,
                Happening::Delivered => {
                    if self.turn.as_ref().is_some_and(|turn| turn.over) {
                        self.turn = None;
                    }
                }
                Happening::Events(texts) => self.read(|reader| texts.iter().for_each(|text| reader.message(text))),
                Happening::Noise(source, lines) => self.read(|reader| {
                    lines.into_iter().for_each(|line| reader.notice(map::noise(source, line)));
                }),
                Happening::ErrandDone => {}
                Happening::HungUp => {
                    let exit = self.exit().await;
                    if exit.is_some() || !self.listen_again().await {
                        return self.finish(exit).await;
                    }
                }
            }
        }
    }

    async fn next(&mut self) -> Happening {
        let full = !self.outbox.is_empty();
        let drafts = self.turn.as_ref().filter(|_| full).map(|turn| turn.drafts.clone());
        let Self { events, server, commands, outbox, errands, .. } = self;
        let noise = async {
            match server {
                Some(server) => server.noise().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // Commands first: a stop must be heard in the middle of a flood.
            biased;
            command = commands.recv() => command.map_or(Happening::Abandoned, Happening::Command),
            room = async { match &drafts { Some(drafts) => drafts.reserve().await.ok(), None => None } }, if full => {
                let told = std::mem::take(outbox);
                // Where nobody listens any more, what is still said about the turn is dropped until it ends.
                if let Some(room) = room {
                    room.send(told);
                }
                Happening::Delivered
            }
            Some(_) = errands.join_next(), if !errands.is_empty() => Happening::ErrandDone,
            (source, lines) = noise, if !full => Happening::Noise(source, lines),
            texts = tokio::time::timeout(SILENCE, events.next_batch()), if !full => {
                texts.ok().flatten().map_or(Happening::HungUp, Happening::Events)
            }
        }
    }

    /// Lets a reader do something, and sends what it wants sent.
    fn read(&mut self, read: impl FnOnce(&mut Reader<'_>)) {
        let mut wanted = Vec::new();
        let Self { family, turn, last_prompt, outbox, early, .. } = self;
        read(&mut Reader { family, turn, last_prompt, outbox, early, errands: &mut wanted });
        for Errand { path, body } in wanted {
            let client = self.client.clone();
            self.errands.spawn(async move {
                if let Err(error) = client.post(&path, &body).await {
                    tracing::debug!(%error, path, "OpenCode did not take a request that nobody waits for");
                }
            });
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Begin { drafts, to } => reply(to, self.begin(drafts)),
            Command::Forget => self.turn = None,
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
    }

    fn begin(&mut self, drafts: mpsc::Sender<Vec<Draft>>) -> Result<(), AdapterError> {
        if self.turn.is_some() {
            let message = "OpenCode has not ended its last turn yet".into();
            return Err(AdapterError::Runtime { message, raw: None });
        }
        let (request, method) = (RequestId::new(), METHOD.to_owned());
        let started = RuntimeRequestStartedPayload { request_id: request.clone(), method };
        self.outbox = vec![Fact::RequestStarted(started).into()];
        self.outbox.append(&mut self.early);
        self.turn = Some(Turn::new(request, drafts));
        Ok(())
    }

    fn decide(&mut self, call: &ToolCallIdentity, allow: bool) -> Result<String, AdapterError> {
        let tools = self.turn.as_mut().map(|turn| &mut turn.mapper.tools);
        let permission = tools.and_then(|tools| tools.decide(call, allow, &mut self.outbox));
        permission.ok_or_else(|| not_pending(call))
    }

    fn give(&mut self, question: &QuestionId, answer: Answer) -> Result<(String, Value), AdapterError> {
        let asked = self.turn.as_mut().and_then(|turn| turn.questions.remove(question));
        let asked = asked.ok_or_else(|| AdapterError::NotPending(format!("an answer to {question}")))?;
        let said = asked.answer(answer);
        Ok((asked.native, said))
    }

    /// What OpenCode waits for it does not withdraw when it is stopped; that is done when the turn is over.
    fn cancel(&mut self) -> Result<(), AdapterError> {
        let turn = self.turn.as_mut().filter(|turn| !turn.over);
        let turn = turn.ok_or_else(|| AdapterError::NotPending("a stop".into()))?;
        turn.cancelled = true;
        Ok(())
    }

    /// How a server of ours that hung up has ended, if it has.
    async fn exit(&self) -> Option<Exit> {
        tokio::time::timeout(EXIT_PATIENCE, self.server.as_ref()?.exit()).await.ok()
    }

    /// Listens to a server that hung up and lives; what happened meanwhile is asked for.
    async fn listen_again(&mut self) -> bool {
        let (client, family, last_prompt) = (&self.client, &self.family, &self.last_prompt);
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
                Some(server) => drop(server.exit().await),
                None => std::future::pending().await,
            }
        };
        let (events, missed) = tokio::select! {
            answer = again => answer,
            () = gone => return false,
            () = tokio::time::sleep(RETURN_PATIENCE) => return false,
        };
        self.events = events;
        self.read(|reader| missed.iter().for_each(|event| reader.message(&event.to_string())));
        if let Some(turn) = &mut self.turn {
            turn.mapper.missed_some();
        }
        true
    }

    /// The server is gone: tells whoever waits for it how.
    async fn finish(mut self, exit: Option<Exit>) {
        let how = match exit {
            Some(Exit::Code(code)) => format!("exited with code {code}"),
            Some(Exit::Signal(signal)) => format!("was killed by signal {signal}"),
            Some(_) => "ended".to_owned(),
            None => "hung up".to_owned(),
        };
        let Some(mut turn) = self.turn.take() else { return };
        let (lines, tail) = self.server.as_mut().map(Server::last_words).unwrap_or_default();
        self.outbox.extend(lines.into_iter().map(|line| map::noise(NoticeSource::Stderr, line)));
        let mut error = TaskError::new(FailureCode::RuntimeExited, format!("OpenCode {how} in the middle of the task"));
        error.stderr_tail = tail;
        turn.finish(TaskEnd::Failed(Box::new(error)), &mut self.outbox);
        // Nobody listens: then nobody needs to know.
        let _ = turn.drafts.send(self.outbox).await;
    }
}

fn reply<T>(to: Reply<T>, answer: Result<T, AdapterError>) {
    // Whoever asked may be gone.
    let _ = to.send(answer);
}
