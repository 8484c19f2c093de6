//! Killed daemons, killed holders, and what the next start finds.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

use roost_process::{
    Process, RunId,
    records::{self, Reaped, Record},
    tree,
};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::support::{TestHost, assert_nothing_left, eventually, patient, probe, quick, ready};

/// A daemon of its own that hosts one runtime.
struct Host {
    child: Child,
    stdin: ChildStdin,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    run: RunId,
}

impl Host {
    fn start(records: &Path, runtime: &[&str]) -> Self {
        let mut child = Command::new(probe())
            .args(["host", records.to_str().unwrap(), probe()])
            .args(runtime)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let run = first.strip_prefix("run ").unwrap().to_owned().try_into().unwrap();
        Self { stdin: child.stdin.take().unwrap(), child, lines, run }
    }

    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

fn pid(process: Process) -> Pid {
    Pid::from_raw(process.pid as i32).unwrap()
}

fn record(directory: &Path, run: &RunId) -> Record {
    serde_json::from_slice(&fs::read(directory.join(format!("{run}.json"))).unwrap()).unwrap()
}

#[test]
fn killing_the_host_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut host = Host::start(directory.path(), &["stubborn-tree"]);
    assert_eq!(host.line(), "ready");
    eventually("the tree stands", || tree::alive(&host.run).len() == 3);
    host.child.kill().unwrap();
    host.child.wait().unwrap();
    eventually("nothing is left", || tree::alive(&host.run).is_empty());
    eventually("the record is removed", || fs::read_dir(&directory).unwrap().count() == 0);
}

#[test]
fn ctrl_c_in_the_terminal_of_the_host_does_not_reach_the_runtime() {
    let directory = tempfile::tempdir().unwrap();
    let mut host = Host::start(directory.path(), &["echo"]);
    kill_process_group(host.pid(), Signal::INT).unwrap();
    assert_eq!(host.line(), "host interrupted");
    host.stdin.write_all(b"still there?\n").unwrap();
    assert_eq!(host.line(), "still there?");
    host.child.kill().unwrap();
    host.child.wait().unwrap();
    eventually("nothing is left", || tree::alive(&host.run).is_empty());
}

#[tokio::test]
async fn killing_the_holder_leaves_nothing_while_the_host_lives() {
    let place = TestHost::new(patient());
    let (run, mut running) = place.spawn(probe(), &["stubborn-tree"]).await;
    ready(&mut running.stdout).await;
    kill_process(pid(record(&place.holder.records, &run).holder), Signal::KILL).unwrap();
    running.control.gone().await;
    assert_nothing_left(&run);
    assert!(!place.record(&run).exists());
}

#[tokio::test]
async fn sigterm_to_the_holder_is_a_stop() {
    let place = TestHost::new(quick());
    let (run, mut running) = place.spawn(probe(), &["stubborn-tree"]).await;
    ready(&mut running.stdout).await;
    kill_process(pid(record(&place.holder.records, &run).holder), Signal::TERM).unwrap();
    running.control.gone().await;
    assert_nothing_left(&run);
}

#[tokio::test]
async fn records_are_reaped_after_host_and_holder_were_killed() {
    let directory = tempfile::tempdir().unwrap();
    let mut host = Host::start(directory.path(), &["stubborn-tree"]);
    assert_eq!(host.line(), "ready");
    // Stopped first, so that neither can clean up after the other.
    let recorded = record(directory.path(), &host.run);
    kill_process(host.pid(), Signal::STOP).unwrap();
    kill_process(pid(recorded.holder), Signal::KILL).unwrap();
    host.child.kill().unwrap();
    host.child.wait().unwrap();
    assert!(!tree::alive(&host.run).is_empty());

    let loaded = records::load(directory.path().into()).await.unwrap();
    assert_eq!(loaded, std::slice::from_ref(&recorded));
    assert_eq!(records::reap(directory.path(), recorded.clone()).await.unwrap(), Reaped::Gone { left: vec![] });
    assert_nothing_left(&host.run);
    assert!(records::load(directory.path().into()).await.unwrap().is_empty());
    assert!(recorded.cgroup.is_none_or(|path| !path.exists()));
}

#[tokio::test]
async fn reaping_a_living_holder_lets_it_end_its_tree() {
    let place = TestHost::new(quick());
    let (run, mut running) = place.spawn(probe(), &["stubborn-tree"]).await;
    ready(&mut running.stdout).await;
    let recorded = record(&place.holder.records, &run);
    records::reap(&place.holder.records, recorded).await.unwrap();
    assert_nothing_left(&run);
}

/// A record of a run whose pids now belong to `bystander`.
fn recycled(bystander: &Child, boot: &str) -> Record {
    let pid = bystander.id();
    let start_time = Process::from_pid(pid).unwrap().start_time - 1;
    let process = Process { pid, start_time };
    Record {
        run: RunId::fresh(),
        label: String::new(),
        boot: boot.into(),
        holder: process,
        runtime: process,
        cgroup: None,
    }
}

fn write(directory: &Path, record: &Record) {
    fs::write(directory.join(format!("{}.json", record.run)), serde_json::to_vec(record).unwrap()).unwrap();
}

#[tokio::test]
async fn a_recycled_pid_is_not_killed() {
    let directory = tempfile::tempdir().unwrap();
    let mut bystander = Command::new(probe()).arg("sleep").spawn().unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let record = recycled(&bystander, boot.trim());
    write(directory.path(), &record);
    assert_eq!(records::reap(directory.path(), record).await.unwrap(), Reaped::Gone { left: vec![] });
    assert!(bystander.try_wait().unwrap().is_none(), "the bystander was killed");
    assert!(records::load(directory.path().into()).await.unwrap().is_empty());
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[tokio::test]
async fn a_record_of_another_boot_is_only_removed() {
    let directory = tempfile::tempdir().unwrap();
    let mut bystander = Command::new(probe()).arg("sleep").spawn().unwrap();
    let mut record = recycled(&bystander, "another-boot");
    record.runtime = Process::from_pid(bystander.id()).unwrap();
    write(directory.path(), &record);
    assert_eq!(records::reap(directory.path(), record).await.unwrap(), Reaped::OtherBoot);
    assert!(bystander.try_wait().unwrap().is_none(), "the bystander was killed");
    assert!(records::load(directory.path().into()).await.unwrap().is_empty());
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[tokio::test]
async fn an_unreadable_record_is_removed_and_the_others_are_loaded() {
    let directory = tempfile::tempdir().unwrap();
    let mut bystander = Command::new(probe()).arg("sleep").spawn().unwrap();
    let record = recycled(&bystander, "boot");
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    write(directory.path(), &record);
    fs::write(directory.path().join("bad.json"), "{").unwrap();
    assert_eq!(records::load(directory.path().into()).await.unwrap(), [record]);
    assert!(!directory.path().join("bad.json").exists());
}
