//! Watches a session while it works on a task, and asks whoever sits at the terminal.

use std::io;
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use roost_client::{Client, Subscription};
use roost_model::approval::Pending;
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::{ArtifactId, PromptId, TaskId};
use roost_model::payload::NoticeLevel;
use roost_model::session::TaskOutcome;
use roost_rpc::{ArtifactParams, SessionStopParams, StopWhat, method};
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::ask::{Asker, Reaction};
use crate::blocking::blocking;
use crate::error::Error;
use crate::keyboard::{Keyboard, KeyboardInput};
use crate::line::{self, EventLines};
use crate::printer::{OutputForm, Printer};
use crate::render::FRAME_MILLIS;
use crate::screen::{self, one_line};
use crate::style::Style;

/// Prints a session's events and asks the person at the terminal.
pub(crate) struct Watch<'a> {
    client: &'a Client,
    session: String,
    events: Subscription,
    printer: Printer,
    /// True after a broken pipe: nobody reads the output any more.
    unread: bool,
    /// Asks about approvals and questions here; `None` if somebody else answers them.
    asker: Option<Asker>,
    /// When the status line is drawn again; `None` where nobody sees it.
    redraw: Option<Interval>,
    /// Output is hidden that [`UNFOLD`] shows.
    is_folded: bool,
    /// What was asked last went away unanswered: the next line that is typed may be meant for it.
    is_ask_gone: bool,
    /// A line that was typed while nothing was asked; the next prompt of a conversation.
    typed_ahead: Option<String>,
    /// The session works on a task, as far as its events were shown.
    is_busy: bool,
    /// Events that were received and are not shown yet: a batch, and the index of the first of them.
    rest: Option<(EventLines, usize)>,
    /// Every event is shown, also those that say little.
    shows_all: bool,
}

/// Typed where no words are wanted, it shows output that was hidden.
pub(crate) const UNFOLD: &str = "o";

/// The task whose end is waited for.
pub(crate) enum WatchedTask {
    Task(TaskId),
    /// The task of a prompt that is still queued.
    Prompt(PromptId),
    /// Whatever the session works on, for somebody else.
    Any,
}

impl WatchedTask {
    /// The outcome, if this event ends the task. Learns the task's id when the queued prompt starts.
    fn ended(&mut self, event: &NormalizedEvent) -> Option<TaskOutcome> {
        if let (Self::Prompt(prompt), EventBody::TaskStarted(started)) = (&self, &event.body)
            && started.prompt_id.as_ref() == Some(prompt)
            && let Some(task) = &event.trace.task_id
        {
            *self = Self::Task(task.clone());
        }
        let is_ours = matches!(&self, Self::Task(task) if event.trace.task_id.as_ref() == Some(task));
        TaskOutcome::from_body(&event.body).filter(|_| is_ours)
    }
}

impl<'a> Watch<'a> {
    pub(crate) fn new(client: &'a Client, session: String, events: Subscription, printer: Printer) -> Self {
        Self {
            client,
            session,
            events,
            printer,
            unread: false,
            asker: None,
            redraw: None,
            is_folded: false,
            is_ask_gone: false,
            typed_ahead: None,
            is_busy: false,
            rest: None,
            shows_all: false,
        }
    }

    /// From now on every event counts as news at the prompt, because every event is shown.
    pub(crate) fn show_all(&mut self) {
        self.shows_all = true;
    }

    /// Takes note of what the session did before its events were followed.
    pub(crate) fn join(&mut self, is_busy: bool, pending: impl Iterator<Item = Pending>) {
        self.is_busy = is_busy;
        if let Some(asker) = &mut self.asker {
            pending.for_each(|pending| asker.add(pending));
        }
    }

    /// True if the session works, or if it did something that was not shown yet.
    pub(crate) fn has_news(&self) -> bool {
        self.is_busy || self.rest.is_some()
    }

