//! `roost log`: what happened in a session, and what happens next.

use std::path::PathBuf;

use clap_complete::engine::ArgValueCandidates;
use roost_client::Client;
use roost_log::Seq;
use roost_model::session::SessionRecord;

use crate::cli::Context;
use crate::complete;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::gutter::MARGIN;
use crate::past;
use crate::paths::working_directory;
use crate::printer::{OutputForm, Printer};
use crate::reading::RecordReader;
use crate::render::{Renderer, Show, TextForm};
use crate::screen;
use crate::style::Style;

const EXAMPLES: &str = "\
Examples:
  roost log 0199a1b2                show the session whose id starts with 0199a1b2
  roost log 0199a1b2 --follow       keep showing what happens next
  roost log 0199a1b2 --full         show all output, not only the first lines of it
  roost log 0199a1b2 --json         print each event as one line of JSON
  roost log 0199a1b2 --after 100    show only what came after event #100";

/// Show what happened in a session
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Its id, the beginning of it, the agent's own id, or latest
    #[arg(default_value = find::LATEST, add = ArgValueCandidates::new(complete::sessions))]
    session: String,
    /// Show only what came after the event with this number
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: Seq,
    /// For a session that you started with the agent itself: its directory [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Keep showing what happens next, until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// Show tool calls and their output in full, and messages of the agent that Roost does not know
    #[arg(long)]
    full: bool,
    /// Print each event as one line of JSON
    #[arg(long, conflicts_with = "full")]
    json: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let reading = match RecordReader::open(context, "roost log").await {
        Err(error @ Error::Log(roost_log::Error::NotFound { .. })) => return past(&args, context, None, error).await,
        reading => reading?,
    };
    let record = match reading.session(&args.session).await {
        Err(error @ Error::UnknownSession(_)) => return past(&args, context, Some(reading), error).await,
        record => record?,
    };
    let printer = printer(&args, context);
    let reading = match &record.adopted {
        // In JSON the log is what Roost recorded, and nothing else.
        Some(adopted) if args.after == 0 && !args.json => {
            let client = match reading {
                RecordReader::Daemon(client) => client,
                // Only a daemon can ask the agent.
                RecordReader::AtRest(log) => {
                    drop(log);
                    Box::new(connect::open(context).await?)
                }
            };
            print_messages(&client, &printer, &record, adopted.messages, &args).await?;
            RecordReader::Daemon(client)
        }
        _ => reading,
    };
    let session = record.session_id;
    // Begun before what is there is read, so that nothing can happen in between.
    let following = match args.follow {
        true => Some(reading.follow(&session).await?),
        false => None,
    };
    let mut after = args.after;
    loop {
        let page = reading.page(&session, after).await?;
        let Some(last) = page.last() else { break };
        after = last.seq()?;
        printer.print(&page, 0..page.len()).await?;
    }
    let Some(mut following) = following else {
        printer.finish().await?;
        return Ok(Exit::Completed);
    };
    loop {
        let lines = following.next().await?;
        let mut first = 0;
        while first < lines.len() && lines[first].seq()? <= after {
            first += 1;
        }
        printer.print(&lines, first..lines.len()).await?;
    }
}

fn printer(args: &Args, context: &Context) -> Printer {
    if args.json {
        return Printer::new(OutputForm::Json);
    }
    let (style, text) = match screen::stdout_is_terminal() {
        true => (Style::for_stdout(), TextForm::Terminal { margin: MARGIN }),
        false => (Style::PLAIN, TextForm::Source),
    };
    let show = Show {
        prompts: true,
        all: context.verbose > 0,
        asks: true,
        full: args.full,
        quiet: false,
        unfold: Some("--full shows them"),
        text,
    };
    Printer::with_gutter(OutputForm::People(Box::new(Renderer::new(style, show))), style)
}

/// Shows a session that only its agent keeps. `unknown` is the error if there is none.
async fn past(args: &Args, context: &Context, reading: Option<RecordReader>, unknown: Error) -> Result<Exit, Error> {
    let cwd = working_directory(args.cwd.as_deref())?;
    let record = match past::session(context, reading.as_ref(), &cwd, &args.session).await {
        Err(Error::UnknownSession(_)) => return Err(unknown),
        record => record?,
    };
    if args.follow {
        return Err(Error::NotFollowed(record.session_id.to_string()));
    }
    // Only a daemon can ask the agent, and it finds a session by the list of its directory.
    let client = match reading {
        Some(RecordReader::Daemon(client)) => client,
        at_rest => {
            drop(at_rest);
            let client = connect::open(context).await?;
            past::list_from_daemon(&client, &cwd).await?;
            Box::new(client)
        }
    };
    print_messages(&client, &printer(args, context), &record, u64::MAX, args).await?;
    Ok(Exit::Completed)
}

/// Prints the first messages of a session, as its agent keeps them.
async fn print_messages(
    client: &Client,
    printer: &Printer,
    record: &SessionRecord,
    count: u64,
    args: &Args,
) -> Result<(), Error> {
    let (mut read, mut left) = (0, count);
    loop {
        let mut page = past::messages(client, record.session_id.as_str(), read).await?;
        page.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        if page.is_empty() {
            return Ok(());
        }
        read = read.saturating_add(u32::try_from(page.len()).unwrap_or(u32::MAX));
        left -= page.len() as u64;
        page.retain(|message| message.id > args.after);
        printer.messages(page).await?;
    }
}
