//! `roost names`: the program's other names, under which it is something else.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::exit::Exit;
use crate::screen;

/// The names. `crate::clarity` says what the first two are; the others are `roost acp --runtime codex` and `roost notify`.
const NAMES: [&str; 4] = ["clarityctl", "clarityd", "codex-cli-acp", "acplb-notify-forwarder"];

const EXAMPLES: &str = "\
Examples:
  roost names                  make the links beside this program
  roost names ~/.local/bin     make them in another folder

`cargo install` puts the names in place by itself. Use this for a program that you copied from elsewhere.";

/// Make links so that the program is also found as clarityctl, clarityd and under its other names
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder for the links [default: that of this program]
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: Args) -> Result<Exit, Error> {
    let program = std::env::current_exe().map_err(Error::Start)?;
    let beside = || program.parent().unwrap_or(Path::new("/")).to_owned();
    let folder = args.folder.unwrap_or_else(beside);
    for name in NAMES {
        let link = folder.join(name);
        make(&program, &link).map_err(|source| Error::Link { link: link.clone(), source })?;
        screen::print(&format!("{} is Roost.", link.display()))?;
    }
    Ok(Exit::Completed)
}

/// Makes a link, in place of an earlier one. A file that is no link is somebody else's and stays.
fn make(program: &Path, link: &Path) -> io::Result<()> {
    match link.symlink_metadata() {
        Ok(found) if found.is_symlink() => std::fs::remove_file(link)?,
        Ok(_) => return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is another program; move it away")),
        Err(_) => {}
    }
    symlink(program, link)
}
