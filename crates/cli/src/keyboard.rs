//! Reads what is typed at the terminal: lines, and prompts with an editor.
//!
//! A thread reads, because a terminal that is shared with others cannot be made non-blocking. It reads only while a line
//! is wanted: what is typed otherwise stays with the terminal, for the next one who wants a line or for the shell.

use std::io::{self, IsTerminal, Stdin};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as wants;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

use crate::editor::{Edited, LineEditor};
use crate::screen;
use crate::typed::clean;

/// The most that a terminal gives at once.
const CHUNK: usize = 4096;
/// Polls without waiting.
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// How soon the next line of a paste comes, 20 ms: nobody types a line so fast.
const NEXT_PASTED_LINE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Input from the terminal, read by a thread on demand.
pub(crate) struct Keyboard {
    inputs: mpsc::Receiver<(Instant, Read)>,
    want: Option<wants::SyncSender<(Want, Arc<AtomicBool>)>>,
    /// What the thread is reading, for a caller who may have given up meanwhile.
    reading: Option<Reading>,
    /// A line that came while reading was ended; the next caller gets it.
    early: Option<(Instant, KeyboardInput)>,
    /// What had been typed when a prompt was interrupted; the next prompt begins with it.
    draft: String,
    /// The same of an answer in words, until something else is asked.
    words_draft: String,
    /// What stands before an answer in words.
    words_sign: String,
    /// Lines that were begun before this are dropped.
    since: Instant,
    /// A byte makes the thread look whether it is to stop, closing it ends the thread.
    wake: Option<OwnedFd>,
    /// Set when what the thread reads now is not wanted any more. Each read has its own, so that none is stopped by what
    /// was meant for another.
    cancel: Arc<AtomicBool>,
    has_editor: bool,
    reader: Option<JoinHandle<()>>,
}

/// The terminal's settings before the first editor changed them.
static SETTINGS: OnceLock<Termios> = OnceLock::new();

/// Puts the terminal back as it was, for a process that ends at once while a prompt is edited.
pub(crate) fn restore_terminal() {
    if let Some(settings) = SETTINGS.get() {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, settings);
        screen::end_paste_marks();
    }
}

/// A line from the terminal, or its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyboardInput {
    /// The text, without its line end and without escape sequences. Prompts and words can have several lines.
    Line(String),
    /// Ctrl-D, or the terminal is gone.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Line,
    Words,
    Prompt,
}

/// What the thread is to read.
enum Want {
    Line,
    /// An answer that begins with this text, and what stands before it.
    Words {
        sign: String,
        draft: String,
    },
    /// A prompt that begins with this text.
    Prompt(String),
}

/// What the thread has read.
enum Read {
    Input(KeyboardInput),
    /// It was told to stop; the text is what a prompt or an answer consisted of by then.
    Cancelled(String),
    /// Ctrl-C in an answer, which the process was told of by a signal.
    Interrupted,
}

impl Keyboard {
    /// True if stdin and stdout are a terminal.
    pub(crate) fn is_there() -> bool {
        io::stdin().is_terminal() && screen::stdout_is_terminal()
    }

    /// Without an editor, prompts are read as lines.
    pub(crate) fn open(editor: Option<LineEditor>) -> io::Result<Self> {
        let (woken, wake) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let (want, wanted) = wants::sync_channel(1);
        let (send, inputs) = mpsc::channel(1);
        if let (Some(_), Ok(settings)) = (&editor, tcgetattr(io::stdin())) {
            SETTINGS.get_or_init(|| settings);
        }
        let has_editor = editor.is_some();
        let read = move || {
            while let Ok((want, cancel)) = wanted.recv() {
                let terminal = Terminal { stdin: io::stdin(), woken: &woken, cancel };
                let read = match (want, &editor) {
                    (Want::Prompt(draft), Some(editor)) => terminal.prompt(editor, draft),
                    (Want::Words { sign, draft }, Some(editor)) => terminal.edited_words(editor, &sign, draft),
                    (Want::Words { .. }, None) => terminal.words(),
                    (Want::Line, _) | (Want::Prompt(_), None) => terminal.line(),
                };
                if read.is_none_or(|read| send.blocking_send(read).is_err()) {
                    return;
                }
            }
        };
        let reader = thread::Builder::new().name("keyboard".into()).spawn(read)?;
        Ok(Self {
            inputs,
            want: Some(want),
            reading: None,
            early: None,
            draft: String::new(),
            words_draft: String::new(),
            words_sign: String::new(),
            since: Instant::now(),
            wake: Some(wake),
            cancel: Arc::default(),
            has_editor,
            reader: Some(reader),
        })
    }

