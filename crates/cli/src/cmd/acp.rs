//! `roost acp`: Roost as the agent of an editor.

mod settings_file;
mod setup;

use crate::error::Error;
use crate::exit::Exit;

/// Be the agent of an editor that speaks the Agent Client Protocol
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: AcpCommand,
}

#[derive(clap::Subcommand)]
enum AcpCommand {
    Setup(setup::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        AcpCommand::Setup(args) => setup::run(args),
    }
}
