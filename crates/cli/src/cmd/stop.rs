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
  roost stop 0199a1b2           stop the task and the agent; `roost run --session 0199a1b2` resumes the session
  roost stop 0199a1b2 --task    stop the task and keep the agent running";

/// Stop a session's task and its agent
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: its id, the start of its id, the agent's own id for it, or latest
    #[arg(default_value = find::LATEST, add = ArgValueCandidates::new(complete::sessions))]
    session: String,
    /// Stop only the task; the agent keeps running
    #[arg(long)]
    task: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::running(context).await?;
    let session_id = find::hosted(&client, &args.session).await?.session_id;
    let what = if args.task { StopWhat::Task } else { StopWhat::Session };
    let reason = Some("`roost stop`".into());
    let params = SessionStopParams {
        session_id: session_id.clone(),
        what: Some(what),
        reason,
        prompt_id: None,
        agent_type: None,
    };
    let stopped = client.call::<method::SessionStop>(params).await?;
    screen::print(&format!("{} ({}).", stopped.message, session_id))?;
    Ok(Exit::Completed)
}
