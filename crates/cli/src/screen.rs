//! The one place where text reaches the terminal.
//!
//! Agents, files, branches and devices choose their texts and names. A character among them that nobody sees, that turns
//! around what stands beside it or that steers the terminal could make a line look like another, so each of them is made
//! visible, twice: the texts of others where they are put into a line ([`visible`], [`one_line`], [`exact`]), and
//! everything once more on its way out ([`Screen`]), so that a place where the first was forgotten does no harm.
//! Clippy refuses every other way to stdout and stderr in this crate. The editor of prompts writes by itself; it shows only
//! what was typed and what `editor` cleaned.

mod hidden;

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::error::Error;
pub(crate) use hidden::{exact, one_line, visible, visible_after};

/// Moves the cursor to the beginning of its line and clears the line.
const CLEAR_LINE: &[u8] = b"\r\x1b[2K";
/// Makes a terminal cut what is longer than its line instead of going on in the next.
const CUT_LINES: &[u8] = b"\x1b[?7l";
/// Makes a terminal go on in the next line again.
const WRAP_LINES: &[u8] = b"\x1b[?7h";

/// Makes a terminal send a paste without marks around it.
const END_PASTE_MARKS: &[u8] = b"\x1b[?2004l";

/// True while the cursor's line is a status line: the next text of any stream takes its place. The process has one
/// terminal, so it has one of these.
static HAS_STATUS: AtomicBool = AtomicBool::new(false);

/// Stdout or stderr, or what takes their place.
///
/// Texts must come whole, as `write!` and `write_all` of a text do: a character cut in two would be shown as damaged.
pub(crate) struct Screen<W> {
    out: W,
    is_terminal: bool,
    /// The last character that was written, which an emoji's second half belongs to.
    last: Option<char>,
}

/// A safe stdout for the command's output.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn stdout() -> Screen<io::Stdout> {
    Screen::new(io::stdout(), stdout_is_terminal())
}

/// A safe stdout for many small writes; the caller must flush.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn buffered_stdout(capacity: usize) -> Screen<io::BufWriter<io::Stdout>> {
    Screen::new(io::BufWriter::with_capacity(capacity, io::stdout()), stdout_is_terminal())
}

/// A safe stderr for messages beside the output.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn stderr() -> Screen<io::Stderr> {
    Screen::new(io::stderr(), stderr_is_terminal())
}

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// A stderr for many small writes; the caller must flush. Whoever closed stderr does not want to know, so it never fails.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn buffered_stderr(capacity: usize) -> Screen<io::BufWriter<Unfailing<io::Stderr>>> {
    Screen::new(io::BufWriter::with_capacity(capacity, Unfailing(io::stderr())), stderr_is_terminal())
}

/// A writer whose errors are ignored.
pub(crate) struct Unfailing<W>(W);

impl<W: Write> Write for Unfailing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

/// The width of the terminal that stdout is; `None` if it is none, or one that does not say.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// True if stdout is a terminal that can clear a line. One without a name (`TERM`) may not.
pub(crate) fn can_show_status() -> bool {
    stdout_is_terminal() && std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// False for a job in the background of a shell: it would draw over what its user types.
fn is_in_foreground() -> bool {
    let group = rustix::termios::tcgetpgrp(rustix::stdio::stdout());
    group.map_or(true, |group| group == rustix::process::getpgrp())
}

/// The lines of the terminal that stdout is; `None` if it is none, or does not tell.
pub(crate) fn stdout_rows() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    (size.ws_row > 0).then_some(usize::from(size.ws_row))
}

/// Clears the status line, if one is shown, for a process that ends at once.
pub(crate) fn clear_status() {
    // Whoever closed stderr does not want to know.
    let _ = stderr().clear_status();
}

/// Clears the line that the cursor is in, where a prompt stood that nobody typed behind.
pub(crate) fn clear_line() {
    // Whoever closed stderr does not want to know.
    let _ = stderr().out.write_all(CLEAR_LINE);
}

/// Tells the terminal to send pastes as they are again, for a process that ends while a prompt is edited.
pub(crate) fn end_paste_marks() {
    // Whoever closed stderr does not want to know.
    let _ = stderr().out.write_all(END_PASTE_MARKS);
}

/// Moves to the next line after a text that somebody was typing.
pub(crate) fn end_line() {
    // Whoever closed stderr does not want to know.
    let _ = stderr().out.write_all(b"\n");
}

/// Prints whole lines for people; of nothing, nothing.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let text = text.trim_end();
    if text.is_empty() { Ok(()) } else { writeln!(stdout(), "{text}").map_err(Error::Output) }
}

