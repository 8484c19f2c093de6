//! Whatever goes wrong while a person is asked, nothing runs without an allow and no allow is lost.

use roost_engine::Error;
use roost_engine::adapter::Fact;
use roost_model::approval::ApprovalEnd;
use roost_model::event::{EventBody, NormalizedEventType as Type};
use roost_model::failure::FailureCode;
use roost_model::payload::{ApprovalRequestedPayload, OutputStream};
use testkit::facts::{asks, completed, delta, exited, failed, question, requested, started};
use testkit::fake::EngineMessage;
use testkit::{Harness, soon};

use crate::recovering::start_with;

use crate::watched::*;

#[tokio::test]
async fn an_agent_that_runs_a_tool_while_it_is_asked_fails_its_task_and_is_ended() {
    let output = || Fact::ToolOutputDelta { call: "a".into(), stream: OutputStream::Stdout, delta: "x".into() };
    for ran in [started("a"), completed("a"), output()] {
        let mut host = Harness::start().await;
        let mut it = with_pending_call(&mut host).await;
        it.agent.say(ran).await;
        let end = host.wait_for_end(&it.session, &it.task).await;
        let EventBody::TaskFailed(failed) = end.body else { panic!("{end:?}") };
        assert_eq!(failed.error.code, FailureCode::PolicyViolation);
        assert!(it.runtime.gone().await);
        ended_unrun(&host, &it.session, ApprovalEnd::TaskEnded).await;
        host.stop().await;
    }
}

#[tokio::test]
async fn an_agent_that_asks_the_same_call_again_is_asked_about_anew_each_time() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    it.agent.say_all([asks("a"), requested("a"), asks("a"), delta("x")]).await;
    host.wait_for(&it.session, Type::ModelOutputDelta).await;
    let attempts =
        |asked: Vec<ApprovalRequestedPayload>| asked.iter().map(|one| one.identity.attempt).collect::<Vec<_>>();
    assert_eq!(attempts(requests(&host, &it.session).await), [1, 2, 3]);
    still_waits(&host, &mut it).await;
    it.agent.say_all([asks("a"), delta("y")]).await;
    host.wait_until(&it.session, "it is asked about again", |event| match &event.body {
        EventBody::ApprovalRequested(asked) => asked.identity.attempt == 4,
        _ => false,
    })
    .await;
    let ends: Vec<_> = resolved(&host, &it.session).await.iter().map(|one| one.end).collect();
    assert_eq!(ends, [ApprovalEnd::Withdrawn, ApprovalEnd::Withdrawn, ApprovalEnd::Answered]);
    assert_eq!(it.agent.messages_so_far(), [], "one yes is for one question");
    host.stop().await;
}

#[tokio::test]
async fn ten_thousand_approvals_wait_are_listed_and_closed_by_a_stop() {
    const ASKS: usize = 10_000;
    let mut host = Harness::start().await;
    let it = watched_session(&mut host).await;
    for hundred in 0..ASKS / 100 {
        let calls: Vec<_> = (0..100).map(|call| format!("call {hundred}-{call}")).collect();
        it.agent.say_all(calls.iter().flat_map(|call| [requested(call), asks(call)])).await;
    }
    it.agent.say(delta("x")).await;
    host.wait_for(&it.session, Type::ModelOutputDelta).await;
    assert_eq!(pending(&host).await.len(), ASKS);
    respond(&host, &it.session, answer("call 50-50", ALLOW, "me")).await.unwrap();
    assert_eq!(pending(&host).await.len(), ASKS - 1);
    soon("the task stops", host.engine.stop(it.session.as_str(), "enough")).await.unwrap();
    assert_eq!(pending(&host).await, []);
    assert_eq!(count(&host, &it.session, "tool.call.approved").await, 1);
    assert_eq!(count(&host, &it.session, "tool.call.denied").await, ASKS - 1);
    host.stop().await;
}

