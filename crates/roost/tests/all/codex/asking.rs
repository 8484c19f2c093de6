//! What Codex asks besides whether a tool may run, and what it plans.

use roost_engine::adapter::{Fact, McpServer, McpServerTransport, RuntimeAdapter, TaskEnd};
use roost_model::payload::QuestionAskedPayload;
use serde_json::json;
use testkit::agents::program;
use testkit::soon;

use super::live::{Live, Say, WatchedTask, completed, run};

/// A tool server that asks its user for a size before its tool answers.
const SHOP: &str = r#"
let call;
const say = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const size = { type: "string", enum: ["small", "large"] };
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    say({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "shop", version: "1" } } });
  } else if (method === "tools/list") {
    say({ id, result: { tools: [{ name: "probe_echo", inputSchema: { type: "object" } }] } });
  } else if (method === "tools/call") {
    call = id;
    const requestedSchema = { type: "object", properties: { size }, required: ["size"] };
    say({ id: "asked", method: "elicitation/create", params: { message: "Which size?", requestedSchema } });
  } else if (id === "asked") {
    say({ id: call, result: { content: [{ type: "text", text: "sold " + JSON.stringify(result) }] } });
  } else if (method && id !== undefined) {
    say({ id, result: {} });
  }
});
"#;

fn question(fact: &Fact) -> Option<QuestionAskedPayload> {
    match fact {
        Fact::Question(question) => Some(question.clone()),
        _ => None,
    }
}

#[tokio::test]
async fn a_tool_server_asks_its_user_with_a_form() {
    let live = Live::new();
    let mut open = live.open();
    let command = program("node");
    let transport =
        McpServerTransport::Stdio { command, args: vec!["-e".into(), SHOP.into()], env: Default::default() };
    open.mcp_servers = vec![McpServer { name: "probe".into(), transport }];
    // Models that Codex knows do not see the tools of tool servers at once.
    open.input.model = Some("gpt-5.1-codex".into());
    let mut session = soon("Codex starts", live.adapter.create_session(open)).await.unwrap();
    let (end, task) = run(&mut session, "SCRIPT:mcp", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let asked: Vec<_> = task.facts().filter_map(question).collect();
    let [asked] = asked.as_slice() else { panic!("{:#?}", task.seen) };
    assert_eq!((asked.message.as_str(), asked.fields.len()), ("probe: Which size?", 1), "{asked:?}");
    assert!(task.text().contains("large"), "{}", task.text());
    session.close().await;
}

#[tokio::test]
async fn an_interrupt_of_a_question_ends_the_turn_and_it_is_not_asked_again() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:ask").await;
    task.until(question).await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(matches!(end, TaskEnd::Stopped(_)), "{end:?}");
    let (end, task) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert_eq!(task.facts().filter_map(question).count(), 0, "{:#?}", task.seen);
    session.close().await;
}

#[tokio::test]
async fn a_plan_is_told() {
    let live = Live::new();
    let mut open = live.open();
    open.input.runtime_config = json!({ "tools.update_plan": { "enabled": true } }).as_object().cloned();
    let mut session = soon("Codex starts", live.adapter.create_session(open)).await.unwrap();
    let (end, task) = run(&mut session, "SCRIPT:plan", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let plan = task.facts().find_map(|fact| match fact {
        Fact::Plan(plan) => Some(plan),
        _ => None,
    });
    let plan = plan.unwrap_or_else(|| panic!("{:#?}", task.seen));
    assert!(!plan.entries.is_empty(), "{plan:?}");
    session.close().await;
}
