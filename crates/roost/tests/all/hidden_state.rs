//! The wall between agents and the state directory, where the kernel lets this user raise it.

use std::fs;

use serde_json::Value;

use crate::kit::{RoostInstance, session_id};
use crate::self_approval::{command, instance_with, roost, waiting};

/// Whether agents are kept from the state directory here, as `roost doctor` says; says so loudly where they are not.
fn stands(instance: &RoostInstance) -> bool {
    let findings = instance.run(&["doctor", "--json"]).stdout;
    let findings = findings.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let finding = findings.into_iter().find(|finding| finding["what"] == "agents and the state directory").unwrap();
    let stands = finding["verdict"] == "ok";
    if !stands {
        eprintln!("NOT TESTED: no wall around the state directory stands on this machine: {}", finding["found"]);
    }
    stands
}

/// Has a process of the agent run this and asserts how it ends.
#[track_caller]
fn ends(instance: &RoostInstance, name: &str, line: &str, well: bool) -> String {
    let (said, code) = command(instance, name, "CALL", &format!("({line})"));
    assert_eq!(code == 0, well, "{line}: {code}: {said}");
    said
}

#[test]
fn a_process_of_an_agent_finds_the_socket_in_the_state_directory_but_neither_secrets_nor_the_record() {
    let instance = instance_with("[security]\nhide_state = 'auto'");
    if !stands(&instance) {
        return;
    }
    let (run, events, call) = waiting(&instance);
    let state = instance.state();
    for (number, file) in ["local.secret", "roost.db", "daemon.json", "daemon.log", "lock"].into_iter().enumerate() {
        assert!(state.join(file).exists(), "{file}");
        ends(&instance, &format!("read{number}"), &format!("cat {}", state.join(file).display()), false);
    }
    let listed = ends(&instance, "list", &format!("ls -A {}", state.display()), true);
    assert_eq!(listed, "artifacts\nroost.sock\n");
    ends(&instance, "write", &format!("touch {}", state.join("planted").display()), false);
    ends(&instance, "records", &format!("ls {}", state.join("run").display()), false);

    // The socket is the daemon's.
    let said = ends(&instance, "knock", &roost(&instance, "approvals"), false);
    assert!(said.contains(&session_id(&events)), "{said}");

    // Nothing of it is seen outside.
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(state.to_str().unwrap()), "{mounts}");
    assert!(state.join("local.secret").exists());
    instance.run(&["approvals", "answer", &call, "deny"]).ended(0);
    run.finish().ended(0);
    instance.assert_nothing_left();
}

#[test]
fn everyday_work_goes_on_behind_the_wall() {
    let instance = instance_with("[security]\nhide_state = 'auto'");
    if !stands(&instance) {
        return;
    }
    let (run, _, call) = waiting(&instance);
    let here = instance.work().canonicalize().unwrap();
    let table = [
        ("folder", "pwd".to_owned(), Some(here.display().to_string())),
        ("owner", "touch mine && test \"$(stat -c %u:%g mine)\" = \"$(id -u):$(id -g)\"".into(), None),
        ("git", "git init -q repo && cd repo && git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git status --short".into(), None),
        ("proc", "test \"$(cat /proc/self/stat | cut -d' ' -f1)\" -gt 1 && ps -p $$ > /dev/null".into(), None),
        ("background", "sleep 600 > /dev/null 2>&1 & kill -0 $!".into(), None),
        ("devices", "echo x > /dev/null && test -e /dev/tty || test -c /dev/null".into(), None),
    ];
    for (name, line, prints) in table {
        let said = ends(&instance, name, &line, true);
        if let Some(prints) = prints {
            assert_eq!(said.trim(), prints);
        }
    }
    instance.run(&["approvals", "answer", &call, "deny"]).ended(0);
    run.finish().ended(0);
    // The `sleep` that it left is found and ended too.
    instance.assert_nothing_left();
}

#[test]
fn the_state_directory_is_open_to_agents_where_that_is_configured() {
    let instance = instance_with("[security]\nhide_state = 'off'");
    let (run, _, call) = waiting(&instance);
    ends(&instance, "read", &format!("cat {}", instance.state().join("local.secret").display()), true);
    instance.run(&["approvals", "answer", &call, "deny"]).ended(0);
    run.finish().ended(0);
    instance.assert_nothing_left();
}
