//! `roost completions`: a script that teaches a shell the command line.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen;

const EXAMPLES: &str = "\
Examples:
  roost completions bash > ~/.local/share/bash-completion/completions/roost
  roost completions zsh > ~/.zfunc/_roost
  roost completions fish > ~/.config/fish/completions/roost.fish";

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[arg(help = "The shell")]
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "roost", &mut script);
    io::Write::write_all(&mut screen::stdout(), &script).map_err(Error::Output)?;
    Ok(Exit::Completed)
}