    /// Waits until something happens that whoever sits at the prompt must see; [`Watch::follow`] shows it. Cancel safe.
    pub(crate) async fn wait_for_news(&mut self) -> Result<(), Error> {
        loop {
            let (lines, first) = next_lines(&mut self.events, &mut self.rest).await?;
            for line in &lines[first..] {
                if self.shows_all || is_news(line.event()?) {
                    self.rest = Some((lines, first));
                    return Ok(());
                }
            }
        }
    }

    /// Prints what happens until the session is idle. Not cancel safe, like [`Watch::task`].
    pub(crate) async fn follow(&mut self, keyboard: &mut Keyboard) -> Result<(), Error> {
        let mut keyboard = Some(keyboard);
        while self.has_news() && !self.unread {
            self.step(&mut WatchedTask::Any, &mut keyboard).await?;
        }
        Ok(())
    }

    /// From now on a line says what the session does and for how long.
    pub(crate) fn show_status(&mut self) {
        let mut redraw = interval(Duration::from_millis(FRAME_MILLIS));
        redraw.set_missed_tick_behavior(MissedTickBehavior::Delay);
        self.redraw = Some(redraw);
    }

    /// Shows hidden output if there is some and this line asks for it; else the line is for somebody else.
    pub(crate) async fn unfold(&mut self, line: &str) -> Result<bool, Error> {
        let is_wanted = self.is_folded && line.trim() == UNFOLD;
        if is_wanted {
            self.is_folded = false;
            self.printer.unfold().await?;
        }
        Ok(is_wanted)
    }

    /// True once if something that was asked here went away unanswered and no line was typed since.
    pub(crate) fn take_ask_gone(&mut self) -> bool {
        std::mem::take(&mut self.is_ask_gone)
    }

    /// The line that was typed while nothing was asked.
    pub(crate) fn take_typed_ahead(&mut self) -> Option<String> {
        self.typed_ahead.take()
    }

    /// From now on whoever sits here is asked about what this session wants to do in its directory.
    pub(crate) fn ask_here(&mut self, style: Style, cwd: &Path) {
        self.asker = Some(Asker::new(style, cwd));
    }

    /// The id of the session.
    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// The printer, for text that is no event's.
    pub(crate) fn printer(&self) -> &Printer {
        &self.printer
    }

    /// True if nobody reads the output any more.
    pub(crate) fn is_unread(&self) -> bool {
        self.unread
    }

    /// Prints what happens until the task has ended. Not cancel safe: who gives up, gives up the watch.
    pub(crate) async fn task(
        &mut self,
        mut wanted: WatchedTask,
        mut keyboard: Option<&mut Keyboard>,
    ) -> Result<TaskOutcome, Error> {
        loop {
            if let Some(outcome) = self.step(&mut wanted, &mut keyboard).await? {
                return Ok(outcome);
            }
        }
    }

