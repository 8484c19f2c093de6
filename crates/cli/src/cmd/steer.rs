//! `roost steer`: a message for an agent that works.

use clap_complete::engine::ArgValueCandidates;
use roost_rpc::{PromptDelivery, SessionSendParams, method};

use crate::cli::Context;
use crate::complete;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::screen;

const EXAMPLES: &str = "\
Examples:
  roost steer latest \"leave the tests alone\"    tell the agent that works now
  roost attach latest                           watch what it makes of it";

/// Tell a working agent something; it waits for the end of the task if the agent cannot be interrupted
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: its id, the start of its id, the agent's own id for it, or latest
    #[arg(add = ArgValueCandidates::new(complete::sessions))]
    session: String,
    /// What to tell the agent
    #[arg(required = true)]
    message: Vec<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::running(context).await?;
    let session = find::hosted(&client, &args.session).await?.session_id;
    let params = SessionSendParams {
        prompt: args.message.join(" "),
        session_id: Some(session.clone()),
        workspace_id: None,
        mode: None,
        permission_mode: None,
        yolo_mode: None,
        agent_type: None,
        approver: None,
        model: None,
        images: None,
        files: None,
        delivery: Some(PromptDelivery::Steer),
        key: None,
    };
    let sent = client.call::<method::SessionSend>(params).await?;
    let what = match sent.delivery.as_str() {
        "steered" => "The agent was told",
        "queued" => "The message waits until the task has ended, because this agent takes none while it works",
        _ => "The agent was idle, so the message is its next task",
    };
    screen::print(&format!("{what} ({session})."))?;
    Ok(Exit::Completed)
}
