//! `roost run`: a prompt to a session, or a conversation with it, shown while it is worked on.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::thread;

use roost_engine::{Accepted, Approver, NewSession, Prompt};
use roost_log::{Filter, Follower, Health, Log, Start, StreamId};
use roost_proto::ids::SessionId;
use roost_proto::mode::Mode;
use roost_proto::runtime::{CreateSessionInput, RuntimeName};
use roost_proto::session::TaskOutcome;
use tokio::sync::oneshot;

use crate::cli::Context;
use crate::compose::{self, Roost};
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::interrupt::{Asked, Interrupt};
use crate::keyboard::{Keyboard, Typed};
use crate::printer::{Form, Printer};
use crate::render::{Renderer, Show};
use crate::style::Style;
use crate::tell::tell;
use crate::watch::{Wanted, Watch};

/// Whose logins a session uses unless told otherwise.
const NAMESPACE: &str = "default";
/// Stands before what is typed in a conversation.
const PROMPT: &str = "> ";
/// Leaves a conversation.
const QUIT: &str = "/quit";
/// The longest prompt that is read from a pipe.
const MAX_PIPED: u64 = 8 << 20;

const EXAMPLES: &str = "\
Examples:
  roost run                                a tour by the demo agent, then a conversation
  roost run hello                          a new session in this directory
  roost run --continue \"go on\"             the latest session of this directory
  roost run --permission-mode yolo edit    let the agent do everything unasked
  roost run --json hello | jq .type        every event as one line of JSON
  roost run --approvals deny edit          ask nobody, deny what needs an approval
  git diff | roost run                     the prompt is what is piped in

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
    /// Where approvals come from [default: prompt at a terminal, else deny]
    #[arg(long, value_name = "FROM")]
    approvals: Option<Approvals>,
    /// Print every event as one line of JSON, and nothing else
    #[arg(long)]
    json: bool,
    /// What to do; without it what is piped in, and at a terminal a conversation
    prompt: Vec<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let interrupt = Interrupt::listen()?;
    let manner = Manner::of(&args)?;
    let text = match args.prompt.as_slice() {
        [] if !io::stdin().is_terminal() => tokio::select! {
            text = piped() => text?,
            () = interrupt.asked() => return Ok(Exit::Stopped),
        },
        words => words.join(" "),
    };
    let roost = Roost::open(&context.state, &context.config, "roost run").await?;
    let ended = match interrupt.is_asked() {
        true => Ok(Exit::Stopped),
        false => Run { args, manner, roost: &roost, interrupt: &interrupt }.run(text, context.verbose).await,
    };
    roost.close().await;
    ended
}

/// Where the answers to an agent's questions come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Approvals {
    /// Ask here, at the terminal.
    Prompt,
    /// Wait until somebody answers elsewhere.
    Wait,
    /// Deny at once.
    Deny,
}

/// How the command is used.
#[derive(Clone, Copy)]
struct Manner {
    approvals: Approvals,
    /// Somebody sits in front of it and reads.
    is_terminal: bool,
}

impl Manner {
    fn of(args: &Args) -> Result<Self, Error> {
        let is_terminal = !args.json && Keyboard::is_there();
        let approvals = match args.approvals {
            Some(Approvals::Prompt) if !is_terminal => return Err(Error::NoTerminal),
            Some(approvals) => approvals,
            None if is_terminal => Approvals::Prompt,
            None => Approvals::Deny,
        };
        Ok(Self { approvals, is_terminal })
    }
}

/// One use of the command.
struct Run<'a> {
    args: Args,
    manner: Manner,
    roost: &'a Roost,
    interrupt: &'a Interrupt,
}