    /// Waits for the next thing that happens or is typed, and deals with it. Tells how the task ended once it has.
    async fn step(
        &mut self,
        wanted: &mut WatchedTask,
        keyboard: &mut Option<&mut Keyboard>,
    ) -> Result<Option<TaskOutcome>, Error> {
        if let Some(keyboard) = keyboard {
            self.ask(keyboard).await?;
        }
        let is_asking = self.asker.as_ref().is_some_and(Asker::is_asking);
        // Otherwise what is typed stays with the terminal, for the next prompt or for the shell.
        let reads = is_asking || (self.is_folded || self.is_ask_gone) && self.typed_ahead.is_none();
        let words = self.asker.as_ref().filter(|asker| asker.wants_words()).and_then(Asker::prompt);
        // An editor has the screen until it is suspended.
        let edits = words.is_some() && keyboard.as_ref().is_some_and(|keyboard| keyboard.has_editor());
        let typed = async {
            match (&mut *keyboard, &words) {
                (Some(keyboard), Some(sign)) => keyboard.words(sign).await,
                (Some(keyboard), None) if reads => keyboard.line().await,
                _ => std::future::pending().await,
            }
        };
        let redraw = async {
            match &mut self.redraw {
                Some(redraw) if !edits => redraw.tick().await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            // An answer first: what it is about must not change under it.
            biased;
            typed = typed => self.on_typed(typed, is_asking).await?,
            next = next_lines(&mut self.events, &mut self.rest) => {
                let (lines, first) = next?;
                if let Some(keyboard) = keyboard.as_mut().filter(|_| edits) {
                    keyboard.suspend().await;
                }
                return self.show(&lines, first, wanted).await;
            }
            _ = redraw => self.printer.draw_status().await?,
        }
        Ok(None)
    }

    async fn on_typed(&mut self, typed: KeyboardInput, is_asking: bool) -> Result<(), Error> {
        let wants_words = self.asker.as_ref().is_some_and(Asker::wants_words);
        if let KeyboardInput::Line(_) = typed {
            self.printer.typed().await?;
        }
        match typed {
            KeyboardInput::Line(line) if !wants_words && self.unfold(&line).await? => Ok(()),
            typed if is_asking => self.answer(typed).await,
            KeyboardInput::Line(line) if line.trim().is_empty() => Ok(()),
            KeyboardInput::Line(line) => {
                let why = match self.take_ask_gone() {
                    true => "what it may be an answer to is no longer asked",
                    false => "nothing is asked now",
                };
                self.printer.say(format!("  {why}; not sent: {}\n", one_line(&line))).await?;
                self.typed_ahead = Some(line);
                Ok(())
            }
            // Ctrl-D while nothing is asked: nobody types here any more.
            KeyboardInput::End => {
                (self.is_folded, self.is_ask_gone) = (false, false);
                Ok(())
            }
        }
    }

    /// Prints events up to the task's last one; tells how it ended if it is among them. The others are kept, also those
    /// after the end of what is being asked: whoever types must be told of it before they read on.
    async fn show(
        &mut self,
        lines: &EventLines,
        first: usize,
        wanted: &mut WatchedTask,
    ) -> Result<Option<TaskOutcome>, Error> {
        let (mut outcome, mut end, mut is_ask_over) = (None, first, false);
        while end < lines.len() && outcome.is_none() && !is_ask_over {
            if lines[end].may_bound_task() {
                let event = lines[end].event()?;
                outcome = wanted.ended(event);
                self.note_task(event, wanted).await?;
            }
            if let Some(asker) = self.asker.as_ref().filter(|asker| asker.is_asking()) {
                is_ask_over = asker.is_resolved_by(lines[end].event()?);
            }
            end += 1;
        }
        match self.printer.print(lines, first..end).await {
            Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.unread = true;
                self.printer = Printer::new(OutputForm::Nothing);
                if outcome.is_none() && !matches!(wanted, WatchedTask::Any) {
                    // Nobody reads the output any more, so nobody wants the task to go on; its end is still to come.
                    stop(self.client, &self.session, StopWhat::Task, "nobody reads the output any more").await?;
                }
            }
            printed => self.is_folded = printed?,
        }
        self.note(&lines[first..end]).await?;
        if end < lines.len() {
            self.rest = Some((lines.clone(), end));
        }
        Ok(outcome)
    }

    /// Takes note of a task's start or end; says what it was asked if that was not here.
    async fn note_task(&mut self, event: &NormalizedEvent, wanted: &WatchedTask) -> Result<(), Error> {
        if TaskOutcome::from_body(&event.body).is_some() {
            self.is_busy = false;
        }
        let EventBody::TaskStarted(started) = &event.body else { return Ok(()) };
        self.is_busy = true;
        if !matches!(wanted, WatchedTask::Any) {
            return Ok(());
        }
        let prompt = started.messages.iter().map(|message| message.text()).collect::<Vec<_>>().join(" ");
        self.printer.say(format!("  asked elsewhere: {}\n", one_line(&prompt))).await
    }

    /// Takes note of what waits for an answer and of what no longer does.
    async fn note(&mut self, lines: &[line::EventLine]) -> Result<(), Error> {
        let Some(asker) = &mut self.asker else { return Ok(()) };
        let mut words = String::new();
        for line in lines {
            words.extend(asker.note(line.event()?));
        }
        if words.is_empty() {
            return Ok(());
        }
        self.is_ask_gone = true;
        self.printer.say(words).await
    }

