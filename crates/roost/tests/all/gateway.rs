//! The real agents use a tool of the gateway in a scripted turn, through a real daemon: one call, asked once, one record.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::Value;
use testkit::agents::Agent;
use testkit::scripted_agent::WEATHER;

use crate::kit::{RoostInstance, RunningCommand, answer, of_type, script};
use crate::{own_servers, real};

const CHOICE: &str = "[n]o: ";
const PROMPT: &str = "SCRIPT:mcp TOOL:weather";

/// How agents reach the gateway.
enum Way {
    /// At the daemon's TCP port, with the token of their session.
    Port,
    /// Over the daemon's local socket, through `roost gateway serve --stdio`.
    Socket,
}

/// The agent calls the tool of a service; the person at the terminal is asked once and allows it.
fn uses_the_gateway(agent: Agent, id: &str, options: &[&str], way: Way) {
    let instance = real::instance(agent, id, &[]);
    if matches!(way, Way::Port) {
        instance.run(&["up"]).ended(0);
    }
    add_weather(&instance);
    let mut args = vec!["run", "--runtime", id];
    args.extend(options);
    args.push(PROMPT);
    let mut terminal = instance.terminal(&args);
    terminal.shows(CHOICE).types("y\n");
    let screen = terminal.ended(0);
    assert_eq!(screen.matches(CHOICE).count(), 1, "asked once: {screen}");

    let events = instance.run(&["log", "--json", "latest"]).ended(0).events(1);
    let is_tool = |name: &str| name.starts_with("tool.call.") || name.starts_with("approval.");
    let types = events.iter().filter_map(|event| event["type"].as_str()).filter(|name| is_tool(name));
    let expected = [
        "tool.call.requested",
        "tool.call.policy_evaluated",
        "approval.requested",
        "tool.call.policy_evaluated",
        "approval.resolved",
        "tool.call.approved",
        "tool.call.started",
        "tool.call.completed",
    ];
    assert_eq!(types.collect::<Vec<_>>(), expected, "{events:#?}");
    let completed = &of_type(&events, "tool.call.completed")[0]["payload"];
    assert_eq!((&completed["executed_by"], &completed["is_error"]), (&"codesdk".into(), &Value::Null), "{events:#?}");
    assert!(answer(&events).contains(WEATHER), "the model reads what the tool said: {events:#?}");

    let audit = instance.run(&["audit", "--json"]).ended(0).stdout;
    let records = audit.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let calls: Vec<_> = records.filter(|record| record["kind"] == "mcp.tool_called").collect();
    let [call] = &calls[..] else { panic!("{calls:#?}") };
    let session = events[0]["trace"]["session_id"].as_str().unwrap();
    assert_eq!(call["message"], format!("session:{session} called docs__weather: succeeded"));
}

/// Adds a service with one tool, which tells the weather.
fn add_weather(instance: &RoostInstance) {
    add_weather_as(instance, "docs");
}

fn add_weather_as(instance: &RoostInstance, module: &str) {
    let command = own_servers::command();
    let mut args = vec!["services", "add-stdio", "--module", module, "--"];
    args.extend(command.iter().map(String::as_str));
    instance.run(&args).ended(0);
}

#[test]
fn claude_uses_a_tool_of_the_gateway() {
    uses_the_gateway(Agent::Claude, "claude", &[], Way::Port);
}

#[test]
fn codex_uses_a_tool_of_the_gateway() {
    // Models that Codex knows do not see the tools of tool servers at once.
    uses_the_gateway(Agent::Codex, "codex", &["--model", "gpt-5.1-codex"], Way::Port);
}

#[test]
fn gemini_uses_a_tool_of_the_gateway() {
    uses_the_gateway(Agent::Gemini, "gemini", &["--model", "gemini-2.5-pro"], Way::Port);
}

#[test]
fn opencode_uses_a_tool_of_the_gateway() {
    uses_the_gateway(Agent::OpenCode, "opencode", &[], Way::Port);
}

#[test]
fn claude_uses_a_tool_of_a_gateway_that_has_no_port() {
    uses_the_gateway(Agent::Claude, "claude", &[], Way::Socket);
}

#[test]
fn codex_uses_a_tool_of_a_gateway_that_has_no_port() {
    uses_the_gateway(Agent::Codex, "codex", &["--model", "gpt-5.1-codex"], Way::Socket);
}

#[test]
fn gemini_uses_a_tool_of_a_gateway_that_has_no_port() {
    uses_the_gateway(Agent::Gemini, "gemini", &["--model", "gemini-2.5-pro"], Way::Socket);
}

#[test]
fn opencode_uses_a_tool_of_a_gateway_that_has_no_port() {
    uses_the_gateway(Agent::OpenCode, "opencode", &[], Way::Socket);
}

