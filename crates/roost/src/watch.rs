//! Watches a session while it works on a task, and asks whoever sits at the terminal.

use std::path::Path;

use roost_engine::Response;
use roost_log::{Batch, Entry, Follower};
use roost_proto::event::EventBody;
use roost_proto::ids::{PromptId, SessionId, TaskId};
use roost_proto::session::TaskOutcome;

use crate::ask::{Asker, Reaction};
use crate::compose::{Roost, blocking};
use crate::error::Error;
use crate::keyboard::{Keyboard, Typed};
use crate::printer::Printer;
use crate::style::Style;

/// What a session does, on its way to the screen.
pub(crate) struct Watch<'a> {
    roost: &'a Roost,
    session: SessionId,
    follower: Follower,
    printer: Printer,
    /// Whoever sits here is asked; nobody is if this is absent.
    asker: Option<Asker>,
}

/// The task whose end is waited for.
pub(crate) enum Wanted {
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

impl<'a> Watch<'a> {
    pub(crate) fn new(roost: &'a Roost, session: SessionId, follower: Follower, printer: Printer) -> Self {
        Self { roost, session, follower, printer, asker: None }
    }

    /// From now on whoever sits here is asked about what this session wants to do in its directory.
    pub(crate) fn ask_here(&mut self, style: Style, cwd: &Path) {
        self.asker = Some(Asker::new(style, cwd));
    }

    /// Where everything is printed.
    pub(crate) fn printer(&self) -> &Printer {
        &self.printer
    }

    /// Prints what happens until the task has ended. Not cancel safe: who gives up, gives up the watch.
    pub(crate) async fn task(
        &mut self,
        mut wanted: Wanted,
        keyboard: Option<&mut Keyboard>,
    ) -> Result<TaskOutcome, Error> {
        let mut keyboard = keyboard;
        let mut last = move |entry: Entry<'_>| wanted.ended(entry);
        loop {
            if let Some(keyboard) = &mut keyboard {
                self.ask(keyboard).await?;
            }
            let is_asking = self.asker.as_ref().is_some_and(Asker::is_asking);
            let typed = async {
                match &mut keyboard {
                    Some(keyboard) if is_asking => keyboard.line().await,
                    _ => std::future::pending().await,
                }
            };
            tokio::select! {
                // An answer first: what it is about must not change under it.
                biased;
                typed = typed => self.answer(typed).await?,
                batch = self.follower.next() => {
                    let batch = batch?;
                    let outcome;
                    (last, outcome) = self.printer.print(batch.clone(), last).await?;
                    self.note(&batch).await?;
                    if let Some(outcome) = outcome {
                        return Ok(outcome);
                    }
                }
            }
        }
    }

    /// Takes note of what waits for an answer and of what no longer does.
    async fn note(&mut self, batch: &Batch) -> Result<(), Error> {
        let Some(asker) = &mut self.asker else { return Ok(()) };
        let mut lines = String::new();
        for entry in batch.iter() {
            lines.extend(asker.note(entry.event()?));
        }
        if lines.is_empty() { Ok(()) } else { self.printer.say(lines).await }
    }

    /// Shows what is to be answered next, or once more what is being answered.
    async fn ask(&mut self, keyboard: &mut Keyboard) -> Result<(), Error> {
        if let Some(mut asker) = self.asker.take_if(|asker| asker.is_due()) {
            if let Some(id) = asker.input_elsewhere()
                && let Ok(bytes) = self.roost.engine.artifacts().get(&id).await
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
            self.printer.say(begun.unwrap_or_default()).await?;
            keyboard.forget();
        }
        match self.asker.as_ref().and_then(Asker::prompt) {
            Some(prompt) => self.printer.prompt(prompt).await,
            None => Ok(()),
        }
    }

    async fn answer(&mut self, typed: Typed) -> Result<(), Error> {
        let Some(mut asker) = self.asker.take() else { return Ok(()) };
        if let Typed::Line(_) = typed {
            self.printer.typed().await?;
        }
        let (asker, reaction) = blocking(move || {
            let reaction = asker.answer(typed);
            Ok((asker, reaction))
        })
        .await?;
        self.asker = Some(asker);
        match reaction {
            Some(Reaction::Respond(to)) => {
                let response = Response { to, by: Asker::answerer(), key: None };
                match self.roost.engine.respond(self.session.as_str(), response).await {
                    Ok(()) => Ok(()),
                    // What it was about is over in another way, which the log tells.
                    Err(error) => self.printer.say(format!("  {error}\n")).await,
                }
            }
            Some(Reaction::Say(lines)) => self.printer.say(lines).await,
            None => Ok(()),
        }
    }
}
