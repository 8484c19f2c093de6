//! Runtimes that may outlive their daemon.

use std::time::Duration;

use roost_process::{Holder, RunId, records};
use tokio::runtime::{Builder, Runtime};

use crate::support::{TestHost, assert_nothing_left, eventually, next_lines, patient, quick, ready};

/// Says so when it is ready, goes on when there is a file `go`, and then stays.
const AGENT: &str = "echo ready; while [ ! -e go ]; do sleep 0.01; done; echo went on; echo loudly >&2; sleep 600";
/// Longer than any test.
const LONG: Duration = Duration::from_secs(600);

fn daemon() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// A daemon that starts the agent and dies.
fn leave_behind(place: &TestHost, patience: Duration) -> RunId {
    let daemon = daemon();
    let run = daemon.block_on(async {
        let launch = place.launch("sh", &["-c", AGENT]);
        let run = launch.run.clone();
        let mut running = place.holder.spawn_lasting(launch, patience).await.unwrap();
        ready(&mut running.stdout).await;
        // Nobody says goodbye.
        std::mem::forget(running);
        run
    });
    daemon.shutdown_timeout(Duration::ZERO);
    run
}

async fn record(holder: &Holder) -> records::Record {
    records::load(holder.records.clone()).await.unwrap().remove(0)
}

#[test]
fn a_runtime_goes_on_without_its_daemon_and_the_next_one_takes_it_over() {
    let place = TestHost::new(quick());
    let run = leave_behind(&place, LONG);
    std::fs::write(place.directory.path().join("go"), "").unwrap();
    daemon().block_on(async {
        let mut adopted = place.holder.adopt(&record(&place.holder).await, None).await.unwrap();
        assert_eq!(next_lines(&mut adopted.stdout).await.unwrap(), ["went on"]);
        assert!(adopted.alone_since.elapsed().is_ok_and(|alone| alone < LONG));
        adopted.control.stop().await;
        assert_eq!(adopted.stderr.text(), "loudly\n");
    });
    assert_nothing_left(&run);
    assert_eq!(std::fs::read_dir(&place.holder.records).unwrap().count(), 0);
}

#[test]
fn a_runtime_can_be_lost_and_taken_over_again_and_again() {
    let place = TestHost::new(quick());
    let run = leave_behind(&place, LONG);
    for _ in 0..2 {
        let daemon = daemon();
        daemon.block_on(async {
            let adopted = place.holder.adopt(&record(&place.holder).await, None).await.unwrap();
            std::mem::forget(adopted);
        });
        daemon.shutdown_timeout(Duration::ZERO);
    }
    daemon().block_on(async {
        let adopted = place.holder.adopt(&record(&place.holder).await, None).await.unwrap();
        adopted.control.stop().await;
    });
    assert_nothing_left(&run);
}

#[test]
fn a_runtime_that_nobody_takes_over_is_ended_in_time() {
    let place = TestHost::new(quick());
    let run = leave_behind(&place, Duration::from_millis(100));
    eventually("the record is gone", || !place.record(&run).exists());
    assert_nothing_left(&run);
}

#[test]
fn a_stop_ends_a_lasting_runtime_at_once() {
    let place = TestHost::new(quick());
    daemon().block_on(async {
        let launch = place.launch("sh", &["-c", AGENT]);
        let run = launch.run.clone();
        let mut running = place.holder.spawn_lasting(launch, LONG).await.unwrap();
        ready(&mut running.stdout).await;
        running.control.stop().await;
        assert_nothing_left(&run);
    });
}

#[test]
fn a_lasting_runtime_whose_start_is_given_up_is_ended() {
    let place = TestHost::new(quick());
    // A start can be over before it is given up; then the next one is tried.
    assert!((0..100).any(|_| give_up(&place)), "every start was over before it could be given up");
}

/// Gives a start up as soon as there is something to give up, and sees that nothing is left; false if it was too fast.
fn give_up(place: &TestHost) -> bool {
    let launch = place.launch("sh", &["-c", AGENT]);
    let run = launch.run.clone();
    let given_up = daemon().block_on(async {
        let mut starting = std::pin::pin!(place.holder.spawn_lasting(launch, LONG));
        while roost_process::tree::alive(&run).is_empty() {
            if let Ok(started) = tokio::time::timeout(Duration::from_millis(1), &mut starting).await {
                started.unwrap().control.stop().await;
                return false;
            }
        }
        true
    });
    eventually("the run is over", || roost_process::tree::alive(&run).is_empty() && !place.record(&run).exists());
    given_up
}

#[test]
fn a_runtime_that_ends_with_its_daemon_cannot_be_taken_over() {
    let place = TestHost::new(patient());
    daemon().block_on(async {
        let (_, mut running) = place.spawn("sh", &["-c", "echo ready; read line"]).await;
        ready(&mut running.stdout).await;
        let refused = place.holder.adopt(&record(&place.holder).await, None).await.unwrap_err();
        assert!(refused.to_string().contains("cannot be taken over"), "{refused}");
        drop(running.stdin);
        running.control.stop().await;
    });
}

#[test]
fn what_nobody_adopts_is_reaped() {
    let place = TestHost::new(quick());
    let run = leave_behind(&place, LONG);
    daemon().block_on(async {
        records::reap(&place.holder.records, record(&place.holder).await).await.unwrap();
    });
    assert_nothing_left(&run);
}
