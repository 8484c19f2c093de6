//! `roost run`: a prompt to a session, or a conversation with it, shown while it is worked on.

use std::cell::Cell;
use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use roost_client::{Client, Subscription};
use roost_model::mode::{AnyMode, Mode};
use roost_model::runtime::{IsolationLevel, RuntimeName};
use roost_model::secret::Secret;
use roost_model::session::TaskOutcome;
use roost_rpc::{
    KeptBy, LogHealth, NoParams, Presence, PromptImage, SessionForkParams, SessionInfo, SessionListParams,
    SessionParams, SessionSendParams, SessionStartParams, StartMode, StopWhat, SubscribeParams, method,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::interval;

use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::interrupt::{Interrupt, StopRequest};
use crate::keyboard::{Keyboard, Typed};
use crate::paths::working_directory;
use crate::printer::{OutputForm, Printer};
use crate::render::{Renderer, Show};
use crate::stderr::tell;
use crate::style::Style;
use crate::watch::{Wanted, Watch, stop};

/// How often the daemon is asked whether it can record what happens.
const HEALTH: Duration = Duration::from_secs(1);
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
  roost run --resume 0199 \"go on\"          a session, also one that began in a terminal
  roost run --resume 0199 --fork \"or so?\"   another way on from there; the session itself stays as it is
  roost run --permission-mode yolo edit    let the agent do everything unasked
  roost run --json hello | jq .type        every event as one line of JSON
  roost run --approvals deny edit          ask nobody, deny what needs an approval
  git diff | roost run                     the prompt is what is piped in
  roost run --image shot.png \"what is wrong here?\"

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
    /// Go on with this session, also one from a terminal: its id, the beginning of it, or the agent's own id
    #[arg(long, visible_alias = "resume", value_name = "ID", group = "known")]
    session: Option<String>,
    /// Go on with the latest session of the directory
    #[arg(long, conflicts_with = "session", group = "known")]
    r#continue: bool,
    /// Go on in a new session that knows what was said, and leave that one as it is (with --session or --continue)
    #[arg(long, requires = "known")]
    fork: bool,
    /// How much it may do unasked: plan, ask, accept-edits, auto or yolo [default: ask]
    #[arg(long, value_name = "MODE")]
    permission_mode: Option<Mode>,
    /// The model to use from now on, in the agent's own words
    #[arg(long)]
    model: Option<String>,
    /// The agent's own settings for this session, as a JSON object over those of roost.toml
    #[arg(long, value_name = "JSON", value_parser = object, conflicts_with_all = ["session", "continue"])]
    runtime_config: Option<Map<String, Value>>,
    /// A variable for the agent, which nobody else is told; NAME alone takes it from here (repeatable)
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = variable, conflicts_with_all = ["session", "continue"])]
    env: Vec<(String, Secret)>,
    /// How much of your home the agent shares: shared, namespaced or ephemeral [default: isolation in roost.toml]
    #[arg(long, value_name = "LEVEL", value_parser = word::<IsolationLevel>, conflicts_with_all = ["session", "continue"])]
    isolation: Option<IsolationLevel>,
    /// The credential namespace whose logins it uses; implies --isolation namespaced
    #[arg(long, value_name = "NAME", conflicts_with_all = ["session", "continue"])]
    namespace: Option<String>,
    /// Show the agent this image with the first prompt (png, jpeg, gif, webp; repeatable)
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    /// Refer to this file in the first prompt (repeatable)
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
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
    let client = tokio::select! {
        client = connect::open(context) => client?,
        () = interrupt.asked() => return Ok(Exit::Stopped),
    };
    let images = paths(&args.image)?.map(|all| all.into_iter().map(image).collect());
    let (images, files) = (Cell::new(images), Cell::new(paths(&args.file)?));
    Run { args, manner, client: &client, interrupt: &interrupt, images, files }.run(text, context.verbose > 0).await
}

/// Files as the daemon finds them, which is elsewhere; none is nothing to send.
fn paths(files: &[PathBuf]) -> Result<Option<Vec<String>>, Error> {
    let absolute = |file: &PathBuf| match std::path::absolute(file) {
        Ok(path) => Ok(path.display().to_string()),
        Err(error) => Err(Error::NoCwd(error)),
    };
    let all = files.iter().map(absolute).collect::<Result<Vec<_>, _>>()?;
    Ok((!all.is_empty()).then_some(all))
}

fn image(path: String) -> PromptImage {
    PromptImage { path: Some(path), ..PromptImage::default() }
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
    client: &'a Client,
    interrupt: &'a Interrupt,
    /// What the first prompt brings along.
    images: Cell<Option<Vec<PromptImage>>>,
    files: Cell<Option<Vec<String>>>,
}

