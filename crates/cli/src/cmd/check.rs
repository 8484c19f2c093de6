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
  roost check              read the whole log and report what is wrong
  roost check --rebuild    rebuild the session list from the events

Exits with 1 if something is wrong.";

/// Check the log for damage
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Rebuild everything that is derived from events, such as the session list
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
    writeln!(out, "Read {events} events in {streams} sessions ({blocks} blocks).")?;
    if problems.is_empty() {
        writeln!(out, "No problems found.")?;
        return Ok(Exit::Completed);
    }
    list(out, "wrong", problems)?;
    writeln!(out, "`roost check --rebuild` repairs what it can.")?;
    Ok(Exit::Failed)
}

fn print_rebuilt(out: &mut impl Write, rebuilt: &Rebuilt) -> io::Result<Exit> {
    let Rebuilt { mended, remaining } = rebuilt;
    list(out, "repaired", mended)?;
    list(out, "cannot be repaired", remaining)?;
    if remaining.is_empty() {
        writeln!(out, "No problems found.")?;
        return Ok(Exit::Completed);
    }
    Ok(Exit::Failed)
}

fn list(out: &mut impl Write, what: &str, problems: &[String]) -> io::Result<()> {
    problems.iter().try_for_each(|problem| writeln!(out, "{what}: {problem}"))
}
