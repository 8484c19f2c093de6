//! A full disk: a small file system of its own, in a namespace that needs no rights.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;

use crate::kit::{RoostInstance, RunningCommand, events, of_type, session_id, wait_for};

/// The binary on a state directory of 8 MB, of which a ballast file takes 7: more than the events that wait for space.
struct SmallDisk {
    instance: RoostInstance,
}

impl SmallDisk {
    fn new() -> Self {
        let possible = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output().unwrap();
        let said = String::from_utf8_lossy(&possible.stderr);
        assert!(
            possible.status.success(),
            "a small disk needs root or user namespaces that everybody may make: {said}"
        );
        let instance = RoostInstance::new();
        instance.make_state();
        Self { instance }
    }

    /// Floods the disk until it is full; then `then` goes on in the same shell, with `$PID` the flooding process.
    fn flood(&self, then: &str) -> RunningCommand {
        let script = format!(
            "mount -t tmpfs -o size=8m,mode=700 tmpfs \"$ROOST_STATE\" && head -c 7000000 /dev/zero > \"$ROOST_STATE/ballast\" || exit 99
             \"$ROOST\" run --json flood 1000000 200 > flood.ndjson 2> flood.err &
             PID=$!; echo $PID
             {then}
             \"$ROOST\" down"
        );
        let mut command = Command::new("unshare");
        self.instance.clear(command.args(["-rm", "sh", "-c", &script]));
        command.env("ROOST", env!("CARGO_BIN_EXE_roost"));
        RunningCommand::new(&mut command)
    }

    fn work(&self, name: &str) -> PathBuf {
        self.instance.work().join(name)
    }

    fn wait_until_full(&self) {
        wait_for("the disk to be full", || {
            fs::read_to_string(self.work("flood.err")).ok().filter(|text| text.contains("waiting for space"))
        });
    }
}

fn kill(pid: &str, signal: Signal) {
    let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn a_full_disk_fails_the_task_once_there_is_space_again() {
    let disk = SmallDisk::new();
    let mut shell =
        disk.flood("until [ -e go ]; do sleep 0.05; done; rm \"$ROOST_STATE/ballast\"; wait $PID; echo ended $?");
    shell.line().unwrap();
    disk.wait_until_full();
    fs::write(disk.work("go"), "").unwrap();
    assert_eq!(shell.line().unwrap(), "ended 1");
    assert!(shell.finish().ended(0).stdout.contains("Stopped the daemon"));

    let printed = fs::read_to_string(disk.work("flood.ndjson")).unwrap();
    let events = events(printed.lines(), 1);
    let failed = of_type(&events, "task.failed");
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["payload"]["error"]["code"], "STORAGE_FULL");
    assert!(!session_id(&events).is_empty());
    assert_eq!(disk.instance.processes(), Vec::<String>::new());
}

#[test]
fn a_full_disk_does_not_keep_anybody() {
    let disk = SmallDisk::new();
    let mut shell = disk.flood("wait $PID; echo ended $?");
    let pid = shell.line().unwrap();
    disk.wait_until_full();
    kill(&pid, Signal::INT);
    kill(&pid, Signal::TERM);
    assert_eq!(shell.line().unwrap(), "ended 130");
    assert!(shell.finish().ended(0).stdout.contains("Stopped the daemon"));
    assert_eq!(disk.instance.processes(), Vec::<String>::new());
}
