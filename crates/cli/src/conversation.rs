//! A conversation with a session: prompts are sent, work is shown, and what waits for an answer is asked.

mod commands;
mod recap;

use std::path::PathBuf;
use std::time::Duration;

use roost_client::{Client, Subscription};
use roost_model::mode::{AnyMode, Mode};
use roost_model::session::TaskOutcome;
use roost_rpc::{
    AgentCommandsParams, LogHealth, NoParams, PendingParams, Presence, PromptImage, SessionParams, SessionSendParams,
    SessionState, StopWhat, method,
};
use tokio::time::{interval, timeout};

use crate::blocking::blocking;
use crate::cli::Context;
use crate::editor::{LineEditor, PROMPT, PromptCommand, PromptCompleter, PromptHistory, mentioned_files};
use crate::error::Error;
use crate::exit::Exit;
use crate::interrupt::{Interrupt, StopRequest};
use crate::keyboard::{Keyboard, KeyboardInput};
use crate::screen::{self, one_line};
use crate::stderr::print_stderr;
use crate::style::Style;
use crate::watch::{Watch, WatchedTask, stop};
use commands::OwnCommand;
pub(crate) use recap::{headline, recap};

/// How often the daemon is asked whether it can record what happens.
const HEALTH: Duration = Duration::from_secs(1);
/// How long the first prompt waits for the agent's commands, which only its completion needs.
const COMMANDS: Duration = Duration::from_secs(1);

/// A session that is ready for a prompt, and its events.
pub(crate) struct OpenedSession {
    pub(crate) id: String,
    pub(crate) events: Subscription,
    pub(crate) cwd: PathBuf,
    pub(crate) is_new: bool,
    pub(crate) is_demo: bool,
    /// An agent ran for it before this command; then it is left running.
    pub(crate) was_live: bool,
}

/// What is sent along with prompts.
pub(crate) struct PromptOptions {
    /// Whether somebody will answer what the agent asks.
    pub(crate) approver: Presence,
    pub(crate) mode: Option<Mode>,
    pub(crate) model: Option<String>,
    /// Images of the first prompt; taken when it is sent.
    pub(crate) images: Option<Vec<PromptImage>>,
    /// Files of the first prompt; taken when it is sent.
    pub(crate) files: Option<Vec<String>>,
}

/// One conversation, from its first prompt or from what the session does already.
pub(crate) struct Conversation<'a> {
    client: &'a Client,
    interrupt: &'a Interrupt,
    watch: Watch<'a>,
    options: PromptOptions,
    session: String,
    cwd: PathBuf,
    history: PromptHistory,
}

/// What ended the wait at the prompt.
enum AtPrompt {
    Input(KeyboardInput),
    /// The session does something that nobody here asked for; it has not been shown yet.
    News,
}

impl<'a> Conversation<'a> {
    pub(crate) fn new(
        context: &Context,
        client: &'a Client,
        interrupt: &'a Interrupt,
        watch: Watch<'a>,
        options: PromptOptions,
        cwd: PathBuf,
    ) -> Self {
        let (history, session) = (PromptHistory::new(&context.state, &cwd), watch.session().to_owned());
        Self { client, interrupt, watch, options, session, cwd, history }
    }

    /// Takes note of what a session did before it was watched: what waits for an answer is asked first.
    pub(crate) async fn join(&mut self, state: &SessionState) -> Result<(), Error> {
        let params = PendingParams { session_id: Some(self.session.clone()) };
        let pending = self.client.call::<method::PermissionPending>(params).await?.requests;
        self.watch.join(state.is_running, pending.into_iter().map(|request| request.pending));
        Ok(())
    }

    /// Prints whole lines that are no event's.
    pub(crate) async fn say(&self, lines: String) -> Result<(), Error> {
        self.watch.printer().say(lines).await
    }

    /// True if nobody reads the output any more.
    pub(crate) fn is_unread(&self) -> bool {
        self.watch.is_unread()
    }

    /// Opens the keyboard for prompts, with an editor if the terminal is good enough for one.
    pub(crate) async fn open_keyboard(&self, state: &SessionState, style: Style) -> Result<Keyboard, Error> {
        if !LineEditor::is_possible() {
            return Keyboard::open(None).map_err(Error::Start);
        }
        let mut commands = commands::completions();
        commands.extend(self.agent_commands(state).await);
        let completer = PromptCompleter::new(self.cwd.clone(), commands);
        let editor = LineEditor::new(self.history.clone(), completer, style.colours());
        Keyboard::open(Some(editor)).map_err(Error::Start)
    }

