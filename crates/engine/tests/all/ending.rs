//! Closing sessions, letting idle ones go, and stopping the engine.

use std::sync::Arc;
use std::time::Duration;

use roost_engine::Error;
use roost_engine::adapter::{AdapterError, TaskEnd};
use roost_model::event::{EventBody, NormalizedEventType as Type};
use roost_model::session::SessionStatus;
use testkit::facts::delta;
use testkit::{Harness, Home, soon};

#[tokio::test]
async fn closing_a_session_stops_its_task_and_ends_its_runtime() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    agent.say(delta("hi")).await;
    host.engine.close(session.as_str(), "enough").await.unwrap();
    assert!(runtime.gone().await);
    let end = host.wait_for_end(&session, &task).await;
    assert!(matches!(&end.body, EventBody::TaskStopped(stopped) if stopped.reason == "enough"), "{end:?}");
    let record = host.record(&session).await;
    assert_eq!((record.status, record.open_task), (SessionStatus::Closed, None));
    assert_eq!(host.types(&session).await.last().unwrap(), "session.closed");
    host.stop().await;
}

#[tokio::test]
async fn closing_a_session_holds_the_prompts_that_wait_and_a_new_prompt_runs_before_them() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (_runtime, _agent) = host.runtimes().task().await;
    host.queue(&session, "held").await;
    host.engine.close(session.as_str(), "enough").await.unwrap();
    assert!(host.record(&session).await.queue[0].held);

    host.begin(&session, "two").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    host.queue(&session, "three").await;
    agent.finish().await;
    let agent = runtime.task().await;
    assert_eq!(agent.prompt(), "three");
    agent.finish().await;
    host.wait_for_end(&session, &agent.input().task_id).await;
    let left: Vec<_> = host.record(&session).await.queue.into_iter().map(|prompt| prompt.message.text()).collect();
    assert_eq!(left, ["held"]);
    host.stop().await;
}

#[tokio::test]
async fn a_session_that_is_closed_twice_is_closed_once() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (_runtime, _agent) = host.runtimes().task().await;
    let close = || host.engine.close(session.as_str(), "enough");
    let (one, other) = soon("both", async { tokio::join!(close(), close()) }).await;
    one.unwrap();
    other.unwrap();
    close().await.unwrap();
    let closed = host.types(&session).await.into_iter().filter(|name| name == "session.closed");
    assert_eq!(closed.count(), 1);
    host.stop().await;
}

#[tokio::test]
async fn an_idle_session_is_let_go_and_the_next_prompt_revives_it() {
    let mut host = Home::new().start_with(|config| config.idle_timeout = Duration::from_millis(1)).await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    agent.finish().await;
    assert!(runtime.gone().await);
    host.wait_for(&session, Type::SessionClosed).await;
    host.begin(&session, "two").await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    host.stop().await;
}

#[tokio::test]
async fn a_session_that_was_never_prompted_leaves_nothing_behind() {
    let host = Home::new().start_with(|config| config.idle_timeout = Duration::from_millis(1)).await;
    let session = host.session().await;
    host.engine.close(session.as_str(), "enough").await.unwrap();
    let other = host.session().await;
    let log = host.log.clone();
    let home = host.stop().await;
    drop(log);
    let host = home.start().await;
    for session in [session, other] {
        assert_eq!(host.types(&session).await, ["session.created"]);
        assert_eq!(host.record(&session).await.status, SessionStatus::Created);
    }
    host.stop().await;
}

#[tokio::test]
async fn shutting_down_closes_everything() {
    let mut host = Harness::start().await;
    let (busy, idle, opening, fresh) =
        (host.session().await, host.session().await, host.session().await, host.session().await);
    host.begin(&busy, "one").await;
    let (mut busy_runtime, _agent) = host.runtimes().task().await;
    let task = host.begin(&idle, "two").await;
    let (mut idle_runtime, agent) = host.runtimes().task().await;
    agent.finish().await;
    host.wait_for_end(&idle, &task).await;
    host.begin(&opening, "three").await;
    let mut waits = host.runtimes().opening().await;

    soon("the engine stops", host.engine.shutdown("good night")).await;
    assert!(busy_runtime.gone().await);
    assert!(idle_runtime.gone().await);
    waits.abandoned().await;
    for session in [&busy, &idle, &opening] {
        let record = host.record(session).await;
        assert_eq!((record.status, record.open_task), (SessionStatus::Closed, None));
    }
    for session in [&busy, &fresh] {
        let refused = host.prompt(session, "too late").await;
        assert!(matches!(refused, Err(Error::ShuttingDown)), "{refused:?}");
    }
    host.stop().await;
}

