//! `roost runs`: agent runs, those that clients report and hosted sessions, and what happened in one.

use std::io::{self, Write};

use roost_client::Client;
use roost_model::event::NormalizedEvent;
use roost_model::ids::SessionId;
use roost_model::run::{AgentEvent, RunStatus, RunSummary};
use roost_model::time::Timestamp;
use roost_rpc::{RunEvent, RunEventsParams, RunListParams, SubscribeParams, method};

use crate::ago::ago;
use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::line;
use crate::screen::{self, Screen, one_line};
use crate::style::Style;
use crate::table::{self, Overflow};

const EXAMPLES: &str = "\
Examples:
  roost runs                list sessions, and what orchestrators report
  roost runs nightly-42     show what happened in one
  roost runs nightly-42 -f  keep showing what happens next
  roost runs -f             show what happens in all of them
  roost runs --json         print one line of JSON for each";

/// List agent runs, or show what happened in one
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The run, by its whole id; a session is a run, too
    run: Option<String>,
    /// Keep showing what happens next, until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// The most runs or events to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
    limit: u32,
    /// Print one line of JSON for each run or event
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::open(context).await?;
    if args.run.is_none() && !args.follow {
        let runs = client.call::<method::RunList>(RunListParams { limit: Some(args.limit) }).await?.items;
        print_runs(&mut screen::stdout(), &runs, args.json).map_err(Error::Output)?;
        return Ok(Exit::Completed);
    }
    // Begun before what is there is read, so that nothing can happen in between.
    let following = match args.follow {
        true => Some(client.subscribe(SubscribeParams::default()).await?),
        false => None,
    };
    let mut seen = Seen::default();
    for event in past_events(&client, &args).await? {
        seen.note(&event);
        print_event(&mut screen::stdout(), &event, args.json).map_err(Error::Output)?;
    }
    let Some(mut following) = following else { return Ok(Exit::Completed) };
    loop {
        for line in line::batch(following.next().await?).iter() {
            let event = from_log(line.event()?).filter(|event| is_wanted(event, args.run.as_deref()));
            if let Some(event) = event.filter(|event| !seen.contains(event)) {
                print_event(&mut screen::stdout(), &event, args.json).map_err(Error::Output)?;
            }
        }
    }
}

async fn past_events(client: &Client, args: &Args) -> Result<Vec<RunEvent>, Error> {
    let params = RunEventsParams { run_id: args.run.clone(), limit: Some(args.limit) };
    Ok(client.call::<method::RunEvents>(params).await?.items)
}

/// What an event of the log says about a run.
fn from_log(event: &NormalizedEvent) -> Option<RunEvent> {
    let made = match event.trace.session_id == SessionId::host() {
        true => AgentEvent::from_body(&event.body)?,
        false => AgentEvent::from_session(event)?,
    };
    let AgentEvent { kind, level, message, service_id, data, .. } = made;
    Some(RunEvent { seq: event.seq, at: event.time, kind, service_id, level, message, data })
}

fn run_of(event: &RunEvent) -> Option<&str> {
    event.data.get("runId")?.as_str()
}

fn is_wanted(event: &RunEvent, run: Option<&str>) -> bool {
    run.is_none_or(|run| run_of(event) == Some(run))
}

/// The last events that were shown before following began, so that none is shown twice.
#[derive(Default)]
struct Seen(Vec<(u64, Timestamp, String)>);

impl Seen {
    fn note(&mut self, event: &RunEvent) {
        self.0.push((event.seq, event.at, event.kind.clone()));
    }

    fn contains(&self, event: &RunEvent) -> bool {
        self.0.iter().any(|(seq, at, kind)| (*seq, *at, kind) == (event.seq, event.at, &event.kind))
    }
}

fn print_event(out: &mut Screen<impl Write>, event: &RunEvent, json: bool) -> io::Result<()> {
    if json {
        return out.json(event);
    }
    let kind = event.kind.strip_prefix("agent.").unwrap_or(&event.kind);
    // Whoever reports writes the message; a line break in it must not begin another record.
    let line = format!("{}  {:<24}  {:<20}  {}", event.at, run_of(event).unwrap_or("-"), kind, event.message);
    writeln!(out, "{}", one_line(&line))
}

fn print_runs(out: &mut Screen<impl Write>, runs: &[RunSummary], json: bool) -> io::Result<()> {
    if json {
        return runs.iter().try_for_each(|run| out.json(run));
    }
    if runs.is_empty() {
        return writeln!(out, "There are no runs. `roost run` starts one, and POST /api/agents/events reports one.");
    }
    let now = Timestamp::now();
    let rows = runs.iter().map(|run| {
        let why = run.waiting_reason.as_ref().or(run.failure_reason.as_ref()).unwrap_or(&run.last_event_message);
        [
            run.run_id.to_string(),
            run.agent.clone().unwrap_or_else(|| "-".into()),
            status(run.status).into(),
            ago(run.updated_at, now),
            run.tool_call_count.to_string(),
            run.input_tokens.saturating_add(run.output_tokens).to_string(),
            format!("${:.2}", run.cost_usd),
            why.clone(),
        ]
    });
    let heads = ["RUN", "AGENT", "STATUS", "CHANGED", "CALLS", "TOKENS", "COST", "LAST"];
    table::write(out, Style::for_stdout(), Overflow::Cut, heads, &rows.collect::<Vec<_>>())
}

fn status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Queued => "queued",
        RunStatus::Running => "running",
        RunStatus::Waiting => "waiting",
        RunStatus::Completed => "completed",
        RunStatus::Failed => "failed",
        RunStatus::Cancelled => "cancelled",
    }
}