impl Run<'_> {
    async fn run(&self, text: String, verbose: bool) -> Result<Exit, Error> {
        let is_conversation = text.trim().is_empty() && self.manner.is_terminal;
        let opened = self.session(text.trim().is_empty() && !is_conversation).await?;
        let style = Style::of_stdout();
        let asks = self.manner.approvals != Approvals::Prompt;
        let form = match self.args.json {
            true => OutputForm::Json,
            false => OutputForm::People(Box::new(Renderer::new(style, Show { prompts: false, all: verbose, asks }))),
        };
        let mut watch = Watch::new(self.client, opened.id.clone(), opened.events, Printer::new(form));
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
            Err(Error::Client(roost_client::Error::Gone)) => return Err(Error::Lost(opened.id)),
            ended => ended?,
        };
        if !opened.was_live {
            self.release(&opened.id).await?;
        }
        if !self.args.json && !watch.is_unread() {
            tell(Style::of_stderr().dim(format_args!("roost log {}", opened.id)));
        }
        Ok(ended)
    }

    /// Gives the session a task and shows it until its end.
    async fn task(
        &self,
        watch: &mut Watch<'_>,
        keyboard: Option<&mut Keyboard>,
        session: &str,
        text: String,
    ) -> Result<TaskOutcome, Error> {
        let approver = match self.manner.approvals {
            Approvals::Prompt | Approvals::Wait => Presence::Present,
            Approvals::Deny => Presence::Nobody,
        };
        let params = SessionSendParams {
            prompt: text,
            session_id: Some(session.into()),
            workspace_id: None,
            mode: None,
            permission_mode: self.args.permission_mode.map(AnyMode),
            yolo_mode: None,
            agent_type: None,
            approver: Some(approver),
            model: self.args.model.clone(),
            images: self.images.take(),
            files: self.files.take(),
        };
        let work = async {
            let sent = self.client.call::<method::SessionSend>(params).await?;
            let wanted = match (sent.task_id, sent.prompt_id) {
                (Some(task), _) => Wanted::Task(task.into()),
                (None, prompt) => Wanted::Prompt(prompt.unwrap_or_default().into()),
            };
            watch.task(wanted, keyboard).await
        };
        let interrupted = async {
            self.interrupt.asked().await;
            // Whatever comes of it, the watch sees the task's end.
            let _ = stop(self.client, session, StopWhat::Task, "interrupted").await;
            std::future::pending().await
        };
        tokio::select! {
            outcome = work => outcome,
            error = warn_when_stalled(self.client) => Err(error),
            outcome = interrupted => outcome,
        }
    }

    /// Ends the session's agent, which began to run for this command, unless it works for somebody else by now.
    async fn release(&self, session: &str) -> Result<(), Error> {
        let params = SessionParams { session_id: session.into(), agent_type: None };
        let state = self.client.call::<method::SessionStateGet>(params).await?;
        if state.is_running || !state.queue.is_empty() || !state.viewers.is_empty() {
            return Ok(());
        }
        stop(self.client, session, StopWhat::Session, "roost run ended").await
    }

    /// Takes one prompt after the other until whoever types them leaves.
    async fn converse(
        &self,
        watch: &mut Watch<'_>,
        keyboard: &mut Keyboard,
        session: &str,
        tour: bool,
    ) -> Result<Exit, Error> {
        let mut next = tour.then(String::new);
        loop {
            if let Some(text) = next.take() {
                let outcome = self.task(watch, Some(&mut *keyboard), session, text).await?;
                if self.interrupt.done() == StopRequest::Leave || watch.is_unread() {
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

    /// A fork of a session, and its events from its start.
    async fn forked(&self, source: SessionInfo) -> Result<Opened, Error> {
        let params = SessionForkParams {
            session_id: source.session_id,
            workspace_id: None,
            cwd: Some(source.project_path),
            agent_type: None,
            title: None,
            permission_mode: self.args.permission_mode.map(AnyMode),
            yolo_mode: None,
        };
        let fork = self.client.call::<method::SessionFork>(params).await?;
        Ok(Opened {
            events: self.events(&fork.session_id, None).await?,
            cwd: fork.project_path.into(),
            is_new: false,
            is_demo: fork.agent_type == RuntimeName::Demo.id(),
            was_live: false,
            id: fork.session_id,
        })
    }

    /// The session to prompt, and its events from the prompt on, or from the start of a new one.
    async fn session(&self, no_prompt: bool) -> Result<Opened, Error> {
        let needs_prompt = |runtime: &str| match no_prompt && runtime != RuntimeName::Demo.id() {
            true => Err(Error::NeedsPrompt(runtime.into())),
            false => Ok(()),
        };
        let (args, client) = (&self.args, self.client);
        let existing = match &args.session {
            Some(id) => Some(find::hosted_or_past(client, id, &working_directory(None)?).await?),
            None if args.r#continue => {
                let cwd = working_directory(args.cwd.as_deref())?;
                let here = Some(cwd.display().to_string());
                let (limit, source) = (Some(1), Some(KeptBy::Managed));
                let params = SessionListParams { cwd: here, limit, source, ..SessionListParams::default() };
                let latest = client.call::<method::SessionList>(params).await?.sessions.pop();
                Some(latest.ok_or(Error::NothingToContinue(cwd))?)
            }
            None => None,
        };
        if let Some(info) = existing {
            needs_prompt(&info.agent_type)?;
            if args.fork {
                return self.forked(info).await;
            }
            if info.source == KeptBy::History {
                let params = SessionStartParams {
                    session_id: Some(info.session_id.clone()),
                    cwd: Some(info.project_path.clone()),
                    permission_mode: args.permission_mode.map(AnyMode),
                    ..SessionStartParams::default()
                };
                client.call::<method::SessionStart>(params).await?;
            }
            return Ok(Opened {
                events: self.events(&info.session_id, None).await?,
                cwd: info.project_path.into(),
                is_new: false,
                is_demo: info.agent_type == RuntimeName::Demo.id(),
                was_live: info.status == "running",
                id: info.session_id,
            });
        }
        let registry = &client.greeting().capabilities.runtime_registry;
        let runtime = args.runtime.as_ref().unwrap_or(&registry.default_runtime);
        if !registry.runtimes.iter().any(|known| known.id == *runtime) {
            let known = registry.runtimes.iter().map(|known| known.id.clone()).collect();
            return Err(Error::UnknownRuntime { id: runtime.clone(), known });
        }
        needs_prompt(runtime)?;
        let cwd = working_directory(args.cwd.as_deref())?;
        let params = SessionStartParams {
            cwd: Some(cwd.display().to_string()),
            mode: Some(StartMode::New),
            permission_mode: args.permission_mode.map(AnyMode),
            agent_type: Some(runtime.clone()),
            model: args.model.clone(),
            runtime_config: args.runtime_config.clone(),
            env: (!args.env.is_empty()).then(|| args.env.iter().cloned().collect()),
            isolation: args.isolation,
            credential_namespace: args.namespace.clone(),
            ..SessionStartParams::default()
        };
        let id = client.call::<method::SessionStart>(params).await?.session_id;
        let events = self.events(&id, Some("beginning".into())).await?;
        Ok(Opened { events, cwd, is_new: true, is_demo: runtime == RuntimeName::Demo.id(), was_live: false, id })
    }

    async fn events(&self, session: &str, after: Option<String>) -> Result<Subscription, Error> {
        let params = SubscribeParams { after, sessions: Some(vec![session.into()]), ..SubscribeParams::default() };
        Ok(self.client.subscribe(params).await?)
    }
}

/// Reads an object of JSON.
fn object(text: &str) -> Result<Map<String, Value>, serde_json::Error> {
    serde_json::from_str(text)
}

/// Reads `NAME=VALUE`, or `NAME` with its value in our own environment.
fn variable(text: &str) -> Result<(String, Secret), String> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.into(), value.into())),
        None => match std::env::var(text) {
            Ok(value) => Ok((text.into(), value.into())),
            Err(_) => Err(format!("{text} is not set here; say {text}=VALUE")),
        },
    }
}

/// Reads one word of a few.
pub(crate) fn word<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_value(text.into())
}

/// A session that is ready for a prompt.
struct Opened {
    id: String,
    events: Subscription,
    cwd: PathBuf,
    is_new: bool,
    is_demo: bool,
    /// It had an agent before this command came.
    was_live: bool,
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

/// Says once that the log waits for space; returns only when it has given up or the daemon is gone.
async fn warn_when_stalled(client: &Client) -> Error {
    let mut due = interval(HEALTH);
    let mut told = false;
    loop {
        due.tick().await;
        match client.call::<method::DaemonStatusGet>(NoParams {}).await {
            Ok(status) => match status.log_health() {
                LogHealth::Failed(_) => return Error::LogFailed(status.log),
                LogHealth::Stalled(_) if !told => {
                    tell(format_args!(
                        "roost: waiting for space on the disk: {}; free some, or press Ctrl-C twice to leave",
                        status.log
                    ));
                    told = true;
                }
                LogHealth::Ok | LogHealth::Stalled(_) => {}
            },
            Err(error @ roost_client::Error::Gone) => return error.into(),
            Err(error) => tracing::debug!(%error, "The daemon does not say how it is."),
        }
    }
}
