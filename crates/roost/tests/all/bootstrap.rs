//! The gateway is registered in a real Claude Code, which then lists a tool of it and calls it; afterwards it is removed.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::agents::{Agent, variables, write_settings};

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
const PROMPT: &str = "SCRIPT:mcp TOOL:notes__jot";

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

/// One prompt to Claude Code in the instance's home, with its own permissions out of the way.
fn one_shot(instance: &RoostInstance) -> String {
    let mut command = Command::new(Agent::Claude.program());
    command.current_dir(instance.work()).env_clear().envs(variables(Agent::Claude, &instance.home(), &MODEL.url()));
    command.args(["-p", "--allowedTools", "mcp__roost__notes__jot", "--", PROMPT]);
    let done = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert!(done.status.success(), "{said}");
    said
}

/// Whether Claude Code's settings have the gateway.
fn knows_the_gateway(instance: &RoostInstance) -> bool {
    let status = instance.run(&["bootstrap", "--status", "--json"]).ended(0).stdout;
    let status: Value = serde_json::from_str(&status).unwrap();
    let programs = status["clients"].as_array().unwrap();
    programs.iter().find(|one| one["client"] == "claude").unwrap()["configured"] == true
}

/// How often the tool was called, by the record.
fn calls(instance: &RoostInstance) -> usize {
    let audit = instance.run(&["audit", "--json"]).ended(0).stdout;
    let records = audit.lines().map(|line| serde_json::from_str::<BTreeMap<String, Value>>(line).unwrap());
    records.filter(|record| record["kind"] == "mcp.tool_called" && record["data"]["success"] == true).count()
}

#[test]
fn claude_lists_and_calls_a_tool_of_the_gateway_after_bootstrap() {
    let instance = open();
    assert!(!knows_the_gateway(&instance));
    instance.run(&["bootstrap", "--clients", "claude"]).ended(0);
    assert!(knows_the_gateway(&instance));
    let said = one_shot(&instance);
    assert!(said.contains("noted by the service"), "{said}");
    let is_listed = MODEL.requests().iter().any(|request| request.tools.iter().any(|tool| tool.contains("notes__jot")));
    assert!(is_listed, "{said}");
    assert_eq!(calls(&instance), 1);
    instance.run(&["bootstrap", "--remove", "--clients", "claude"]).ended(0);
    assert!(!knows_the_gateway(&instance));
    instance.assert_nothing_left();
}
