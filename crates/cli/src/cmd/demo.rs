//! `roost demo`: the built-in demo agent's tour.

use crate::cli::Context;
use crate::cmd::run;
use crate::error::Error;
use crate::exit::Exit;
use crate::stderr::print_stderr;
use crate::style::Style;

const EXAMPLES: &str = "\
Examples:
  roost demo               take the tour, then try the demo agent's other commands
  roost demo < /dev/null   the tour without questions: what needs an approval is denied

The demo agent is part of Roost: it needs no account, no API key and no network. It works in a temporary folder,
which is deleted at the end, so nothing in your project changes. The session stays in the log.";

/// Take a tour with the built-in demo agent
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

pub(crate) async fn run(context: &Context) -> Result<Exit, Error> {
    // Deleted when it is dropped, after the agent that works in it has ended.
    let folder = tempfile::Builder::new().prefix("roost-demo-").tempdir().map_err(Error::DemoFolder)?;
    let words = format_args!("The demo works in {} (deleted at the end); /quit leaves.", folder.path().display());
    print_stderr(Style::for_stderr().dim(words));
    run::run(run::Args::demo(folder.path().to_owned()), context).await
}
