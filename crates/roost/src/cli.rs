//! The command line: what can be said, and the way to the command that does it.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgAction, Args, Parser, Subcommand};

use crate::cmd;
use crate::config::Config;
use crate::diagnostics;
use crate::error::Error;
use crate::exit::Exit;
use crate::paths::{self, State};
use crate::screen;
use crate::stderr::tell;
use crate::style::Style;

/// Threads for async work; what waits for disks and readers has its own.
const WORKERS: usize = 2;

const EXAMPLES: &str = "\
Examples:
  roost                                    serve this folder, and show how to connect a phone
  roost run                                a tour by the demo agent, then a conversation
  roost run --permission-mode yolo edit    let the agent write a file
  roost sessions                           what has been run
  roost log 0199                           what happened in a session";

/// Hosts coding agents and keeps one durable record of everything they do.
///
/// Without a command: serves until Ctrl-C, and shows how to connect a device.
#[derive(Parser)]
#[command(name = "roost", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Args)]
struct Global {
    /// Where everything is kept [default: $XDG_STATE_HOME/roost]
    #[arg(long, value_name = "DIR", env = "ROOST_STATE", hide_env_values = true, global = true)]
    state: Option<PathBuf>,
    /// The configuration [default: $XDG_CONFIG_HOME/roost/roost.toml]
    #[arg(long, value_name = "FILE", env = "ROOST_CONFIG", hide_env_values = true, global = true)]
    config: Option<PathBuf>,
    /// Show more; twice for even more
    #[arg(short, long, action = ArgAction::Count, global = true)]
    verbose: u8,
}

#[derive(Subcommand)]
enum Command {
    Run(cmd::run::Args),
    Log(cmd::log::Args),
    Sessions(cmd::sessions::Args),
    Approvals(cmd::approvals::Args),
    Stop(cmd::stop::Args),
    Serve(cmd::serve::Args),
    Up(cmd::up::Args),
    Down(cmd::down::Args),
    Status(cmd::status::Args),
    Pair(cmd::pair::Args),
    Devices(cmd::devices::Args),
    Workspaces(cmd::workspaces::Args),
    Files(cmd::files::Args),
    Git(cmd::git::Args),
    Search(cmd::search::Args),
    Export(cmd::export::Args),
    Runtimes(cmd::runtimes::Args),
    Login(cmd::login::Args),
    Check(cmd::check::Args),
    Doctor(cmd::doctor::Args),
    Completions(cmd::completions::Args),
}

/// What every command gets.
pub(crate) struct Context {
    /// Where everything is kept.
    pub(crate) state: State,
    /// How everything is set up.
    pub(crate) config: Config,
    /// Where that was read, if it was named.
    pub(crate) config_file: Option<PathBuf>,
    /// Show more; 2 for even more.
    pub(crate) verbose: u8,
}

/// Reads the command line and does what it says.
pub(crate) fn main() -> ExitCode {
    let Cli { global, command } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(said) => return say(&said),
    };
    let command = command.unwrap_or_else(|| Command::Serve(cmd::serve::Args::plain()));
    if !matches!(command, Command::Serve(_)) {
        diagnostics::of_command(global.verbose);
    }
    let exit = match Context::new(global).and_then(|context| run(command, &context)) {
        Ok(exit) => exit,
        Err(error) => {
            let exit = error.exit();
            if exit != Exit::Completed {
                tell(format_args!("roost: {error}"));
            }
            exit
        }
    };
    exit.into()
}

/// Prints the help that was asked for, or what is wrong with the command line and quotes it.
fn say(said: &clap::Error) -> ExitCode {
    let text = |style: Style| match style.colours() {
        true => said.render().ansi().to_string(),
        false => said.render().to_string(),
    };
    // Whoever closed the stream does not want to know.
    let _ = match said.use_stderr() {
        true => write!(screen::stderr(), "{}", text(Style::of_stderr())),
        false => write!(screen::stdout(), "{}", text(Style::of_stdout())),
    };
    // Clap's codes are ours: 0 for help, 2 for a mistake.
    ExitCode::from(u8::try_from(said.exit_code()).unwrap_or(Exit::Usage as u8))
}

impl Context {
    fn new(global: Global) -> Result<Self, Error> {
        let config_file = global.config.map(std::path::absolute).transpose().map_err(Error::NoCwd)?;
        let config = match &config_file {
            Some(named) => Config::read(named, std::env::vars_os())?,
            None => Config::read_if_there(&paths::config_file()?, std::env::vars_os())?,
        };
        Ok(Self { state: State::choose(global.state)?, config, config_file, verbose: global.verbose })
    }
}

fn run(command: Command, context: &Context) -> Result<Exit, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_name("roost")
        .enable_all()
        .build()
        .map_err(Error::Start)?;
    runtime.block_on(async {
        match command {
            Command::Run(args) => cmd::run::run(args, context).await,
            Command::Log(args) => cmd::log::run(args, context).await,
            Command::Sessions(args) => cmd::sessions::run(args, context).await,
            Command::Approvals(args) => cmd::approvals::run(args, context).await,
            Command::Stop(args) => cmd::stop::run(args, context).await,
            Command::Serve(args) => cmd::serve::run(args, context).await,
            Command::Up(args) => cmd::up::run(args, context).await,
            Command::Down(_) => cmd::down::run(context).await,
            Command::Status(args) => cmd::status::run(args, context).await,
            Command::Pair(args) => cmd::pair::run(args, context).await,
            Command::Devices(args) => cmd::devices::run(args, context).await,
            Command::Workspaces(args) => cmd::workspaces::run(args, context).await,
            Command::Files(args) => cmd::files::run(args, context).await,
            Command::Git(args) => cmd::git::run(args, context).await,
            Command::Search(args) => cmd::search::run(args, context).await,
            Command::Export(args) => cmd::export::run(args, context).await,
            Command::Login(args) => cmd::login::run(args, context).await,
            Command::Runtimes(args) => cmd::runtimes::run(args, context).await,
            Command::Check(args) => cmd::check::run(args, context).await,
            Command::Doctor(args) => cmd::doctor::run(args, context).await,
            Command::Completions(args) => cmd::completions::run(&args),
        }
    })
}
