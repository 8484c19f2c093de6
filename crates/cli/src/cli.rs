//! The command line: what can be said, and the way to the command that does it.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand};
use clap_complete::CompleteEnv;

use crate::backend::{Backend, CommandSettings};
use crate::clarity::ClarityProgram;
use crate::clarity::arguments::{Clarityctl, CtlCommand, DaemonOptions};
use crate::clarity::clarityctl;
use crate::clarity::clarityd::Clarityd;
use crate::cmd;
use crate::complete;
use crate::diagnostics;
use crate::error::Error;
use crate::exit::Exit;
use crate::paths::StateDir;
use crate::screen;
use crate::stderr::print_stderr;
use crate::style::Style;

/// Threads for async work; what waits for disks and readers has its own.
const WORKERS: usize = 2;

const EXAMPLES: &str = "\
Examples:
  roost demo                       take a tour with the built-in demo agent
  roost run \"fix the tests\"        give an agent a task in the current folder
  roost run --continue \"go on\"     continue the latest session of this folder
  roost attach                     take over a session that works or waits
  roost sessions                   list sessions
  roost log 0199                   show what happened in a session
  roost up                         start the daemon in the background
  roost pair                       connect a phone or another client";

/// Runs coding agents on your machine and records everything that they do.
///
/// Without a command, Roost runs the daemon in the foreground until Ctrl-C and shows how to connect.
#[derive(Parser)]
#[command(name = "roost", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(flatten, next_help_heading = "Options without a command")]
    listen: cmd::serve::Listen,
    #[command(subcommand)]
    command: Option<CliCommand>,
}

#[derive(Args)]
pub(crate) struct Global {
    /// The state directory: the log, devices and the daemon's socket [default: $XDG_STATE_HOME/roost]
    #[arg(long, value_name = "DIR", env = "ROOST_STATE", hide_env_values = true, global = true, value_parser = path())]
    state: Option<PathBuf>,
    /// The configuration file [default: $XDG_CONFIG_HOME/roost/roost.toml]
    #[arg(long, value_name = "FILE", env = "ROOST_CONFIG", hide_env_values = true, global = true, value_parser = path())]
    config: Option<PathBuf>,
    /// Show more details; -vv shows even more
    #[arg(short, long, action = ArgAction::Count, global = true)]
    verbose: u8,
}

/// Parses a path that may be empty, because a variable that is set to nothing counts as not set.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

#[derive(Subcommand)]
enum CliCommand {
    Run(cmd::run::Args),
    Demo(cmd::demo::Args),
    Attach(cmd::attach::Args),
    Log(cmd::log::Args),
    Sessions(cmd::sessions::Args),
    Approvals(cmd::approvals::Args),
    Rules(cmd::rules::Args),
    Runs(cmd::runs::Args),
    Secrets(cmd::secrets::Args),
    Bootstrap(cmd::bootstrap::Args),
    Steer(cmd::steer::Args),
    Stop(cmd::stop::Args),
    Serve(cmd::serve::Args),
    Up(cmd::up::Args),
    Down(cmd::down::Args),
    Status(cmd::status::Args),
    Pair(cmd::pair::Args),
    Devices(cmd::devices::Args),
    Workspaces(cmd::workspaces::Args),
    Services(Box<cmd::services::Args>),
    Audit(cmd::audit::Args),
    Files(cmd::files::Args),
    Git(cmd::git::Args),
    Search(cmd::search::Args),
    Export(cmd::export::Args),
    Acp(cmd::acp::Args),
    Gateway(cmd::gateway::Args),
    Runtimes(cmd::runtimes::Args),
    Login(cmd::login::Args),
    Check(cmd::check::Args),
    Doctor(cmd::doctor::Args),
    Names(cmd::names::Args),
    Completions(cmd::completions::Args),
    /// What `clarityctl` was asked for; there is no such command of `roost`.
    #[command(skip)]
    Clarityctl(Box<(DaemonOptions, CtlCommand)>),
}

