//! `roost login`: the agent's own login, in the environment that its sessions have.

use std::io::{self, IsTerminal, Write};
use std::process::Command;

use clap_complete::engine::ArgValueCandidates;
use roost_model::runtime::RuntimeName;
use roost_process::Isolation;

use crate::backend::{Login, LoginCommand};
use crate::cli::Context;
use crate::complete;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen;

const EXAMPLES: &str = "\
Examples:
  roost login claude                     run the agent's own login
  roost login codex --namespace work     log in for sessions of `roost run --namespace work`
  roost login codex --print              only print how to log in";

/// Variables beside the allow-listed ones by which a login finds a browser.
const BROWSER: [&str; 5] = ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"];

/// Log in to an agent
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The id of the agent, as shown by `roost runtimes`
    #[arg(add = ArgValueCandidates::new(complete::runtimes))]
    runtime: String,
    /// The credential namespace to log in to [default: the one that the agent's sessions use]
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// Only print how to log in
    #[arg(long)]
    print: bool,
}

impl Args {
    /// The login of this agent in its usual namespace.
    pub(crate) fn for_runtime(runtime: String) -> Self {
        Self { runtime, namespace: None, print: false }
    }
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let Args { runtime, namespace, print } = args;
    let id = RuntimeName::from_id(&runtime).id().to_owned();
    let Login { status, hint, command, isolation } = context.backend.login(id.clone(), namespace.as_deref()).await?;
    match command {
        Some(login) if !print && io::stdin().is_terminal() && screen::stdout_is_terminal() => carry_out(login).await,
        login => {
            let how = login.map(|login| shown(&login, isolation));
            say(&mut screen::stdout(), &id, status.summary(), hint.as_deref(), how.as_deref())
                .map_err(Error::Output)?;
            Ok(Exit::Completed)
        }
    }
}

/// Runs the agent's own login on this terminal.
async fn carry_out(login: LoginCommand) -> Result<Exit, Error> {
    let shown = login.program.to_string_lossy().into_owned();
    let ended = tokio::task::spawn_blocking(move || {
        // From this terminal's environment and not the runtime's: only here it is known how to reach a browser.
        let browser = BROWSER.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
        Command::new(&login.program).args(&login.args).env_clear().envs(browser).envs(&login.env).status()
    });
    let ended = ended.await.map_err(|error| Error::Start(error.into()))?;
    match ended {
        Ok(status) if status.success() => Ok(Exit::Completed),
        Ok(_) => Ok(Exit::Failed),
        Err(error) => Err(Error::NotInstalled { id: shown, reason: error.to_string() }),
    }
}

/// The command as somebody would type it; where its home is not the usual one, with that.
fn shown(login: &LoginCommand, isolation: Isolation) -> String {
    let apart = isolation != Isolation::Shared;
    let home = login.env.iter().filter(|(name, _)| apart && (*name == "HOME" || name.starts_with("XDG_")));
    let home = home.map(|(name, value)| format!("{name}='{value}' "));
    let words = [&login.program].into_iter().chain(&login.args).map(|word| word.to_string_lossy());
    format!("{}{}", home.collect::<String>(), words.collect::<Vec<_>>().join(" "))
}

fn say(out: &mut impl Write, id: &str, status: &str, hint: Option<&str>, how: Option<&str>) -> io::Result<()> {
    writeln!(out, "{id}: logged in: {status}")?;
    if let Some(how) = how {
        writeln!(out, "To log in: {how}")?;
    }
    match hint {
        Some(hint) => writeln!(out, "{hint}"),
        None if how.is_none() => writeln!(out, "It needs no login, or asks for one by itself."),
        None => Ok(()),
    }
}
