//! A disk that is full, and has room again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use roost_engine::Error;
use roost_log::{Health, Log, LogOptions};
use roost_model::event::EventBody;
use roost_model::failure::FailureCode;
use testkit::facts::{delta, noise};
use testkit::{Harness, Home, soon};

/// An engine on a disk of so many pages, and the number to change.
async fn small_disk(pages: u32) -> (Harness, Arc<AtomicU32>) {
    let pages = Arc::new(AtomicU32::new(pages));
    let options = LogOptions { page_limit: Some(pages.clone()), ..LogOptions::default() };
    (Home::new().start_on(options, |_| {}).await, pages)
}

async fn stalled(host: &Harness) {
    let mut health = host.log.health();
    let stalled = health.wait_for(|health| matches!(health, Health::Stalled { .. }));
    soon("the disk is full", stalled).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_ends_the_runtime_refuses_prompts_and_fails_the_task_once_there_is_room() {
    let (mut host, pages) = small_disk(64).await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    agent.say(delta(&noise(1 << 20))).await;
    stalled(&host).await;
    runtime.gone().await;
    let other = host.prompt(&session, "two");
    pages.store(u32::MAX - 1, Ordering::Release);
    let refused = other.await;
    // The prompt may come when there is room again: then it starts, or waits its turn.
    assert!(matches!(refused, Ok(_) | Err(Error::DiskFull)), "{refused:?}");
    let end = host.wait_for_end(&session, &task).await;
    let EventBody::TaskFailed(failed) = end.body else { panic!("{:?}", end.body) };
    assert_eq!(failed.error.code, FailureCode::StorageFull);
    host.stop().await;
}

#[tokio::test]
async fn a_session_without_a_task_refuses_a_prompt_while_the_disk_is_full() {
    let (mut host, pages) = small_disk(64).await;
    let (busy, idle) = (host.session().await, host.session().await);
    host.begin(&busy, "one").await;
    let (_runtime, agent) = host.runtimes().task().await;
    agent.say(delta(&noise(1 << 20))).await;
    stalled(&host).await;
    let refused = host.prompt(&idle, "two").await;
    assert!(matches!(refused, Err(Error::DiskFull)), "{refused:?}");
    pages.store(u32::MAX - 1, Ordering::Release);
    let mut health = host.log.health();
    soon("there is room", health.wait_for(|health| *health == Health::Ok)).await.unwrap();
    host.begin(&idle, "three").await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "three");
    host.stop().await;
}

#[tokio::test]
async fn a_flood_that_meets_a_full_disk_ends_with_its_failure_and_not_without_an_end() {
    let (mut host, pages) = small_disk(64).await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    let flood = tokio::spawn(async move {
        // More than the log's queue takes, so that the session itself waits for room.
        for _ in 0..100 {
            agent.say_all((0..16).map(|_| delta(&noise(1 << 16)))).await;
        }
    });
    stalled(&host).await;
    runtime.gone().await;
    pages.store(u32::MAX - 1, Ordering::Release);
    let end = host.wait_for_end(&session, &task).await;
    let EventBody::TaskFailed(failed) = end.body else { panic!("{:?}", end.body) };
    assert_eq!(failed.error.code, FailureCode::StorageFull);
    soon("the flood ends", flood).await.unwrap();
    host.stop().await;
}
