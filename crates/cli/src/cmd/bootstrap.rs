//! `roost bootstrap`: registers the MCP gateway in other programs.

use std::io::{self, Write};

use roost_rpc::{
    BootstrapClient, BootstrapOutcome, BootstrapParams, BootstrapRemoveParams, GatewayTransport, NoParams, method,
};
use serde::Serialize;

use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, Screen};
use crate::stderr::print_stderr;
use crate::style::Style;
use crate::table::{self, Overflow};

const EXAMPLES: &str = "\
Examples:
  roost bootstrap                            register it in Codex and Claude Code
  roost bootstrap --clients gemini,opencode  register it in other programs
  roost bootstrap --transport http           register its address; the programs
                                             need a token in ROOST_TOKEN, which
                                             `roost devices token NAME` makes
  roost bootstrap --dry-run                  show what would change
  roost bootstrap --status                   show which programs know it
  roost bootstrap --remove                   remove it from all programs";

/// What somebody has to do who registered the gateway over HTTP.
const TOKEN_HINT: &str = "\
These programs read a token from the variable ROOST_TOKEN. Make one and start them with it:
  export ROOST_TOKEN=$(roost devices token NAME)
`roost devices` lists it under this name, and `roost devices revoke` ends it.";

/// Register the MCP gateway in Codex, Claude Code and other programs
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The programs: codex, claude, gemini, opencode, zed, cursor, vscode [default: codex,claude]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    clients: Option<Vec<String>>,
    /// How they reach the gateway: by starting roost, or over HTTP with a token in the variable ROOST_TOKEN
    #[arg(long, value_enum, conflicts_with_all = ["remove", "status"])]
    transport: Option<Transport>,
    /// The address for HTTP [default: the daemon's own]
    #[arg(long, value_name = "URL", conflicts_with_all = ["remove", "status"])]
    endpoint: Option<String>,
    /// Tell agents of the gateway in the AGENTS.md of the daemon's folder
    #[arg(long, conflicts_with = "status")]
    update_agents_md: bool,
    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "status")]
    dry_run: bool,
    /// Remove the gateway; from all programs unless --clients names some
    #[arg(long, conflicts_with = "status")]
    remove: bool,
    /// Show which programs know the gateway
    #[arg(long)]
    status: bool,
    /// Print the answer of the daemon as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Transport {
    Stdio,
    Http,
}

impl From<Transport> for GatewayTransport {
    fn from(transport: Transport) -> Self {
        match transport {
            Transport::Stdio => Self::Stdio,
            Transport::Http => Self::Http,
        }
    }
}

/// One file, and what became of it.
struct FileLine<'a> {
    name: &'a str,
    path: &'a str,
    updated: bool,
    diff: Option<&'a str>,
    error: Option<&'a str>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::open(context).await?;
    if args.status {
        let status = client.call::<method::BootstrapStatusGet>(NoParams {}).await?;
        match args.json {
            true => screen::print_json(&status)?,
            false => print_status(&mut screen::stdout(), &status.clients).map_err(Error::Output)?,
        }
        return Ok(Exit::Completed);
    }
    let Args { clients, update_agents_md, dry_run, .. } = args;
    let (update_agents_md, dry_run) = (Some(update_agents_md), Some(dry_run));
    if args.remove {
        let params = BootstrapRemoveParams { clients, update_agents_md, dry_run };
        let removed = client.call::<method::BootstrapRemove>(params).await?;
        return report(args.json, &removed, &removed.results, removed.agents_md.as_ref());
    }
    let transport = args.transport.map(Into::into);
    let params = BootstrapParams { clients, transport, endpoint: args.endpoint, update_agents_md, dry_run };
    let applied = client.call::<method::BootstrapApply>(params).await?;
    let exit = report(args.json, &applied, &applied.results, applied.agents_md.as_ref())?;
    if matches!(args.transport, Some(Transport::Http)) && applied.results.iter().any(|result| result.error.is_none()) {
        print_stderr(TOKEN_HINT);
    }
    Ok(exit)
}

fn report(
    json: bool,
    whole: &impl Serialize,
    results: &[BootstrapOutcome],
    agents_md: Option<&roost_rpc::AgentsMdOutcome>,
) -> Result<Exit, Error> {
    let mut lines: Vec<_> = results
        .iter()
        .map(|result| FileLine {
            name: &result.client,
            path: &result.path,
            updated: result.updated,
            diff: result.diff.as_deref(),
            error: result.error.as_deref(),
        })
        .collect();
    lines.extend(agents_md.map(|outcome| FileLine {
        name: "AGENTS.md",
        path: &outcome.path,
        updated: outcome.updated,
        diff: outcome.diff.as_deref(),
        error: outcome.error.as_deref(),
    }));
    match json {
        true => screen::print_json(whole)?,
        false => lines.iter().try_for_each(|line| print_line(&mut screen::stdout(), line)).map_err(Error::Output)?,
    }
    Ok(if lines.iter().any(|line| line.error.is_some()) { Exit::Failed } else { Exit::Completed })
}

fn print_line(out: &mut Screen<impl Write>, line: &FileLine<'_>) -> io::Result<()> {
    let FileLine { name, path, updated, diff, error } = line;
    match (error, diff, updated) {
        (Some(error), ..) => writeln!(out, "{name}: not changed: {error}"),
        (None, _, false) => writeln!(out, "{name}: nothing to change in {path}"),
        (None, Some(diff), true) => write!(out, "{name}: {path} would change:\n{diff}"),
        (None, None, true) => writeln!(out, "{name}: {path} was changed"),
    }
}

fn print_status(out: &mut Screen<impl Write>, clients: &[BootstrapClient]) -> io::Result<()> {
    let rows = clients.iter().map(|client| {
        let knows = match (&client.error, client.configured) {
            (Some(_), _) => "cannot be read",
            (None, true) => "yes",
            (None, false) => "no",
        };
        let command = client.command.as_ref().map(|command| {
            [command].into_iter().chain(client.args.iter().flatten()).cloned().collect::<Vec<_>>().join(" ")
        });
        let reach = client.endpoint.clone().or(command).unwrap_or_else(|| "-".into());
        [client.client.clone(), knows.into(), reach, client.path.clone()]
    });
    let heads = ["PROGRAM", "KNOWS ROOST", "BY", "FILE"];
    table::write(out, Style::for_stdout(), Overflow::Cut, heads, &rows.collect::<Vec<_>>())
}
