//! What the small programs beside `roost` do: they start `roost` under their own name, by which it knows what to be.

use std::env;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Becomes the `roost` in the folder of this program.
pub(crate) fn start(name: &str) -> ExitCode {
    let error = match env::current_exe() {
        Ok(own) => Command::new(own.with_file_name("roost")).arg0(name).args(env::args_os().skip(1)).exec(),
        Err(error) => error,
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "the text is ours, and roost-cli would make this program a large one"
    )]
    // A closed stderr is no second failure.
    let _ = writeln!(std::io::stderr(), "{name}: `roost`, which must be in the same folder, does not start: {error}");
    ExitCode::FAILURE
}
