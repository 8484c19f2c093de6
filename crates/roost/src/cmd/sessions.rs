//! `roost sessions`: what has been run.

use std::io::{self, Write};

use roost_proto::session::{SessionRecord, TaskOutcome};
use roost_proto::time::Timestamp;

use crate::ago::ago;
use crate::cli::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::reading::Reading;
use crate::style::Style;
use crate::table;

/// Shown unless all are asked for.
const USUAL: usize = 20;

const EXAMPLES: &str = "\
Examples:
  roost sessions            the latest 20
  roost sessions --all      all of them
  roost sessions --json     one line of JSON each";

/// List sessions, the latest first
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Not only the latest 20
    #[arg(long)]
    all: bool,
    /// Print each session as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let sessions = match Reading::open(context, "roost sessions").await {
        Err(Error::Log(roost_log::Error::NotFound { .. })) => Vec::new(),
        reading => reading?.sessions().await?,
    };
    let shown = if args.all { sessions.len() } else { USUAL.min(sessions.len()) };
    let mut out = io::stdout().lock();
    print(&mut out, &sessions, shown, args.json).map_err(Error::Output)?;
    Ok(Exit::Completed)
}

fn print(out: &mut impl Write, sessions: &[SessionRecord], shown: usize, json: bool) -> io::Result<()> {
    if json {
        return sessions[..shown].iter().try_for_each(|session| writeln!(out, "{}", serde_json::to_string(session)?));
    }
    if sessions.is_empty() {
        return writeln!(out, "No sessions yet; `roost run` starts one.");
    }
    let length = find::unique_length(sessions.iter().map(|session| &session.session_id));
    let now = Timestamp::now();
    let rows = sessions[..shown].iter().map(|session| {
        let id: String = session.session_id.as_str().chars().take(length).collect();
        let last = match (&session.open_task, session.last_outcome) {
            (Some(_), _) => "running",
            (None, Some(TaskOutcome::Completed)) => "completed",
            (None, Some(TaskOutcome::Failed)) => "failed",
            (None, Some(TaskOutcome::Stopped)) => "stopped",
            (None, None) => "-",
        };
        let title = session.title.clone().unwrap_or_default();
        let (runtime, status) = (session.runtime.id().to_owned(), session.status.to_string());
        [id, runtime, status, last.into(), ago(session.updated_at, now), session.cwd.clone(), title]
    });
    let heads = ["SESSION", "RUNTIME", "STATUS", "LAST", "UPDATED", "DIRECTORY", "TITLE"];
    table::write(out, Style::of(&io::stdout()), heads, &rows.collect::<Vec<_>>())?;
    if shown < sessions.len() {
        writeln!(out, "{} more; `roost sessions --all` lists them", sessions.len() - shown)?;
    }
    Ok(())
}
