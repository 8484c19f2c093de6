//! Messages for people on stderr, beside the command's output on stdout.

use std::fmt::Display;
use std::io::Write;

use crate::screen;

/// Prints a line. A closed stderr is ignored, so this never fails.
pub(crate) fn print_stderr(message: impl Display) {
    let _ = writeln!(screen::stderr(), "{message}");
}
