//! `roost approvals`: what waits for an answer.

use std::io::{self, Write};
use std::sync::Arc;

use roost_proto::approval::{Pending, PendingAsk};
use roost_proto::time::Timestamp;

use crate::ago::ago;
use crate::cli::Context;
use crate::compose;
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::style::Style;
use crate::table;

const EXAMPLES: &str = "\
Examples:
  roost approvals           what waits for an answer, the oldest first
  roost approvals --json    one line of JSON each, with everything that is known";

/// List what waits for an answer
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print each as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let pending = match compose::reader(&context.state, &context.config, "roost approvals").await {
        Err(Error::Log(roost_log::Error::NotFound { .. })) => Vec::new(),
        log => log?.pending(None).await?,
    };
    print(&mut io::stdout().lock(), &pending, args.json).map_err(Error::Output)?;
    Ok(Exit::Completed)
}

fn print(out: &mut impl Write, pending: &[Arc<Pending>], json: bool) -> io::Result<()> {
    if json {
        return pending.iter().try_for_each(|one| writeln!(out, "{}", serde_json::to_string(&**one)?));
    }
    if pending.is_empty() {
        return writeln!(out, "Nothing waits for an answer.");
    }
    let length = find::unique_length(pending.iter().map(|one| &one.session_id));
    let now = Timestamp::now();
    let rows = pending.iter().map(|one| {
        let session: String = one.session_id.as_str().chars().take(length).collect();
        let (kind, what, rule) = match &one.ask {
            PendingAsk::Approval(asked) => {
                let what = asked.title.clone().unwrap_or_else(|| asked.name.clone());
                ("call", what, asked.rule.clone().unwrap_or_default())
            }
            PendingAsk::Question(asked) => ("question", asked.message.clone(), String::new()),
        };
        let what = what.lines().next().unwrap_or_default().to_owned();
        [session, kind.into(), ago(one.asked_at, now), rule, what, one.id().to_owned()]
    });
    let heads = ["SESSION", "KIND", "SINCE", "RULE", "WHAT", "ID"];
    table::write(out, Style::of(&io::stdout()), heads, &rows.collect::<Vec<_>>())
}
