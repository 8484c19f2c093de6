//! `roost stop`: the end of a session's task and process.

use clap_complete::engine::ArgValueCandidates;
use roost_rpc::{SessionStopParams, StopWhat, method};

use crate::cli::Context;
use crate::complete;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::screen;

const EXAMPLES: &str = "\
Examples:
  roost stop 0199a1b2           end its task and its agent; `roost run --session` goes on with it
  roost stop 0199a1b2 --task    end its task, keep its agent";

/// Stop a session
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Its id, the beginning of it, the agent's own id, or latest
    #[arg(default_value = find::LATEST, add = ArgValueCandidates::new(complete::sessions))]
    session: String,
    /// Only what it does now; the agent stays ready
    #[arg(long)]
    task: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::running(context).await?;
    let session_id = find::hosted(&client, &args.session).await?.session_id;
    let what = if args.task { StopWhat::Task } else { StopWhat::Session };
    let reason = Some("`roost stop`".into());
    let params = SessionStopParams { session_id: session_id.clone(), what: Some(what), reason, agent_type: None };
    let stopped = client.call::<method::SessionStop>(params).await?;
    screen::print(&format!("{} ({}).", stopped.message, session_id))?;
    Ok(Exit::Completed)
}
