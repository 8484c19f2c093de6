//! `roost sessions`: what has been run.

use std::io::{self, Write};
use std::path::PathBuf;

use roost_model::session::{SessionRecord, TaskOutcome};
use roost_model::time::Timestamp;
use roost_rpc::KeptBy;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};

use crate::ago::ago;
use crate::cli::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::past;
use crate::paths::working_directory;
use crate::reading::RecordReader;
use crate::screen::{self, Screen};
use crate::stderr::print_stderr;
use crate::style::Style;
use crate::table::{self, Overflow};

/// Shown unless all are asked for.
const USUAL: usize = 20;

const EXAMPLES: &str = "\
Examples:
  roost sessions                  list the latest 20 sessions
  roost sessions --all            list all, including those started with an agent itself in this directory
  roost sessions --all --cwd DIR  the same for another directory
  roost sessions --json           print each session as one line of JSON

To continue a session that you started with an agent itself: roost run --resume SESSION \"…\"";

/// List sessions, the latest first
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// List all sessions, including those that you started with an agent itself in this directory
    #[arg(long)]
    all: bool,
    /// Look for sessions that were started with an agent itself in this directory [default: the current one]
    #[arg(long, value_name = "DIR", requires = "all")]
    cwd: Option<PathBuf>,
    /// Print each session as one line of JSON
    #[arg(long)]
    json: bool,
}

/// One session of the list.
#[derive(Serialize)]
struct SessionLine {
    #[serde(flatten, serialize_with = "with_runtime_id")]
    record: SessionRecord,
    source: KeptBy,
}

/// Writes a record with the id of its runtime, which `--runtime` takes, instead of the name in events.
fn with_runtime_id<S: Serializer>(record: &SessionRecord, serializer: S) -> Result<S::Ok, S::Error> {
    let mut line = serde_json::to_value(record).map_err(S::Error::custom)?;
    line["runtime"] = record.runtime.id().into();
    line.serialize(serializer)
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let reading = match RecordReader::open(context, "roost sessions").await {
        Err(Error::Log(roost_log::Error::NotFound { .. })) => None,
        reading => Some(reading?),
    };
    let hosted = match &reading {
        Some(reading) => reading.sessions().await?,
        None => Vec::new(),
    };
    let mut sessions: Vec<_> =
        hosted.into_iter().map(|record| SessionLine { record, source: KeptBy::Managed }).collect();
    if args.all {
        let cwd = working_directory(args.cwd.as_deref())?;
        let past = past::sessions(context, reading.as_ref(), &cwd).await?;
        past.notices.iter().for_each(|notice| print_stderr(format_args!("roost: {notice}")));
        sessions.extend(past.sessions.into_iter().map(|record| SessionLine { record, source: KeptBy::History }));
        sessions.sort_by_key(|line| std::cmp::Reverse(line.record.updated_at));
    }
    let shown = if args.all { sessions.len() } else { USUAL.min(sessions.len()) };
    print(&mut screen::stdout(), &sessions, shown, args.json).map_err(Error::Output)?;
    Ok(Exit::Completed)
}

fn print(out: &mut Screen<impl Write>, sessions: &[SessionLine], shown: usize, json: bool) -> io::Result<()> {
    if json {
        return sessions[..shown].iter().try_for_each(|session| out.json(session));
    }
    if sessions.is_empty() {
        return writeln!(out, "No sessions yet; `roost run` starts one.");
    }
    let length = find::unique_length(sessions.iter().map(|line| &line.record.session_id));
    let now = Timestamp::now();
    let rows = sessions[..shown].iter().map(|SessionLine { record: session, source }| {
        let id: String = session.session_id.as_str().chars().take(length).collect();
        let last = match (&session.open_task, session.last_outcome) {
            (Some(_), _) => "running",
            (None, Some(TaskOutcome::Completed)) => "completed",
            (None, Some(TaskOutcome::Failed)) => "failed",
            (None, Some(TaskOutcome::Stopped)) => "stopped",
            (None, None) => "-",
        };
        let status = match source {
            KeptBy::Managed => session.status.to_string(),
            KeptBy::History => "past".to_owned(),
        };
        let title = session.title.clone().unwrap_or_default();
        let runtime = session.runtime.id().to_owned();
        [id, runtime, status, last.into(), ago(session.updated_at, now), session.cwd.clone(), title]
    });
    let heads = ["SESSION", "RUNTIME", "STATUS", "LAST", "UPDATED", "DIRECTORY", "TITLE"];
    table::write(out, Style::for_stdout(), Overflow::Cut, heads, &rows.collect::<Vec<_>>())?;
    if shown < sessions.len() {
        writeln!(out, "{} more; `roost sessions --all` lists them", sessions.len() - shown)?;
    }
    Ok(())
}
