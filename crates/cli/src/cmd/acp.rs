//! `roost acp`: Roost as the agent of an editor, over stdin and stdout.

mod setup;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use roost_acp::{Evidence, Profile, Settings, Transport};
use roost_client::Client;
use roost_model::mode::Mode;
use roost_model::secret::Secret;
use rustix::io::fcntl_dupfd_cloexec;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::login;
use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;

/// Messages that may wait in each direction; beyond it their senders wait.
const QUEUE: usize = 256;
/// How long the last messages may take to be written after the editor has left.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// The first descriptor that may be used for the protocol; those below are stdin, stdout and stderr.
const FIRST_FREE: i32 = 3;

/// The name under which this program is `roost acp --runtime codex`.
const CODEX_CLI_ACP: &str = "codex-cli-acp";
/// Variables that name the program of Codex, the first that is set.
const CODEX_PROGRAM: [&str; 2] = ["CODEX_RUN", "CODEX_CMD"];
/// The variable that names the audit file.
const EVIDENCE: &str = "ACPLB_EVIDENCE_PATH";
/// Variables that are passed on to new sessions.
const VARIABLES: [&str; 6] = [
    "ACPLB_IDLE_TIMEOUT_MS",
    "ACPLB_POLLING_INTERVAL_MS",
    "ACPLB_NOTIFY_PATH",
    "ACPLB_NOTIFY_KIND",
    "ACPLB_NOTIFY_INJECT",
    "ACPLB_NOTIFY_CMD",
];

const EXAMPLES: &str = "\
Examples:
  roost acp                      the command that an editor starts as its agent
  roost acp --runtime claude     every session of this editor runs on Claude Code
  roost acp --standalone         sessions of this editor only, which end with it
  roost acp --profile strict     refuse what the protocol does not allow

The editor's sessions belong to the daemon: `roost sessions` lists them, other clients can answer for
them, and they go on when the editor is closed. Diagnostics go to stderr; RUST_LOG chooses them.";

/// Be the agent of an editor that speaks the Agent Client Protocol
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<AcpCommand>,
    /// The agent of new sessions, as `roost runtimes` lists it [default: default_runtime in roost.toml]
    #[arg(long, value_name = "ID")]
    runtime: Option<String>,
    /// The model of new sessions, in the agent's own words
    #[arg(long)]
    model: Option<String>,
    /// How much new sessions may do unasked: plan, ask, accept-edits, auto or yolo [default: ask]
    #[arg(long, value_name = "MODE")]
    permission_mode: Option<Mode>,
    /// Run without a daemon: with a state directory of its own, and everything ends with the editor
    #[arg(long)]
    standalone: bool,
    /// Which input is accepted
    #[arg(long, value_name = "PROFILE", default_value = "compat")]
    profile: InputProfile,
    /// Speak version 2 of the protocol, a draft, with an editor that asks for it; version 1 otherwise
    #[arg(long)]
    protocol_v2: bool,
    /// Offer the editor a way to log in to the agent
    #[arg(long, value_name = "METHOD", requires = "runtime")]
    auth_method: Option<AuthMethod>,
    /// Log in to the agent in this terminal instead; an editor adds this for the method `terminal`
    #[arg(long, requires = "runtime")]
    login: bool,
}