    /// True if [`Keyboard::prompt`] and [`Keyboard::words`] show by themselves what stands before the cursor.
    pub(crate) fn has_editor(&self) -> bool {
        self.has_editor
    }

    /// Drops what was typed so far, because it is no answer to what is asked next. What had been typed of a prompt is
    /// no answer either, and stays.
    pub(crate) fn forget(&mut self) {
        // A terminal that is gone says so when it is read.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        self.since = Instant::now();
        self.words_draft.clear();
    }

    /// Waits for the next line. Cancel safe: a line that is being typed goes to the next call.
    pub(crate) async fn line(&mut self) -> KeyboardInput {
        self.read(Reading::Line).await
    }

    /// Waits for words that answer something; a paste of several lines is one answer, and not the next prompts. Cancel
    /// safe, and to be suspended like [`Keyboard::prompt`].
    pub(crate) async fn words(&mut self, sign: &str) -> KeyboardInput {
        self.words_sign = sign.to_owned();
        self.read(Reading::Words).await
    }

    /// Waits for a prompt, with editing keys, history and completion if there is an editor. Cancel safe; whoever prints
    /// something before the next call must call [`Keyboard::suspend`] first.
    pub(crate) async fn prompt(&mut self) -> KeyboardInput {
        self.read(Reading::Prompt).await
    }

    async fn read(&mut self, reading: Reading) -> KeyboardInput {
        loop {
            match self.early.take() {
                Some((when, input)) if when >= self.since => return input,
                _ => {}
            }
            if self.reading.is_some_and(|now| now != reading) {
                self.suspend().await;
                continue;
            }
            if self.reading.is_none() {
                let want = match reading {
                    Reading::Line => Want::Line,
                    Reading::Words => Want::Words { sign: self.words_sign.clone(), draft: self.words_draft.clone() },
                    Reading::Prompt => Want::Prompt(self.draft.clone()),
                };
                self.cancel = Arc::default();
                let want = (want, self.cancel.clone());
                // There is room: the one before was taken.
                self.reading = self.want.as_ref().and_then(|channel| channel.try_send(want).ok()).map(|()| reading);
            }
            let Some((when, read)) = self.inputs.recv().await else { return KeyboardInput::End };
            self.reading = None;
            match read {
                Read::Input(input) if when >= self.since => {
                    self.keep_draft(reading, String::new());
                    return input;
                }
                Read::Input(_) => {}
                Read::Cancelled(draft) => self.keep_draft(reading, draft),
                // Whoever asks learns of the signal; until then there is nothing to read.
                Read::Interrupted => std::future::pending().await,
            }
        }
    }

    /// Stops reading, so that the screen is free. What had been typed of a prompt is kept for the next one.
    pub(crate) async fn suspend(&mut self) {
        let Some(reading) = self.reading else { return };
        self.cancel.store(true, Ordering::Release);
        // A full pipe wakes the thread as well.
        let _ = self.wake.as_ref().map(|wake| rustix::io::write(wake, &[0]));
        let read = self.inputs.recv().await;
        self.reading = None;
        match (reading, read) {
            (_, Some((_, Read::Cancelled(draft)))) => self.keep_draft(reading, draft),
            // Sent before whatever is shown next was seen: whoever typed it sends it once more, or not.
            (Reading::Prompt, Some((_, Read::Input(KeyboardInput::Line(line))))) => self.draft = line,
            (_, Some((when, Read::Input(input)))) => self.early = Some((when, input)),
            (_, Some((_, Read::Interrupted)) | None) => {}
        }
    }