/// What every command gets, made once from the command line and the configuration.
pub(crate) struct Context {
    /// The state directory: `--state`, else the XDG one.
    pub(crate) state: StateDir,
    /// The configuration, if it was named.
    pub(crate) config_file: Option<PathBuf>,
    /// The part of the configuration that commands look at.
    pub(crate) settings: CommandSettings,
    /// How often `--verbose` was given.
    pub(crate) verbose: u8,
    /// The daemon's own parts, for commands that work without a daemon.
    pub(crate) backend: Box<dyn Backend>,
}

/// The options that all commands share.
pub struct Launch {
    /// The state directory: `--state`, else the XDG one.
    pub state: StateDir,
    /// The configuration, if it was named.
    pub config_file: Option<PathBuf>,
    /// How often `--verbose` was given.
    pub verbose: u8,
}

/// Reads the command line and does what it says, with the daemon's own parts from whoever composes them.
pub fn main(compose: impl FnOnce(Launch) -> Result<Box<dyn Backend>, Error>) -> ExitCode {
    // For a shell that completes a command line; returns at once for everybody else.
    CompleteEnv::with_factory(<Cli as CommandFactory>::command).var(complete::VARIABLE).bin("roost").complete();
    let clarity = ClarityProgram::by_name(std::env::args_os().next().as_deref());
    let parsed = match clarity {
        Some(ClarityProgram::Clarityctl) => {
            Clarityctl::try_parse().and_then(|Clarityctl { global, daemon, command }| {
                Ok((global, CliCommand::Clarityctl(Box::new((daemon.with_hidden_token()?, command)))))
            })
        }
        Some(ClarityProgram::Clarityd) => Clarityd::try_parse().and_then(|clarityd| {
            let (global, args) = clarityd.into_serve()?;
            Ok((global, CliCommand::Serve(args)))
        }),
        None => match cmd::acp::args_by_name(std::env::args_os()) {
            Some(args) => Cli::try_parse_from(args).and_then(Cli::command),
            None => Cli::try_parse().and_then(Cli::command),
        },
    };
    let (global, command) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return print_clap_error(&error),
    };
    if !matches!(command, CliCommand::Serve(_)) {
        diagnostics::init_for_command(global.verbose);
    }
    let exit = match Context::new(global, compose).and_then(|context| run(command, &context)) {
        Ok(exit) => exit,
        Err(error) => {
            let exit = error.exit();
            if exit != Exit::Completed {
                let name = clarity.map_or("roost", ClarityProgram::name);
                print_stderr(format_args!("{name}: {error}"));
            }
            exit
        }
    };
    exit.into()
}

impl Cli {
    /// The command to carry out. Options of the daemon before another command would have no effect, so they are an error.
    fn command(self) -> Result<(Global, CliCommand), clap::Error> {
        let Self { global, listen, command } = self;
        match command {
            None => Ok((global, CliCommand::Serve(cmd::serve::Args::without_command(listen)))),
            Some(command) if listen == cmd::serve::Listen::default() => Ok((global, command)),
            Some(_) => {
                let words = "--host, --port, --repo, --tls and --allow-insecure are options of `roost` alone, \
                             `roost serve` and `roost up`; write them after `serve` or `up`";
                Err(<Self as CommandFactory>::command().error(ErrorKind::ArgumentConflict, words))
            }
        }
    }
}

/// Prints what clap calls an error: the help that was asked for, or what is wrong with the command line.
fn print_clap_error(error: &clap::Error) -> ExitCode {
    let text = |style: Style| match style.colours() {
        true => in_plain_words(error.render().ansi().to_string()),
        false => in_plain_words(error.render().to_string()),
    };
    // Whoever closed the stream does not want to know.
    let _ = match error.use_stderr() {
        true => write!(screen::stderr(), "{}", text(Style::for_stderr())),
        false => write!(screen::stdout(), "{}", text(Style::for_stdout())),
    };
    // Clap's codes are ours: 0 for help, 2 for a mistake.
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Usage as u8))
}

