//! Hides the token that a program was given: arguments and variables can be read in `/proc` by every program of the user, and
//! so by the agents, who would get all rights with it.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use roost_model::secret::Secret;
use rustix::io::FdFlags;

use super::{ClarityProgram, TOKEN_VARIABLES, token};

/// The longest token; a pipe holds it until it is read.
const MAX_TOKEN: usize = 4096;
/// The option that says where the hidden token is.
const OPTION: &str = "--auth-token-fd";

/// The token of this program. If it is among the arguments or variables, the program is started again without it.
pub(super) fn hidden_token(
    program: ClarityProgram,
    given: Option<String>,
    hidden: Option<RawFd>,
) -> io::Result<Option<Secret>> {
    match (hidden, token(given)) {
        (Some(pipe), _) => {
            let mut text = String::new();
            // Opened by name: the number alone is nothing that Rust may own.
            File::open(format!("/dev/fd/{pipe}"))?.read_to_string(&mut text)?;
            Ok(Some(text.into()))
        }
        (None, Some(token)) => match restart_with(program, &token)? {},
        (None, None) => Ok(None),
    }
}

/// Starts this program again, with the token in a pipe.
fn restart_with(program: ClarityProgram, token: &Secret) -> io::Result<Infallible> {
    if token.expose().len() > MAX_TOKEN {
        return Err(io::Error::other(format!("the token has more than {MAX_TOKEN} bytes")));
    }
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(token.expose().as_bytes())?;
    drop(writer);
    rustix::io::fcntl_setfd(&reader, FdFlags::empty())?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg0(program.name()).args([OPTION, &reader.as_raw_fd().to_string()]);
    command.args(without_token(std::env::args_os().skip(1)));
    TOKEN_VARIABLES.iter().for_each(|name| _ = command.env_remove(name));
    Err(command.exec())
}

fn without_token(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args = args;
    let mut kept = Vec::new();
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--auth-token") => drop(args.next()),
            Some(joined) if joined.starts_with("--auth-token=") => {}
            _ => kept.push(arg),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spelling_of_the_option_leaves_the_token_behind() {
        for line in ["--auth-token T list", "--auth-token=T list", "list --auth-token T", "list --auth-token=T"] {
            let kept = without_token(line.split(' ').map(OsString::from));
            assert_eq!(kept, ["list"], "{line}");
        }
    }
}
