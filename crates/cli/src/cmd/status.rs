//! `roost status`: the state of the daemon.

use std::time::Duration;

use roost_rpc::DaemonStatus;
use serde::Serialize;

use crate::ago;
use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen;
use crate::style::Style;

const EXAMPLES: &str = "\
Examples:
  roost status           show the daemon's status
  roost status --json    print it as one line of JSON

Exits with 1 if no daemon is running.";

/// Show whether the daemon is running, and its status
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

/// What `--json` prints: whether a daemon runs, and its status if so.
#[derive(Serialize)]
struct StatusLine {
    running: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    daemon: Option<DaemonStatus>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let daemon = connect::find_with_status(&context.state).await?.map(|(_, status)| status);
    let exit = if daemon.is_some() { Exit::Completed } else { Exit::Failed };
    const NONE: &str = "No daemon is running. `roost up` starts one, and so does any command that needs it.";
    match (args.json, daemon) {
        (true, daemon) => screen::print_json(&StatusLine { running: daemon.is_some(), daemon })?,
        (false, Some(daemon)) => screen::print(&words(Style::for_stdout(), &daemon))?,
        (false, None) => screen::print(NONE)?,
    }
    Ok(exit)
}

fn words(style: Style, daemon: &DaemonStatus) -> String {
    let at = match (&daemon.address, daemon.auto_started) {
        (Some(address), _) => address.clone(),
        (None, true) => "its socket only; a command started it, and it exits when it is no longer needed".into(),
        (None, false) => "its socket only".into(),
    };
    let since = ago::span(Duration::from_secs(daemon.uptime_seconds));
    let mut rows = vec![
        ("daemon", format!("process {}, version {}, running for {since}", daemon.pid, daemon.version)),
        ("listens on", at),
        ("log", daemon.log.clone()),
        ("tasks", format!("{} running", daemon.running_tasks)),
        ("approvals", format!("{} waiting", daemon.pending)),
        ("devices", format!("{} paired", daemon.devices)),
        ("clients", format!("{} connected", daemon.clients)),
    ];
    if !daemon.locked_addresses.is_empty() {
        let addresses = daemon.locked_addresses.join(", ");
        let then = if daemon.code_withdrawn { "the code is no longer valid; " } else { "" };
        rows.push((
            "pairing",
            format!("locked for {addresses} after wrong codes; {then}`roost pair` shows a new code"),
        ));
    }
    let lines: Vec<_> =
        rows.into_iter().map(|(what, how)| format!("{} {how}", style.dim(format_args!("{what:10}")))).collect();
    lines.join("\n")
}
