//! Who decides about Claude Code's tools: the host, about every single one.

use roost_engine::adapter::{Fact, RuntimeAdapter, TaskEnd};
use roost_model::mode::Mode;
use roost_model::tool::{ToolManifest, ToolManifestEntry};
use serde_json::json;

use super::live::{LiveClaude, Verdict, input, input_with, run, run_allowing};

#[tokio::test]
async fn a_call_asks_even_if_the_agents_own_rules_allow_it() {
    let live = LiveClaude::new();
    let hook = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'"#;
    let settings = json!({
        "permissions": { "allow": ["Bash", "Read"], "defaultMode": "acceptEdits" },
        "hooks": { "PreToolUse": [{ "matcher": "*", "hooks": [{ "type": "command", "command": hook }] }] },
    });
    std::fs::create_dir_all(live.home().join(".claude")).unwrap();
    std::fs::write(live.home().join(".claude/settings.json"), settings.to_string()).unwrap();
    std::fs::write(live.work().join("in.txt"), "hello").unwrap();
    let mut session = live.session().await;
    let read = format!("SCRIPT:read CWD:{}", live.work().display());
    for (prompt, tool) in [("SCRIPT:ls", "Bash"), (&read, "Read")] {
        let done = run(&mut session, input(prompt), |_| Verdict::Deny("not today")).await;
        assert_eq!(done.asking_tools(), [tool], "{prompt}");
        assert!(done.text().contains("not today"), "{}", done.text());
    }
    session.close().await;
}

#[tokio::test]
async fn the_input_of_a_call_can_be_changed() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let edited = json!({ "command": "echo edited" });
    let done = run(&mut session, input("SCRIPT:shell"), |_| Verdict::AllowEdited(edited.clone())).await;
    assert!(done.text().contains("edited"), "{}", done.text());
    assert!(!live.work().join("out.txt").exists());
    session.close().await;
}

#[tokio::test]
async fn yolo_is_the_host_saying_yes_and_works_for_root() {
    let live = LiveClaude::new();
    let mut open = live.open();
    open.mode = Mode::Yolo;
    let mut session = live.adapter.create_session(open).await.unwrap();
    let mut task = input("SCRIPT:shell");
    task.mode = Mode::Yolo;
    let done = run(&mut session, task, |_| Verdict::Allow).await;
    assert_eq!(done.asking_tools(), ["Bash"]);
    assert!(live.work().join("out.txt").exists());
    session.close().await;
}

#[tokio::test]
async fn the_answer_to_a_question_reaches_the_model() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let done = run_allowing(&mut session, "SCRIPT:ask").await;
    assert!(done.text().contains("\"Which colour?\"=\"Blue\""), "{}", done.text());
    let is_call = |fact: &Fact| matches!(fact, Fact::ToolRequested(_) | Fact::ToolAsks(_));
    assert!(!done.facts.iter().any(is_call), "a question is no tool call");
    session.close().await;
}

fn greeter(name: &str) -> ToolManifest {
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let (description, input_schema) = (Some("says hello".into()), Some(schema));
    ToolManifest { tools: vec![ToolManifestEntry { name: name.into(), description, input_schema, schema_hash: None }] }
}

#[tokio::test]
async fn the_hosts_tools_run_in_the_host() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let task = || input_with("SCRIPT:mcp TOOL:greet", greeter("greet"));
    let done = run(&mut session, task(), |call| {
        assert_eq!((call.name.as_str(), &call.input), ("greet", &json!({ "text": "ping" })));
        Verdict::Ran(json!("the host says hello"))
    })
    .await;
    assert_eq!(done.asking_tools(), ["greet"]);
    assert!(done.text().contains("the host says hello"), "{}", done.text());

    let done = run(&mut session, task(), |_| Verdict::Deny("the host is shy")).await;
    assert!(done.text().contains("the host is shy"), "{}", done.text());

    let renamed = input_with("SCRIPT:mcp TOOL:salute", greeter("salute"));
    let done = run(&mut session, renamed, |_| Verdict::Ran(json!("the host salutes"))).await;
    assert!(done.text().contains("the host salutes"), "{}", done.text());
    session.close().await;
}

#[tokio::test]
async fn tool_servers_of_the_user_the_settings_and_the_session_are_there_together_and_listed() {
    use roost_engine::adapter::{McpServer, McpServerTransport};
    let command = crate::contract::this_binary().into_string().unwrap();
    let args: Vec<_> =
        crate::contract::play("tool_server").into_iter().map(|word| word.into_string().unwrap()).collect();
    let server = json!({ "command": command, "args": args });
    let live = LiveClaude::new();
    std::fs::write(live.home().join(".claude.json"), json!({ "mcpServers": { "users": server } }).to_string()).unwrap();
    let mut open = live.open();
    open.input.runtime_config = json!({ "mcpServers": { "settings": server } }).as_object().cloned();
    let transport = McpServerTransport::Stdio { command: command.into(), args, env: Default::default() };
    open.mcp_servers = vec![McpServer { name: "session".into(), transport }];
    let mut session = live.adapter.create_session(open).await.unwrap();
    for server in ["users", "settings", "session"] {
        let done = run_allowing(&mut session, &format!("SCRIPT:mcp TOOL:mcp__{server}__weather")).await;
        assert_eq!(done.asking_tools(), [format!("mcp__{server}__weather")]);
        assert!(done.text().contains(testkit::scripted_agent::WEATHER), "{}", done.text());
        let listed = &done.input.input["runtime_config"]["tool_servers"];
        let names: Vec<_> = listed.as_array().unwrap().iter().filter_map(|server| server["name"].as_str()).collect();
        assert!(["users", "settings", "session"].iter().all(|name| names.contains(name)), "{listed}");
    }
    session.close().await;
}

#[tokio::test]
async fn a_tool_server_that_cannot_be_reached_is_told_and_not_fatal() {
    use roost_engine::adapter::{McpServer, McpServerTransport};
    let live = LiveClaude::new();
    let mut open = live.open();
    let transport = McpServerTransport::Http {
        url: "http://127.0.0.1:1/mcp".into(),
        headers: [("a".into(), "secret".into())].into(),
    };
    open.mcp_servers = vec![McpServer { name: "gone".into(), transport }];
    let mut session = live.adapter.create_session(open).await.unwrap();
    let done = run_allowing(&mut session, "SCRIPT:text").await;
    let told = done.facts.iter().any(|fact| matches!(fact, Fact::Notice(notice) if notice.message.contains("gone")));
    assert!(told, "{:?}", done.facts);
    assert!(matches!(done.end(), TaskEnd::Completed(_)));
    session.close().await;
}