impl Args {
    /// Whether the work is done by the daemon, and this process only carries messages.
    pub(crate) fn passes_on(&self) -> bool {
        !self.standalone
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum AuthMethod {
    /// The editor runs its command again in a terminal, with --login
    Terminal,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum InputProfile {
    /// Also what older clients send: other names of fields, a prompt that is one text
    Compat,
    /// Only what the protocol allows
    Strict,
}

#[derive(clap::Subcommand)]
enum AcpCommand {
    Setup(setup::Args),
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    if let Some(AcpCommand::Setup(args)) = &args.command {
        return setup::run(args);
    }
    if let (true, Some(runtime)) = (args.login, &args.runtime) {
        return login::run(login::Args::for_runtime(runtime.clone()), context).await;
    }
    let input = File::from(fcntl_dupfd_cloexec(rustix::stdio::stdin(), FIRST_FREE).map_err(start_error)?);
    let output = File::from(fcntl_dupfd_cloexec(rustix::stdio::stdout(), FIRST_FREE).map_err(start_error)?);
    // From here on nothing but the protocol reaches the editor, whoever prints.
    rustix::stdio::dup2_stdout(rustix::stdio::stderr()).map_err(start_error)?;
    let (received, incoming) = roost_acp::message_queue(QUEUE);
    let (outgoing, messages) = mpsc::channel(QUEUE);
    // Both threads may be stuck in a read or write that never returns; they end with the process at the latest.
    thread::Builder::new()
        .name("acp-read".into())
        .spawn(move || {
            if let Err(error) = roost_acp::read_messages(input, &received) {
                tracing::warn!(%error, "The editor's messages cannot be read any more.");
            }
        })
        .map_err(Error::Start)?;
    let (done, written) = oneshot::channel();
    thread::Builder::new()
        .name("acp-write".into())
        .spawn(move || {
            if let Err(error) = roost_acp::write_messages(output, messages) {
                tracing::warn!(%error, "The editor does not take messages any more.");
            }
            // Nobody waits for it when the process ends early.
            let _ = done.send(());
        })
        .map_err(Error::Start)?;
    let settings = Settings {
        env: session_variables(),
        evidence: evidence()?,
        runtime: args.runtime,
        model: args.model,
        mode: args.permission_mode,
        profile: match args.profile {
            InputProfile::Compat => Profile::Compat,
            InputProfile::Strict => Profile::Strict,
        },
        protocol_v2: args.protocol_v2,
        terminal_login: args.auth_method.map(|AuthMethod::Terminal| vec!["--login".to_owned()]),
    };
    let transport = Transport { incoming, outgoing };
    if args.standalone {
        let state = context.state.standalone();
        let socket = state.socket()?;
        let connect = || async { Client::connect(&socket).await.map_err(|error| error.to_string()) };
        let work = Box::pin(roost_acp::serve(settings, transport, connect));
        context.backend.standalone(&state, codex_program(), work).await?;
    } else {
        let connect = || async { connect::open(context).await.map_err(|error| error.to_string()) };
        roost_acp::serve(settings, transport, connect).await;
    }
    let _ = timeout(LAST_WORDS, written).await;
    Ok(Exit::Completed)
}

/// The variables of seed 002 that are set here and that sessions of Codex look at.
fn session_variables() -> BTreeMap<String, Secret> {
    let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), Secret::from(value(name)?)))).collect()
}

/// The audit file that `ACPLB_EVIDENCE_PATH` names, written by a thread that ends with the last line.
fn evidence() -> Result<Evidence, Error> {
    let Some(path) = std::env::var_os(EVIDENCE).filter(|path| !path.is_empty()) else { return Ok(Evidence::default()) };
    let path = Path::new(&path);
    let file = File::options().create(true).append(true).mode(0o600).open(path);
    let file = file.map_err(|source| Error::Evidence { path: path.into(), source })?;
    let (lines, written) = mpsc::channel(QUEUE);
    let write = move || {
        if let Err(error) = roost_acp::write_messages(file, written) {
            tracing::warn!(%error, "The audit file cannot be written.");
        }
    };
    thread::Builder::new().name("acp-evidence".into()).spawn(write).map_err(Error::Start)?;
    Ok(Evidence::to(lines))
}

/// The program that `CODEX_RUN`, else `CODEX_CMD` names.
fn codex_program() -> Option<String> {
    CODEX_PROGRAM.iter().filter_map(|name| std::env::var(name).ok()).find(|program| !program.is_empty())
}

/// The command line for a program of another name: `codex-cli-acp` is `roost acp --runtime codex`, with its own arguments
/// behind. One that names a program of its own for Codex runs by itself, because a daemon that runs has its own.
pub(crate) fn args_by_name(mut args: impl Iterator<Item = OsString>) -> Option<Vec<OsString>> {
    let program = args.next()?;
    (Path::new(&program).file_name()? == CODEX_CLI_ACP).then(|| {
        let args: Vec<_> = args.collect();
        let says = |option: &str| {
            let given = |arg: &OsString| arg.to_str().is_some_and(|arg| arg.split('=').next() == Some(option));
            args.iter().any(given)
        };
        let alone = codex_program().filter(|_| !says("--standalone")).map(|_| "--standalone");
        let runtime: &[&str] = if says("--runtime") { &[] } else { &["--runtime", "codex"] };
        let first = ["roost", "acp"].into_iter().chain(runtime.iter().copied()).chain(alone);
        first.map(Into::into).chain(args.iter().cloned()).collect()
    })
}

fn start_error(error: rustix::io::Errno) -> Error {
    Error::Start(error.into())
}