impl Run<'_> {
    async fn run(&self, text: String, verbose: bool) -> Result<Exit, Error> {
        let is_conversation = text.trim().is_empty() && self.manner.is_terminal;
        let opened = self.session(text.trim().is_empty() && !is_conversation).await?;
        let style = Style::of(&io::stdout());
        let asks = self.manner.approvals != Approvals::Prompt;
        let form = match self.args.json {
            true => Form::Json,
            false => Form::People(Box::new(Renderer::new(style, Show { prompts: false, all: verbose, asks }))),
        };
        let mut watch = Watch::new(self.roost, opened.id.clone(), opened.follower, Printer::new(form));
        if !asks {
            watch.ask_here(style, &opened.cwd);
        }
        let mut keyboard = match is_conversation || !asks {
            true => Some(Keyboard::open().map_err(Error::Start)?),
            false => None,
        };
        let ended = match &mut keyboard {
            Some(keyboard) if is_conversation => {
                let tour = opened.is_new && opened.is_demo;
                self.converse(&mut watch, keyboard, &opened.id, tour).await
            }
            _ => self.task(&mut watch, keyboard.as_mut(), &opened.id, text).await.map(Exit::from),
        };
        let ended = match ended {
            Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                return unread(self.roost, &opened.id).await;
            }
            ended => ended?,
        };
        if !self.args.json {
            tell(Style::of(&io::stderr()).dim(format_args!("roost log {}", opened.id)));
        }
        Ok(ended)
    }

    /// Gives the session a task and shows it until its end.
    async fn task(
        &self,
        watch: &mut Watch<'_>,
        keyboard: Option<&mut Keyboard>,
        session: &SessionId,
        text: String,
    ) -> Result<TaskOutcome, Error> {
        let approver = match self.manner.approvals {
            Approvals::Prompt | Approvals::Wait => Approver::Present,
            Approvals::Deny => Approver::Nobody,
        };
        let prompt = Prompt { mode: self.args.permission_mode, approver, ..Prompt::text(text) };
        let wanted = match self.roost.engine.prompt(session.as_str(), prompt).await? {
            Accepted::Started(task) => Wanted::Task(task),
            Accepted::Queued(prompt) => Wanted::Prompt(prompt),
        };
        let stop = async {
            self.interrupt.asked().await;
            // Whatever comes of it, the watch sees the task's end.
            let _ = self.roost.engine.stop(session.as_str(), "interrupted").await;
            std::future::pending().await
        };
        tokio::select! {
            outcome = watch.task(wanted, keyboard) => outcome,
            error = warn_when_stalled(&*self.roost.log) => Err(error),
            outcome = stop => outcome,
        }
    }

    /// Takes one prompt after the other until whoever types them leaves.
    async fn converse(
        &self,
        watch: &mut Watch<'_>,
        keyboard: &mut Keyboard,
        session: &SessionId,
        tour: bool,
    ) -> Result<Exit, Error> {
        let mut next = tour.then(String::new);
        loop {
            if let Some(text) = next.take() {
                let outcome = self.task(watch, Some(&mut *keyboard), session, text).await?;
                if self.interrupt.done() == Asked::Leave {
                    return Ok(outcome.into());
                }
            }
            watch.printer().prompt(PROMPT.into()).await?;
            let typed = tokio::select! {
                typed = keyboard.line() => typed,
                () = self.interrupt.asked() => Typed::End,
            };
            match typed {
                Typed::End => {
                    watch.printer().say(String::new()).await?;
                    return Ok(Exit::Completed);
                }
                Typed::Line(line) if line.trim() == QUIT => return Ok(Exit::Completed),
                Typed::Line(line) => {
                    watch.printer().typed().await?;
                    next = Some(line).filter(|line| !line.trim().is_empty());
                }
            }
        }
    }

    /// The session to prompt, and a follower that sees everything from the prompt on, or from the start of a new one.
    async fn session(&self, no_prompt: bool) -> Result<Opened, Error> {
        let needs_prompt = |runtime: &str| match no_prompt && runtime != RuntimeName::Demo.id() {
            true => Err(Error::NeedsPrompt(runtime.into())),
            false => Ok(()),
        };
        let (args, log) = (&self.args, &*self.roost.log);
        let existing = match &args.session {
            Some(id) => Some(find::session(log, id).await?),
            None if args.r#continue => {
                Some(find::latest(log, &compose::working_directory(args.cwd.as_deref())?).await?)
            }
            None => None,
        };
        if let Some(record) = existing {
            needs_prompt(record.runtime.id())?;
            let follower = log.follow(Filter::stream((&record.session_id).into()), Start::Now).await?;
            let is_demo = record.runtime == RuntimeName::Demo;
            return Ok(Opened { id: record.session_id, follower, cwd: record.cwd.into(), is_new: false, is_demo });
        }
        let runtime = args.runtime.clone().or_else(|| self.roost.engine.runtimes().default_id());
        needs_prompt(runtime.as_deref().unwrap_or_default())?;
        let is_demo = runtime.as_deref() == Some(RuntimeName::Demo.id());
        let cwd = compose::working_directory(args.cwd.as_deref())?;
        let new = NewSession {
            runtime,
            cwd: cwd.clone(),
            mode: args.permission_mode.unwrap_or_default(),
            credential_namespace: NAMESPACE.into(),
            input: CreateSessionInput::default(),
            workspace_id: None,
        };
        let id = self.roost.engine.create_session(new).await?;
        let stream = StreamId::from(&id);
        let follower = log.follow(Filter::stream(stream.clone()), Start::AfterSeq(stream, 0)).await?;
        Ok(Opened { id, follower, cwd, is_new: true, is_demo })
    }
}

/// A session that is ready for a prompt.
struct Opened {
    id: SessionId,
    follower: Follower,
    cwd: PathBuf,
    is_new: bool,
    is_demo: bool,
}

/// The prompt that is piped in.
async fn piped() -> Result<String, Error> {
    let (send, sent) = oneshot::channel();
    // A pipe that nobody closes is never read to its end, so this thread may only end with the process.
    let read = move || {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().take(MAX_PIPED + 1).read_to_end(&mut bytes);
        let _ = send.send(read.map(|_| bytes));
    };
    thread::Builder::new().name("stdin".into()).spawn(read).map_err(Error::Start)?;
    let bytes = sent.await.unwrap_or_else(|_| Ok(Vec::new())).map_err(Error::Input)?;
    if bytes.len() as u64 > MAX_PIPED {
        return Err(Error::PromptTooLong(MAX_PIPED));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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