/// Replaces what Rust's own parsers say about a number.
fn in_plain_words(message: String) -> String {
    const WORDINGS: [(&str, &str); 3] = [
        ("invalid digit found in string", "it is not a whole number"),
        ("number too large to fit in target type", "the number is too large"),
        ("cannot parse integer from empty string", "a number is missing"),
    ];
    WORDINGS.iter().fold(message, |message, (theirs, ours)| message.replace(theirs, ours))
}

impl Context {
    fn new(global: Global, compose: impl FnOnce(Launch) -> Result<Box<dyn Backend>, Error>) -> Result<Self, Error> {
        let config_file = global
            .config
            .filter(|file| !file.as_os_str().is_empty())
            .map(std::path::absolute)
            .transpose()
            .map_err(Error::NoCwd)?;
        let (state, verbose) = (StateDir::choose(global.state)?, global.verbose);
        let backend = compose(Launch { state: state.clone(), config_file: config_file.clone(), verbose })?;
        Ok(Self { state, config_file, settings: backend.settings(), verbose, backend })
    }
}

fn run(command: CliCommand, context: &Context) -> Result<Exit, Error> {
    let mut runtime = match &command {
        // It passes messages on: threads that wake each other for every one of them cost more than they do.
        CliCommand::Acp(args) if args.passes_on() => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = runtime.worker_threads(WORKERS).thread_name("roost").enable_all().build().map_err(Error::Start)?;
    runtime.block_on(async {
        match command {
            CliCommand::Run(args) => cmd::run::run(args, context).await,
            CliCommand::Demo(_) => cmd::demo::run(context).await,
            CliCommand::Attach(args) => cmd::attach::run(args, context).await,
            CliCommand::Log(args) => cmd::log::run(args, context).await,
            CliCommand::Sessions(args) => cmd::sessions::run(args, context).await,
            CliCommand::Approvals(args) => cmd::approvals::run(args, context).await,
            CliCommand::Rules(args) => cmd::rules::run(args, context).await,
            CliCommand::Runs(args) => cmd::runs::run(args, context).await,
            CliCommand::Secrets(args) => cmd::secrets::run(args, context).await,
            CliCommand::Bootstrap(args) => cmd::bootstrap::run(args, context).await,
            CliCommand::Steer(args) => cmd::steer::run(args, context).await,
            CliCommand::Stop(args) => cmd::stop::run(args, context).await,
            CliCommand::Serve(args) => context.backend.serve(&args).await,
            CliCommand::Up(args) => cmd::up::run(args, context).await,
            CliCommand::Down(_) => cmd::down::run(context).await,
            CliCommand::Status(args) => cmd::status::run(args, context).await,
            CliCommand::Pair(args) => cmd::pair::run(args, context).await,
            CliCommand::Devices(args) => cmd::devices::run(args, context).await,
            CliCommand::Workspaces(args) => cmd::workspaces::run(args, context).await,
            CliCommand::Services(args) => cmd::services::run(*args, context).await,
            CliCommand::Audit(args) => cmd::audit::run(args, context).await,
            CliCommand::Files(args) => cmd::files::run(args, context).await,
            CliCommand::Git(args) => cmd::git::run(args, context).await,
            CliCommand::Search(args) => cmd::search::run(args, context).await,
            CliCommand::Export(args) => cmd::export::run(args, context).await,
            CliCommand::Acp(args) => cmd::acp::run(args, context).await,
            CliCommand::Gateway(args) => cmd::gateway::run(args, context).await,
            CliCommand::Login(args) => cmd::login::run(args, context).await,
            CliCommand::Runtimes(args) => cmd::runtimes::run(args, context).await,
            CliCommand::Check(args) => cmd::check::run(args, context).await,
            CliCommand::Names(args) => cmd::names::run(args),
            CliCommand::Doctor(args) => cmd::doctor::run(args, context).await,
            CliCommand::Completions(args) => cmd::completions::run(&args),
            CliCommand::Clarityctl(asked) => {
                let (daemon, command) = *asked;
                clarityctl::run(daemon, command, context).await
            }
        }
    })
}
