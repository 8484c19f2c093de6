//! Prints events on stdout, as stored or for people.

use std::io::{self, BufWriter, Stdout, Write};

use roost_log::{Batch, Entry};

use crate::error::Error;
use crate::render::Renderer;

/// Enough for a whole batch of small events in one system call.
const BUFFER: usize = 256 << 10;

/// How events are printed.
pub(crate) enum Form {
    /// One line of JSON each, exactly as stored.
    Json,
    /// As a conversation.
    People(Box<Renderer>),
}

/// Prints events on stdout.
pub(crate) struct Printer {
    out: BufWriter<Stdout>,
    form: Form,
}

impl Printer {
    pub(crate) fn new(form: Form) -> Self {
        Self { out: BufWriter::with_capacity(BUFFER, io::stdout()), form }
    }

    /// Prints a batch until `last` gives an answer, on a thread that may wait for the reader.
    pub(crate) async fn print<T, L>(mut self, batch: Batch, mut last: L) -> Result<(Self, L, Option<T>), Error>
    where
        T: Send + 'static,
        L: FnMut(Entry<'_>) -> Result<Option<T>, Error> + Send + 'static,
    {
        let print = move || {
            for entry in batch.iter() {
                self.entry(entry)?;
                if let Some(answer) = last(entry)? {
                    self.out.flush().map_err(Error::Output)?;
                    return Ok((self, last, Some(answer)));
                }
            }
            self.out.flush().map_err(Error::Output)?;
            Ok((self, last, None))
        };
        crate::compose::blocking(print).await
    }

    fn entry(&mut self, entry: Entry<'_>) -> Result<(), Error> {
        let written = match &mut self.form {
            Form::Json => self.out.write_all(entry.json().as_bytes()).and_then(|()| self.out.write_all(b"\n")),
            Form::People(renderer) => renderer.event(&mut self.out, entry.event()?),
        };
        written.map_err(Error::Output)
    }
}
