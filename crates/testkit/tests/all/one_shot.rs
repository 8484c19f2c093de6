//! The agents' own one-shot modes against the scripted model.

use std::process::{Command, Stdio};

use serde_json::json;
use testkit::agents::{Agent, Sandbox, opencode_config, program};
use testkit::model::{Api, End, ModelServer};
use testkit::scripted_agent::{self, WEATHER};

/// What `SCRIPT:text` says.
pub(crate) const TEXT: &str = "Hello from the scripted model, streaming in several deltas.";

#[test]
fn claude_says_the_text_and_runs_the_tool() {
    text_and_tool(Agent::Claude, Api::Messages);
}

#[test]
fn codex_says_the_text_and_runs_the_tool() {
    text_and_tool(Agent::Codex, Api::Responses);
}

#[test]
fn gemini_says_the_text_and_runs_the_tool() {
    text_and_tool(Agent::Gemini, Api::Gemini);
}

#[test]
fn opencode_says_the_text_and_runs_the_tool() {
    text_and_tool(Agent::OpenCode, Api::Chat);
}

#[test]
fn every_agent_is_there_in_its_pinned_version() {
    let sandbox = Sandbox::new("http://127.0.0.1:1");
    for agent in [Agent::Claude, Agent::Codex, Agent::Gemini, Agent::OpenCode] {
        let said = run(sandbox.command(agent).arg("--version"));
        assert!(said.contains(&agent.version()), "{agent:?}: {said}");
    }
    assert!(Agent::ALL.iter().all(|agent| agent.program().is_file()));
}

#[test]
#[should_panic(expected = "nobody is missing: run `cargo xtask fixtures`")]
fn what_is_not_installed_says_how_to_get_it() {
    program("nobody");
}

#[test]
fn claude_calls_a_tool_server() {
    let model = ModelServer::start();
    let sandbox = Sandbox::new(&model.url());
    let server = json!({
        "command": std::env::current_exe().unwrap(),
        "args": ["--exact", "--ignored", "--nocapture", "one_shot::tool_server"],
    });
    let servers = json!({ "mcpServers": { "weather": server } }).to_string();
    let mut command = sandbox.command(Agent::Claude);
    command.args(["-p", "--setting-sources", "", "--strict-mcp-config", "--mcp-config", &servers]);
    let said = run(command.args(["--allowedTools", "mcp__weather__weather", "--", "SCRIPT:mcp TOOL:weather"]));
    assert!(said.contains(WEATHER), "{said}");
}

#[test]
#[ignore = "not a test: a tool server that the agent starts"]
fn tool_server() {
    scripted_agent::tool_server()
}

#[test]
fn a_newer_codex_model_is_told_of_its_tools_in_the_conversation() {
    let model = ModelServer::start();
    let sandbox = Sandbox::new(&model.url());
    for (prompt, file) in [("SCRIPT:shell RUN:echo hi > ran.txt", "ran.txt"), ("SCRIPT:write", "out.txt")] {
        let said = run(one_shot(&sandbox, Agent::Codex, &model, prompt).args(["-m", "gpt-6-sol"]));
        assert!(said.contains("FINAL saw 1 tool result(s)"), "{said}");
        assert_eq!(std::fs::read_to_string(sandbox.work().join(file)).unwrap(), "hi\n", "{said}");
    }
    assert!(model.requests().iter().any(|request| request.tools.contains(&"exec".to_owned())));
}

fn text_and_tool(agent: Agent, api: Api) {
    let model = ModelServer::start();
    let sandbox = Sandbox::new(&model.url());
    let said = run(&mut one_shot(&sandbox, agent, &model, "SCRIPT:text"));
    assert!(said.contains(TEXT), "{said}");
    let said = run(&mut one_shot(&sandbox, agent, &model, "SCRIPT:shell"));
    assert!(said.contains("FINAL saw 1 tool result(s)"), "{said}");
    assert_eq!(std::fs::read_to_string(sandbox.work().join("out.txt")).unwrap(), "hi\n");

    let requests = model.requests();
    let questions: Vec<_> = requests.iter().filter(|request| request.api.is_some()).collect();
    assert!(questions.iter().all(|request| request.api == Some(api)), "{requests:?}");
    assert!(questions.iter().all(|request| request.end == End::Answered(200)), "{requests:?}");
    assert!(questions.iter().any(|request| request.results.len() == 1), "{requests:?}");
}

/// A command that lets an agent do one prompt, with every tool allowed.
pub(crate) fn one_shot(sandbox: &Sandbox, agent: Agent, model: &ModelServer, prompt: &str) -> Command {
    let mut command = sandbox.command(agent);
    match agent {
        // As root it refuses to skip all permissions.
        Agent::Claude => command.args(["-p", "--setting-sources", "", "--allowedTools", "Bash", "--", prompt]),
        Agent::Codex => command.args(["exec", "--json", "--skip-git-repo-check", prompt]),
        Agent::Gemini => command.args(["-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", prompt]),
        Agent::OpenCode => command
            .env("OPENCODE_CONFIG_CONTENT", opencode_config(&model.url(), "allow").to_string())
            .args(["run", prompt]),
        Agent::ClaudeAcp | Agent::CodexAcp => panic!("{agent:?} has no one-shot mode"),
    };
    command
}

/// Runs a command to its end; what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    said
}
