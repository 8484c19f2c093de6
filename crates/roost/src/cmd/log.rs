//! `roost log`: what happened in a session, and what happens next.

use std::io;

use roost_log::{Filter, Seq, Start, StreamId};

use crate::cli::Context;
use crate::compose;
use crate::error::Error;
use crate::exit::Exit;
use crate::find;
use crate::printer::{Form, Printer};
use crate::render::{Renderer, Show};
use crate::style::Style;

/// Events read at once.
const PAGE: usize = 4096;

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
    let log = compose::reader(&context.state, &context.config, "roost log").await?;
    let session = find::session(&*log, &args.session).await?;
    let stream = StreamId::from(&session.session_id);
    let form = match args.json {
        true => Form::Json,
        false => {
            let show = Show { prompts: true, all: context.verbose, asks: true };
            Form::People(Box::new(Renderer::new(Style::of(&io::stdout()), show)))
        }
    };
    let printer = Printer::new(form);
    let mut never = |_: roost_log::Entry<'_>| Ok(None::<()>);
    if args.follow {
        let mut follower = log.follow(Filter::stream(stream.clone()), Start::AfterSeq(stream, args.after)).await?;
        loop {
            (never, _) = printer.print(follower.next().await?, never).await?;
        }
    }
    let mut after = args.after;
    loop {
        let page = log.read(&stream, after, PAGE).await?;
        let Some(last) = page.batch.iter().last().map(|entry| entry.seq()) else { return Ok(Exit::Completed) };
        (never, _) = printer.print(page.batch, never).await?;
        after = last;
    }
}