/// Prints what somebody is to type behind.
pub(crate) fn prompt(text: &str) -> Result<(), Error> {
    let mut stdout = stdout();
    write!(stdout, "{text}").and_then(|()| stdout.flush()).map_err(Error::Output)
}

/// Prints a value as one line of JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Error> {
    stdout().json(value).map_err(Error::Output)
}

/// Prints a value as JSON in several lines.
pub(crate) fn print_pretty_json(value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::Output(error.into()))?;
    let mut stdout = stdout();
    text.lines().try_for_each(|line| stdout.json_line(line)).map_err(Error::Output)
}

/// Writes over the line that the cursor is in, at a terminal.
pub(crate) fn replace_line(text: impl fmt::Display) {
    let mut stderr = stderr();
    if stderr.is_terminal {
        // Whoever closed stderr does not want to know.
        let _ = stderr.out.write_all(CLEAR_LINE).and_then(|()| write!(stderr, "{text}"));
    }
}

impl<W: Write> Screen<W> {
    pub(crate) fn new(out: W, is_terminal: bool) -> Self {
        Self { out, is_terminal, last: None }
    }

    /// Shows a line about what happens now; the next text takes its place. Only for a terminal with no open line.
    pub(crate) fn status(&mut self, line: &str) -> io::Result<()> {
        if !is_in_foreground() {
            return Ok(());
        }
        HAS_STATUS.store(true, Ordering::Relaxed);
        let line = one_line(line);
        self.out.write_all(&[CLEAR_LINE, CUT_LINES, line.as_bytes(), WRAP_LINES].concat())
    }

    fn clear_status(&mut self) -> io::Result<()> {
        match self.is_terminal && HAS_STATUS.swap(false, Ordering::Relaxed) {
            true => self.out.write_all(CLEAR_LINE),
            false => Ok(()),
        }
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        let line = serde_json::to_string(value)?;
        self.json_line(&line)
    }

    /// One line of JSON that is written already: as it is for a program, and for a terminal with hidden characters in
    /// JSON's own escapes, which mean the same.
    pub(crate) fn json_line(&mut self, line: &str) -> io::Result<()> {
        match self.is_terminal {
            true => self.out.write_all(hidden::in_json(line).as_bytes())?,
            false => self.out.write_all(line.as_bytes())?,
        }
        self.out.write_all(b"\n")
    }

    /// Part of a file: as it is for a program, and like any other text for a terminal.
    pub(crate) fn data(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.is_terminal {
            true => self.write_all(visible(&String::from_utf8_lossy(bytes)).as_bytes()),
            false => self.out.write_all(bytes),
        }
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.clear_status()?;
        self.out.write_all(hidden::between_colours(&text, self.last).as_bytes())?;
        self.last = text.chars().next_back().or(self.last);
        Ok(bytes.len())
    }

    /// A text in one piece: a colour's escape sequence would come in several.
    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        match text.as_str() {
            Some(text) => self.write_all(text.as_bytes()),
            None => self.write_all(text.to_string().as_bytes()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_get_through_whole_and_an_emoji_may_come_in_two_pieces() {
        let mut screen = Screen::new(Vec::new(), true);
        let code = 31;
        write!(screen, "\x1b[{code}mred\x1b[0m ⚠").unwrap();
        write!(screen, "\u{fe0f} \x1b[2J\u{202e}").unwrap();
        assert_eq!(String::from_utf8(screen.out).unwrap(), "\x1b[31mred\x1b[0m ⚠\u{fe0f} ␛[2J<U+202E>");
    }

    #[test]
    fn a_status_line_gives_way_to_the_next_text_and_steers_no_terminal() {
        let mut screen = Screen::new(Vec::new(), true);
        screen.status("1 s\x1b[2J").and_then(|()| screen.status("2 s")).unwrap();
        write!(screen, "text").and_then(|()| write!(screen, " more")).unwrap();
        let clear = "\r\x1b[2K";
        let expected = format!("{clear}\x1b[?7l1 s␛[2J\x1b[?7h{clear}\x1b[?7l2 s\x1b[?7h{clear}text more");
        assert_eq!(String::from_utf8(screen.out).unwrap(), expected);
    }

    #[test]
    fn a_pipe_gets_data_as_it_is_and_a_terminal_does_not() {
        for (is_terminal, expected) in [(false, "\u{202e}\"\u{202e}\"\n"), (true, "<U+202E>\"\\u202e\"\n")] {
            let mut screen = Screen::new(Vec::new(), is_terminal);
            screen.data("\u{202e}".as_bytes()).and_then(|()| screen.json(&"\u{202e}")).unwrap();
            assert_eq!(String::from_utf8(screen.out).unwrap(), expected);
        }
    }
}
