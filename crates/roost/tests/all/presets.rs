//! The ACP agents that are known by their ids, as a person uses them: the real ones, found in `PATH`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use testkit::agents::{Agent, bin, furnish, variables};
use testkit::model::ModelServer;

use crate::kit::{Place, Started, answer, of_type, session_id, wait_for};

const PRESETS: [&str; 6] = ["claude-agent-acp", "codex-acp", "qwen", "copilot", "goose", "cline"];

/// A place in which one agent asks a scripted model and nobody else. Roost is told nothing of it.
struct Sandbox {
    place: Place,
    agent: Agent,
    model: ModelServer,
}

impl Sandbox {
    fn new(agent: Agent) -> Self {
        let sandbox = Self { place: Place::new(), agent, model: ModelServer::start() };
        furnish(&sandbox.home(), &sandbox.model.url());
        sandbox
    }

    fn home(&self) -> PathBuf {
        self.place.state().with_file_name("home")
    }

    /// A command that finds the agent in `PATH`.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.command(args);
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin().display()));
        command.env("TMPDIR", self.home().join("tmp"));
        command
    }

    fn start(&self, args: &[&str]) -> Started {
        Started::new(&mut self.command(args))
    }

    /// What a person would say about the agent in `roost.toml`: its variables, and these lines.
    fn configure(&self, more: &str) {
        let id = self.agent.command();
        let variables = variables(self.agent, &self.home(), &self.model.url());
        let variables: String = variables.iter().map(|(name, value)| format!("{name} = {value:?}\n")).collect();
        self.place.configure(&format!("[runtimes.{id}]\n{more}\n[runtimes.{id}.env]\n{variables}"));
    }

    /// Runs one prompt to its end.
    fn run(&self, mode: &str, prompt: &str, code: i32) -> Vec<Value> {
        let args = ["run", "--json", "--runtime", self.agent.command(), "--permission-mode", mode, prompt];
        self.start(&args).finish().ended(code).events(1)
    }

    fn sleepers(&self) -> usize {
        self.place.processes().iter().filter(|command| command.starts_with("sleep ")).count()
    }
}

#[test]
fn known_agents_are_listed_with_what_to_install_and_none_is_the_default() {
    let place = Place::new();
    let listed = place.command(&["runtimes", "--json"]).env("PATH", "/nonexistent").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let lines: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for id in PRESETS {
        let line = lines.iter().find(|line| line["id"] == id).unwrap_or_else(|| panic!("{id} is not listed"));
        assert_eq!((&line["installed"], &line["isDefault"]), (&false.into(), &false.into()), "{line}");
        assert!(line["reason"].as_str().unwrap().contains("install"), "{line}");
    }
}

#[test]
fn an_installed_agent_is_listed_as_such() {
    let sandbox = Sandbox::new(Agent::CodexAcp);
    let listed = sandbox.start(&["runtimes", "--json"]).finish().ended(0).stdout;
    let lines: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let installed = |id: &str| lines.iter().find(|line| line["id"] == id).unwrap()["installed"] == true;
    assert!(installed("codex-acp") && installed("claude-agent-acp"), "{listed}");
    assert!(!installed("goose"), "{listed}");
}

#[test]
fn codex_acp_answers_with_nothing_but_path() {
    let sandbox = Sandbox::new(Agent::CodexAcp);
    // The key of its model would have to come from the environment, which Roost does not pass on.
    let config = sandbox.home().join(".codex/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(config, text.replace("env_key = \"SCRIPTED_KEY\"\n", "")).unwrap();
    let events = sandbox.run("ask", "SCRIPT:text", 0);
    assert_eq!(events[0]["payload"]["runtime"], "acp:codex-acp");
    assert!(answer(&events).contains("Hello from the scripted model"), "{events:#?}");
}

#[test]
fn claude_agent_acp_answers() {
    let sandbox = Sandbox::new(Agent::ClaudeAcp);
    sandbox.configure("");
    let events = sandbox.run("ask", "SCRIPT:text", 0);
    assert_eq!(events[0]["payload"]["runtime"], "acp:claude-agent-acp");
    assert!(answer(&events).contains("Hello from the scripted model"), "{events:#?}");
}

#[test]
fn arguments_of_ones_own_come_after_those_of_the_preset() {
    let sandbox = Sandbox::new(Agent::CodexAcp);
    sandbox.configure("args = ['-c', 'sandbox_mode=danger-full-access']");
    // Nobody is there: what asks is denied, so the preset's own arguments count too.
    let events = sandbox.run("ask", "SCRIPT:shell", 130);
    assert_eq!(of_type(&events, "tool.call.denied").len(), 1, "{events:#?}");
    let end = events.iter().find(|event| event["type"] == "task.stopped").unwrap();
    assert!(end["payload"]["reason"].as_str().unwrap().contains("refused"), "{end}");
}

#[test]
fn a_stop_ends_the_tool_that_codex_acp_leaves_running_and_the_session_goes_on() {
    let sandbox = Sandbox::new(Agent::CodexAcp);
    sandbox.configure("args = ['-c', 'sandbox_mode=danger-full-access']");
    let run = sandbox.start(&["run", "--json", "--runtime", "codex-acp", "--permission-mode", "yolo", "SCRIPT:sleep"]);
    wait_for("the tool to run", || (sandbox.sleepers() > 0).then_some(()));
    run.signal(rustix::process::Signal::INT);
    let events = run.finish().ended(130).events(1);
    wait_for("the tool to be gone", || (sandbox.sleepers() == 0).then_some(()));
    let id = session_id(&events);
    let next = sandbox.start(&["run", "--json", "--session", &id, "SCRIPT:recall"]).finish().ended(0).stdout;
    let next: Vec<Value> = next.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(answer(&next).contains("SCRIPT:sleep"), "{next:#?}");
}

/// A provider refuses, is busy, is broken, breaks off: all but the first may pass.
fn fails_as_its_provider_does(agent: Agent) {
    let sandbox = Sandbox::new(agent);
    sandbox.configure("");
    let failed = |script: &str| {
        let events = sandbox.run("ask", &format!("SCRIPT:{script}"), 1);
        events.into_iter().find(|event| event["type"] == "task.failed").unwrap()["payload"]["error"].clone()
    };
    for (script, retryable) in [("err400", false), ("err429", true), ("err500", true), ("cut", true)] {
        let error = failed(script);
        assert_eq!((&error["code"], &error["retryable"]), (&"RUNTIME_ERROR".into(), &retryable.into()), "{error}");
    }
}

#[test]
fn a_provider_that_fails_fails_the_task_of_claude_agent_acp() {
    fails_as_its_provider_does(Agent::ClaudeAcp);
}

#[test]
fn a_provider_that_fails_fails_the_task_of_codex_acp() {
    fails_as_its_provider_does(Agent::CodexAcp);
}
