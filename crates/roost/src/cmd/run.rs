//! `roost run`: one prompt to one session, shown while it is worked on.

use std::io;
use std::path::PathBuf;

use roost_engine::{Accepted, NewSession, Prompt};
use roost_log::{Entry, Filter, Follower, Health, Log, Start, StreamId};
use roost_proto::event::EventBody;
use roost_proto::ids::{PromptId, SessionId, TaskId};
use roost_proto::mode::Mode;
use roost_proto::runtime::{CreateSessionInput, RuntimeName};
use roost_proto::session::TaskOutcome;

use crate::cli::Context;
use crate::compose::{self, Roost};
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::interrupt::Interrupt;
use crate::printer::{Form, Printer};
use crate::render::{Renderer, Show};
use crate::style::Style;
use crate::tell::tell;

/// Whose logins a session uses unless told otherwise.
const NAMESPACE: &str = "default";

const EXAMPLES: &str = "\
Examples:
  roost run                                a tour by the demo agent
  roost run hello                          a new session in this directory
  roost run --continue \"go on\"             the latest session of this directory
  roost run --permission-mode yolo edit    let the agent do everything unasked
  roost run --json hello | jq .type        every event as one line of JSON

Ctrl-C stops the task; a second one leaves at once.
Ends with 0 completed, 1 failed, 2 wrong usage, 130 stopped.";

/// Give an agent a task and watch it work
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The agent, as `roost runtimes` lists it [default: default_runtime in roost.toml, else demo]
    #[arg(long, value_name = "ID", conflicts_with_all = ["session", "continue"])]
    runtime: Option<String>,
    /// Where it works [default: here]
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    cwd: Option<PathBuf>,
    /// Go on with this session: its id, the beginning of it, or the agent's own id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Go on with the latest session of the directory
    #[arg(long, conflicts_with = "session")]
    r#continue: bool,
    /// How much it may do unasked: plan, ask, accept-edits, auto or yolo [default: ask]
    #[arg(long, value_name = "MODE")]
    permission_mode: Option<Mode>,
    /// Print every event as one line of JSON, and nothing else
    #[arg(long)]
    json: bool,
    /// What to do
    prompt: Vec<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let interrupt = Interrupt::listen()?;
    let roost = Roost::open(&context.state, &context.config, "roost run").await?;
    let ended = match interrupt.is_asked() {
        true => Ok(Exit::Stopped),
        false => task(&args, context, &roost, &interrupt).await,
    };
    roost.close().await;
    ended
}

async fn task(args: &Args, context: &Context, roost: &Roost, interrupt: &Interrupt) -> Result<Exit, Error> {
    let text = args.prompt.join(" ");
    let (session, follower) = session(args, roost, text.is_empty()).await?;
    let prompt = Prompt { mode: args.permission_mode, ..Prompt::text(text) };
    let wanted = match roost.engine.prompt(session.as_str(), prompt).await? {
        Accepted::Started(task) => Wanted::Task(task),
        Accepted::Queued(prompt) => Wanted::Prompt(prompt),
    };
    let style = Style::of(&io::stdout());
    let form = match args.json {
        true => Form::Json,
        false => Form::People(Box::new(Renderer::new(style, Show { prompts: false, all: context.verbose }))),
    };
    let stop = async {
        interrupt.asked().await;
        // Whatever comes of it, the follower sees the task's end.
        let _ = roost.engine.stop(session.as_str(), "interrupted").await;
        std::future::pending().await
    };
    let outcome = tokio::select! {
        outcome = watch(follower, Printer::new(form), wanted) => outcome,
        error = warn_when_stalled(&*roost.log) => Err(error),
        outcome = stop => outcome,
    };
    let outcome = match outcome {
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            return unread(roost, &session).await;
        }
        outcome => outcome?,
    };
    if !args.json {
        tell(Style::of(&io::stderr()).dim(format_args!("roost log {session}")));
    }
    Ok(outcome.into())
}

