//! Prints events, as stored or for people.

use std::io::{self, BufWriter, Stderr, Stdout, Write};
use std::ops::Range;
use std::sync::Arc;

use jiff::tz::TimeZone;
use parking_lot::Mutex;
use roost_model::time::Timestamp;
use roost_rpc::conversation::Message;

use crate::blocking::blocking;
use crate::error::Error;
use crate::gutter::Gutter;
use crate::line::{EventLine, EventLines};
use crate::render::{ConversationSink, Renderer};
use crate::screen::{self, Screen, Unfailing};
use crate::style::Style;

/// Enough for a whole batch of small events in one system call.
const BUFFER: usize = 256 << 10;

/// The form in which events are printed.
pub(crate) enum OutputForm {
    /// One line of JSON each, exactly as stored.
    Json,
    /// As a conversation that people read.
    People(Box<Renderer>),
    /// Not at all, because nobody reads any more.
    Nothing,
}

/// Prints events, always on a thread that may wait for the reader.
pub(crate) struct Printer(Arc<Mutex<Page>>);

struct Page {
    out: Streams,
    form: OutputForm,
    /// The margin with times and numbers, in a log for people.
    gutter: Option<Gutter>,
}

/// Stdout, and stderr where answers are to be alone on stdout.
struct Streams {
    stdout: Screen<BufWriter<Stdout>>,
    notes: Option<Screen<BufWriter<Unfailing<Stderr>>>>,
}

/// Before one stream is written the other one is flushed, because both may lead to the same place.
impl ConversationSink for Streams {
    fn answer(&mut self) -> io::Result<&mut dyn Write> {
        self.notes.as_mut().map_or(Ok(()), Write::flush)?;
        Ok(&mut self.stdout)
    }

    fn notes(&mut self) -> io::Result<&mut dyn Write> {
        match &mut self.notes {
            Some(notes) => {
                self.stdout.flush()?;
                Ok(notes)
            }
            None => Ok(&mut self.stdout),
        }
    }

    fn is_apart(&self) -> bool {
        self.notes.is_some()
    }
}

impl Streams {
    fn flush(&mut self) -> io::Result<()> {
        self.notes.as_mut().map_or(Ok(()), Write::flush)?;
        self.stdout.flush()
    }
}

impl Printer {
    /// A printer of everything on stdout.
    pub(crate) fn new(form: OutputForm) -> Self {
        let out = Streams { stdout: screen::buffered_stdout(BUFFER), notes: None };
        Self(Arc::new(Mutex::new(Page { out, form, gutter: None })))
    }

    /// A printer of answers on stdout and of everything else on stderr.
    pub(crate) fn with_notes_on_stderr(form: OutputForm) -> Self {
        let out = Streams { stdout: screen::buffered_stdout(BUFFER), notes: Some(screen::buffered_stderr(BUFFER)) };
        Self(Arc::new(Mutex::new(Page { out, form, gutter: None })))
    }

    /// A printer of everything on stdout, with the time and the number of each event before it.
    pub(crate) fn with_gutter(form: OutputForm, style: Style) -> Self {
        let out = Streams { stdout: screen::buffered_stdout(BUFFER), notes: None };
        let gutter = Some(Gutter::new(style, TimeZone::system()));
        Self(Arc::new(Mutex::new(Page { out, form, gutter })))
    }

    /// Prints some events of a batch. True if output is hidden by now that [`Printer::unfold`] shows.
    pub(crate) async fn print(&self, lines: &EventLines, range: Range<usize>) -> Result<bool, Error> {
        let lines = lines.clone();
        self.write(move |page| {
            lines[range].iter().try_for_each(|line| page.line(line))?;
            page.settle().map_err(Error::Output)?;
            Ok(matches!(&page.form, OutputForm::People(renderer) if renderer.is_folded()))
        })
        .await
    }

