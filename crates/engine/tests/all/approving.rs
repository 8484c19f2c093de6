//! Persons are asked: whatever happens meanwhile, nothing runs without an allow and no allow is lost.

use std::sync::Arc;
use std::time::Duration;

use roost_engine::adapter::{Answer, Fact};
use roost_engine::{Accepted, Approver, Decision, Error, Prompt, Response, ResponseTo};
use roost_log::Log;
use roost_proto::approval::{Answerer, ApprovalEnd, ApprovalScope, Pending};
use roost_proto::event::{EventBody, NormalizedEventType as Type};
use roost_proto::failure::FailureCode;
use roost_proto::ids::{SessionId, TaskId};
use roost_proto::payload::{
    ApprovalRequestedPayload, ApprovalResolvedPayload, OutputStream, QuestionOutcome, QuestionResolvedPayload,
};
use roost_proto::tool::PolicyDecision;
use testkit::facts::{asks, attempt, completed, delta, exited, failed, question, requested, started};
use testkit::fake::{FakeSession, FakeTask, Told};
use testkit::{Harness, Home, soon};

use crate::recovering::start_with;

/// A session whose agent works while somebody watches.
struct Watched {
    session: SessionId,
    task: TaskId,
    runtime: FakeSession,
    agent: FakeTask,
}

async fn watched(host: &mut Harness) -> Watched {
    let session = host.session().await;
    let prompt = Prompt { approver: Approver::Present, ..Prompt::text("one") };
    let Accepted::Started(task) = host.engine.prompt(session.as_str(), prompt).await.unwrap() else { panic!() };
    let (runtime, agent) = host.runtimes().task().await;
    Watched { session, task, runtime, agent }
}

/// One whose agent waits for leave to run the call `a`.
async fn asked(host: &mut Harness) -> Watched {
    let watched = watched(host).await;
    watched.agent.say_all([requested("a"), asks("a")]).await;
    host.wait_for(&watched.session, Type::ApprovalRequested).await;
    watched
}

fn by(who: &str) -> Answerer {
    Answerer { client_id: Some(who.into()), from: Some("test".into()), ..Answerer::default() }
}

fn answer(call: &str, decision: Decision, who: &str) -> Response {
    let to = ResponseTo::Approval { call: call.into(), attempt: None, input_hash: None, decision };
    Response { to, by: by(who), key: None }
}

const ALLOW: Decision = Decision::Allow { scope: ApprovalScope::Once };

fn deny(reason: &str) -> Decision {
    Decision::Deny { scope: ApprovalScope::Once, reason: Some(reason.into()) }
}

async fn respond(host: &Harness, session: &SessionId, response: Response) -> Result<(), Error> {
    soon("an answer is acknowledged or refused", host.engine.respond(session.as_str(), response)).await
}

async fn pending(host: &Harness) -> Vec<Arc<Pending>> {
    host.log.pending(None).await.unwrap()
}

async fn requests(host: &Harness, session: &SessionId) -> Vec<ApprovalRequestedPayload> {
    let asked = host.events(session).await.into_iter().filter_map(|event| match event.body {
        EventBody::ApprovalRequested(asked) => Some(asked),
        _ => None,
    });
    asked.collect()
}

async fn resolved(host: &Harness, session: &SessionId) -> Vec<ApprovalResolvedPayload> {
    let resolved = host.events(session).await.into_iter().filter_map(|event| match event.body {
        EventBody::ApprovalResolved(resolved) => Some(resolved),
        _ => None,
    });
    resolved.collect()
}

async fn count(host: &Harness, session: &SessionId, name: &str) -> usize {
    host.types(session).await.iter().filter(|known| *known == name).count()
}

