//! `roost attach`: takes over a session that runs or waits.

use clap_complete::engine::ArgValueCandidates;

use crate::cli::Context;
use crate::complete;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::keyboard::Keyboard;

use super::run;

const EXAMPLES: &str = "\
Examples:
  roost attach            the session that works or waits, else the latest
  roost attach 0199a1b2   the session whose id begins like this

It shows what the session was asked, its last words and what it does now, asks you about what waits for an
answer, and goes on as a conversation. Ctrl-C leaves while the agent works for somebody else, and the agent
goes on; `roost stop` stops it.";

/// Take over a session: see what it does, answer what it asks, and go on with it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Its id, the beginning of it, the agent's own id, or latest [default: one that works or waits, else the latest]
    #[arg(add = ArgValueCandidates::new(complete::sessions))]
    session: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::open(context).await?;
    let session = match &args.session {
        Some(id) => find::hosted(&client, id).await?,
        None => find::busiest(&client).await?,
    };
    if !Keyboard::is_there() {
        return Err(Error::AttachWithoutTerminal(session.session_id));
    }
    drop(client);
    run::run(run::Args::conversation(session.session_id), context).await
}
