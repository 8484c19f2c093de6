//! The gateway is registered in the real agents, each of which then lists a tool of it and calls it; afterwards it is removed.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::agents::{Agent, opencode_config, variables, write_settings};

use crate::codex::MODEL;
use crate::kit::{RoostInstance, RunningCommand, script};

/// A server with one tool.
const SERVER: &str = r#"
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case $line in
    *'"initialize"'*) answer='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
    *'"tools/list"'*) answer='"result":{"tools":[{"name":"jot","description":"Takes a note.","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) answer='"result":{"content":[{"type":"text","text":"noted by the service"}]}' ;;
    *) answer='"result":{}' ;;
    esac
    [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$answer"
done
"#;

/// Lets clients call the tool unasked, because nobody is there to answer.
const RULES: &str = "[[policy.rules]]\neffect = \"allow\"\ntool = \"mcp__roost__notes__jot\"\n";
/// OpenCode puts quotes around it, so that the name of the tool must not be at its end.
const PROMPT: &str = "SCRIPT:mcp TOOL:notes__jot now";

/// A home with the settings of all agents, and a daemon with a service.
fn open() -> RoostInstance {
    let instance = RoostInstance::new();
    write_settings(&instance.home(), &MODEL.url());
    instance.configure(RULES);
    let server = instance.work().join("notes.sh");
    script(&server, SERVER);
    instance.run(&["up"]).ended(0);
    instance.run(&["services", "add-stdio", "--module", "notes", "--", server.to_str().unwrap()]).ended(0);
    instance
}

/// The agent's name for `roost bootstrap`, and how it is given one prompt with its own permissions out of the way.
fn one_shot(agent: Agent) -> (&'static str, &'static [&'static str]) {
    match agent {
        Agent::Claude => ("claude", &["-p", "--allowedTools", "mcp__roost__notes__jot", "--"]),
        // Models that Codex knows do not see the tools of tool servers at once. Outside of its sandbox it asks nobody.
        Agent::Codex => (
            "codex",
            &[
                "exec",
                "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox",
                "--model",
                "gpt-5.1-codex",
                // Else it begins without a tool server that is slow to start.
                "--config",
                "mcp_optional_startup_grace_ms=50000",
                "--",
            ],
        ),
        Agent::Gemini => ("gemini", &["--yolo", "--model", "gemini-2.5-pro", "--prompt"]),
        Agent::OpenCode => ("opencode", &["run", "--"]),
        Agent::ClaudeAcp | Agent::CodexAcp => panic!("a bridge has no settings of its own"),
    }
}

/// What the agent prints for the prompt, in the instance's home.
fn run_agent(instance: &RoostInstance, agent: Agent, args: &[&str], token: &str) -> String {
    let mut command = Command::new(agent.program());
    command.current_dir(instance.work()).env_clear().envs(variables(agent, &instance.home(), &MODEL.url()));
    // What a registration over HTTP names; one over stdio needs none.
    command.env("ROOST_TOKEN", token);
    if agent == Agent::OpenCode {
        command.env("OPENCODE_CONFIG_CONTENT", opencode_config(&MODEL.url(), "allow").to_string());
    }
    command.args(args).arg(PROMPT);
    let done = RunningCommand::new(command.stdin(Stdio::null())).finish();
    let said = format!("{}{}", done.stdout, done.stderr);
    assert_eq!(done.code, Some(0), "{said}");
    said
}

/// Whether the settings of a program have the gateway.
fn knows_the_gateway(instance: &RoostInstance, client: &str) -> bool {
    let status = instance.run(&["bootstrap", "--status", "--json"]).ended(0).stdout;
    let status: Value = serde_json::from_str(&status).unwrap();
    let programs = status["clients"].as_array().unwrap();
    programs.iter().find(|one| one["client"] == client).unwrap()["configured"] == true
}

/// How often the tool was called, by the record.
fn calls(instance: &RoostInstance) -> usize {
    let audit = instance.run(&["audit", "--json"]).ended(0).stdout;
    let records = audit.lines().map(|line| serde_json::from_str::<BTreeMap<String, Value>>(line).unwrap());
    records.filter(|record| record["kind"] == "mcp.tool_called" && record["data"]["success"] == true).count()
}

fn uses_the_gateway_after_bootstrap(agent: Agent, transport: &str) {
    let instance = open();
    let token = match transport {
        "http" => instance.run(&["devices", "token", "agents"]).ended(0).stdout.trim().to_owned(),
        _ => String::new(),
    };
    let (client, args) = one_shot(agent);
    assert!(!knows_the_gateway(&instance, client));
    instance.run(&["bootstrap", "--clients", client, "--transport", transport]).ended(0);
    assert!(knows_the_gateway(&instance, client));
    let said = run_agent(&instance, agent, args, &token);
    assert!(said.contains("noted by the service"), "{said}");
    let is_listed = MODEL.requests().iter().any(|request| request.tools.iter().any(|tool| tool.contains("notes__jot")));
    assert!(is_listed, "{said}");
    assert_eq!(calls(&instance), 1, "{said}");
    instance.run(&["bootstrap", "--remove", "--clients", client]).ended(0);
    assert!(!knows_the_gateway(&instance, client));
    instance.assert_nothing_left();
}

#[test]
fn claude_lists_and_calls_a_tool_of_the_gateway_after_bootstrap() {
    uses_the_gateway_after_bootstrap(Agent::Claude, "stdio");
}

#[test]
fn codex_lists_and_calls_a_tool_of_the_gateway_after_bootstrap() {
    uses_the_gateway_after_bootstrap(Agent::Codex, "stdio");
}

#[test]
fn gemini_lists_and_calls_a_tool_of_the_gateway_after_bootstrap() {
    uses_the_gateway_after_bootstrap(Agent::Gemini, "stdio");
}

#[test]
fn opencode_lists_and_calls_a_tool_of_the_gateway_after_bootstrap() {
    uses_the_gateway_after_bootstrap(Agent::OpenCode, "stdio");
}

#[test]
fn claude_lists_and_calls_a_tool_of_the_gateway_over_http_after_bootstrap() {
    uses_the_gateway_after_bootstrap(Agent::Claude, "http");
}

#[test]
fn codex_lists_and_calls_a_tool_of_the_gateway_over_http_after_bootstrap() {
    uses_the_gateway_after_bootstrap(Agent::Codex, "http");
}

#[test]
fn gemini_lists_and_calls_a_tool_of_the_gateway_over_http_after_bootstrap() {
    uses_the_gateway_after_bootstrap(Agent::Gemini, "http");
}

#[test]
fn opencode_lists_and_calls_a_tool_of_the_gateway_over_http_after_bootstrap() {
    uses_the_gateway_after_bootstrap(Agent::OpenCode, "http");
}

#[test]
fn who_registers_the_gateway_over_http_is_told_how_to_make_the_token() {
    let instance = open();
    let done = instance.run(&["bootstrap", "--clients", "codex", "--transport", "http"]).ended(0);
    assert!(done.stderr.contains("export ROOST_TOKEN=$(roost devices token NAME)"), "{}", done.stderr);
    let made = instance.run(&["devices", "token", "my codex", "--scope", "observe"]).ended(0);
    assert!(made.stdout.starts_with("cdev_s_") && made.stdout.lines().count() == 1, "{}", made.stdout);
    let id = made.stderr.split(['`', ' ']).find(|word| word.starts_with("dev_")).unwrap().to_owned();
    assert!(instance.run(&["devices"]).ended(0).stdout.contains("my codex"));
    let settings = std::fs::read_to_string(instance.home().join(".codex/config.toml")).unwrap();
    assert!(settings.contains("ROOST_TOKEN") && !settings.contains(made.stdout.trim()), "{settings}");
    instance.run(&["devices", "revoke", &id]).ended(0);
    assert!(!instance.run(&["devices"]).ended(0).stdout.contains("my codex"));
    instance.run(&["devices", "token", "x", "--scope", "admin"]).ended(2);
    instance.assert_nothing_left();
}