#[tokio::test]
async fn an_agent_that_disappears_while_it_is_asked_takes_its_approval_along() {
    for silently in [false, true] {
        let mut host = Harness::start().await;
        let WatchedSession { session, task, runtime: _runtime, agent } = with_pending_call(&mut host).await;
        match silently {
            true => drop(agent),
            false => agent.say(exited()).await,
        }
        host.wait_for_end(&session, &task).await;
        ended_unrun(&host, &session, ApprovalEnd::TaskEnded).await;
        let late = respond(&host, &session, answer("a", ALLOW, "me")).await;
        assert!(matches!(late, Err(Error::NotPending(_))));
        host.stop().await;
    }
}

#[tokio::test]
async fn a_call_that_the_agent_gives_up_is_no_longer_asked_about() {
    let mut host = Harness::start().await;
    let it = with_pending_call(&mut host).await;
    it.agent.say(failed("a")).await;
    host.wait_for(&it.session, Type::ApprovalResolved).await;
    ended_unrun(&host, &it.session, ApprovalEnd::Withdrawn).await;
    host.stop().await;
}

#[tokio::test]
async fn a_stop_closes_what_waits_before_the_agent_hears_of_it() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    it.agent.say(question("q")).await;
    host.wait_for(&it.session, Type::QuestionAsked).await;
    let stopping = {
        let (engine, session) = (host.engine.clone(), it.session.clone());
        tokio::spawn(async move { engine.stop(session.as_str(), "enough").await })
    };
    assert_eq!(it.agent.next_message().await, EngineMessage::Stop);
    ended_unrun(&host, &it.session, ApprovalEnd::Stopped).await;
    let late = respond(&host, &it.session, answer("a", ALLOW, "me")).await;
    assert!(matches!(late, Err(Error::NotPending(_))));
    // What agents do on a stop with the calls that they asked about.
    it.agent.say(failed("a")).await;
    soon("the stop is answered", stopping).await.unwrap().unwrap();
    ended_unrun(&host, &it.session, ApprovalEnd::Stopped).await;
    host.stop().await;
}

#[tokio::test]
async fn a_host_that_is_killed_while_asking_closes_the_approval_at_its_next_start() {
    let mut host = Harness::start().await;
    let it = with_pending_call(&mut host).await;
    it.agent.say(question("q")).await;
    host.wait_for(&it.session, Type::QuestionAsked).await;
    assert_eq!(pending(&host).await.len(), 2);
    let host = host.crash().await.start().await;
    ended_unrun(&host, &it.session, ApprovalEnd::HostRestarted).await;
    let late = respond(&host, &it.session, answer("a", ALLOW, "me")).await;
    assert!(matches!(late, Err(Error::NotPending(_))));
    host.stop().await;
}

#[tokio::test]
async fn a_session_that_is_closed_or_a_host_that_stops_in_order_closes_the_approval() {
    let mut host = Harness::start().await;
    let one = with_pending_call(&mut host).await;
    host.engine.close(one.session.as_str(), "closed").await.unwrap();
    ended_unrun(&host, &one.session, ApprovalEnd::Stopped).await;
    let other = with_pending_call(&mut host).await;
    let host = host.stop().await.start().await;
    ended_unrun(&host, &other.session, ApprovalEnd::Stopped).await;
    host.stop().await;
}

#[tokio::test]
async fn an_approval_of_a_runtime_that_outlived_its_host_still_waits_and_can_be_answered() {
    let mut host = Harness::start().await;
    let it = with_pending_call(&mut host).await;
    let home = host.crash().await;
    home.adapter.offer_survivors();
    home.leave_process(&it.session);
    let (host, (_runtime, mut agent)) =
        start_with(home, async |home| home.runtimes.opening().await.accept_running("native")).await;
    assert_eq!(pending(&host).await.iter().map(|row| row.id()).collect::<Vec<_>>(), ["a"]);
    respond(&host, &it.session, answer("a", ALLOW, "me")).await.unwrap();
    assert_eq!(agent.next_message().await, EngineMessage::Approved("a".into()));
    agent.say_all([started("a"), completed("a")]).await;
    agent.finish().await;
    host.wait_for_end(&it.session, &it.task).await;
    assert_eq!(count(&host, &it.session, "tool.call.completed").await, 1);
    host.stop().await;
}
