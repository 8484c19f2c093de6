//! A session whose agent asks, and somebody who answers.

use std::sync::Arc;

use roost_engine::{Accepted, Approver, Decision, Error, Prompt, Response, ResponseTo};
use roost_log::Log;
use roost_model::approval::{Answerer, ApprovalEnd, ApprovalScope, Pending};
use roost_model::event::{EventBody, NormalizedEventType as Type};
use roost_model::ids::{SessionId, TaskId};
use roost_model::payload::{ApprovalRequestedPayload, ApprovalResolvedPayload};
use roost_model::tool::PolicyDecision;
use testkit::facts::{asks, requested};
use testkit::fake::{EngineMessage, FakeSession, FakeTask};
use testkit::{Harness, soon};

/// A session whose agent works while somebody watches.
pub(crate) struct WatchedSession {
    pub(crate) session: SessionId,
    pub(crate) task: TaskId,
    pub(crate) runtime: FakeSession,
    pub(crate) agent: FakeTask,
}

pub(crate) async fn watched_session(host: &mut Harness) -> WatchedSession {
    let session = host.session().await;
    let prompt = Prompt { approver: Approver::Present, ..Prompt::text("one") };
    let Accepted::Started(task) = host.engine.prompt(session.as_str(), prompt).await.unwrap() else { panic!() };
    let (runtime, agent) = host.runtimes().task().await;
    WatchedSession { session, task, runtime, agent }
}

/// One whose agent waits for leave to run the call `a`.
pub(crate) async fn with_pending_call(host: &mut Harness) -> WatchedSession {
    let watched = watched_session(host).await;
    watched.agent.say_all([requested("a"), asks("a")]).await;
    host.wait_for(&watched.session, Type::ApprovalRequested).await;
    watched
}

pub(crate) fn by(who: &str) -> Answerer {
    Answerer { client_id: Some(who.into()), from: Some("test".into()), ..Answerer::default() }
}

pub(crate) fn answer(call: &str, decision: Decision, who: &str) -> Response {
    let to = ResponseTo::Approval { call: call.into(), attempt: None, input_hash: None, decision };
    Response { to, by: by(who), key: None }
}

pub(crate) const ALLOW: Decision = Decision::Allow { scope: ApprovalScope::Once };

pub(crate) fn deny(reason: &str) -> Decision {
    Decision::Deny { scope: ApprovalScope::Once, reason: Some(reason.into()) }
}

pub(crate) async fn respond(host: &Harness, session: &SessionId, response: Response) -> Result<(), Error> {
    soon("an answer is acknowledged or refused", host.engine.respond(session.as_str(), response)).await
}

pub(crate) async fn pending(host: &Harness) -> Vec<Arc<Pending>> {
    host.log.pending(None).await.unwrap()
}

pub(crate) async fn requests(host: &Harness, session: &SessionId) -> Vec<ApprovalRequestedPayload> {
    let asked = host.events(session).await.into_iter().filter_map(|event| match event.body {
        EventBody::ApprovalRequested(asked) => Some(asked),
        _ => None,
    });
    asked.collect()
}

pub(crate) async fn resolved(host: &Harness, session: &SessionId) -> Vec<ApprovalResolvedPayload> {
    let resolved = host.events(session).await.into_iter().filter_map(|event| match event.body {
        EventBody::ApprovalResolved(resolved) => Some(resolved),
        _ => None,
    });
    resolved.collect()
}

pub(crate) async fn count(host: &Harness, session: &SessionId, name: &str) -> usize {
    host.types(session).await.iter().filter(|known| *known == name).count()
}

/// The one approval of the session ended like this, nothing waits any more and nothing ever ran.
pub(crate) async fn ended_unrun(host: &Harness, session: &SessionId, end: ApprovalEnd) {
    let resolved = resolved(host, session).await;
    assert_eq!(resolved.iter().map(|one| (one.decision, one.end)).collect::<Vec<_>>(), [(PolicyDecision::Deny, end)]);
    assert_eq!(pending(host).await, []);
    for never in ["tool.call.approved", "tool.call.started", "tool.call.completed"] {
        assert_eq!(count(host, session, never).await, 0, "{never}");
    }
    assert_eq!(count(host, session, "tool.call.denied").await, 1);
}

/// The call still waits and its agent has heard nothing.
pub(crate) async fn still_waits(host: &Harness, watched: &mut WatchedSession) {
    assert_eq!(pending(host).await.iter().map(|row| row.id()).collect::<Vec<_>>(), ["a"]);
    respond(host, &watched.session, answer("a", ALLOW, "last")).await.unwrap();
    assert_eq!(
        watched.agent.next_message().await,
        EngineMessage::Approved("a".into()),
        "the first thing that it hears"
    );
}