/// The one approval of the session ended like this, nothing waits any more and nothing ever ran.
async fn ended_unrun(host: &Harness, session: &SessionId, end: ApprovalEnd) {
    let resolved = resolved(host, session).await;
    assert_eq!(resolved.iter().map(|one| (one.decision, one.end)).collect::<Vec<_>>(), [(PolicyDecision::Deny, end)]);
    assert_eq!(pending(host).await, []);
    for never in ["tool.call.approved", "tool.call.started", "tool.call.completed"] {
        assert_eq!(count(host, session, never).await, 0, "{never}");
    }
    assert_eq!(count(host, session, "tool.call.denied").await, 1);
}

/// The call still waits and its agent has heard nothing.
async fn still_waits(host: &Harness, watched: &mut Watched) {
    assert_eq!(pending(host).await.iter().map(|row| row.id()).collect::<Vec<_>>(), ["a"]);
    respond(host, &watched.session, answer("a", ALLOW, "last")).await.unwrap();
    assert_eq!(watched.agent.told().await, Told::Approved("a".into()), "the first thing that it hears");
}

#[tokio::test]
async fn an_allowed_call_runs_and_the_log_says_who_allowed_it() {
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    respond(&host, &it.session, answer("a", ALLOW, "me")).await.unwrap();
    assert_eq!(it.agent.told().await, Told::Approved("a".into()));
    it.agent.say_all([started("a"), completed("a")]).await;
    it.agent.finish().await;
    host.wait_for_end(&it.session, &it.task).await;
    let types: Vec<_> = host.types(&it.session).await.into_iter().filter(|name| !name.starts_with("session")).collect();
    let expected = [
        "tool.call.requested",
        "tool.call.policy_evaluated",
        "approval.requested",
        "tool.call.policy_evaluated",
        "approval.resolved",
        "tool.call.approved",
        "tool.call.started",
        "tool.call.completed",
        "task.completed",
    ];
    let from = types.iter().position(|name| name == expected[0]).unwrap();
    assert_eq!(types[from..], expected);
    assert_eq!(resolved(&host, &it.session).await[0].answered_by, Some(by("me")));
    assert_eq!(pending(&host).await, []);
    host.stop().await;
}

#[tokio::test]
async fn a_denial_reaches_the_agent_with_its_reason() {
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    respond(&host, &it.session, answer("a", deny("too risky"), "me")).await.unwrap();
    assert_eq!(it.agent.told().await, Told::Denied("a".into(), "too risky".into()));
    it.agent.say(failed("a")).await;
    it.agent.finish().await;
    host.wait_for_end(&it.session, &it.task).await;
    ended_unrun(&host, &it.session, ApprovalEnd::Answered).await;
    host.stop().await;
}

#[tokio::test]
async fn what_a_person_needs_to_decide_is_in_one_event_and_one_row() {
    let mut host = Harness::start().await;
    let it = asked(&mut host).await;
    let asked = requests(&host, &it.session).await.pop().unwrap();
    assert_eq!((asked.name.as_str(), &asked.input["path"]), ("write", &"a".into()));
    assert_eq!(asked.rule.as_deref(), Some("permission_mode:ask"));
    assert!(asked.expires_at.is_some());
    let row = pending(&host).await.pop().unwrap();
    assert_eq!((&row.session_id, &row.task_id), (&it.session, &Some(it.task)));
    host.stop().await;
}

#[tokio::test]
async fn an_answer_to_an_unknown_approval_is_refused() {
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    let refused = respond(&host, &it.session, answer("b", ALLOW, "me")).await;
    assert!(matches!(refused, Err(Error::NotPending(id)) if id == "b"));
    let nobody = respond(&host, &"no session".into(), answer("a", ALLOW, "me")).await;
    assert!(matches!(nobody, Err(Error::UnknownSession(_))));
    let idle = host.session().await;
    assert!(matches!(respond(&host, &idle, answer("a", ALLOW, "me")).await, Err(Error::NotPending(_))));
    still_waits(&host, &mut it).await;
    host.stop().await;
}

#[tokio::test]
async fn an_answer_to_the_approval_of_another_session_is_refused() {
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    let other = watched(&mut host).await;
    let refused = respond(&host, &other.session, answer("a", ALLOW, "me")).await;
    assert!(matches!(refused, Err(Error::NotPending(_))));
    still_waits(&host, &mut it).await;
    host.stop().await;
}

