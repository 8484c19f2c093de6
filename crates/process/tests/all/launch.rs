//! What a runtime is given, and what happens when it cannot be started.

use std::{fs, os::unix::fs::PermissionsExt};

use roost_process::{
    Environment, EphemeralDir, Error, Exit, Isolation, Namespace, isolate, remove_ephemeral_leftovers, tree,
};
use rustix::process::Signal;

use crate::support::{TestHost, all_lines, assert_nothing_left, patient, probe, quick, ready};

#[tokio::test]
async fn the_environment_is_cleared_and_the_run_reaches_grandchildren() {
    let place = TestHost::new(quick());
    let mut launch = place.launch("sh", &["-c", "sh -c 'env; true'; true"]);
    launch.env.set("EXPLICIT", "yes");
    let run = launch.run.clone();
    let mut running = place.holder.spawn(launch).await.unwrap();
    let mut lines = all_lines(&mut running.stdout).await;
    // The shell adds these by itself.
    lines.retain(|line| !["PWD=", "OLDPWD=", "SHLVL=", "_="].iter().any(|name| line.starts_with(name)));
    lines.sort();
    assert_eq!(lines, ["EXPLICIT=yes", "PATH=/usr/local/bin:/usr/bin:/bin", &format!("ROOST_RUN={run}")]);
}

fn signals(status: &str, set: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(set));
    u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
}

#[tokio::test]
async fn no_signal_that_holder_or_host_handle_is_ignored_or_blocked_in_the_runtime() {
    let place = TestHost::new(quick());
    let (_, mut running) = place.spawn("cat", &["/proc/self/status"]).await;
    let status = all_lines(&mut running.stdout).await.join("\n");
    let handled = [Signal::HUP, Signal::INT, Signal::PIPE, Signal::TERM, Signal::CHILD];
    let handled = handled.map(|signal| 1 << (signal.as_raw() - 1)).iter().sum::<u64>();
    assert_eq!(signals(&status, "SigIgn:") & handled, 0);
    assert_eq!(signals(&status, "SigBlk:") & handled, 0);
}

#[tokio::test]
async fn the_runtime_inherits_its_three_pipes_and_no_other_descriptor() {
    let place = TestHost::new(quick());
    let (_, mut running) = place.spawn("ls", &["/proc/self/fd"]).await;
    // The fourth is the directory that `ls` reads.
    assert_eq!(all_lines(&mut running.stdout).await, ["0", "1", "2", "3"]);
}

#[tokio::test]
async fn the_working_directory_and_arguments_arrive_unchanged() {
    let place = TestHost::new(quick());
    let script = "pwd; for a in \"$@\"; do echo \"<$a>\"; done";
    let (_, mut running) = place.spawn("sh", &["-c", script, "sh", "", "a b", "--", "-x"]).await;
    let cwd = place.directory.path().canonicalize().unwrap();
    let expected = [cwd.to_str().unwrap(), "<>", "<a b>", "<-->", "<-x>"];
    assert_eq!(all_lines(&mut running.stdout).await, expected);
}

#[tokio::test]
async fn a_missing_binary_is_named_with_where_it_was_looked_for() {
    let place = TestHost::new(quick());
    let error = place.refuse(place.launch("no-such-agent", &[])).await;
    assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
    assert_eq!(error.to_string(), "`no-such-agent` was not found in PATH; install it, or give its full path");
}

#[tokio::test]
async fn a_missing_path_is_not_found() {
    let place = TestHost::new(quick());
    let error = place.refuse(place.launch("./no-such-agent", &[])).await;
    assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
}

