//! Ending a runtime ends everything it started.

use std::fs;

use roost_process::{Exit, Running, records::Record, tree};

use crate::support::{TestHost, all_lines, assert_nothing_left, eventually, next_lines, patient, probe, quick, ready};

#[tokio::test]
async fn a_runtime_that_leaves_when_its_stdin_closes_is_not_signalled() {
    let place = TestHost::new(patient());
    let (run, Running { stdin, control, .. }) = place.spawn(probe(), &["echo"]).await;
    stdin.close();
    assert_eq!(control.stop().await, Exit::Code(0));
    assert_nothing_left(&run);
}

#[tokio::test]
async fn stop_ends_a_stubborn_tree_that_ignores_sigterm() {
    let place = TestHost::new(quick());
    let (run, mut running) = place.spawn(probe(), &["stubborn-tree"]).await;
    ready(&mut running.stdout).await;
    eventually("the tree stands", || tree::alive(&run).len() == 3);
    assert_eq!(running.control.stop().await, Exit::Signal(9));
    assert_nothing_left(&run);
    assert!(!place.record(&run).exists());
    assert_eq!(all_lines(&mut running.stdout).await, ["SIGTERM ignored"]);
}

#[tokio::test]
async fn an_orphan_in_its_own_session_is_gone_after_the_runtime_exits() {
    let place = TestHost::new(quick());
    let (run, mut running) = place.spawn(probe(), &["orphan", "0"]).await;
    ready(&mut running.stdout).await;
    assert_eq!(running.control.gone().await, Exit::Code(0));
    assert_nothing_left(&run);
}

#[tokio::test]
async fn an_orphan_that_cleared_its_environment_is_gone_too() {
    let place = TestHost::new(quick());
    let script = "(env -i setsid sleep 600 & echo $!) </dev/null 2>/dev/null";
    let (_, mut running) = place.spawn("sh", &["-c", script]).await;
    let pid: u32 = next_lines(&mut running.stdout).await.unwrap()[0].parse().unwrap();
    running.control.gone().await;
    assert!(roost_process::Process::from_pid(pid).is_none());
}

#[tokio::test]
async fn a_tree_that_keeps_forking_is_gone_after_stop() {
    let place = TestHost::new(quick());
    let script = "trap '' TERM; f() { while :; do sleep 0.01; (setsid sh -c 'trap \"\" TERM; sleep 5' &) ; done; }; f & f & echo ready; f";
    let (run, mut running) = place.spawn("sh", &["-c", script]).await;
    ready(&mut running.stdout).await;
    running.control.stop().await;
    assert_nothing_left(&run);
}

#[tokio::test]
async fn dropping_every_handle_ends_the_tree() {
    let place = TestHost::new(quick());
    let (run, mut running) = place.spawn(probe(), &["stubborn-tree"]).await;
    ready(&mut running.stdout).await;
    drop(running);
    tokio::task::spawn_blocking(move || eventually("nothing is left", || tree::alive(&run).is_empty())).await.unwrap();
}

#[tokio::test]
async fn several_may_wait_for_the_same_exit_and_stop_twice() {
    let place = TestHost::new(quick());
    let (_, mut running) = place.spawn(probe(), &["ignore-term"]).await;
    ready(&mut running.stdout).await;
    let (one, two) = (running.control.clone(), running.control.clone());
    let ends = tokio::join!(one.wait_exit(), two.gone(), one.stop(), two.stop());
    assert_eq!(ends, (Exit::Signal(9), Exit::Signal(9), Exit::Signal(9), Exit::Signal(9)));
}

#[tokio::test]
async fn a_runtime_that_signals_its_own_group_does_not_hit_its_holder() {
    let place = TestHost::new(quick());
    let (run, running) = place.spawn("sh", &["-c", "kill -9 0"]).await;
    assert_eq!(running.control.gone().await, Exit::Signal(9));
    assert_nothing_left(&run);
}

#[tokio::test]
async fn a_runtime_is_in_the_cgroup_of_its_record_which_is_removed_at_the_end() {
    let place = TestHost::new(quick());
    let (run, mut running) = place.spawn(probe(), &["ignore-term"]).await;
    ready(&mut running.stdout).await;
    let record: Record = serde_json::from_slice(&fs::read(place.record(&run)).unwrap()).unwrap();
    // Not every machine lets us make one.
    let Some(cgroup) = record.cgroup else { return };
    let pid = running.control.pid().to_string();
    eventually("the runtime has entered its cgroup", || {
        fs::read_to_string(cgroup.join("cgroup.procs")).unwrap().trim() == pid
    });
    running.control.stop().await;
    assert!(!cgroup.exists());
}