    /// Shows what is to be answered next, or once more what is being answered.
    async fn ask(&mut self, keyboard: &mut Keyboard) -> Result<(), Error> {
        if let Some(mut asker) = self.asker.take_if(|asker| asker.is_due()) {
            if let Some(id) = asker.input_elsewhere()
                && let Ok(bytes) = artifact(self.client, &id).await
                && let Ok(input) = serde_json::from_slice(&bytes)
            {
                asker.put_input(input);
            }
            let (asker, begun) = blocking(move || {
                let begun = asker.begin();
                Ok((asker, begun))
            })
            .await?;
            self.asker = Some(asker);
            self.is_ask_gone = false;
            self.printer.say(begun.unwrap_or_default()).await?;
            keyboard.forget();
        }
        match self.asker.as_ref().and_then(|asker| Some((asker.prompt()?, asker.wants_words()))) {
            // The editor shows it by itself, in a line of its own.
            Some((_, true)) if keyboard.has_editor() => {
                self.printer.say(String::new()).await?;
                screen::clear_status();
                Ok(())
            }
            Some((prompt, _)) => self.printer.prompt(prompt).await,
            None => Ok(()),
        }
    }

    async fn answer(&mut self, typed: KeyboardInput) -> Result<(), Error> {
        let Some(mut asker) = self.asker.take() else { return Ok(()) };
        let (asker, reaction) = blocking(move || {
            let reaction = asker.answer(typed);
            Ok((asker, reaction))
        })
        .await?;
        self.asker = Some(asker);
        match reaction {
            Some(Reaction::Respond(response)) => match response.send(self.client, &self.session).await {
                // What it was about is over in another way, which the log tells.
                Err(roost_client::Error::Fault(fault)) => self.printer.say(format!("  {fault}\n")).await,
                answered => Ok(answered?),
            },
            Some(Reaction::Say(lines)) => self.printer.say(lines).await,
            None => Ok(()),
        }
    }
}

/// The events that are not shown yet, else the next ones. Cancel safe.
async fn next_lines(
    events: &mut Subscription,
    rest: &mut Option<(EventLines, usize)>,
) -> Result<(EventLines, usize), Error> {
    match rest.take() {
        Some(rest) => Ok(rest),
        None => Ok((line::batch(events.next().await?), 0)),
    }
}

/// True unless an event says nothing to whoever sits at the prompt of an idle session.
fn is_news(event: &NormalizedEvent) -> bool {
    match &event.body {
        EventBody::SessionCreated(_)
        | EventBody::SessionUpdated(_)
        | EventBody::SessionClosed(_)
        | EventBody::ModelInput(_)
        | EventBody::RuntimeRequestStarted(_)
        | EventBody::RuntimeRequestCompleted(_)
        | EventBody::UsageReported(_)
        | EventBody::Other { .. } => false,
        EventBody::RuntimeNotice(notice) => notice.level != NoticeLevel::Info && !event.is_unknown_message(),
        _ => true,
    }
}

/// Stops a session or its task; returns when it has ended.
pub(crate) async fn stop(client: &Client, session: &str, what: StopWhat, why: &str) -> Result<(), Error> {
    let (session_id, reason) = (session.into(), Some(why.into()));
    let params = SessionStopParams { session_id, what: Some(what), prompt_id: None, reason, agent_type: None };
    client.call::<method::SessionStop>(params).await?;
    Ok(())
}

/// Downloads an artifact: something that was too big for an event.
pub(crate) async fn artifact(client: &Client, id: &ArtifactId) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    loop {
        let params = ArtifactParams { artifact_id: id.to_string(), offset: Some(bytes.len() as u64), length: None };
        let piece = client.call::<method::ArtifactRead>(params).await?;
        match piece.encoding.as_str() {
            "base64" => {
                bytes.extend(BASE64.decode(&piece.content).map_err(|error| Error::Unreadable(error.to_string()))?)
            }
            _ => bytes.extend(piece.content.as_bytes()),
        }
        if piece.content.is_empty() || bytes.len() as u64 >= piece.size {
            return Ok(bytes);
        }
    }
}