#[tokio::test]
async fn the_same_call_id_in_two_sessions_is_two_approvals() {
    let mut host = Harness::start().await;
    let mut one = asked(&mut host).await;
    let mut other = asked(&mut host).await;
    respond(&host, &one.session, answer("a", ALLOW, "me")).await.unwrap();
    assert_eq!(one.agent.told().await, Told::Approved("a".into()));
    assert_eq!(pending(&host).await.iter().map(|row| &row.session_id).collect::<Vec<_>>(), [&other.session]);
    still_waits(&host, &mut other).await;
    host.stop().await;
}

#[tokio::test]
async fn nobody_answering_in_time_denies_and_a_later_answer_is_refused() {
    let short = Some(Duration::from_millis(20));
    let mut host = Home::new().start_with(|config| config.approval_timeout = short).await;
    let mut it = asked(&mut host).await;
    assert_eq!(it.agent.told().await, Told::Denied("a".into(), "nobody answered in time".into()));
    ended_unrun(&host, &it.session, ApprovalEnd::Expired).await;
    let late = respond(&host, &it.session, answer("a", ALLOW, "me")).await;
    assert!(matches!(late, Err(Error::NotPending(_))));
    host.stop().await;
}

#[tokio::test]
async fn without_a_time_limit_an_approval_waits_until_it_is_answered() {
    let mut host = Home::new().start_with(|config| config.approval_timeout = None).await;
    let mut it = asked(&mut host).await;
    assert_eq!(requests(&host, &it.session).await[0].expires_at, None);
    still_waits(&host, &mut it).await;
    host.stop().await;
}

#[tokio::test]
async fn a_second_answer_is_refused_with_the_name_of_the_first() {
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    respond(&host, &it.session, answer("a", deny("no"), "first")).await.unwrap();
    let refused = respond(&host, &it.session, answer("a", ALLOW, "second")).await;
    assert!(matches!(refused, Err(Error::AlreadyAnswered { by: winner, .. }) if winner == by("first")));
    assert_eq!(it.agent.told().await, Told::Denied("a".into(), "no".into()));
    ended_unrun(&host, &it.session, ApprovalEnd::Answered).await;
    host.stop().await;
}

#[tokio::test]
async fn of_many_answers_in_the_same_instant_exactly_one_counts() {
    const RACERS: usize = 32;
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    let gate = Arc::new(tokio::sync::Barrier::new(RACERS));
    let racers: Vec<_> = (0..RACERS)
        .map(|racer| {
            let (engine, session, gate) = (host.engine.clone(), it.session.clone(), gate.clone());
            let decision = if racer % 2 == 0 { ALLOW } else { deny("no") };
            let response = answer("a", decision, &format!("racer {racer}"));
            tokio::spawn(async move {
                gate.wait().await;
                (by(&format!("racer {racer}")), engine.respond(session.as_str(), response).await)
            })
        })
        .collect();
    let mut winners = Vec::new();
    let mut losers_to = Vec::new();
    for racer in racers {
        match soon("a racer ends", racer).await.unwrap() {
            (me, Ok(())) => winners.push(me),
            (_, Err(Error::AlreadyAnswered { by, .. })) => losers_to.push(by),
            (_, Err(error)) => panic!("{error}"),
        }
    }
    assert_eq!((winners.len(), losers_to.len()), (1, RACERS - 1));
    assert!(losers_to.iter().all(|winner| *winner == winners[0]), "everybody learns by whom");
    let resolved = resolved(&host, &it.session).await;
    assert_eq!(resolved.len(), 1);
    assert_eq!(resolved[0].answered_by.as_ref(), Some(&winners[0]));
    let told = it.agent.told().await;
    assert_eq!(matches!(told, Told::Approved(_)), resolved[0].decision == PolicyDecision::Allow);
    host.engine.stop(it.session.as_str(), "done").await.unwrap();
    assert_eq!(it.agent.told_until_gone().await, [Told::Stop], "it was told once");
    host.stop().await;
}