    fn keep_draft(&mut self, reading: Reading, draft: String) {
        match reading {
            Reading::Line => {}
            Reading::Words => self.words_draft = draft,
            Reading::Prompt => self.draft = draft,
        }
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.inputs.close();
        drop((self.want.take(), self.wake.take()));
        self.cancel.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// The thread's side: the terminal, and how it is told to stop.
struct Terminal<'a> {
    stdin: Stdin,
    woken: &'a OwnedFd,
    cancel: Arc<AtomicBool>,
}

impl Terminal<'_> {
    /// A line as the terminal gives it, and when its first character was there; `None` if nobody will want it.
    fn line(&self) -> Option<(Instant, Read)> {
        let (mut line, mut begun) = (Vec::new(), None);
        let mut chunk = [0; CHUNK];
        loop {
            let mut either = [PollFd::new(self.woken, PollFlags::IN), PollFd::new(&self.stdin, PollFlags::IN)];
            match poll(&mut either, None) {
                Err(Errno::INTR) => continue,
                Err(_) => return None,
                Ok(_) => {}
            }
            if !either[0].revents().is_empty() {
                // A byte may have been meant for what was read before.
                match rustix::io::read(self.woken, &mut chunk) {
                    Ok(1..) if self.cancel.load(Ordering::Acquire) => {
                        return Some((Instant::now(), Read::Cancelled(String::new())));
                    }
                    Ok(1..) | Err(Errno::INTR | Errno::AGAIN) => continue,
                    Ok(0) | Err(_) => return None,
                }
            }
            let when = *begun.get_or_insert_with(Instant::now);
            let read = |input| Some((when, Read::Input(input)));
            match rustix::io::read(&self.stdin, &mut chunk) {
                Err(Errno::INTR | Errno::AGAIN) => {}
                Ok(count) if count > 0 => {
                    line.extend_from_slice(&chunk[..count]);
                    if line.ends_with(b"\n") {
                        return read(KeyboardInput::Line(text(&line)));
                    }
                }
                Ok(_) | Err(_) if line.is_empty() => return read(KeyboardInput::End),
                Ok(_) | Err(_) => return read(KeyboardInput::Line(text(&line))),
            }
        }
    }

    /// A line, and those that were pasted with it.
    fn words(&self) -> Option<(Instant, Read)> {
        let (when, mut read) = self.line()?;
        if let Read::Input(KeyboardInput::Line(words)) = &mut read {
            while matches!(poll(&mut [PollFd::new(&self.stdin, PollFlags::IN)], Some(&NEXT_PASTED_LINE)), Ok(1..)) {
                let mut chunk = [0; CHUNK];
                match rustix::io::read(&self.stdin, &mut chunk) {
                    Ok(count @ 1..) => words.push_str(&format!("\n{}", text(&chunk[..count]))),
                    // A terminal that is gone says so when it is read next.
                    Ok(_) | Err(_) => break,
                }
            }
        }
        Some((when, read))
    }

    /// A prompt that is edited; a line that was typed before the editor was there is one, too.
    fn prompt(&self, editor: &LineEditor, mut draft: String) -> Option<(Instant, Read)> {
        if let Some(typed) = self.typed_ahead(&mut draft) {
            return Some((Instant::now(), Read::Input(typed)));
        }
        loop {
            let read = match editor.prompt(&draft, &self.cancel) {
                Ok(Edited::Line(line)) => Read::Input(KeyboardInput::Line(line)),
                Ok(Edited::Cancelled(draft)) => Read::Cancelled(draft),
                Ok(Edited::Interrupted(text)) if !text.is_empty() => {
                    draft.clear();
                    continue;
                }
                Ok(Edited::Interrupted(_) | Edited::End) | Err(_) => Read::Input(KeyboardInput::End),
            };
            return Some((Instant::now(), read));
        }
    }

    /// An answer in words that is edited. Ctrl-C means the same as without an editor.
    fn edited_words(&self, editor: &LineEditor, sign: &str, mut draft: String) -> Option<(Instant, Read)> {
        if let Some(typed) = self.typed_ahead(&mut draft) {
            return Some((Instant::now(), Read::Input(typed)));
        }
        let read = match editor.words(sign, &draft, &self.cancel) {
            Ok(Edited::Line(line)) => Read::Input(KeyboardInput::Line(line)),
            Ok(Edited::Cancelled(draft)) => Read::Cancelled(draft),
            Ok(Edited::Interrupted(_)) => {
                // The process is there: this is it.
                let _ = kill_process(getpid(), Signal::INT);
                Read::Interrupted
            }
            Ok(Edited::End) | Err(_) => Read::Input(KeyboardInput::End),
        };
        Some((Instant::now(), read))
    }

    /// What was typed before the editor was there: a line, or the end of input. The beginning of a line is added to the
    /// draft.
    fn typed_ahead(&self, draft: &mut String) -> Option<KeyboardInput> {
        if !matches!(poll(&mut [PollFd::new(&self.stdin, PollFlags::IN)], Some(&AT_ONCE)), Ok(1..)) {
            return None;
        }
        let mut chunk = [0; CHUNK];
        match rustix::io::read(&self.stdin, &mut chunk) {
            Ok(count) if chunk[..count].ends_with(b"\n") => Some(KeyboardInput::Line(text(&chunk[..count]))),
            Ok(0) | Err(_) => Some(KeyboardInput::End),
            Ok(count) => {
                draft.push_str(&text(&chunk[..count]));
                None
            }
        }
    }
}

fn text(line: &[u8]) -> String {
    clean(String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']))
}
