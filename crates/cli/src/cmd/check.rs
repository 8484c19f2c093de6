//! `roost check`: whether the record is whole, and what derives from it made anew.

use std::io::{self, Write};

use roost_log::{Rebuilt, Report};

use crate::blocking::blocking;
use crate::cli::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen;
use crate::state_lock;

const EXAMPLES: &str = "\
Examples:
  roost check              read everything and tell what is wrong
  roost check --rebuild    make the session list anew from the events

Ends with 1 if something is wrong.";

/// Check that the record of all sessions is whole
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Make everything that derives from events anew
    #[arg(long)]
    rebuild: bool,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let dir = context.state.dir().to_owned();
    if args.rebuild {
        let lock = state_lock::lock(&context.state, "roost check --rebuild").await?;
        let rebuilt = blocking(move || {
            // Only looks, so that a directory without a database does not get one.
            roost_log::tables_version(&dir)?;
            Ok(roost_log::rebuild(&lock)?)
        });
        return print_rebuilt(&mut screen::stdout(), &rebuilt.await?).map_err(Error::Output);
    }
    match context.backend.read_log("roost check").await {
        Err(error @ Error::Log(roost_log::Error::NotFound { .. } | roost_log::Error::Newer { .. })) => {
            return Err(error);
        }
        // Just what a check is for.
        Err(error) => tracing::info!(%error, "What a crash may have left was not put in order."),
        Ok(_) => {}
    }
    let report = blocking(move || Ok(roost_log::check(&dir)?)).await?;
    print_report(&mut screen::stdout(), &report).map_err(Error::Output)
}

fn print_report(out: &mut impl Write, report: &Report) -> io::Result<Exit> {
    let Report { streams, blocks, events, problems } = report;
    writeln!(out, "{events} events in {streams} sessions ({blocks} blocks) read.")?;
    if problems.is_empty() {
        writeln!(out, "Everything is as it should be.")?;
        return Ok(Exit::Completed);
    }
    list(out, "wrong", problems)?;
    writeln!(out, "`roost check --rebuild` mends what can be mended.")?;
    Ok(Exit::Failed)
}

fn print_rebuilt(out: &mut impl Write, rebuilt: &Rebuilt) -> io::Result<Exit> {
    let Rebuilt { mended, remaining } = rebuilt;
    list(out, "mended", mended)?;
    list(out, "cannot be mended", remaining)?;
    if remaining.is_empty() {
        writeln!(out, "Everything is as it should be.")?;
        return Ok(Exit::Completed);
    }
    Ok(Exit::Failed)
}

fn list(out: &mut impl Write, what: &str, problems: &[String]) -> io::Result<()> {
    problems.iter().try_for_each(|problem| writeln!(out, "{what}: {problem}"))
}