#[tokio::test]
async fn the_same_answer_sent_again_is_acknowledged_and_changes_nothing() {
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    let keyed = |key: &str| Response { key: Some(key.into()), ..answer("a", ALLOW, "me") };
    respond(&host, &it.session, keyed("k")).await.unwrap();
    let before = host.types(&it.session).await;
    respond(&host, &it.session, keyed("k")).await.unwrap();
    let other = respond(&host, &it.session, keyed("another")).await;
    assert!(matches!(other, Err(Error::AlreadyAnswered { .. })));
    assert_eq!(host.types(&it.session).await, before);
    assert_eq!(it.agent.told().await, Told::Approved("a".into()));
    it.agent.say(delta("x")).await;
    host.engine.stop(it.session.as_str(), "done").await.unwrap();
    assert_eq!(it.agent.told_until_gone().await, [Told::Stop], "it was told once");
    host.stop().await;
}

#[tokio::test]
async fn an_answer_about_another_attempt_or_input_is_refused() {
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    let seen = |attempt, input_hash: Option<&str>| {
        let (call, input_hash) = ("a".into(), input_hash.map(str::to_owned));
        let to = ResponseTo::Approval { call, attempt, input_hash, decision: ALLOW };
        Response { to, by: by("me"), key: None }
    };
    let wrong_attempt = respond(&host, &it.session, seen(Some(2), None)).await;
    assert!(matches!(wrong_attempt, Err(Error::AttemptMismatch(_))));
    let wrong_input = respond(&host, &it.session, seen(Some(1), Some("sha256:other"))).await;
    assert!(matches!(wrong_input, Err(Error::InputHashMismatch(_))));
    let hash = requests(&host, &it.session).await[0].identity.input_hash.clone();
    respond(&host, &it.session, seen(Some(1), Some(&hash))).await.unwrap();
    assert_eq!(it.agent.told().await, Told::Approved("a".into()));
    host.stop().await;
}

