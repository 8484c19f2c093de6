//! The scripted model for people: `cargo xtask model` runs it until it is interrupted.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::agents::{Agent, Sandbox, variables, write_settings};
use testkit::model::ModelServer;
use testkit::model::script::SCRIPTS;

/// The time between two pieces of an answer: slow enough to be seen.
const GAP: Duration = Duration::from_millis(20);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (port, home) = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => (Some(0), None),
        ["--port", port] => (port.parse().ok(), None),
        ["--roost", home] => (Some(0), Some(*home)),
        _ => (None, None),
    };
    let Some(port) = port else {
        eprintln!("usage: cargo xtask model [--port N | --roost HOME]");
        return ExitCode::from(2);
    };
    let server = ModelServer::start_with(port, GAP);
    if let Some(home) = home {
        let config = match for_roost(Path::new(home), &server.url()) {
            Ok(config) => config,
            Err(error) => {
                eprintln!("cannot write the settings into {home}: {error}");
                return ExitCode::FAILURE;
            }
        };
        println!("the model is there until you interrupt it; HOME={home} roost --config {config} lets agents use it");
        wait_for_interrupt();
        return ExitCode::SUCCESS;
    }
    let sandbox = Sandbox::new(&server.url());
    println!("{}", help(&server.url(), &sandbox));
    wait_for_interrupt();
    ExitCode::SUCCESS
}

/// Prepares a home for a daemon whose Claude Code and Codex ask the model at this URL. Returns the path of its `roost.toml`.
fn for_roost(home: &Path, url: &str) -> io::Result<String> {
    write_settings(home, url);
    let runtime = |agent: Agent| {
        let env = variables(agent, home, url).into_iter();
        // The daemon's own are good enough, and its home is this one.
        let env = env.filter(|(name, _)| !["HOME", "PATH"].contains(name));
        let env: serde_json::Map<String, Value> = env.map(|(name, value)| (name.into(), value.into())).collect();
        (agent.command().to_owned(), json!({ "command": agent.program(), "env": env }))
    };
    let runtimes: serde_json::Map<_, _> = [Agent::Claude, Agent::Codex].map(runtime).into_iter().collect();
    let config = home.join("roost.toml");
    fs::write(&config, toml::to_string(&json!({ "runtimes": runtimes })).map_err(io::Error::other)?)?;
    Ok(config.display().to_string())
}

fn help(url: &str, sandbox: &Sandbox) -> String {
    let scripts: String =
        SCRIPTS.iter().map(|script| format!("  SCRIPT:{:10} {}\n", script.name, script.about)).collect();
    let agents = [
        (Agent::Claude, "-p --setting-sources '' SCRIPT:text"),
        (Agent::Codex, "exec --skip-git-repo-check SCRIPT:shell"),
        (Agent::Gemini, "-m gemini-2.5-pro -p SCRIPT:text"),
        (Agent::OpenCode, "run SCRIPT:think"),
    ];
    let tries: String = agents.map(|(agent, args)| one_try(agent, args, url, sandbox)).concat();
    format!(
        "\
the scripted model is there until you interrupt it:
  Anthropic Messages       {url}
  OpenAI Responses, Chat   {url}/v1
  Google generateContent   {url}

it does what a prompt says:
{scripts}
to try an agent on it, in a home that goes away with the model (install them with: cargo xtask fixtures):

cd {}
{tries}",
        sandbox.work().display()
    )
}

fn one_try(agent: Agent, args: &str, url: &str, sandbox: &Sandbox) -> String {
    let variables = variables(agent, &sandbox.home(), url).into_iter();
    let lines: String = variables.map(|(name, value)| format!("  {name}='{value}' \\\n")).collect();
    format!("\nenv -i \\\n{lines}  {} {args}\n", agent.command())
}

/// Waits for Ctrl-C, because the sandbox is removed only if the process ends by itself.
fn wait_for_interrupt() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.and_then(|runtime| runtime.block_on(tokio::signal::ctrl_c())).unwrap_or_else(|error| {
        eprintln!("cannot wait for an interrupt: {error}");
    });
}
