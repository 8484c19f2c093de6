//! `roost runtimes`: the agents that are known, and whether they can be used.

use std::io::{self, Write};

use roost_model::registry::{RuntimeEntry, RuntimeStatus};
use roost_model::runtime::ResumeModel;
use serde::Serialize;

use crate::cli::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, Screen};
use crate::style::Style;
use crate::table::{self, Overflow};

const EXAMPLES: &str = "\
Examples:
  roost runtimes            list the agents
  roost runtimes --json     print one line of JSON for each, with its capabilities
  roost login claude        log in to one

Add any other agent that speaks ACP to roost.toml:
  [runtimes.kimi]
  command = \"kimi\"
  args = [\"acp\"]";

/// List the agents: whether each is installed and logged in
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print one line of JSON for each agent
    #[arg(long)]
    json: bool,
}

/// A runtime, and whether it is the one when none is named.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RuntimeLine {
    #[serde(flatten)]
    entry: RuntimeEntry,
    is_default: bool,
    installed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    logged_in: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    login: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let registry = context.backend.survey().await?;
    let lines = registry.runtimes.into_iter().map(|mut entry| {
        let is_default = entry.id == registry.default_runtime;
        let look = entry.availability.take();
        RuntimeLine {
            entry,
            is_default,
            installed: look.as_ref().is_some_and(|look| look.installed),
            version: look.as_ref().and_then(|look| look.version.clone()),
            logged_in: look.as_ref().is_some_and(|look| look.logged_in),
            login: look.as_ref().and_then(|look| look.login.clone()),
            note: look.as_ref().and_then(|look| look.note.clone()),
            reason: look.and_then(|look| look.reason),
        }
    });
    print(&mut screen::stdout(), &lines.collect::<Vec<_>>(), args.json).map_err(Error::Output)?;
    Ok(Exit::Completed)
}

fn print(out: &mut Screen<impl Write>, lines: &[RuntimeLine], json: bool) -> io::Result<()> {
    if json {
        return lines.iter().try_for_each(|line| out.json(line));
    }
    let rows = lines.iter().map(|line| {
        let entry = &line.entry;
        let id = if line.is_default { format!("{} (default)", entry.id) } else { entry.id.clone() };
        let status = match entry.status {
            RuntimeStatus::Active => "active",
            RuntimeStatus::Preview => "preview",
            RuntimeStatus::Deprecated => "deprecated",
            RuntimeStatus::Disabled => "disabled",
        };
        let installed = match (line.installed, &line.version) {
            (false, _) => "no".into(),
            (true, Some(version)) => version.clone(),
            (true, None) => "yes".into(),
        };
        let logged_in = line.login.clone().unwrap_or_else(|| "-".into());
        let resume = match entry.capabilities.resume_model {
            ResumeModel::Native => "native",
            ResumeModel::Reconstruct => "from the log",
            ResumeModel::None => "no",
        };
        let remark = match entry.status {
            RuntimeStatus::Disabled => "disabled in roost.toml".into(),
            _ => line.reason.iter().chain(&line.note).cloned().collect::<Vec<_>>().join(" · "),
        };
        [id, entry.display_name.clone(), status.into(), installed, logged_in, resume.into(), remark]
    });
    let heads = ["ID", "NAME", "STATUS", "INSTALLED", "LOGGED IN", "RESUME", "REMARK"];
    table::write(out, Style::for_stdout(), Overflow::LastBelow, heads, &rows.collect::<Vec<_>>())
}