#[tokio::test]
async fn an_agent_that_runs_a_tool_while_it_is_asked_fails_its_task_and_is_ended() {
    let output = || Fact::ToolOutputDelta { call: "a".into(), stream: OutputStream::Stdout, delta: "x".into() };
    for ran in [started("a"), completed("a"), output()] {
        let mut host = Harness::start().await;
        let mut it = asked(&mut host).await;
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
async fn an_agent_that_asks_the_same_call_twice_is_asked_about_once() {
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    it.agent.say_all([asks("a"), requested("a"), asks("a"), delta("x")]).await;
    host.wait_for(&it.session, Type::ModelOutputDelta).await;
    assert_eq!(requests(&host, &it.session).await.len(), 1);
    still_waits(&host, &mut it).await;
    it.agent.say(asks("a")).await;
    assert_eq!(it.agent.told().await, Told::Approved("a".into()), "what was decided is told again");
    assert_eq!(resolved(&host, &it.session).await.len(), 1);
    host.stop().await;
}

#[tokio::test]
async fn another_attempt_at_a_denied_call_is_asked_about_again() {
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    respond(&host, &it.session, answer("a", deny("no"), "me")).await.unwrap();
    it.agent.told().await;
    it.agent.say_all([failed("a"), attempt("a", 2), asks("a")]).await;
    let second = |event: &roost_proto::event::NormalizedEvent| matches!(&event.body, EventBody::ApprovalRequested(asked) if asked.identity.attempt == 2);
    host.wait_until(&it.session, "the second attempt is asked about", second).await;
    respond(&host, &it.session, answer("a", ALLOW, "me")).await.unwrap();
    assert_eq!(it.agent.told().await, Told::Approved("a".into()));
    host.stop().await;
}

#[tokio::test]
async fn ten_thousand_approvals_wait_are_listed_and_closed_by_a_stop() {
    const ASKS: usize = 10_000;
    let mut host = Harness::start().await;
    let it = watched(&mut host).await;
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
        let Watched { session, task, runtime: _runtime, agent } = asked(&mut host).await;
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
    let it = asked(&mut host).await;
    it.agent.say(failed("a")).await;
    host.wait_for(&it.session, Type::ApprovalResolved).await;
    ended_unrun(&host, &it.session, ApprovalEnd::Withdrawn).await;
    host.stop().await;
}

#[tokio::test]
async fn a_denial_of_a_tool_that_already_runs_is_refused() {
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    respond(&host, &it.session, answer("a", ALLOW, "first")).await.unwrap();
    it.agent.told().await;
    it.agent.say(started("a")).await;
    host.wait_for(&it.session, Type::ToolCallStarted).await;
    let late = respond(&host, &it.session, answer("a", deny("stop it"), "second")).await;
    assert!(matches!(late, Err(Error::AlreadyAnswered { by: winner, .. }) if winner == by("first")));
    it.agent.say(completed("a")).await;
    it.agent.finish().await;
    host.wait_for_end(&it.session, &it.task).await;
    assert_eq!(count(&host, &it.session, "tool.call.completed").await, 1);
    assert_eq!(count(&host, &it.session, "tool.call.denied").await, 0);
    host.stop().await;
}

#[tokio::test]
async fn a_stop_closes_what_waits_before_the_agent_hears_of_it() {
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    it.agent.say(question("q")).await;
    host.wait_for(&it.session, Type::QuestionAsked).await;
    let stopping = {
        let (engine, session) = (host.engine.clone(), it.session.clone());
        tokio::spawn(async move { engine.stop(session.as_str(), "enough").await })
    };
    assert_eq!(it.agent.told().await, Told::Stop);
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
    let it = asked(&mut host).await;
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
    let one = asked(&mut host).await;
    host.engine.close(one.session.as_str(), "closed").await.unwrap();
    ended_unrun(&host, &one.session, ApprovalEnd::Stopped).await;
    let other = asked(&mut host).await;
    let host = host.stop().await.start().await;
    ended_unrun(&host, &other.session, ApprovalEnd::Stopped).await;
    host.stop().await;
}

#[tokio::test]
async fn an_answer_is_in_the_log_before_the_runtime_hears_of_it() {
    for (decision, written) in [(ALLOW, "tool.call.approved"), (deny("no"), "tool.call.denied")] {
        let mut host = Harness::start().await;
        let mut it = asked(&mut host).await;
        let (engine, session) = (host.engine.clone(), it.session.clone());
        let response = answer("a", decision, "me");
        let responding = tokio::spawn(async move { engine.respond(session.as_str(), response).await });
        it.agent.told().await;
        assert_eq!(host.types(&it.session).await.last().unwrap(), written);
        soon("the answer is acknowledged", responding).await.unwrap().unwrap();
        host.stop().await;
    }
}

#[tokio::test]
async fn an_answer_that_the_runtime_does_not_take_is_not_acknowledged_until_it_does() {
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    let keyed = || Response { key: Some("k".into()), ..answer("a", ALLOW, "me") };
    it.agent.stop_reading();
    assert!(matches!(respond(&host, &it.session, keyed()).await, Err(Error::Adapter(_))));
    assert_eq!(resolved(&host, &it.session).await.len(), 1, "what was said is kept");
    assert!(matches!(respond(&host, &it.session, keyed()).await, Err(Error::Adapter(_))), "it has still not taken it");
    it.agent.read_again();
    respond(&host, &it.session, keyed()).await.unwrap();
    assert_eq!(it.agent.told().await, Told::Approved("a".into()), "an allow is never lost");
    assert_eq!(resolved(&host, &it.session).await.len(), 1);
    host.stop().await;
}

#[tokio::test]
async fn an_answer_for_longer_is_refused_where_nothing_is_offered() {
    let mut host = Harness::start().await;
    let mut it = asked(&mut host).await;
    for scope in [ApprovalScope::Session, ApprovalScope::Workspace, ApprovalScope::Always] {
        let refused = respond(&host, &it.session, answer("a", Decision::Allow { scope }, "me")).await;
        assert!(matches!(refused, Err(Error::OnlyOnce(_))), "{scope:?}");
    }
    still_waits(&host, &mut it).await;
    host.stop().await;
}

fn reply(answer: Answer, who: &str) -> Response {
    Response { to: ResponseTo::Question { question: "q".into(), answer }, by: by(who), key: None }
}

async fn outcome(host: &Harness, session: &SessionId) -> QuestionResolvedPayload {
    let event = host.wait_for(session, Type::QuestionResolved).await;
    assert_eq!(count(host, session, "question.resolved").await, 1);
    assert_eq!(pending(host).await, []);
    let EventBody::QuestionResolved(resolved) = event.body else { panic!() };
    resolved
}

async fn questioned(host: &mut Harness) -> Watched {
    let watched = watched(host).await;
    watched.agent.say(question("q")).await;
    host.wait_for(&watched.session, Type::QuestionAsked).await;
    watched
}

#[tokio::test]
async fn the_first_answer_to_a_question_counts() {
    let mut host = Harness::start().await;
    let mut it = questioned(&mut host).await;
    assert_eq!(pending(&host).await.iter().map(|row| row.id()).collect::<Vec<_>>(), ["q"]);
    let given = Answer::Given([("bird".to_owned(), vec!["owl".to_owned()])].into());
    respond(&host, &it.session, reply(given.clone(), "first")).await.unwrap();
    let late = respond(&host, &it.session, reply(Answer::Declined, "second")).await;
    assert!(matches!(late, Err(Error::AlreadyAnswered { by: winner, .. }) if winner == by("first")));
    assert_eq!(it.agent.told().await, Told::Answer("q".into(), given));
    let resolved = outcome(&host, &it.session).await;
    assert_eq!((resolved.outcome, resolved.answered_by), (QuestionOutcome::Answered, Some(by("first"))));
    host.stop().await;
}

#[tokio::test]
async fn a_question_that_nobody_answers_in_time_is_declined() {
    let short = Some(Duration::from_millis(20));
    let mut host = Home::new().start_with(|config| config.approval_timeout = short).await;
    let mut it = questioned(&mut host).await;
    assert_eq!(it.agent.told().await, Told::Answer("q".into(), Answer::Declined));
    assert_eq!(outcome(&host, &it.session).await.outcome, QuestionOutcome::Declined);
    host.stop().await;
}

#[tokio::test]
async fn a_question_that_the_agent_takes_back_waits_no_longer() {
    let mut host = Harness::start().await;
    let it = questioned(&mut host).await;
    it.agent.say(Fact::QuestionWithdrawn("q".into())).await;
    assert_eq!(outcome(&host, &it.session).await.outcome, QuestionOutcome::Cancelled);
    let late = respond(&host, &it.session, reply(Answer::Declined, "me")).await;
    assert!(matches!(late, Err(Error::NotPending(_))));
    host.stop().await;
}

#[tokio::test]
async fn an_approval_of_a_runtime_that_outlived_its_host_still_waits_and_can_be_answered() {
    let mut host = Harness::start().await;
    let it = asked(&mut host).await;
    let home = host.crash().await;
    home.adapter.offer_survivors();
    home.leave_process(&it.session);
    let (host, (_runtime, mut agent)) =
        start_with(home, async |home| home.runtimes.opening().await.accept_running("native")).await;
    assert_eq!(pending(&host).await.iter().map(|row| row.id()).collect::<Vec<_>>(), ["a"]);
    respond(&host, &it.session, answer("a", ALLOW, "me")).await.unwrap();
    assert_eq!(agent.told().await, Told::Approved("a".into()));
    agent.say_all([started("a"), completed("a")]).await;
    agent.finish().await;
    host.wait_for_end(&it.session, &it.task).await;
    assert_eq!(count(&host, &it.session, "tool.call.completed").await, 1);
    host.stop().await;
}
