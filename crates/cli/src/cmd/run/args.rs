//! The arguments of `roost run`, and how the command talks to its user.

use std::path::PathBuf;

use clap_complete::engine::ArgValueCandidates;
use roost_model::mode::Mode;
use roost_model::runtime::{IsolationLevel, RuntimeName};
use roost_model::secret::Secret;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::complete;
use crate::error::Error;
use crate::keyboard::Keyboard;

const EXAMPLES: &str = "\
Examples:
  roost run                                a tour by the demo agent, then a conversation
  roost run hello                          a new session in this directory
  roost run --continue \"go on\"             the latest session of this directory
  roost run --resume 0199 \"go on\"          a session, also one that began in a terminal
  roost run --resume 0199 --fork \"or so?\"   another way on from there; the session itself stays as it is
  roost run --permission-mode yolo edit    let the agent do everything unasked
  roost run --json hello | jq .type        every event as one line of JSON
  roost run --approvals deny edit          ask nobody, deny what needs an approval
  git diff | roost run                     the prompt is what is piped in
  roost run --quiet \"why?\" > answer.md    the answer alone; a pipe or a file always gets it as it was written
  roost run --image shot.png \"what is wrong here?\"

Without --runtime, the agent is default_runtime of roost.toml; without that, the first in the order of
`roost runtimes` that is installed and logged in; without any, the demo agent, which only gives its tour.
The first line on stderr says which agent, model and mode it is, in which session and folder.

Ctrl-C stops the task; a second one leaves at once. In a conversation, /help shows the keys.
Ends with 0 completed, 1 failed, 2 wrong usage, 130 stopped.";

/// Give an agent a task and watch it work
#[derive(Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The agent, as `roost runtimes` lists it; see below how the default is chosen
    #[arg(long, visible_alias = "agent", value_name = "ID", conflicts_with_all = ["session", "continue"], add = ArgValueCandidates::new(complete::runtimes))]
    pub(super) runtime: Option<String>,
    /// Where it works [default: here]
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    pub(super) cwd: Option<PathBuf>,
    /// Go on with this session, also one from a terminal: its id, the beginning of it, the agent's own id, or latest
    #[arg(long, visible_alias = "resume", value_name = "ID", group = "known", add = ArgValueCandidates::new(complete::sessions))]
    pub(super) session: Option<String>,
    /// Go on with the latest session of the directory
    #[arg(long, conflicts_with = "session", group = "known")]
    pub(super) r#continue: bool,
    /// Go on in a new session that knows what was said, and leave that one as it is (with --session or --continue)
    #[arg(long, requires = "known")]
    pub(super) fork: bool,
    /// How much it may do unasked: plan, ask, accept-edits, auto or yolo [default: ask]
    #[arg(long, visible_alias = "mode", value_name = "MODE", add = ArgValueCandidates::new(complete::modes))]
    pub(super) permission_mode: Option<Mode>,
    /// The model to use from now on, in the agent's own words
    #[arg(long)]
    pub(super) model: Option<String>,
    /// The agent's own settings for this session, as a JSON object that is merged into those of roost.toml
    #[arg(long, value_name = "JSON", value_parser = object, conflicts_with_all = ["session", "continue"])]
    pub(super) runtime_config: Option<Map<String, Value>>,
    /// A variable for the agent, which nobody else is told; NAME alone takes it from here (repeatable)
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = variable, conflicts_with_all = ["session", "continue"])]
    pub(super) env: Vec<(String, Secret)>,
    /// How much of your home the agent shares: shared, namespaced or ephemeral [default: isolation in roost.toml]
    #[arg(long, value_name = "LEVEL", value_parser = word::<IsolationLevel>, conflicts_with_all = ["session", "continue"])]
    pub(super) isolation: Option<IsolationLevel>,
    /// The credential namespace whose logins it uses; implies --isolation namespaced
    #[arg(long, value_name = "NAME", conflicts_with_all = ["session", "continue"])]
    pub(super) namespace: Option<String>,
    /// Show the agent this image with the first prompt (png, jpeg, gif, webp; repeatable)
    #[arg(long, value_name = "FILE")]
    pub(super) image: Vec<PathBuf>,
    /// Refer to this file in the first prompt (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(super) file: Vec<PathBuf>,
    /// Where approvals come from [default: prompt at a terminal, else deny]
    #[arg(long, value_name = "FROM")]
    pub(super) approvals: Option<Approvals>,
    /// Print every event as one line of JSON, and nothing else
    #[arg(long)]
    pub(super) json: bool,
    /// Print only the answer, and why the task failed if it did
    #[arg(short, long, conflicts_with = "json")]
    pub(super) quiet: bool,
    /// What to do; without it what is piped in, and at a terminal a conversation
    pub(super) prompt: Vec<String>,
}

impl Args {
    /// A new session of the demo agent in this folder, as `roost demo` begins it.
    pub(crate) fn demo(cwd: PathBuf) -> Self {
        Self { runtime: Some(RuntimeName::Demo.id().into()), cwd: Some(cwd), ..Self::default() }
    }
}

/// Where answers to approvals and questions come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Approvals {
    /// Ask here, at the terminal.
    Prompt,
    /// Wait until somebody answers elsewhere.
    Wait,
    /// Deny at once.
    Deny,
}

/// How the command talks to its user.
#[derive(Clone, Copy)]
pub(super) struct Interaction {
    pub(super) approvals: Approvals,
    /// A person reads the output at a terminal, and no JSON was asked for.
    pub(super) is_terminal: bool,
}

impl Args {
    /// A conversation with this session.
    pub(crate) fn conversation(session: String) -> Self {
        Self { session: Some(session), ..Self::default() }
    }
}

impl Interaction {
    pub(super) fn from_args(args: &Args) -> Result<Self, Error> {
        let is_terminal = !args.json && Keyboard::is_there();
        let approvals = match args.approvals {
            Some(Approvals::Prompt) if !is_terminal => return Err(Error::NoTerminal),
            Some(approvals) => approvals,
            None if is_terminal => Approvals::Prompt,
            None => Approvals::Deny,
        };
        Ok(Self { approvals, is_terminal })
    }
}

/// Parses a JSON object.
fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("not a JSON object such as '{{\"name\": \"value\"}}' ({error})"))
}

/// Parses `NAME=VALUE`, or `NAME`, whose value is then taken from the environment of this command.
fn variable(text: &str) -> Result<(String, Secret), String> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.into(), value.into())),
        None => match std::env::var(text) {
            Ok(value) => Ok((text.into(), value.into())),
            Err(_) => Err(format!("{text} is not set here; say {text}=VALUE")),
        },
    }
}

/// Parses one of the words that a type accepts in JSON.
fn word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(text.into()).map_err(|error| {
        // Serde words it "unknown variant `a`, expected `b` or `c`": what stands between backticks are the words.
        let error = error.to_string();
        format!("choose one of {}", error.split('`').skip(3).step_by(2).collect::<Vec<_>>().join(", "))
    })
}
