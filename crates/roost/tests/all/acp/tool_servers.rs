//! The tool servers that an editor gives to its sessions.

use serde_json::{Value, json};
use testkit::agents::Agent;
use testkit::scripted_agent::WEATHER;

use super::editor::{Editor, code};
use crate::kit::RoostInstance;
use crate::{own_servers, real};

/// A server that tells the weather.
fn weather() -> Value {
    let command = own_servers::command();
    json!({ "name": "weather", "command": command[0], "args": command[1..], "env": [] })
}

#[test]
fn the_editors_tool_server_is_used_and_judged() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    let mut editor = Editor::open(&instance, &["--runtime", "claude"]);
    let session = editor.result("session/new", json!({ "cwd": instance.work(), "mcpServers": [weather()] }));
    let session = session["sessionId"].as_str().unwrap();
    let listed = instance.run(&["sessions", "--json"]).ended(0).stdout;
    assert!(listed.contains(r#""mcp_servers":["weather"]"#), "{listed}");
    let prompt = editor.prompt(session, "SCRIPT:mcp TOOL:weather");
    let asked = editor.asked("session/request_permission");
    assert!(asked["params"]["toolCall"]["name"].as_str().unwrap().contains("weather"), "{asked}");
    editor.choose(&asked, "allow_once");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
    assert!(editor.answer().contains(WEATHER), "{}", editor.answer());
}

#[test]
fn a_tool_server_that_cannot_be_used_is_refused_by_its_name() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let mut odd = weather();
    odd["name"] = json!("sunny weather");
    for (servers, why) in [
        (json!([{ "type": "sse", "name": "clouds", "url": "http://127.0.0.1:1/", "headers": [] }]), "clouds"),
        (json!([{ "type": "http", "name": "files", "url": "file:///etc", "headers": [] }]), "files"),
        (json!([weather()]), "\"weather\" cannot be used: demo"),
        (json!([odd]), "sunny weather"),
    ] {
        let reply = editor.call("session/new", json!({ "cwd": instance.work(), "mcpServers": servers }));
        assert_eq!(code(&reply), -32602, "{servers}: {reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains(why), "{servers}: {reply}");
    }
    assert_eq!(editor.result("session/list", json!({}))["sessions"], json!([]));
}
