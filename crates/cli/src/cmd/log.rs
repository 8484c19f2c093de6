//! `roost log`: what happened in a session, and what happens next.

use roost_log::Seq;

use crate::cli::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::printer::{OutputForm, Printer};
use crate::reading::RecordReader;
use crate::render::{Renderer, Show};
use crate::style::Style;

const EXAMPLES: &str = "\
Examples:
  roost log 0199a1b2                the session whose id begins like this
  roost log 0199a1b2 --follow       and what happens next
  roost log 0199a1b2 --json         every event as one line of JSON
  roost log 0199a1b2 --after 100    only what came after event 100";

/// Show what happened in a session
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Its id, the beginning of it, or the agent's own id
    session: String,
    /// Leave out the events up to this one
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: Seq,
    /// Go on with what happens next, until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// Print every event as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let reading = RecordReader::open(context, "roost log").await?;
    let session = reading.session(&args.session).await?;
    let form = match args.json {
        true => OutputForm::Json,
        false => {
            let show = Show { prompts: true, all: context.verbose > 0, asks: true };
            OutputForm::People(Box::new(Renderer::new(Style::for_stdout(), show)))
        }
    };
    let printer = Printer::new(form);
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
    let Some(mut following) = following else { return Ok(Exit::Completed) };
    loop {
        let lines = following.next().await?;
        let mut first = 0;
        while first < lines.len() && lines[first].seq()? <= after {
            first += 1;
        }
        printer.print(&lines, first..lines.len()).await?;
    }
}
