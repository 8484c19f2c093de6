//! `roost runtimes`: the agents that are known, and whether they can be used.

use std::io::{self, Write};

use roost_engine::Registered;
use roost_engine::adapter::Availability;
use roost_proto::registry::{RuntimeEntry, RuntimeStatus};
use roost_proto::runtime::{ResumeModel, RuntimeEnv};
use roost_proto::time::Timestamp;
use serde::Serialize;

use crate::cli::Context;
use crate::compose;
use crate::error::Error;
use crate::exit::Exit;
use crate::style::Style;
use crate::table;

const EXAMPLES: &str = "\
Examples:
  roost runtimes            which agents there are
  roost runtimes --json     one line of JSON each, with what each can do

Add an agent that speaks ACP to roost.toml:
  [runtimes.goose]
  command = \"goose\"
  args = [\"acp\"]";

/// List the agents and whether they can be used
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print each runtime as one line of JSON
    #[arg(long)]
    json: bool,
}

/// A runtime and whether it is on this machine.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(flatten)]
    entry: RuntimeEntry,
    is_default: bool,
    installed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let runtimes = compose::runtimes(&context.state, &context.config)?;
    let registry = runtimes.registry(Timestamp::now());
    let env = environment()?;
    let mut lines = Vec::new();
    for (entry, Registered { adapter, .. }) in registry.runtimes.into_iter().zip(runtimes.iter()) {
        let is_default = entry.id == registry.default_runtime;
        lines.push(match adapter.availability(&env).await {
            Availability::Installed { version } => Line { entry, is_default, installed: true, version, reason: None },
            Availability::Missing { reason } => {
                Line { entry, is_default, installed: false, version: None, reason: Some(reason) }
            }
        });
    }
    print(&mut io::stdout().lock(), &lines, args.json).map_err(Error::Output)?;
    Ok(Exit::Completed)
}

/// The environment that a runtime would be started with here.
pub(super) fn environment() -> Result<RuntimeEnv, Error> {
    let text = |(name, value): (&std::ffi::OsStr, &std::ffi::OsStr)| {
        Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
    };
    Ok(RuntimeEnv {
        cwd: compose::working_directory(None)?.display().to_string(),
        env: compose::environment().iter().filter_map(text).collect(),
        credential_namespace: String::new(),
        isolation: None,
    })
}

fn print(out: &mut impl Write, lines: &[Line], json: bool) -> io::Result<()> {
    if json {
        return lines.iter().try_for_each(|line| writeln!(out, "{}", serde_json::to_string(line)?));
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
        let resume = match entry.capabilities.resume_model {
            ResumeModel::Native => "native",
            ResumeModel::Reconstruct => "from the log",
            ResumeModel::None => "no",
        };
        let why_not = match (entry.status, &line.reason) {
            (RuntimeStatus::Disabled, _) => "disabled in roost.toml".into(),
            (_, reason) => reason.clone().unwrap_or_default(),
        };
        [id, entry.display_name.clone(), status.into(), installed, resume.into(), why_not]
    });
    let heads = ["ID", "NAME", "STATUS", "INSTALLED", "RESUME", "WHY NOT"];
    table::write(out, Style::of(&io::stdout()), heads, &rows.collect::<Vec<_>>())
}
