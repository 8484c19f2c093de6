//! `roost approvals`: what waits for an answer, and the answer.

use std::io::{self, Write};

use roost_client::Client;
use roost_proto::approval::{ApprovalScope, Pending, PendingAsk};
use roost_proto::rpc::{PendingParams, PendingRequest, PermissionDecision, PermissionRespondParams, method};
use roost_proto::time::Timestamp;

use crate::ago::ago;
use crate::cli::Context;
use crate::door;
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::reading::Reading;
use crate::screen::{self, Screen, one_line};
use crate::style::Style;
use crate::table;

const EXAMPLES: &str = "\
Examples:
  roost approvals                                        what waits for an answer, the oldest first
  roost approvals --json                                 one line of JSON each, with everything that is known
  roost approvals answer tc_12 allow                     this once
  roost approvals answer tc_12 allow --scope session     and for what is like it in this session
  roost approvals answer tc_12 deny --reason \"too risky\" the agent reads the reason";

/// List what waits for an answer, or answer it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print each as one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List what waits
    List {
        /// Print each as one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Answer something that waits
    Answer(Answer),
}

#[derive(clap::Args)]
struct Answer {
    /// Its id as `roost approvals` lists it, or the beginning of it
    id: String,
    /// Whether it may run; a question is declined with deny, and answered with allow and the answer as --reason
    decision: Decision,
    /// For how long that counts
    #[arg(long, value_name = "SCOPE", default_value = "once")]
    scope: Scope,
    /// Why, for the agent to read
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Decision {
    Allow,
    Deny,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Scope {
    /// For this call.
    Once,
    /// For calls like it in this session.
    Session,
    /// For calls like it in this workspace.
    Workspace,
    /// For calls like it everywhere.
    Always,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    match args.action {
        Some(Action::Answer(answer)) => give(answer, &door::running(context).await?).await,
        Some(Action::List { json }) => list(json, context).await,
        None => list(args.json, context).await,
    }
}

async fn list(json: bool, context: &Context) -> Result<Exit, Error> {
    let pending = match Reading::open(context, "roost approvals").await {
        Err(Error::Log(roost_log::Error::NotFound { .. })) => Vec::new(),
        reading => reading?.pending().await?,
    };
    print(&mut screen::stdout(), &pending, json).map_err(Error::Output)?;
    Ok(Exit::Completed)
}

async fn give(answer: Answer, client: &Client) -> Result<Exit, Error> {
    let asked = find(client, &answer.id).await?;
    let call = match &asked.pending.ask {
        PendingAsk::Approval(asked) => Some(&asked.identity),
        PendingAsk::Question(_) => None,
    };
    let params = PermissionRespondParams {
        tool_use_id: asked.tool_use_id.clone(),
        decision: match answer.decision {
            Decision::Allow => PermissionDecision::Allow,
            Decision::Deny => PermissionDecision::Deny,
        },
        scope: Some(match answer.scope {
            Scope::Once => ApprovalScope::Once,
            Scope::Session => ApprovalScope::Session,
            Scope::Workspace => ApprovalScope::Workspace,
            Scope::Always => ApprovalScope::Always,
        }),
        session_id: Some(asked.session_id.clone()),
        reason: answer.reason,
        updated_input: None,
        attempt: call.map(|call| call.attempt),
        input_hash: call.map(|call| call.input_hash.clone()),
        key: None,
    };
    client.call::<method::PermissionRespond>(params).await?;
    screen::print(&format!("Answered: {}.", one_line(what(&asked.pending))))?;
    Ok(Exit::Completed)
}

/// What waits under this id, or under the only one that begins like this.
async fn find(client: &Client, id: &str) -> Result<PendingRequest, Error> {
    let mut found = client.call::<method::PermissionPending>(PendingParams::default()).await?.requests;
    match found.iter().position(|one| one.tool_use_id == id) {
        Some(exact) => return Ok(found.swap_remove(exact)),
        None => found.retain(|one| !id.is_empty() && one.tool_use_id.starts_with(id)),
    }
    if found.len() > 1 {
        let found = found.into_iter().map(|one| one.tool_use_id).collect();
        return Err(Error::AmbiguousAsk { id: id.into(), found });
    }
    found.pop().ok_or_else(|| Error::NotWaiting(id.into()))
}

/// What it is about, in one line.
fn what(pending: &Pending) -> &str {
    let text = match &pending.ask {
        PendingAsk::Approval(asked) => asked.title.as_ref().unwrap_or(&asked.name),
        PendingAsk::Question(asked) => &asked.message,
    };
    text.lines().next().unwrap_or_default()
}

fn print(out: &mut Screen<impl Write>, pending: &[Pending], json: bool) -> io::Result<()> {
    if json {
        return pending.iter().try_for_each(|one| out.json(one));
    }
    if pending.is_empty() {
        return writeln!(out, "Nothing waits for an answer.");
    }
    let length = find::unique_length(pending.iter().map(|one| &one.session_id));
    let now = Timestamp::now();
    let rows = pending.iter().map(|one| {
        let session: String = one.session_id.as_str().chars().take(length).collect();
        let (kind, rule) = match &one.ask {
            PendingAsk::Approval(asked) => ("call", asked.rule.clone().unwrap_or_default()),
            PendingAsk::Question(_) => ("question", String::new()),
        };
        [session, kind.into(), ago(one.asked_at, now), rule, what(one).into(), one.id().to_owned()]
    });
    let heads = ["SESSION", "KIND", "SINCE", "RULE", "WHAT", "ID"];
    table::write(out, Style::of_stdout(), heads, &rows.collect::<Vec<_>>())
}