/// Nobody reads the output any more, so nobody wants the task to go on.
async fn unread(roost: &Roost, session: &SessionId) -> Result<Exit, Error> {
    match roost.engine.stop(session.as_str(), "nobody reads the output any more").await {
        Err(roost_engine::Error::NothingToStop(_)) => {
            let record = roost.log.session(session.as_str()).await?;
            Ok(record.and_then(|record| record.last_outcome).map_or(Exit::Stopped, Exit::from))
        }
        stopped => Ok(stopped?.into()),
    }
}

/// The session to prompt, and a follower that sees everything from the prompt on, or from the start of a new session.
async fn session(args: &Args, roost: &Roost, no_prompt: bool) -> Result<(SessionId, Follower), Error> {
    let needs_prompt = |runtime: &str| match no_prompt && runtime != RuntimeName::Demo.id() {
        true => Err(Error::NeedsPrompt(runtime.into())),
        false => Ok(()),
    };
    let log = &*roost.log;
    let existing = match &args.session {
        Some(id) => Some(find::session(log, id).await?),
        None if args.r#continue => Some(find::latest(log, &compose::working_directory(args.cwd.as_deref())?).await?),
        None => None,
    };
    if let Some(record) = existing {
        needs_prompt(record.runtime.id())?;
        let follower = log.follow(Filter::stream((&record.session_id).into()), Start::Now).await?;
        return Ok((record.session_id, follower));
    }
    let runtime = args.runtime.clone().or_else(|| roost.engine.runtimes().default_id());
    needs_prompt(runtime.as_deref().unwrap_or_default())?;
    let new = NewSession {
        runtime,
        cwd: compose::working_directory(args.cwd.as_deref())?,
        mode: args.permission_mode.unwrap_or_default(),
        credential_namespace: NAMESPACE.into(),
        input: CreateSessionInput::default(),
    };
    let session = roost.engine.create_session(new).await?;
    let stream = StreamId::from(&session);
    let follower = log.follow(Filter::stream(stream.clone()), Start::AfterSeq(stream, 0)).await?;
    Ok((session, follower))
}

/// The task whose end is waited for.
enum Wanted {
    Task(TaskId),
    /// The one that a queued prompt will become.
    Prompt(PromptId),
}

impl Wanted {
    /// How the task ended, if it did with this event.
    fn ended(&mut self, entry: Entry<'_>) -> Result<Option<TaskOutcome>, Error> {
        let event = entry.event()?;
        if let (Self::Prompt(prompt), EventBody::TaskStarted(started)) = (&self, &event.body)
            && started.prompt_id.as_ref() == Some(prompt)
            && let Some(task) = &event.trace.task_id
        {
            *self = Self::Task(task.clone());
        }
        let is_ours = matches!(&self, Self::Task(task) if event.trace.task_id.as_ref() == Some(task));
        Ok(TaskOutcome::of(&event.body).filter(|_| is_ours))
    }
}

/// Prints what happens until the task has ended.
async fn watch(mut follower: Follower, mut printer: Printer, mut wanted: Wanted) -> Result<TaskOutcome, Error> {
    let mut last = move |entry: Entry<'_>| wanted.ended(entry);
    loop {
        let batch = follower.next().await?;
        let outcome;
        (printer, last, outcome) = printer.print(batch, last).await?;
        if let Some(outcome) = outcome {
            return Ok(outcome);
        }
    }
}

/// Says once that the log waits for space; returns only when it has given up.
async fn warn_when_stalled(log: &dyn Log) -> Error {
    let mut health = log.health();
    let mut told = false;
    loop {
        match &*health.borrow_and_update() {
            Health::Ok => {}
            Health::Stalled { reason, .. } if told => tracing::debug!(%reason, "The log still waits."),
            Health::Stalled { reason, .. } => {
                tell(format_args!(
                    "roost: waiting for space on the disk: {reason}; free some, or press Ctrl-C twice to leave"
                ));
                told = true;
            }
            Health::Failed { reason } => return roost_log::Error::Failed { reason: reason.clone() }.into(),
        }
        if health.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
