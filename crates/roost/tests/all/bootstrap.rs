//! The gateway is registered in real programs, which then list a tool of it and call it; afterwards it is removed.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::agents::{Agent, opencode_config, variables, write_settings};

use crate::codex::MODEL;
use crate::kit::{RoostInstance, script};

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
/// With a word behind it, because some programs put the prompt into quotation marks.
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

/// One prompt to an agent in the instance's home, with its own permissions out of the way.
fn one_shot(instance: &RoostInstance, agent: Agent) -> String {
    let mut command = Command::new(agent.program());
    command.current_dir(instance.work()).env_clear().envs(variables(agent, &instance.home(), &MODEL.url()));
    match agent {
        Agent::Claude => command.args(["-p", "--allowedTools", "mcp__roost__notes__jot", "--", PROMPT]),
        Agent::Gemini => command.args(["-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", PROMPT]),
        _ => command
            .env("OPENCODE_CONFIG_CONTENT", opencode_config(&MODEL.url(), "allow").to_string())
            .args(["run", PROMPT]),
    };
    let done = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert!(done.status.success(), "{agent:?}: {said}");
    said
}

/// The settings of the programs, by their names and files.
fn settings(instance: &RoostInstance, client: &str) -> (PathBuf, bool, Option<String>) {
    let status = instance.run(&["bootstrap", "--status", "--json"]).ended(0).stdout;
    let status: Value = serde_json::from_str(&status).unwrap();
    let of_client = status["clients"].as_array().unwrap().iter().find(|one| one["client"] == client).unwrap();
    let file = PathBuf::from(of_client["path"].as_str().unwrap());
    let text = fs::read_to_string(&file).ok();
    (file, of_client["configured"] == true, text)
}

/// How often the tool was called, by the record.
fn calls(instance: &RoostInstance) -> usize {
    let audit = instance.run(&["audit", "--json"]).ended(0).stdout;
    let records = audit.lines().map(|line| serde_json::from_str::<BTreeMap<String, Value>>(line).unwrap());
    records.filter(|record| record["kind"] == "mcp.tool_called" && record["data"]["success"] == true).count()
}

fn lists_and_calls_a_tool(agent: Agent, client: &str) {
    let instance = open();
    let (_, _, before) = settings(&instance, client);
    instance.run(&["bootstrap", "--clients", client]).ended(0);
    assert!(settings(&instance, client).1, "{client} knows the gateway");
    instance.run(&["bootstrap", "--remove", "--clients", client]).ended(0);
    let (file, is_configured, after) = settings(&instance, client);
    assert!(!is_configured);
    if let (Some(before), Some(after)) = (before, after) {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(read(&after), read(&before), "{}", file.display());
    }
    instance.run(&["bootstrap", "--clients", client]).ended(0);
    let said = one_shot(&instance, agent);
    assert!(said.contains("noted by the service"), "{said}");
    let is_listed = MODEL.requests().iter().any(|request| request.tools.iter().any(|tool| tool.contains("notes__jot")));
    assert!(is_listed, "{said}");
    assert_eq!(calls(&instance), 1);
    instance.run(&["bootstrap", "--remove", "--clients", client]).ended(0);
    assert!(!settings(&instance, client).1);
    instance.assert_nothing_left();
}

#[test]
fn claude_lists_and_calls_a_tool_of_the_gateway_after_bootstrap() {
    lists_and_calls_a_tool(Agent::Claude, "claude");
}

#[test]
fn gemini_lists_and_calls_a_tool_of_the_gateway_after_bootstrap() {
    lists_and_calls_a_tool(Agent::Gemini, "gemini");
}

#[test]
fn opencode_lists_and_calls_a_tool_of_the_gateway_after_bootstrap() {
    lists_and_calls_a_tool(Agent::OpenCode, "opencode");
}