    /// Prints messages that an agent keeps of a conversation.
    pub(crate) async fn messages(&self, messages: Vec<Message>) -> Result<(), Error> {
        self.write(move |page| {
            let written = messages.iter().try_for_each(|message| match &mut page.form {
                OutputForm::Json => page.out.stdout.json(message),
                OutputForm::People(renderer) => match &mut page.gutter {
                    Some(gutter) => {
                        gutter.begin(message.id, message.timestamp);
                        renderer.message(&mut gutter.of(&mut page.out.stdout), message)
                    }
                    None => renderer.message(&mut page.out, message),
                },
                OutputForm::Nothing => Ok(()),
            });
            written.map_err(Error::Output)
        })
        .await
    }

    /// Shows what was held back of a text that has not ended; people only.
    pub(crate) async fn finish(&self) -> Result<(), Error> {
        self.write(|page| match (&mut page.form, &mut page.gutter) {
            (OutputForm::People(renderer), Some(gutter)) => {
                renderer.finish_text(&mut gutter.of(&mut page.out.stdout)).map_err(Error::Output)
            }
            (OutputForm::People(renderer), None) => renderer.finish_text(&mut page.out).map_err(Error::Output),
            (OutputForm::Json | OutputForm::Nothing, _) => Ok(()),
        })
        .await
    }

    /// Shows the output that was hidden; people only.
    pub(crate) async fn unfold(&self) -> Result<(), Error> {
        self.for_people(|renderer, out| renderer.unfold(out)).await
    }

    /// Draws the line that says what happens now, if no other line is open; people at a terminal only.
    pub(crate) async fn draw_status(&self) -> Result<(), Error> {
        self.for_people(|renderer, out| match renderer.status(Timestamp::now()) {
            Some(line) => out.stdout.status(&line),
            None => Ok(()),
        })
        .await
    }

    /// Prints whole lines that are no event's, after the end of the one that is open; people only.
    pub(crate) async fn say(&self, lines: String) -> Result<(), Error> {
        self.for_people(move |renderer, out| renderer.say(out, &lines)).await
    }

    /// Prints what somebody is to type behind, unless it is there already; people only.
    pub(crate) async fn prompt(&self, prompt: String) -> Result<(), Error> {
        self.for_people(move |renderer, out| renderer.prompt(out, &prompt)).await
    }

    /// Must be called after a line was typed behind the prompt, so that the next text begins on a new line.
    pub(crate) async fn typed(&self) -> Result<(), Error> {
        self.for_people(|renderer, _| {
            renderer.typed();
            Ok(())
        })
        .await
    }

    async fn for_people(
        &self,
        work: impl FnOnce(&mut Renderer, &mut Streams) -> io::Result<()> + Send + 'static,
    ) -> Result<(), Error> {
        self.write(|page| match &mut page.form {
            OutputForm::Json | OutputForm::Nothing => Ok(()),
            OutputForm::People(renderer) => work(renderer, &mut page.out).map_err(Error::Output),
        })
        .await
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Page) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let page = self.0.clone();
        blocking(move || {
            let mut page = page.lock();
            let done = work(&mut page)?;
            page.out.flush().map_err(Error::Output)?;
            Ok(done)
        })
        .await
    }
}

impl Page {
    /// Writes what can be shown of a text that has not ended.
    fn settle(&mut self) -> io::Result<()> {
        match (&mut self.form, &mut self.gutter) {
            (OutputForm::People(renderer), Some(gutter)) => renderer.settle(&mut gutter.of(&mut self.out.stdout)),
            (OutputForm::People(renderer), None) => renderer.settle(&mut self.out),
            (OutputForm::Json | OutputForm::Nothing, _) => Ok(()),
        }
    }

    fn line(&mut self, line: &EventLine) -> Result<(), Error> {
        let written = match &mut self.form {
            OutputForm::Json => self.out.stdout.json_line(line.json()),
            OutputForm::People(renderer) => {
                let event = line.event()?;
                match &mut self.gutter {
                    Some(gutter) => {
                        if !renderer.continues(event) {
                            renderer.settle(&mut gutter.of(&mut self.out.stdout)).map_err(Error::Output)?;
                            gutter.begin(event.seq, event.time);
                        }
                        renderer.event(&mut gutter.of(&mut self.out.stdout), event)
                    }
                    None => renderer.event(&mut self.out, event),
                }
            }
            OutputForm::Nothing => Ok(()),
        };
        written.map_err(Error::Output)
    }
}
