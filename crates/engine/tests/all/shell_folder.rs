//! A runtime's shell may stay where a `cd` led it; what it runs is judged there.

// Helpers of tests are tests, but clippy sees only functions.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use roost_engine::adapter::Fact;
use roost_model::payload::{ToolCallRequestedPayload, ToolKind};
use roost_model::tool::ToolCallIdentity;
use serde_json::json;
use testkit::Harness;
use testkit::fake::{EngineMessage, FakeTask};

/// Asks to run a line, and says whether it runs without anybody there to ask.
async fn runs_unasked(agent: &mut FakeTask, call: &str, line: &str) -> bool {
    let input = json!({ "command": line });
    let identity = ToolCallIdentity { tool_call_id: call.into(), ..ToolCallIdentity::first(None, &input) };
    let (name, kind) = ("execute".into(), Some(ToolKind::Execute));
    let request = ToolCallRequestedPayload { identity, name, input, input_ref: None, title: None, kind };
    agent.say_all([Fact::ToolRequested(request.clone()), Fact::ToolAsks(request)]).await;
    match agent.next_message().await {
        EngineMessage::Approved(_) => true,
        EngineMessage::Denied(..) => false,
        other => panic!("{other:?}"),
    }
}

/// A repository in a folder, as git makes it.
fn repository(folder: &Path) {
    std::fs::create_dir_all(folder.join(".git/objects")).unwrap();
    std::fs::create_dir_all(folder.join(".git/refs")).unwrap();
    std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
}

async fn agent_in_a_repository(host: &mut Harness) -> FakeTask {
    let session = host.session().await;
    let folder = host.home.path().to_owned();
    repository(&folder);
    repository(&folder.join("vendored"));
    std::fs::create_dir(folder.join("src")).unwrap();
    host.begin(&session, "one").await;
    host.runtimes().task().await.1
}

#[tokio::test]
async fn git_in_a_folder_that_an_earlier_call_went_to_is_judged_there() {
    let mut host = Harness::start().await;
    let mut agent = agent_in_a_repository(&mut host).await;
    for (call, line, unasked) in [
        ("a", "git status", true),
        ("b", "cd src", true),
        ("c", "git status", true),
        ("d", "cd vendored && ls", true),
        ("e", "git status", false),
        ("f", "ls", true),
    ] {
        assert_eq!(runs_unasked(&mut agent, call, line).await, unasked, "{line}");
    }
    host.stop().await;
}

#[tokio::test]
async fn a_shell_that_nobody_can_follow_reads_nothing_unasked() {
    let mut host = Harness::start().await;
    let mut agent = agent_in_a_repository(&mut host).await;
    let home = host.home.path().display().to_string();
    for (call, line, unasked) in [
        ("a", "source ./somewhere".to_owned(), false),
        ("b", "ls".to_owned(), false),
        ("c", format!("cd {home} && ls"), false),
        ("d", "git status".to_owned(), false),
    ] {
        assert_eq!(runs_unasked(&mut agent, call, &line).await, unasked, "{line}");
    }
    host.stop().await;
}
