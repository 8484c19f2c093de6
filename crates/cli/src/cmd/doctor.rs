//! `roost doctor`: checks the installation, and says what to fix.

use std::io::{self, Write};
use std::path::Path;

use roost_model::registry::RuntimeStatus;
use roost_process::Raise;
use serde::Serialize;
use tokio::net::TcpListener;

use crate::backend::Installation;
use crate::blocking::blocking;
use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, Screen, one_line};
use crate::state_lock;
use crate::style::Style;

const EXAMPLES: &str = "\
Examples:
  roost doctor           check everything
  roost doctor -v        also show where agents are looked for
  roost doctor --json    print one line of JSON for each check

Exits with 1 if a check fails.";

/// Check the installation and say what to fix
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print one line of JSON for each check
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Warn,
    Fail,
}

/// What was looked at and found.
#[derive(Serialize)]
struct Finding {
    what: String,
    verdict: Verdict,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Finding {
    fn ok(what: &str, found: impl Into<String>) -> Self {
        Self { what: what.into(), verdict: Verdict::Ok, found: found.into(), advice: None }
    }

    fn warn(what: &str, found: impl Into<String>, advice: &str) -> Self {
        Self { what: what.into(), verdict: Verdict::Warn, found: found.into(), advice: Some(advice.into()) }
    }

    fn fail(what: &str, found: impl Into<String>, advice: &str) -> Self {
        Self { verdict: Verdict::Fail, ..Self::warn(what, found, advice) }
    }
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let mut findings = vec![configuration(context), system()];
    findings.extend(state(context).await);
    findings.extend(daemon(context).await);
    let dir = context.state.dir().to_owned();
    findings.push(blocking(move || Ok(database(&dir))).await?);
    findings.push(blocking(|| Ok(cgroup())).await?);
    findings.push(holder(context).await);
    findings.push(peers());
    findings.push(wall(context).await);
    findings.extend((context.verbose > 0).then(search_path));
    findings.extend(agents(context).await?);
    print(&mut screen::stdout(), &findings, args.json).map_err(Error::Output)?;
    let failed = findings.iter().any(|finding| finding.verdict == Verdict::Fail);
    Ok(if failed { Exit::Failed } else { Exit::Completed })
}

/// Where agents are looked for. A daemon that is running looks in the `PATH` that it was started with.
fn search_path() -> Finding {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Finding::ok("PATH of this terminal", path.to_string_lossy())
}

/// It was read before the command began, so it can be read.
fn configuration(context: &Context) -> Finding {
    let yolo = if context.settings.allow_yolo { "every client" } else { "only this command line" };
    Finding::ok("configuration", format!("readable; {yolo} may use the permission mode yolo"))
}

fn system() -> Finding {
    match std::env::consts::OS {
        "linux" => Finding::ok("system", "Linux"),
        other => Finding::warn(
            "system",
            format!("{other}: agents are stopped by process group only"),
            "Roost is made for Linux; look for leftover processes when an agent was killed",
        ),
    }
}

async fn state(context: &Context) -> [Finding; 2] {
    let dir = context.state.dir().display().to_string();
    let (directory, lock) = match state_lock::lock(&context.state, "roost doctor").await {
        Ok(_) => (Finding::ok("state directory", &*dir), Finding::ok("state lock", "free")),
        Err(Error::Held { held }) => {
            (Finding::ok("state directory", &*dir), Finding::ok("state lock", held.to_string()))
        }
        Err(error) => (
            Finding::fail("state directory", error.to_string(), "make it writable, or choose another one with --state"),
            Finding::warn("state lock", "not checked", "fix the state directory first"),
        ),
    };
    [directory, lock]
}

/// The daemon, its socket and its port.
async fn daemon(context: &Context) -> Vec<Finding> {
    let socket = match context.state.socket() {
        Ok(socket) => Finding::ok("socket", socket.display().to_string()),
        Err(error) => return vec![Finding::fail("socket", error.to_string(), "use a shorter state directory")],
    };
    let status = match connect::find_with_status(&context.state).await {
        Ok(found) => found.map(|(_, status)| status),
        Err(error) => return vec![socket, Finding::fail("daemon", error.to_string(), "run `roost down`")],
    };
    let port = match status.as_ref().and_then(|status| status.address.as_ref()) {
        Some(address) => Finding::ok("port", format!("the daemon listens on {address}")),
        None => port(context).await,
    };
    let version = env!("CARGO_PKG_VERSION");
    let daemon = match status {
        None => Finding::ok("daemon", "not running; a command that needs it starts it"),
        Some(status) if status.log != "ok" => Finding::fail(
            "daemon",
            format!("process {}: the log is {}", status.pid, status.log),
            "free some disk space",
        ),
        Some(status) if status.version != version => {
            let found = format!("process {} is version {}, this is {version}", status.pid, status.version);
            Finding::warn("daemon", found, "run `roost down`; the next command starts one of this version")
        }
        Some(status) => Finding::ok("daemon", format!("process {}, version {version}", status.pid)),
    };
    vec![socket, daemon, port]
}

/// Whether the daemon could listen where it is told to.
async fn port(context: &Context) -> Finding {
    let address = context.settings.listen;
    match TcpListener::bind(address).await {
        Ok(_) => Finding::ok("port", format!("{address} is free")),
        Err(error) => {
            let advice = "stop what is listening there, or choose another port with server.port in roost.toml";
            Finding::warn("port", format!("{address}: {error}"), advice)
        }
    }
}

fn database(state: &Path) -> Finding {
    match roost_log::tables_version(state) {
        Ok(version) => {
            let files = std::fs::read_dir(state).into_iter().flatten().flatten();
            let ours = files.filter(|file| file.file_name().to_string_lossy().starts_with("roost.db"));
            let bytes: u64 = ours.filter_map(|file| Some(file.metadata().ok()?.len())).sum();
            Finding::ok("database", format!("version {version}, {:.1} MB", bytes as f64 / 1e6))
        }
        Err(roost_log::Error::NotFound { .. }) => Finding::ok("database", "none yet; the first `roost run` creates it"),
        Err(error @ roost_log::Error::Newer { .. }) => Finding::fail("database", error.to_string(), "upgrade Roost"),
        Err(error) => Finding::fail("database", error.to_string(), "run `roost check`"),
    }
}

fn cgroup() -> Finding {
    match roost_process::cgroup_available() {
        true => Finding::ok("cgroup v2", "writable: the processes of an agent are stopped as a group"),
        false => Finding::warn(
            "cgroup v2",
            "not writable: the processes of an agent are found by their parents and their environment",
            "nothing to do for normal use; a systemd user session makes it writable",
        ),
    }
}

/// Starts this very binary under a holder and waits until nothing of it is left.
async fn holder(context: &Context) -> Finding {
    let advice = "check that the binary may be executed, and the process limits (ulimit -u, ulimit -n)";
    match context.backend.try_holder(None).await {
        Ok(exit) if exit.success() => Finding::ok("holder", "starts and stops programs"),
        Ok(exit) => Finding::fail("holder", format!("the program that it started exited with {exit}"), advice),
        Err(error) => Finding::fail("holder", error, advice),
    }
}

/// Whether processes of agents are recognised at the local socket.
fn peers() -> Finding {
    let what = "agents at the socket";
    if !cfg!(target_os = "linux") {
        let found = "not recognised here: an agent that finds the socket can answer its own approvals";
        return Finding::warn(what, found, "use Linux, or let agents run no command without asking");
    }
    let found = "recognised by their parent processes; they may only read their own session";
    match roost_process::peers_are_pinned() {
        true => Finding::ok(what, found),
        false => Finding::ok(what, format!("{found} (this kernel is older than 6.5, so their pids are not pinned)")),
    }
}

/// Whether agents are kept from the files in the state directory.
async fn wall(context: &Context) -> Finding {
    let what = "agents and the state directory";
    let open = "agents can read it, including tokens and the log";
    let stands = match context.backend.try_holder(Some(Raise::Always)).await {
        Ok(exit) if exit.success() => Ok(()),
        Ok(exit) => Err(format!("a program exited with {exit}")),
        Err(error) => Err(error),
    };
    let is_root = rustix::process::geteuid().is_root();
    match (context.settings.hide_state, stands) {
        (None, _) => {
            Finding::warn(what, format!("{open}: security.hide_state is off"), "set it to auto or on in roost.toml")
        }
        (Some(Raise::Always), Ok(())) => Finding::ok(what, "hidden from agents by a mount namespace"),
        (Some(Raise::Always), Err(why)) => {
            let found = format!("no agent can start, because the directory cannot be hidden: {why}");
            Finding::fail(what, found, "set security.hide_state to auto in roost.toml")
        }
        (Some(Raise::WhereFree), Ok(())) if is_root => {
            Finding::ok(what, "hidden from agents by a mount namespace; agents that run as root can undo that")
        }
        (Some(Raise::WhereFree), Ok(())) => Finding::warn(
            what,
            format!("{open}; it can be hidden, but then sudo, su and some ssh settings do not work for agents"),
            "if your agents need none of these, set security.hide_state to on in roost.toml",
        ),
        (Some(Raise::WhereFree), Err(why)) => {
            let advice = "allow user and mount namespaces, or run agents as another user";
            Finding::warn(what, format!("{open}; it cannot be hidden: {why}"), advice)
        }
    }
}

async fn agents(context: &Context) -> Result<Vec<Finding>, Error> {
    let found = context.backend.installations().await?.into_iter().map(|installation| {
        let Installation { id, status, version, note } = installation;
        let what = format!("runtime {id}");
        let version = match (status, version) {
            (RuntimeStatus::Disabled, _) => return Finding::ok(&what, "disabled in roost.toml"),
            (_, Err(reason)) => {
                // The adapter's reason ends with what to do about it.
                let otherwise = "install it, or correct its command in roost.toml";
                let (found, advice) = reason.split_once("; ").unwrap_or((&reason, otherwise));
                return Finding::warn(&what, found, advice);
            }
            (_, Ok(version)) => version.map(|version| format!(", version {version}")),
        };
        let found = format!("installed{}", version.unwrap_or_default());
        match note {
            Some(note) => Finding::warn(&what, found, &note),
            None => Finding::ok(&what, found),
        }
    });
    Ok(found.collect())
}

fn print(out: &mut Screen<impl Write>, findings: &[Finding], json: bool) -> io::Result<()> {
    let style = Style::for_stdout();
    for finding in findings {
        if json {
            out.json(finding)?;
            continue;
        }
        let verdict = match finding.verdict {
            Verdict::Ok => style.green("ok  "),
            Verdict::Warn => style.yellow("warn"),
            Verdict::Fail => style.red("fail"),
        };
        writeln!(out, "{verdict}  {}: {}", one_line(&finding.what), one_line(&finding.found))?;
        if let Some(advice) = &finding.advice {
            writeln!(out, "      {}", style.dim(&one_line(advice)))?;
        }
    }
    Ok(())
}
