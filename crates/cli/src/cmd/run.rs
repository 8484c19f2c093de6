//! `roost run`: a prompt to a session, or a conversation with it, shown while it is worked on.

mod args;
mod readiness;

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::thread;

use roost_client::{Client, Subscription};
use roost_model::mode::AnyMode;
use roost_model::runtime::RuntimeName;
use roost_rpc::{
    DeleteParams, KeptBy, Presence, PromptImage, SessionForkParams, SessionInfo, SessionListParams, SessionStartParams,
    StartMode, SubscribeParams, method,
};
use tokio::sync::oneshot;

use crate::cli::Context;
use crate::connect;
use crate::conversation::{Conversation, OpenedSession, PromptOptions, headline, recap, session_state};
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::interrupt::Interrupt;
use crate::keyboard::Keyboard;
use crate::paths::working_directory;
use crate::printer::{OutputForm, Printer};
use crate::render::{Renderer, Show, TextForm};
use crate::screen;
use crate::stderr::print_stderr;
use crate::style::Style;
use crate::watch::Watch;
pub(crate) use args::Args;
use args::{Approvals, Interaction};

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
    Run { args, context, interaction, client: &client, interrupt: &interrupt }.run(text, context.verbose > 0).await
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
}

impl Run<'_> {
    async fn run(&self, text: String, verbose: bool) -> Result<Exit, Error> {
        let options = self.options()?;
        let is_conversation = text.trim().is_empty() && self.interaction.is_terminal;
        let opened = self.session(!text.trim().is_empty(), is_conversation).await?;
        let state = session_state(self.client, &opened.id).await?;
        if !self.args.json && !self.args.quiet {
            print_stderr(Style::for_stderr().dim(headline(&state)));
        }
        let style = Style::for_stdout();
        let asks = self.interaction.approvals != Approvals::Prompt;
        let mut watch = Watch::new(self.client, opened.id.clone(), opened.events, self.printer(asks, verbose));
        if !asks {
            watch.ask_here(style, &opened.cwd);
        }
        if verbose {
            watch.show_all();
        }
        if self.interaction.is_terminal && screen::can_show_status() {
            watch.show_status();
        }
        let mut conversation = Conversation::new(self.context, self.client, self.interrupt, watch, options, opened.cwd);
        if !opened.is_new {
            conversation.join(&state).await?;
        }
        let ended = if is_conversation {
            if !opened.is_new {
                conversation.say(recap(self.client, style, &state).await?).await?;
            }
            let mut keyboard = conversation.open_keyboard(&state, style).await?;
            conversation.converse(&mut keyboard, opened.is_new && opened.is_demo).await
        } else {
            let mut keyboard = match asks {
                true => None,
                false => Some(Keyboard::open(None).map_err(Error::Start)?),
            };
            let outcome = conversation.prompt(keyboard.as_mut(), text).await;
            if let Some(keyboard) = &mut keyboard {
                conversation.forget_late_answer(keyboard);
            }
            outcome.map(Exit::from)
        };
        let ended = match ended {
            Err(Error::Client(roost_client::Error::Gone)) => return Err(Error::Lost(opened.id)),
            Err(error @ Error::Client(roost_client::Error::Fault(_))) if opened.is_new => {
                self.remove(&conversation, &opened.id).await;
                return Err(error);
            }
            ended => ended?,
        };
        if !opened.was_live {
            conversation.release().await?;
        }
        if !self.args.json && !self.args.quiet && !conversation.is_unread() {
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

    fn options(&self) -> Result<PromptOptions, Error> {
        Ok(PromptOptions {
            approver: match self.interaction.approvals {
                Approvals::Prompt | Approvals::Wait => Presence::Present,
                Approvals::Deny => Presence::Nobody,
            },
            mode: self.args.permission_mode,
            model: self.args.model.clone(),
            images: paths(&self.args.image)?.map(|all| all.into_iter().map(image).collect()),
            files: paths(&self.args.file)?,
        })
    }

    /// Removes a session that was made for a prompt which was refused, such as one with an image that is none.
    async fn remove(&self, conversation: &Conversation<'_>, session: &str) {
        // The refusal is what the user must read; a session that stays is listed and can be used.
        if let Err(error) = conversation.release().await {
            tracing::debug!(%error, "The agent of a refused prompt was not stopped.");
        }
        let params = DeleteParams { session_id: Some(session.into()), workspace_id: None, agent_type: None };
        if let Err(error) = self.client.call::<method::SessionDelete>(params).await {
            tracing::debug!(%error, "The session of a refused prompt was not removed.");
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
