//! `roost completions`: a script that teaches a shell the command line.

use std::io::{self, Write};

use clap_complete::Shell;
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};

use crate::complete;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen;

const EXAMPLES: &str = "\
Examples:
  source <(roost completions bash)     a line for ~/.bashrc
  source <(roost completions zsh)      a line for ~/.zshrc, after compinit
  roost completions fish | source      a line for ~/.config/fish/config.fish

The script asks roost itself what to offer: commands and options, and from the daemon, if it is running, sessions,
agents and devices. If you keep the script in a file, write it again after an upgrade.";

/// Print a completion script for a shell
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[arg(help = "The shell")]
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let shell: &dyn EnvCompleter = match args.shell {
        Shell::Bash => &Bash,
        Shell::Elvish => &Elvish,
        Shell::Fish => &Fish,
        Shell::PowerShell => &Powershell,
        Shell::Zsh => &Zsh,
        other => return Err(Error::Start(io::Error::other(format!("there are no completions for {other}")))),
    };
    let mut script = Vec::new();
    shell.write_registration(complete::VARIABLE, "roost", "roost", "roost", &mut script).map_err(Error::Output)?;
    screen::stdout().write_all(&script).map_err(Error::Output)?;
    Ok(Exit::Completed)
}
