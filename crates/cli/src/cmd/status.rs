//! `roost status`: how the daemon is.

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
  roost status           whether a daemon runs, and how it is
  roost status --json    the same as one line of JSON

Ends with 1 if none runs.";

/// Show whether a daemon runs and how it is
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print it as one line of JSON
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
    const NONE: &str = "No daemon runs here; `roost up` starts one, and so does every command that needs one.";
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
        (None, true) => "its socket only; a command started it, and it leaves when it is not needed".into(),
        (None, false) => "its socket only".into(),
    };
    let since = ago::span(Duration::from_secs(daemon.uptime_seconds));
    let count = |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut rows = vec![
        ("daemon", format!("process {}, version {}, for {since}", daemon.pid, daemon.version)),
        ("listens on", at),
        ("log", daemon.log.clone()),
        ("tasks", count(daemon.running_tasks, "runs", "run")),
        ("approvals", count(daemon.pending, "waits", "wait")),
        ("devices", count(daemon.devices, "is paired", "are paired")),
        ("clients", count(daemon.clients, "is connected", "are connected")),
    ];
    if !daemon.locked_addresses.is_empty() {
        let addresses = daemon.locked_addresses.join(", ");
        let then = if daemon.code_withdrawn { "the code is no longer good; " } else { "" };
        rows.push((
            "pairing",
            format!("locked for {addresses} after wrong codes; {then}`roost pair` shows a new code"),
        ));
    }
    let lines: Vec<_> =
        rows.into_iter().map(|(what, how)| format!("{} {how}", style.dim(format_args!("{what:10}")))).collect();
    lines.join("\n")
}