    /// The commands of the session's agent; none if they are not known soon.
    async fn agent_commands(&self, state: &SessionState) -> Vec<PromptCommand> {
        let params =
            AgentCommandsParams { session_id: Some(state.session_id.clone()), ..AgentCommandsParams::default() };
        let Ok(Ok(listed)) = timeout(COMMANDS, self.client.call::<method::AgentCommands>(params)).await else {
            return Vec::new();
        };
        let commands = listed.commands.iter().map(|command| PromptCommand {
            name: one_line(&command.name).into_owned(),
            description: one_line(command.description.as_deref().unwrap_or_default()).into_owned(),
        });
        commands.collect()
    }

    /// Gives the session a task and shows it until its end. Ctrl-C stops the task.
    pub(crate) async fn prompt(&mut self, keyboard: Option<&mut Keyboard>, text: String) -> Result<TaskOutcome, Error> {
        let params = SessionSendParams {
            prompt: text,
            session_id: Some(self.session.clone()),
            workspace_id: None,
            mode: None,
            permission_mode: self.options.mode.map(AnyMode),
            yolo_mode: None,
            agent_type: None,
            approver: Some(self.options.approver),
            model: self.options.model.clone(),
            images: self.options.images.take(),
            files: self.options.files.take(),
            delivery: None,
            key: None,
        };
        let (client, watch, session) = (self.client, &mut self.watch, &self.session);
        let work = async {
            let sent = client.call::<method::SessionSend>(params).await?;
            let wanted = match (sent.task_id, sent.prompt_id) {
                (Some(task), _) => WatchedTask::Task(task.into()),
                (None, prompt) => WatchedTask::Prompt(prompt.unwrap_or_default().into()),
            };
            watch.task(wanted, keyboard).await
        };
        let interrupted = async {
            self.interrupt.stop_requested().await;
            // Whatever comes of it, the watch sees the task's end.
            let _ = stop(client, session, StopWhat::Task, "interrupted").await;
            std::future::pending().await
        };
        tokio::select! {
            outcome = work => outcome,
            error = warn_when_stalled(client) => Err(error),
            outcome = interrupted => outcome,
        }
    }

    /// Shows what the session does, which nobody here asked for, until it is idle. False if whoever watches left.
    async fn follow(&mut self, keyboard: &mut Keyboard) -> Result<bool, Error> {
        tokio::select! {
            idle = self.watch.follow(keyboard) => return idle.map(|()| true),
            error = warn_when_stalled(self.client) => return Err(error),
            () = self.interrupt.stop_requested() => {}
        }
        // What is being typed answers something that is asked no more here.
        keyboard.forget();
        let id = &self.session;
        let left = format!("  left; the agent goes on. `roost attach {id}` comes back, `roost stop {id}` stops it\n");
        self.say(left).await?;
        Ok(false)
    }

    /// Takes one prompt after the other until whoever types them leaves.
    pub(crate) async fn converse(&mut self, keyboard: &mut Keyboard, tour: bool) -> Result<Exit, Error> {
        let mut next = tour.then(String::new);
        // A line that was not meant as a prompt, or may not have been: it is sent if somebody says so.
        let mut unsent = None;
        loop {
            if let Some(text) = next.take() {
                match self.prompt(Some(&mut *keyboard), text).await {
                    // Nothing was sent; another prompt, mode or model may do.
                    Err(Error::Client(roost_client::Error::Fault(fault))) => self.say(format!("  {fault}\n")).await?,
                    outcome => {
                        let outcome = outcome?;
                        if self.interrupt.reset() == StopRequest::Leave || self.watch.is_unread() {
                            return Ok(outcome.into());
                        }
                    }
                }
            } else if self.watch.has_news() && (!self.follow(keyboard).await? || self.watch.is_unread()) {
                return Ok(Exit::Completed);
            }
            if let Some(line) = self.watch.take_typed_ahead() {
                self.say(format!("  Enter alone sends as a prompt: {}\n", one_line(&line))).await?;
                unsent = Some(line);
            }
            let line = match self.at_prompt(keyboard).await? {
                AtPrompt::News => continue,
                AtPrompt::Input(KeyboardInput::End) => {
                    self.say(String::new()).await?;
                    return Ok(Exit::Completed);
                }
                AtPrompt::Input(KeyboardInput::Line(line)) => line,
            };
            self.watch.printer().typed().await?;
            if self.watch.unfold(&line).await? {
                continue;
            }
            match OwnCommand::parse(&line) {
                Some(OwnCommand::Quit) => return Ok(Exit::Completed),
                Some(command) => {
                    let said = self.carry_out(command);
                    self.say(said).await?;
                }
                None if line.trim().is_empty() => next = unsent.take(),
                None if self.watch.take_ask_gone() => {
                    let why = "what it may be an answer to is no longer asked; not sent. Enter alone sends as a prompt";
                    self.say(format!("  {why}: {}\n", one_line(&line))).await?;
                    unsent = Some(line);
                }
                None => {
                    self.note_typed(&line).await?;
                    (next, unsent) = (Some(line), None);
                }
            }
        }
    }

