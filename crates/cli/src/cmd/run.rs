//! `roost run`: a prompt to a session, or a conversation with it, shown while it is worked on.

mod args;
mod readiness;

use std::cell::Cell;
use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use roost_client::{Client, Subscription};
use roost_model::mode::AnyMode;
use roost_model::runtime::RuntimeName;
use roost_model::session::TaskOutcome;
use roost_rpc::{
    KeptBy, LogHealth, NoParams, Presence, PromptImage, SessionForkParams, SessionInfo, SessionListParams,
    SessionParams, SessionSendParams, SessionStartParams, StartMode, StopWhat, SubscribeParams, method,
};
use tokio::sync::oneshot;
use tokio::time::interval;

use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::interrupt::{Interrupt, StopRequest};
use crate::keyboard::{Keyboard, KeyboardInput};
use crate::paths::working_directory;
use crate::printer::{OutputForm, Printer};
use crate::render::{Renderer, Show, TextForm};
use crate::screen::{self, one_line};
use crate::stderr::print_stderr;
use crate::style::Style;
use crate::watch::{Watch, WatchedTask, stop};
pub(crate) use args::Args;
use args::{Approvals, Interaction};

/// How often the daemon is asked whether it can record what happens.
const HEALTH: Duration = Duration::from_secs(1);
/// Shown before the cursor in a conversation.
const PROMPT: &str = "> ";
/// Typed as a prompt, it ends the conversation.
const QUIT: &str = "/quit";
/// The longest prompt that is read from a pipe.
const MAX_PIPED: u64 = 8 << 20;

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let interrupt = Interrupt::listen()?;
    let interaction = Interaction::from_args(&args)?;
    let text = match args.prompt.as_slice() {
        [] if !io::stdin().is_terminal() => tokio::select! {
            text = piped() => text?,
            () = interrupt.stop_requested() => return Ok(Exit::Stopped),
        },
        words => words.join(" "),
    };
    let client = tokio::select! {
        client = connect::open(context) => client?,
        () = interrupt.stop_requested() => return Ok(Exit::Stopped),
    };
    let images = paths(&args.image)?.map(|all| all.into_iter().map(image).collect());
    let (images, files) = (Cell::new(images), Cell::new(paths(&args.file)?));
    Run { args, context, interaction, client: &client, interrupt: &interrupt, images, files }
        .run(text, context.verbose > 0)
        .await
}

/// Absolute paths, because the daemon has another working directory; `None` if there are no files.
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

/// One `roost run`: its arguments and connections.
struct Run<'a> {
    args: Args,
    context: &'a Context,
    interaction: Interaction,
    client: &'a Client,
    interrupt: &'a Interrupt,
    /// Images of the first prompt; taken when it is sent.
    images: Cell<Option<Vec<PromptImage>>>,
    files: Cell<Option<Vec<String>>>,
}

