//! Records real agents under Roost: `cargo xtask record AGENT` runs this.
//!
//! Roost is told that this program is the agent. In between, it starts the real one and writes down every line that
//! passes ([`between`]), or every request and event if the agent is a server ([`http`]). The vendor's texts are left out
//! ([`clean`]).

mod between;
mod clean;
mod http;

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value, json};
use testkit::agents::{Agent, bin, variables, write_settings};
use testkit::model::ModelServer;

/// One run that is recorded.
struct Scenario {
    name: &'static str,
    prompt: &'static str,
    /// The arguments of `roost run` that decide about tool calls.
    decision: [&'static str; 2],
    /// The type of the event at which the task is stopped.
    stop_at: Option<&'static str>,
    /// The agents that can do it.
    agents: &'static [Agent],
}

const ALLOW: [&str; 2] = ["--permission-mode", "yolo"];
const DENY: [&str; 2] = ["--approvals", "deny"];

/// The agents whose conversation passes through pipes or HTTP. Codex talks over a socket that it makes itself.
const ALL: &[Agent] = &[Agent::Claude, Agent::Gemini, Agent::OpenCode, Agent::ClaudeAcp];

const SCENARIOS: [Scenario; 7] = [
    Scenario { name: "text", prompt: "SCRIPT:text", decision: DENY, stop_at: None, agents: ALL },
    Scenario { name: "tool", prompt: "SCRIPT:shell", decision: ALLOW, stop_at: None, agents: ALL },
    Scenario { name: "denied", prompt: "SCRIPT:shell", decision: DENY, stop_at: None, agents: ALL },
    Scenario {
        name: "stopped",
        prompt: "SCRIPT:slow",
        decision: DENY,
        stop_at: Some("model.output.delta"),
        agents: ALL,
    },
    Scenario {
        name: "stopped_tool",
        prompt: "SCRIPT:shell RUN:tail -f /dev/null",
        decision: ALLOW,
        stop_at: Some("tool.call.started"),
        agents: ALL,
    },
    Scenario {
        name: "background",
        prompt: "SCRIPT:background",
        decision: ALLOW,
        stop_at: None,
        agents: &[Agent::Claude],
    },
    Scenario {
        name: "agent",
        prompt: "SCRIPT:agent",
        decision: ALLOW,
        stop_at: None,
        agents: &[Agent::Claude, Agent::OpenCode],
    },
];

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let outcome = match args.as_slice() {
        [flag, file, program, rest @ ..] if flag == between::FLAG => {
            return between::run(Path::new(file), program, rest).unwrap_or_else(|error| {
                eprintln!("cannot record {}: {error}", program.display());
                ExitCode::FAILURE
            });
        }
        [agent, folder, roost] => record_all(agent, Path::new(folder), roost),
        _ => Err("usage: record AGENT FOLDER ROOST".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Records every scenario that an agent can do, into a folder of its own below this one.
fn record_all(agent: &OsStr, folder: &Path, roost: &OsStr) -> Result<(), Box<dyn Error>> {
    let Some(agent) = ALL.iter().copied().find(|known| known.command() == agent) else {
        let known: Vec<_> = ALL.iter().map(|agent| agent.command()).collect();
        return Err(format!("{} cannot be recorded; these can: {}", agent.display(), known.join(", ")).into());
    };
    let folder = folder.join(agent.command());
    fs::create_dir_all(&folder)?;
    let model = ModelServer::start();
    for scenario in SCENARIOS.iter().filter(|scenario| scenario.agents.contains(&agent)) {
        let file = folder.join(format!("{}_{}.jsonl", agent.version(), scenario.name));
        fs::write(&file, record(agent, scenario, &model.url(), roost)?)?;
        println!("recorded {}", file.display());
    }
    Ok(())
}

/// Runs a scenario in a home of its own and returns its recording.
fn record(agent: Agent, scenario: &Scenario, model: &str, roost: &OsStr) -> Result<String, Box<dyn Error>> {
    // Always the same folder, so that the recording says nothing about this machine and two of them can be compared.
    let dir = tempfile::Builder::new().prefix("roost-recording").rand_bytes(0).tempdir_in("/tmp")?;
    let (home, work, recording) = (dir.path().join("home"), dir.path().join("work"), dir.path().join("recording"));
    write_settings(&home, model);
    fs::create_dir(&work)?;
    let env = variables(agent, &home, model).into_iter().filter(|(name, _)| *name != "HOME");
    let env: Map<String, Value> = env.map(|(name, value)| (name.to_owned(), value.into())).collect();
    let args = json!([between::FLAG, recording, agent.program()]);
    let runtime = json!({ "command": std::env::current_exe()?, "args": args, "env": env });
    let config = dir.path().join("roost.toml");
    fs::write(&config, toml::to_string(&json!({ "runtimes": { agent.command(): runtime } }))?)?;
    let roost = |args: &[&str]| {
        let mut command = Command::new(roost);
        command.arg("--config").arg(&config).args(args).current_dir(&work).stdin(Stdio::null());
        command.env_clear().env("HOME", &home).env("PATH", format!("{}:/usr/bin:/bin", bin().display()));
        command.env("XDG_RUNTIME_DIR", dir.path()).env("ROOST_STATE", dir.path().join("state"));
        command.env("ROOST_SERVER_PORT", "0");
        command
    };
    let [decision, value] = scenario.decision;
    let mut run = roost(&["run", "--json", "--runtime", agent.command(), decision, value, scenario.prompt])
        .stdout(Stdio::piped())
        .spawn()?;
    let events = run.stdout.take().ok_or("roost has no stdout")?;
    let mut stop_at = scenario.stop_at;
    for line in BufReader::new(events).lines() {
        let event: Value = serde_json::from_str(&line?)?;
        if stop_at.take_if(|kind| event["type"] == **kind).is_some() {
            kill_process(Pid::from_child(&run), Signal::INT)?;
        }
    }
    let ended = run.wait()?;
    roost(&["down"]).stdout(Stdio::null()).status()?;
    println!("{} {}: roost run ended with {ended}", agent.command(), scenario.name);
    Ok(clean::clean(&fs::read_to_string(&recording)?)?)
}