#[tokio::test]
async fn a_file_without_the_executable_bit_is_not_executable() {
    let place = TestHost::new(quick());
    fs::write(place.directory.path().join("agent"), "#!/bin/sh\n").unwrap();
    let error = place.refuse(place.launch("./agent", &[])).await;
    assert!(matches!(error, Error::NotExecutable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_script_without_its_interpreter_is_an_exec_error_and_leaves_no_record() {
    let place = TestHost::new(quick());
    let agent = place.directory.path().join("agent");
    fs::write(&agent, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let launch = place.launch("./agent", &[]);
    let record = place.record(&launch.run);
    let error = place.refuse(launch).await;
    assert!(matches!(error, Error::Exec { .. }), "{error:?}");
    assert!(!record.exists());
}

#[tokio::test]
async fn a_bad_working_directory_is_its_own_error() {
    let place = TestHost::new(quick());
    for cwd in ["/no/such/directory", probe()] {
        let mut launch = place.launch("sh", &[]);
        launch.cwd = cwd.into();
        let error = place.refuse(launch).await;
        assert!(matches!(error, Error::BadCwd { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_program_is_looked_up_in_the_launch_path_only() {
    let place = TestHost::new(quick());
    let mut launch = place.launch("sh", &[]);
    launch.env.set("PATH", place.directory.path());
    let error = place.refuse(launch).await;
    assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
}

#[tokio::test]
async fn a_holder_that_is_no_holder_is_an_error() {
    let mut place = TestHost::new(quick());
    place.holder.args = vec!["exit-now".into(), "3".into()];
    let error = place.refuse(place.launch("sh", &[])).await;
    assert!(matches!(error, Error::HolderDied { .. }), "{error:?}");
}

#[tokio::test]
async fn a_runtime_that_exits_at_once_tells_its_code() {
    let place = TestHost::new(patient());
    let (run, running) = place.spawn(probe(), &["exit-now", "7"]).await;
    assert_eq!(running.control.gone().await, Exit::Code(7));
    assert_nothing_left(&run);
    assert!(!place.record(&run).exists());
}

#[tokio::test]
async fn a_runtime_ended_by_a_signal_tells_which() {
    let place = TestHost::new(quick());
    let (_, running) = place.spawn("sh", &["-c", "kill -9 $$"]).await;
    assert_eq!(running.control.wait_exit().await, Exit::Signal(9));
}

#[tokio::test]
async fn a_running_runtime_is_found_by_its_run() {
    let place = TestHost::new(quick());
    let (run, mut running) = place.spawn(probe(), &["ignore-term"]).await;
    ready(&mut running.stdout).await;
    assert_eq!(tree::alive(&run), [running.control.pid()]);
    running.control.stop().await;
}

#[tokio::test]
async fn a_namespace_has_private_directories_that_stay() {
    let base = tempfile::tempdir().unwrap();
    let mut env = Environment::default();
    let namespace = Namespace("user:anna".into());
    let guard = isolate(Isolation::Namespaced, base.path(), &namespace, "s1", &mut env).await.unwrap();
    assert!(guard.is_none());
    let directory = base.path().join("user%3Aanna");
    let names = [
        ("HOME", "home"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_DATA_HOME", "data"),
    ];
    for (variable, name) in names {
        let path = directory.join(name);
        assert_eq!(env.get(variable), Some(path.as_os_str()));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[tokio::test]
async fn an_ephemeral_home_is_removed_at_the_end_and_after_a_crash() {
    let base = tempfile::tempdir().unwrap();
    let mut env = Environment::default();
    let namespace = Namespace("default".into());
    let guard = isolate(Isolation::Ephemeral, base.path(), &namespace, "s1", &mut env).await.unwrap().unwrap();
    let home = base.path().join("default/session-s1/home");
    fs::write(home.join("credential"), "x").unwrap();
    guard.remove().await.unwrap();
    assert!(!base.path().join("default/session-s1").exists());

    let forgotten = isolate(Isolation::Ephemeral, base.path(), &namespace, "s2", &mut env).await.unwrap();
    std::mem::forget(forgotten);
    let alive = isolate(Isolation::Ephemeral, base.path(), &namespace, "s3", &mut env).await.unwrap();
    std::mem::forget(alive);
    let alive = EphemeralDir::of_running(base.path(), &namespace, "s3");
    remove_ephemeral_leftovers(base.path().into(), &[&alive]).await.unwrap();
    assert!(!base.path().join("default/session-s2").exists());
    assert!(base.path().join("default/session-s3/home").exists(), "its session goes on");
    alive.remove().await.unwrap();
    assert!(!base.path().join("default/session-s3").exists());
}

#[tokio::test]
async fn shared_isolation_leaves_the_environment_alone() {
    let mut env = Environment::default();
    let guard = isolate(Isolation::Shared, "/no/such".as_ref(), &Namespace("x".into()), "s", &mut env).await.unwrap();
    assert!(guard.is_none());
    assert_eq!(env, Environment::default());
}