impl Run<'_> {
    async fn run(&self, text: String, verbose: bool) -> Result<Exit, Error> {
        let is_conversation = text.trim().is_empty() && self.interaction.is_terminal;
        let opened = self.session(!text.trim().is_empty(), is_conversation).await?;
        let style = Style::for_stdout();
        let asks = self.interaction.approvals != Approvals::Prompt;
        let mut watch = Watch::new(self.client, opened.id.clone(), opened.events, self.printer(asks, verbose));
        if !asks {
            watch.ask_here(style, &opened.cwd);
        }
        if self.interaction.is_terminal && screen::can_show_status() {
            watch.show_status();
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
            _ => {
                let outcome = self.task(&mut watch, keyboard.as_mut(), &opened.id, text).await;
                if let Some(keyboard) = keyboard.as_mut().filter(|_| watch.take_ask_gone()) {
                    // What is being typed answers something that is gone; the shell must not take it for a command.
                    keyboard.forget();
                }
                outcome.map(Exit::from)
            }
        };
        let ended = match ended {
            Err(Error::Client(roost_client::Error::Gone)) => return Err(Error::Lost(opened.id)),
            ended => ended?,
        };
        if !opened.was_live {
            self.release(&opened.id).await?;
        }
        if !self.args.json && !self.args.quiet && !watch.is_unread() {
            print_stderr(Style::for_stderr().dim(format_args!("roost log {}", opened.id)));
        }
        Ok(ended)
    }

    /// At a terminal everything is shown in its order; elsewhere stdout has the answer alone, as it was written.
    fn printer(&self, asks: bool, verbose: bool) -> Printer {
        if self.args.json {
            return Printer::new(OutputForm::Json);
        }
        let unfold = if asks { "`roost log --full` shows them" } else { "o and Enter shows them" };
        let is_terminal = screen::stdout_is_terminal();
        let show = Show {
            prompts: false,
            all: verbose,
            asks,
            full: false,
            quiet: self.args.quiet,
            unfold: Some(unfold),
            text: if is_terminal { TextForm::Terminal { margin: 0 } } else { TextForm::Source },
        };
        let form = |style: Style| OutputForm::People(Box::new(Renderer::new(style, show)));
        match is_terminal {
            true => Printer::new(form(Style::for_stdout())),
            false => Printer::with_notes_on_stderr(form(Style::for_stderr())),
        }
    }

    /// Gives the session a task and shows it until its end.
    async fn task(
        &self,
        watch: &mut Watch<'_>,
        keyboard: Option<&mut Keyboard>,
        session: &str,
        text: String,
    ) -> Result<TaskOutcome, Error> {
        let approver = match self.interaction.approvals {
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
                (Some(task), _) => WatchedTask::Task(task.into()),
                (None, prompt) => WatchedTask::Prompt(prompt.unwrap_or_default().into()),
            };
            watch.task(wanted, keyboard).await
        };
        let interrupted = async {
            self.interrupt.stop_requested().await;
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
        // A line that was not meant as a prompt, or may not have been: it is sent if somebody says so.
        let mut unsent = None;
        loop {
            if let Some(text) = next.take() {
                let outcome = self.task(watch, Some(&mut *keyboard), session, text).await?;
                if self.interrupt.reset() == StopRequest::Leave || watch.is_unread() {
                    return Ok(outcome.into());
                }
                unsent = watch.take_typed_ahead();
                if let Some(line) = &unsent {
                    watch.printer().say(format!("  Enter alone sends as a prompt: {}\n", one_line(line))).await?;
                }
            }
            watch.printer().prompt(PROMPT.into()).await?;
            let typed = tokio::select! {
                typed = keyboard.line() => typed,
                () = self.interrupt.stop_requested() => KeyboardInput::End,
            };
            match typed {
                KeyboardInput::End => {
                    watch.printer().say(String::new()).await?;
                    return Ok(Exit::Completed);
                }
                KeyboardInput::Line(line) if line.trim() == QUIT => return Ok(Exit::Completed),
                KeyboardInput::Line(line) => {
                    watch.printer().typed().await?;
                    if watch.unfold(&line).await? {
                        continue;
                    }
                    if line.trim().is_empty() {
                        next = unsent.take();
                    } else if watch.take_ask_gone() {
                        let why =
                            "what it may be an answer to is no longer asked; not sent. Enter alone sends as a prompt";
                        watch.printer().say(format!("  {why}: {}\n", one_line(&line))).await?;
                        unsent = Some(line);
                    } else {
                        (next, unsent) = (Some(line), None);
                    }
                }
            }
        }
    }

    /// A fork of a session, and its events from its start.
    async fn forked(&self, source: SessionInfo) -> Result<OpenedSession, Error> {
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
        Ok(OpenedSession {
            events: self.events(&fork.session_id, None).await?,
            cwd: fork.project_path.into(),
            is_new: false,
            is_demo: fork.agent_type == RuntimeName::Demo.id(),
            was_live: false,
            id: fork.session_id,
        })
    }

    /// The session to prompt, and its events from the prompt on, or from the start of a new one.
    async fn session(&self, has_prompt: bool, is_conversation: bool) -> Result<OpenedSession, Error> {
        let needs_prompt = |runtime: &str| match !has_prompt && !is_conversation && runtime != RuntimeName::Demo.id() {
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
            return Ok(OpenedSession {
                events: self.events(&info.session_id, None).await?,
                cwd: info.project_path.into(),
                is_new: false,
                is_demo: info.agent_type == RuntimeName::Demo.id(),
                was_live: info.status == "running",
                id: info.session_id,
            });
        }
        let registry = &client.greeting().capabilities.runtime_registry;
        let runtime = readiness::runtime(args, self.context, registry, has_prompt).await?;
        needs_prompt(&runtime)?;
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
        Ok(OpenedSession { events, cwd, is_new: true, is_demo: runtime == RuntimeName::Demo.id(), was_live: false, id })
    }

    async fn events(&self, session: &str, after: Option<String>) -> Result<Subscription, Error> {
        let params = SubscribeParams { after, sessions: Some(vec![session.into()]), ..SubscribeParams::default() };
        Ok(self.client.subscribe(params).await?)
    }
}

/// A session that is ready for a prompt, and its events.
struct OpenedSession {
    id: String,
    events: Subscription,
    cwd: PathBuf,
    is_new: bool,
    is_demo: bool,
    /// An agent ran for it before this command; then it is left running.
    was_live: bool,
}

/// Reads the prompt from stdin, up to [`MAX_PIPED`] bytes.
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

/// Polls the daemon's health. Warns once if the log waits for disk space; returns only if the log or the daemon is gone.
async fn warn_when_stalled(client: &Client) -> Error {
    let mut due = interval(HEALTH);
    let mut warned = false;
    loop {
        due.tick().await;
        match client.call::<method::DaemonStatusGet>(NoParams {}).await {
            Ok(status) => match status.log_health() {
                LogHealth::Failed(_) => return Error::LogFailed(status.log),
                LogHealth::Stalled(_) if !warned => {
                    print_stderr(format_args!(
                        "roost: waiting for space on the disk: {}; free some, or press Ctrl-C twice to leave",
                        status.log
                    ));
                    warned = true;
                }
                LogHealth::Ok | LogHealth::Stalled(_) => {}
            },
            Err(error @ roost_client::Error::Gone) => return error.into(),
            Err(error) => tracing::debug!(%error, "The daemon does not say how it is."),
        }
    }
}