    /// Waits for a prompt, or for something that happens meanwhile.
    async fn at_prompt(&mut self, keyboard: &mut Keyboard) -> Result<AtPrompt, Error> {
        match keyboard.has_editor() {
            // The editor shows its sign by itself, in a line of its own.
            true => self.watch.printer().say(String::new()).await?,
            false => self.watch.printer().prompt(PROMPT.into()).await?,
        }
        screen::clear_status();
        let ended = tokio::select! {
            biased;
            typed = keyboard.prompt() => return Ok(AtPrompt::Input(typed)),
            woken = self.watch.wait_for_news() => woken.map(|()| AtPrompt::News),
            () = self.interrupt.stop_requested() => Ok(AtPrompt::Input(KeyboardInput::End)),
        };
        keyboard.suspend().await;
        ended
    }

    /// Remembers a prompt that is about to be sent, and finds the files that it mentions.
    async fn note_typed(&mut self, line: &str) -> Result<(), Error> {
        let (history, cwd, line) = (self.history.clone(), self.cwd.clone(), line.to_owned());
        let mentioned = blocking(move || {
            if let Err(error) = history.add(&line) {
                tracing::debug!(%error, "The prompt is not in the history.");
            }
            Ok(mentioned_files(&cwd, &line))
        })
        .await?;
        if !mentioned.is_empty() {
            self.options.files.get_or_insert_default().extend(mentioned);
        }
        Ok(())
    }

    /// Carries out a command that is not the agent's; returns what to say about it.
    fn carry_out(&mut self, command: OwnCommand) -> String {
        match command {
            OwnCommand::Help | OwnCommand::Quit => commands::HELP.into(),
            OwnCommand::Mode(mode) => match mode.parse::<Mode>() {
                Ok(mode) => {
                    self.options.mode = Some(mode);
                    format!("  permission mode {mode} from the next prompt on\n")
                }
                Err(_) => "  type /mode with one of: plan, ask, accept-edits, auto, yolo\n".into(),
            },
            OwnCommand::Model(model) if model.is_empty() => {
                "  type /model with the name of a model, as the agent calls it\n".into()
            }
            OwnCommand::Model(model) => {
                let said = format!("  model {} from the next prompt on\n", one_line(&model));
                self.options.model = Some(model);
                said
            }
        }
    }

    /// Ends the session's agent, which began to run for this command, unless it works for somebody else by now.
    pub(crate) async fn release(&self) -> Result<(), Error> {
        let state = session_state(self.client, &self.session).await?;
        if state.is_running || !state.queue.is_empty() || !state.viewers.is_empty() {
            return Ok(());
        }
        stop(self.client, &self.session, StopWhat::Session, "roost run ended").await
    }

    /// Drops what is being typed if it answers something that is gone; the shell must not take it for a command.
    pub(crate) fn forget_late_answer(&mut self, keyboard: &mut Keyboard) {
        if self.watch.take_ask_gone() {
            keyboard.forget();
        }
    }
}

/// Asks the daemon how a session is.
pub(crate) async fn session_state(client: &Client, session: &str) -> Result<SessionState, Error> {
    let params = SessionParams { session_id: session.into(), agent_type: None };
    Ok(client.call::<method::SessionStateGet>(params).await?)
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
