//! Words on stderr, beside the output.

use std::fmt::Display;
use std::io::Write;

use crate::screen;

/// Says something; whoever closed stderr does not want to know, so this never fails.
pub(crate) fn tell(message: impl Display) {
    let _ = writeln!(screen::stderr(), "{message}");
}
