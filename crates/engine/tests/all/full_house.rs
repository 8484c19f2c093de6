//! As many runtimes as may live at once, and one more.

use roost_engine::{Error, WhenFull};
use roost_model::session::SessionStatus;
use testkit::{Harness, Home, soon};

async fn house(max: usize, when_full: WhenFull) -> Harness {
    Home::new()
        .start_with(|config| {
            config.max_sessions = max;
            config.when_full = when_full;
        })
        .await
}

#[tokio::test]
async fn ten_sessions_run_at_once() {
    let mut host = Harness::start().await;
    let mut running = Vec::new();
    for at in 0..10 {
        let session = host.session().await;
        let task = host.begin(&session, &at.to_string()).await;
        let (runtime, agent) = host.runtimes().task().await;
        running.push((session, task, runtime, agent));
    }
    for (session, task, _, agent) in &running {
        agent.finish().await;
        host.wait_for_end(session, task).await;
    }
    host.stop().await;
}

#[tokio::test]
async fn one_too_many_is_refused_where_the_config_says_so() {
    let mut host = house(1, WhenFull::Reject).await;
    let (first, second) = (host.session().await, host.session().await);
    host.begin(&first, "one").await;
    let (_runtime, agent) = host.runtimes().task().await;
    let refused = host.prompt(&second, "two").await;
    assert!(matches!(refused, Err(Error::TooManySessions { max: 1 })), "{refused:?}");
    assert_eq!(host.record(&second).await.status, SessionStatus::Created);
    agent.finish().await;
    host.stop().await;
}

#[tokio::test]
async fn an_idle_session_makes_room_for_one_that_waits() {
    let mut host = house(1, WhenFull::Queue).await;
    let (first, second) = (host.session().await, host.session().await);
    let task = host.begin(&first, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    agent.finish().await;
    host.wait_for_end(&first, &task).await;
    host.begin(&second, "two").await;
    assert!(runtime.gone().await);
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    host.stop().await;
}

#[tokio::test]
async fn every_one_that_waits_gets_a_place_as_busy_ones_become_idle() {
    let mut host = house(2, WhenFull::Queue).await;
    let mut busy = Vec::new();
    for text in ["a", "b"] {
        let session = host.session().await;
        host.begin(&session, text).await;
        busy.push(host.runtimes().task().await);
    }
    for text in ["c", "d"] {
        let session = host.session().await;
        host.begin(&session, text).await;
    }
    assert!(host.runtimes().is_idle());
    let mut running = Vec::new();
    for (mut runtime, agent) in busy {
        agent.finish().await;
        assert!(runtime.gone().await);
        running.push(host.runtimes().task().await);
    }
    let mut texts: Vec<_> = running.iter().map(|(_, agent)| agent.prompt()).collect();
    texts.sort();
    assert_eq!(texts, ["c", "d"]);
    host.stop().await;
}

#[tokio::test]
async fn one_that_waits_can_be_stopped_and_wants_no_place_any_more() {
    let mut host = house(1, WhenFull::Queue).await;
    let (first, second) = (host.session().await, host.session().await);
    let task = host.begin(&first, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    host.begin(&second, "two").await;
    soon("the stop", host.engine.stop(second.as_str(), "enough")).await.unwrap();
    agent.finish().await;
    host.wait_for_end(&first, &task).await;
    // The first one was not sent away for a session that is gone.
    host.begin(&first, "three").await;
    assert_eq!(runtime.task().await.prompt(), "three");
    host.stop().await;
}