#[tokio::test]
async fn shutting_down_closes_all_sessions_at_the_same_time() {
    let mut host = Harness::start().await;
    let (mut runtimes, mut agents, mut slow) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..8 {
        let session = host.session().await;
        host.begin(&session, "one").await;
        let (runtime, agent) = host.runtimes().task().await;
        slow.push(runtime.slow_to_close());
        runtimes.push(runtime);
        agents.push(agent);
    }
    let every_one_is_closing = async {
        for runtime in &mut runtimes {
            runtime.closing().await;
        }
        // Only now may the first one close.
        slow.clear();
    };
    tokio::join!(soon("the engine stops", host.engine.shutdown("good night")), every_one_is_closing);
    for runtime in &mut runtimes {
        assert!(runtime.gone().await);
    }
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_cannot_be_ended_does_not_keep_the_engine_from_stopping() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (runtime, _agent) = host.runtimes().task().await;
    let _never = runtime.slow_to_close();
    soon("the engine stops", host.engine.shutdown("good night")).await;
    host.wait_for_end(&session, &task).await;
    assert_eq!(host.record(&session).await.open_task, None);
}

#[tokio::test]
async fn a_prompt_that_meets_a_closing_session_is_not_lost() {
    for round in 0..20 {
        let mut host = Harness::start().await;
        let session = host.session().await;
        let task = host.begin(&session, "one").await;
        let (_runtime, agent) = host.runtimes().task().await;
        agent.finish().await;
        host.wait_for_end(&session, &task).await;
        let (engine, id) = (host.engine.clone(), session.clone());
        let closing = tokio::spawn(async move { engine.close(id.as_str(), "enough").await });
        for _ in 0..round {
            tokio::task::yield_now().await;
        }
        let accepted = host.prompt(&session, "two").await;
        closing.await.unwrap().unwrap();
        accepted.unwrap();
        let started = host.types(&session).await.into_iter().filter(|name| name == "task.started");
        assert_eq!(started.count(), 2, "round {round}");
        host.stop().await;
    }
}

#[tokio::test]
async fn a_session_that_takes_long_to_close_holds_up_nobody_else() {
    let mut host = Harness::start().await;
    let (slow, other) = (host.session().await, host.session().await);
    host.begin(&slow, "one").await;
    let (runtime, agent) = host.runtimes().task().await;
    let release = runtime.slow_to_close();
    let (engine, id) = (host.engine.clone(), slow.clone());
    let closing = tokio::spawn(async move { engine.close(id.as_str(), "enough").await });
    host.wait_for_end(&slow, &agent.input().task_id).await;
    let (engine, id) = (host.engine.clone(), slow.clone());
    let reviving = tokio::spawn(async move { engine.prompt(id.as_str(), roost_engine::Prompt::text("two")).await });
    let others_had_their_turn = async || {
        for _ in 0..50 {
            host.record(&slow).await;
        }
    };
    others_had_their_turn().await;

    host.begin(&other, "meanwhile").await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "meanwhile");
    assert!(!closing.is_finished() && !reviving.is_finished());
    drop(release);
    soon("the close", closing).await.unwrap().unwrap();
    soon("the prompt", reviving).await.unwrap().unwrap();
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    host.stop().await;
}

#[tokio::test]
async fn a_close_returns_only_when_the_runtime_is_gone_whoever_ends_it() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (runtime, agent) = host.runtimes().task().await;
    let release = runtime.slow_to_close();
    let close = |engine: Arc<roost_engine::Engine>| {
        let id = session.clone();
        tokio::spawn(async move { engine.close(id.as_str(), "enough").await })
    };
    let first = close(host.engine.clone());
    host.wait_for_end(&session, &agent.input().task_id).await;
    let second = close(host.engine.clone());
    let others_had_their_turn = async || {
        for _ in 0..50 {
            host.record(&session).await;
        }
    };
    others_had_their_turn().await;
    assert!(!first.is_finished() && !second.is_finished());
    drop(release);
    soon("the first close", first).await.unwrap().unwrap();
    soon("the second close", second).await.unwrap().unwrap();
    host.stop().await;
}

#[tokio::test]
async fn a_log_that_keeps_nothing_more_is_an_error_and_not_a_loop() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    host.log.close().await;
    agent.end(TaskEnd::Completed("end_turn".into())).await;
    runtime.gone().await;
    for _ in 0..2 {
        let prompted = host.prompt(&session, "two").await;
        assert!(prompted.is_err(), "{prompted:?}");
        let stopped = soon("the stop", host.engine.stop(session.as_str(), "enough")).await;
        assert!(stopped.is_err(), "{stopped:?}");
        // Whether it can say so or not, it comes back.
        let _ = soon("the close", host.engine.close(session.as_str(), "enough")).await;
    }
}

#[tokio::test]
async fn a_session_whose_close_cannot_be_recorded_says_so() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (_runtime, _agent) = host.runtimes().task().await;
    host.log.close().await;
    let closed = soon("the close", host.engine.close(session.as_str(), "enough")).await;
    assert!(matches!(closed, Err(Error::Log(_))), "{closed:?}");
}

#[tokio::test]
async fn a_runtime_whose_adapter_panics_fails_its_task() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (_runtime, agent) = host.runtimes().task().await;
    agent.panic_when_told();
    let _ = host.engine.stop(session.as_str(), "enough").await;
    let end = host.wait_for_end(&session, &task).await;
    assert!(matches!(end.body, EventBody::TaskFailed(_)), "{end:?}");
    host.wait_for(&session, Type::SessionClosed).await;
    let next = host.begin(&session, "two").await;
    host.runtimes().opening().await.refuse(AdapterError::Spawn("enough".into()));
    host.wait_for_end(&session, &next).await;
    host.stop().await;
}