#[test]
fn an_open_session_uses_a_service_in_the_turn_after_it_was_added() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    instance.run(&["up"]).ended(0);
    let mut talk = instance.terminal(&["run", "--runtime", "claude"]);
    talk.shows("> ").types("SCRIPT:recall\n").shows("RECALL saw 1 prompt(s)").shows("\n> ");
    // The first service: until now the agent had no gateway. It hears of the second one through it.
    for (module, prompts) in [("docs", 3), ("maps", 5)] {
        add_weather_as(&instance, module);
        talk.types(&format!("SCRIPT:mcp TOOL:{module}__weather\n")).shows(CHOICE).types("y\n").shows("\n> ");
        talk.types("SCRIPT:recall\n").shows(&format!("RECALL saw {prompts} prompt(s)")).shows("\n> ");
    }
    talk.types("/quit\n");
    talk.ended(0);
    let audit = instance.run(&["audit"]).ended(0).stdout;
    for called in ["called docs__weather: succeeded", "called maps__weather: succeeded"] {
        assert!(audit.contains(called), "{audit}");
    }
}

/// A program that lists and answers with what stands in the files beside it.
const RECITING_SERVER: &str = r#"cd "$(dirname "$0")"
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case $line in
    *'"initialize"'*) file=hello.json ;;
    *'"tools/list"'*) file=list.json ;;
    *'"tools/call"'*) file=result.json ;;
    *) file=nothing.json ;;
    esac
    [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$(cat $file)"
done
"#;

/// What follows the name in the definition of its tool. No serializer would write it like this.
const DEFINITION: &str = r#""title":"S\u00e4\u0067e","description":"Says it.","icons":[ {"src":"data:image/png;base64,AAAA","sizes":["48x48"],"theme":"dark"}],"inputSchema":{"type":"object","properties":{"z":{"type":"number","default":1.50},"a":{}}},"outputSchema":{ "required":["b","a"],"type":"object","properties":{"b":{"maximum":1e2},"a":{}} },"annotations":{"readOnlyHint":true,"title":"\/","com.example":0.10},"_meta":{"com.example/b":{"n":1E+2},"com.example/a":[ ]}"#;
const RESULT: &str = r#"{"structuredContent":{"b": 1.0,"a":"\u00e9\/"},"content":[{"type":"text","text":"\u0061","annotations":{"priority":0.50},"_meta":{"x":1E2}}],"_meta":{"com.example/z":12345678901234567890.10,"a":{ }}}"#;

#[test]
fn what_a_service_says_of_a_tool_and_what_the_tool_says_reach_the_client_byte_for_byte() {
    let instance = RoostInstance::new();
    instance.configure(
        "[security]\nrequire_auth = false\n[[policy.rules]]\neffect = 'allow'\nname = 'say'\ntool = 'mcp__roost__odd__say'\n",
    );
    instance.run(&["up"]).ended(0);
    let program = instance.work().join("odd.sh");
    script(&program, RECITING_SERVER);
    let hello =
        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}"#;
    let list = format!(r#"{{"tools":[{{"name":"say",{DEFINITION}}}]}}"#);
    for (file, text) in [("hello", hello), ("list", &list), ("result", RESULT), ("nothing", "{}")] {
        fs::write(instance.work().join(format!("{file}.json")), text).unwrap();
    }
    instance.run(&["services", "add-stdio", "--module", "odd", "--", &program.display().to_string()]).ended(0);
    let daemon: Value = serde_json::from_slice(&fs::read(instance.state().join("daemon.json")).unwrap()).unwrap();
    let address = daemon["http"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let post = |session: &str, body: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let length = body.len();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: application/json\r\nContent-Type: application/json\r\n\
             {session}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}"#;
    let hello = post("", &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{hello}}}"#));
    let session = hello.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id")).unwrap();
    let session = format!("{session}\r\n");
    let listed = post(&session, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert!(listed.contains(&format!(r#"{{"name":"odd__say",{DEFINITION}}}"#)), "{listed}");
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"odd__say","arguments":{}}}"#;
    let called = post(&session, call);
    assert!(called.contains(&format!(r#"{{"jsonrpc":"2.0","id":2,"result":{RESULT}}}"#)), "{called}");
}

#[test]
fn every_answer_over_stdio_can_be_read_at_once_even_if_a_request_comes_in_pieces() {
    let instance = RoostInstance::new();
    let mut command = instance.command(&["gateway", "serve", "--stdio"]);
    let mut gateway = RunningCommand::new(command.stdin(Stdio::piped()));
    let mut stdin = gateway.stdin();
    let hello = r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}"#;
    write!(stdin, r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{hello}}}"#).unwrap();
    stdin.write_all(b"\n").unwrap();
    assert!(gateway.line().is_some_and(|line| line.starts_with(r#"{"jsonrpc":"2.0","id":0,"result""#)));
    for id in 1..=50 {
        write!(stdin, r#"{{"jsonrpc":"2.0","id":{id},"#).unwrap();
        writeln!(stdin, r#""method":"ping"}}"#).unwrap();
        assert_eq!(gateway.line(), Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)));
    }
    drop(stdin);
    gateway.finish().ended(0);
}
