//! The daemon: how it comes, what it says, and that nothing of it stays.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::Instant;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::kit::{PATIENCE, RoostInstance, RunningCommand, of_type, wait_for};

/// What the daemon says of itself on disk.
fn daemon_file(instance: &RoostInstance) -> Value {
    serde_json::from_slice(&fs::read(instance.state().join("daemon.json")).unwrap()).unwrap()
}

/// What is answered to a GET without a token.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_command_that_needs_a_daemon_starts_one_and_says_so_once() {
    let instance = RoostInstance::new();
    assert!(instance.run(&["run", "hello"]).ended(0).started);
    assert!(!instance.run(&["run", "hello"]).ended(0).started);
    let status: Value = serde_json::from_str(&instance.run(&["status", "--json"]).ended(0).stdout).unwrap();
    assert_eq!((&status["auto_started"], &status["address"]), (&true.into(), &Value::Null), "the socket only");
    instance.assert_nothing_left();
}

#[test]
fn two_commands_at_once_start_one_daemon() {
    let instance = RoostInstance::new();
    let runs: Vec<_> = (0..4).map(|_| instance.start(&["run", "--json", "hello"])).collect();
    let done: Vec<_> = runs.into_iter().map(|run| run.finish().ended(0)).collect();
    assert_eq!(done.iter().filter(|done| done.started).count(), 1);
    assert!(done.iter().all(|done| of_type(&done.events(1), "task.completed").len() == 1));
    assert_eq!(instance.processes().len(), 1, "{:?}", instance.processes());
}

#[test]
fn a_daemon_that_cannot_start_says_why_to_whoever_needed_it() {
    let instance = RoostInstance::new();
    instance.make_state();
    fs::create_dir(instance.database()).unwrap();
    let done = instance.run(&["run", "hello"]).ended(1);
    assert!(done.stderr.contains("roost.db"), "{done:#?}");
    assert_eq!(instance.processes(), Vec::<String>::new());
}

#[test]
fn up_returns_when_it_listens_and_shows_how_to_connect() {
    let instance = RoostInstance::new();
    let up = instance.run(&["up"]).ended(0).stdout;
    let file = daemon_file(&instance);
    let (address, http) = (file["address"].as_str().unwrap(), file["http"].as_str().unwrap());
    for part in [http, "code", "/pair#", "Phones cannot reach", "roost down"] {
        assert!(up.contains(part), "{part}: {up}");
    }
    assert!(get(address, "/health").starts_with("HTTP/1.1 200"));
    assert_eq!(file["pid"], instance.daemon().as_raw_nonzero().get());
    let again = instance.run(&["up"]).ended(0).stdout;
    assert!(again.contains("already running") && again.contains(http), "{again}");
    instance.assert_nothing_left();
    assert!(!instance.state().join("daemon.json").exists() && !instance.state().join("roost.sock").exists());
}

#[test]
fn a_daemon_that_a_command_started_makes_room_for_one_that_is_asked_for() {
    let instance = RoostInstance::new();
    instance.run(&["run", "hello"]).ended(0);
    let first = instance.daemon();
    instance.run(&["up"]).ended(0);
    assert_ne!(instance.daemon(), first);
    assert!(daemon_file(&instance)["address"].is_string());
}

#[test]
fn a_daemon_with_work_to_do_is_not_replaced() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "slow", "60"]);
    run.lines_to("model.output.delta");
    for args in [&["up"][..], &["serve"], &["pair"]] {
        let done = instance.run(args).ended(1);
        assert!(done.stderr.contains("already running") && done.stderr.contains("roost down"), "{done:#?}");
    }
    assert!(run.is_running());
    instance.run(&["down"]).ended(0);
    run.finish().ended(1);
    instance.assert_nothing_left();
}

#[test]
fn down_leaves_nothing_of_a_running_task() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "stubborn"]);
    run.lines_to("only SIGKILL");
    assert!(instance.run(&["down"]).ended(0).stdout.contains("Stopped the daemon"));
    assert_eq!(instance.agents(), Vec::<String>::new());
    let done = run.finish().ended(1);
    assert!(
        done.stderr.contains("the daemon has ended before the task did") && done.stderr.contains("roost log"),
        "{done:#?}"
    );
    let runs = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
        let has = |text: &[u8]| environ.windows(text.len()).any(|window| window == text);
        has(b"ROOST_RUN=") && has(instance.work().parent().unwrap().as_os_str().as_encoded_bytes())
    });
    assert_eq!(runs.count(), 0);
    assert_eq!(fs::read_dir(instance.state().join("run")).unwrap().count(), 0, "no record is left");
}

#[test]
fn down_without_a_daemon_is_no_error_and_makes_nothing() {
    let instance = RoostInstance::new();
    assert!(instance.run(&["down"]).ended(0).stdout.contains("No daemon is running"));
    assert!(!instance.state().exists());
}

#[test]
fn down_waits_for_a_daemon_that_is_ending_already() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "stubborn"]);
    run.lines_to("only SIGKILL");
    let downs = [instance.start(&["down"]), instance.start(&["down"])];
    for down in downs {
        down.finish().ended(0);
        assert!(!instance.processes().iter().any(|command| command.contains(" serve ")), "{:?}", instance.processes());
    }
    run.finish().ended(1);
}

#[test]
fn down_ends_a_daemon_whose_socket_is_gone() {
    let instance = RoostInstance::new();
    instance.run(&["run", "hello"]).ended(0);
    fs::remove_file(instance.state().join("roost.sock")).unwrap();
    instance.assert_nothing_left();
}

#[test]
fn serve_says_where_it_listens_and_ends_on_sigterm_with_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let instance = RoostInstance::new();
        let mut serve = instance.start(&["serve"]);
        let line = serve.line().unwrap();
        assert!(line.contains(daemon_file(&instance)["http"].as_str().unwrap()), "{line}");
        let mut run = instance.start(&["run", "--json", "slow", "60"]);
        run.lines_to("model.output.delta");
        let asked = Instant::now();
        serve.signal(signal);
        serve.finish().ended(0);
        assert!(asked.elapsed() < PATIENCE / 6, "a stop has its bound");
        let done = run.finish().ended(1);
        assert!(done.stderr.contains("the daemon has ended before the task did"), "{done:#?}");
        assert_eq!(instance.processes(), Vec::<String>::new());
    }
}

#[test]
fn whoever_is_connected_is_told_that_the_daemon_ends() {
    let instance = RoostInstance::new();
    let mut serve = instance.start(&["serve"]);
    serve.line().unwrap();
    let mut socket = UnixStream::connect(instance.state().join("roost.sock")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\n").unwrap();
    let mut lines = BufReader::new(socket).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"result\""));
    serve.signal(Signal::TERM);
    assert!(lines.next().unwrap().unwrap().contains("event/session_end"));
    assert!(lines.next().is_none(), "then it hangs up");
    serve.finish().ended(0);
}

#[test]
fn roost_alone_serves_and_shows_how_to_connect() {
    let instance = RoostInstance::new();
    let mut roost = instance.start(&[]);
    let shown = roost.lines_to("press Ctrl-C to stop it").join("\n");
    for part in ["roost demo", "code", "page", "http://127.0.0.1:", "Phones cannot reach", "roost --host 0.0.0.0"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    roost.signal(Signal::INT);
    roost.finish().ended(0);
}

#[test]
fn roost_alone_takes_the_options_of_the_daemon_and_shows_a_phone_a_link() {
    let instance = RoostInstance::new();
    let mut roost = instance.start(&["--host", "0.0.0.0", "--allow-insecure", "--port", "0"]);
    let shown = roost.lines_to("press Ctrl-C to stop it");
    assert!(shown.len() <= 23 && shown.iter().any(|line| line.contains('▀')), "{shown:#?}");
    let link = shown.iter().find_map(|line| line.trim().strip_prefix("http://")).unwrap();
    let (address, code) = link.split_once("/pair#").unwrap();
    assert!(!address.starts_with("127.") && !address.starts_with("0.0.0.0"), "{address}");
    assert!(get(address, "/pair").starts_with("HTTP/1.1 200"));
    let digits = format!("{} {}", &code[..3], &code[3..]);
    assert!(shown.iter().any(|line| line.contains(&digits) && line.contains("valid for 10 minutes")), "{shown:#?}");
    // Another code takes the place of the one on the screen, which says so.
    instance.run(&["pair", "--json"]).ended(0);
    let ended = roost.line().unwrap();
    assert!(ended.contains(&digits) && ended.contains("a newer code was made"), "{ended}");
    roost.signal(Signal::INT);
    roost.finish().ended(0);
}

#[test]
fn options_of_the_daemon_before_another_command_are_wrong_usage() {
    let instance = RoostInstance::new();
    let done = instance.run(&["--port", "1", "sessions"]).ended(2);
    assert!(done.stderr.contains("--port") && done.stderr.contains("roost up"), "{done:#?}");
}

#[test]
fn a_busy_port_is_an_error_that_says_what_to_do() {
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = busy.local_addr().unwrap().port().to_string();
    let instance = RoostInstance::new();
    for args in [&["serve", "--port", &port][..], &["up", "--port", &port], &["--port", &port]] {
        let done = instance.run(args).ended(1);
        assert!(done.stderr.contains(&port) && done.stderr.contains("roost up --port N"), "{done:#?}");
    }
    assert_eq!(instance.processes(), Vec::<String>::new());
    let doctor = instance.command(&["doctor"]).env("ROOST_SERVER_PORT", &port).output().unwrap();
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("warn  port"));
}

#[test]
fn listening_beyond_this_machine_needs_encryption_or_a_clear_word() {
    let instance = RoostInstance::new();
    for command in ["serve", "up"] {
        let done = instance.run(&[command, "--host", "0.0.0.0"]).ended(2);
        assert!(done.stderr.contains("--tls self-signed") && done.stderr.contains("--allow-insecure"), "{done:#?}");
    }
    assert!(!instance.state().join("daemon.json").exists());
}

#[test]
fn an_encrypted_daemon_shows_its_fingerprint() {
    let instance = RoostInstance::new();
    let up = instance.run(&["up", "--tls", "self-signed"]).ended(0).stdout;
    assert!(up.contains("https://127.0.0.1:") && up.contains("sha256"), "{up}");
}

#[test]
fn pairing_starts_a_daemon_that_devices_can_reach_where_none_runs() {
    let instance = RoostInstance::new();
    // This starts a daemon that serves commands only, and sends the user to `roost pair`.
    assert!(instance.run(&["devices"]).ended(0).stdout.contains("roost pair"));
    assert!(daemon_file(&instance)["address"].is_null());
    assert!(instance.run(&["pair"]).ended(0).started);
    assert!(daemon_file(&instance)["address"].is_string());
    assert!(!instance.run(&["pair"]).ended(0).started);
    instance.assert_nothing_left();
    assert!(instance.run(&["pair", "--app"]).ended(0).stdout.contains('█'), "also without any daemon");
}

#[test]
fn pairing_is_shown_to_programs() {
    let instance = RoostInstance::new();
    instance.run(&["up"]).ended(0);
    let pair: Value = serde_json::from_str(&instance.run(&["pair", "--json"]).ended(0).stdout).unwrap();
    let text = |name: &str| pair[name].as_str().unwrap().to_owned();
    assert_eq!(text("http"), daemon_file(&instance)["http"].as_str().unwrap());
    assert!(text("ws").starts_with("ws://") && text("token").starts_with("cdev_p_") && text("code").len() == 6);
    assert_eq!(text("repo"), "work");
    let log = fs::read_to_string(instance.state().join("daemon.log")).unwrap();
    assert!(!log.contains("cdev_p_") && !log.contains(&text("code")), "{log}");
}

#[test]
fn nothing_that_is_said_to_an_agent_is_in_the_daemons_log() {
    let instance = RoostInstance::new();
    let mut run = instance.command(&["run", "say", "xyzzy-the-secret-word"]);
    assert!(run.env("RUST_LOG", "debug").output().unwrap().status.success());
    instance.assert_nothing_left();
    let log = fs::read_to_string(instance.state().join("daemon.log")).unwrap();
    assert!(log.lines().count() > 2 && !log.contains("xyzzy"), "{log}");
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{log}");
}

#[test]
fn without_a_daemon_there_is_no_status_and_nothing_to_answer_or_stop() {
    let instance = RoostInstance::new();
    assert_eq!(instance.run(&["status", "--json"]).ended(1).stdout, "{\"running\":false}\n");
    assert!(instance.run(&["status"]).ended(1).stdout.contains("roost up"));
    for args in [&["stop", "x"][..], &["approvals", "answer", "x", "allow"]] {
        assert!(instance.run(args).ended(1).stderr.contains("no daemon is running"), "{args:?}");
    }
    assert!(!instance.state().exists());
}

/// The same with what differs from run to run replaced.
fn steady(text: &str, instance: &RoostInstance) -> String {
    let file = daemon_file(instance);
    let (pid, address) = (file["pid"].to_string(), file["address"].as_str().unwrap());
    let folder = instance.state().display().to_string();
    // First: a process id may occur in a number.
    ["uptime_seconds", "log_bytes", "free_bytes"]
        .iter()
        .fold(text.to_owned(), |text, name| without_number(&text, name))
        .replace(address, "ADDRESS")
        .replace(&pid, "PID")
        .replace(&folder, "STATE")
        .replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

/// JSON with `N` for the number of this name, if it has one.
fn without_number(text: &str, name: &str) -> String {
    let Some((before, rest)) = text.split_once(&format!("\"{name}\":")) else { return text.to_owned() };
    let rest = rest.trim_start_matches(|character: char| character.is_ascii_digit());
    format!("{before}\"{name}\":N{rest}")
}

#[test]
fn status_and_doctor_tell_programs_how_the_daemon_is() {
    let instance = RoostInstance::new();
    instance.run(&["up"]).ended(0);
    insta::assert_snapshot!("status", steady(&instance.run(&["status", "--json"]).ended(0).stdout, &instance));
    let findings = instance.run(&["doctor", "--json"]).ended(0).stdout;
    let about = [
        "\"configuration\"",
        "\"system\"",
        "\"state directory\"",
        "\"socket\"",
        "\"daemon\"",
        "\"port\"",
        "\"holder\"",
    ];
    let mine = findings.lines().filter(|line| about.iter().any(|what| line.contains(what)));
    insta::assert_snapshot!("doctor", steady(&mine.collect::<Vec<_>>().join("\n"), &instance));
}

#[test]
fn status_and_devices_tell_people_how_the_daemon_is() {
    let instance = RoostInstance::new();
    instance.run(&["up"]).ended(0);
    let shown = instance.run(&["status"]).ended(0).stdout;
    let address = daemon_file(&instance)["address"].as_str().unwrap().to_owned();
    assert!(shown.contains("0 paired") && shown.contains(&address), "{shown}");
    assert!(instance.run(&["devices"]).ended(0).stdout.contains("No devices are paired"));
    assert_eq!(instance.run(&["devices", "--json"]).ended(0).stdout, "");
    assert!(instance.run(&["devices", "revoke", "nobody"]).ended(2).stderr.contains("nobody"));
}

#[test]
fn a_device_that_waits_is_listed_and_let_in_or_turned_away() {
    let instance = RoostInstance::new();
    instance.configure("[security]\nrequire_pairing_approval = true\n");
    instance.run(&["up"]).ended(0);
    for (answer, expected, says) in [("approve", "200", "was approved"), ("reject", "403", "was rejected")] {
        let pair: Value = serde_json::from_str(&instance.run(&["pair", "--json"]).ended(0).stdout).unwrap();
        let host = pair["http"].as_str().unwrap().strip_prefix("http://").unwrap();
        let body = json!({ "pairing_token": pair["token"], "name": "Ada's phone" }).to_string();
        let mut stream = TcpStream::connect(host).unwrap();
        let head = format!("POST /api/auth/exchange HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n");
        write!(stream, "{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).unwrap();
        // The daemon answers when somebody has decided, so it is asked until the device waits.
        let listed = std::iter::repeat_with(|| instance.run(&["devices"]).ended(0).stdout);
        let listed = listed.take(1000).find(|listed| listed.contains("is waiting for approval")).unwrap();
        let line = listed.lines().next().unwrap();
        assert!(line.starts_with("Ada's phone at 127.0.0.1"), "{line}");
        let id = line.rsplit(' ').next().unwrap();
        assert!(instance.run(&["devices", answer, id]).ended(0).stdout.contains(says));
        let mut answered = String::new();
        stream.read_to_string(&mut answered).unwrap();
        assert!(answered.starts_with(&format!("HTTP/1.1 {expected}")), "{answered}");
        let gone = instance.run(&["devices", answer, id]).ended(2);
        assert!(gone.stderr.contains(id) && gone.stderr.contains("no device is waiting"), "{}", gone.stderr);
    }
}

#[test]
fn a_state_directory_with_a_long_name_has_its_socket_elsewhere() {
    let instance = RoostInstance::new();
    let state = instance.work().join("x".repeat(120));
    let state = state.to_str().unwrap();
    instance.run(&["--state", state, "run", "hello"]).ended(0);
    assert!(instance.run(&["--state", state, "status"]).ended(0).stdout.contains("its socket only"));
    instance.run(&["--state", state, "down"]).ended(0);
    assert_eq!(instance.processes(), Vec::<String>::new());
}

#[test]
fn an_approval_is_answered_from_another_terminal() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "--approvals", "wait", "edit"]);
    run.lines_to("approval.requested");
    let pending = wait_for("the approval", || {
        let list = instance.run(&["approvals", "list", "--json"]).ended(0).stdout;
        list.lines().next().map(|line| serde_json::from_str::<Value>(line).unwrap())
    });
    let id = pending["ask"]["approval"]["tool_call_id"].as_str().unwrap();
    assert!(instance.run(&["approvals", "answer", "nothing", "allow"]).ended(2).stderr.contains("roost approvals"));
    let said = instance.run(&["approvals", "answer", &id[..id.len() - 1], "allow"]).ended(0).stdout;
    assert!(said.contains("Answered"), "{said}");
    run.finish().ended(0);
    assert!(instance.work().join("demo.txt").exists());
    assert!(instance.run(&["approvals"]).ended(0).stdout.contains("Nothing waits"));
}

#[test]
fn a_no_from_another_terminal_reaches_the_agent_with_its_reason() {
    let instance = RoostInstance::new();
    let mut run = instance.start_with_stderr(&["run", "--approvals", "wait", "edit"]);
    run.lines_to("waits for an answer");
    let id = instance.run(&["approvals", "--json"]).ended(0).stdout;
    let id = serde_json::from_str::<Value>(id.lines().next().unwrap()).unwrap();
    let id = id["ask"]["approval"]["tool_call_id"].as_str().unwrap();
    instance.run(&["approvals", "answer", id, "deny", "--reason", "too late today"]).ended(0);
    assert!(run.finish().ended(0).stdout.contains("too late today"));
}

#[test]
fn a_session_is_stopped_from_another_terminal() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "slow", "60"]);
    let lines = run.lines_to("model.output.delta");
    let first: Value = serde_json::from_str(&lines[0]).unwrap();
    let id = first["trace"]["session_id"].as_str().unwrap();
    let stopped = instance.run(&["stop", id]).ended(0).stdout;
    assert!(stopped.contains("stopped"), "{stopped}");
    run.finish().ended(130);
    assert_eq!(instance.agents(), Vec::<String>::new());
    instance.run(&["stop", "nope"]).ended(2);
}

#[test]
fn what_a_killed_daemon_left_is_not_taken_for_one() {
    let instance = RoostInstance::new();
    instance.run(&["run", "hello"]).ended(0);
    // Its files are still there.
    instance.kill_daemon();
    assert!(instance.run(&["down"]).ended(0).stdout.contains("No daemon is running"));
    assert!(instance.run(&["run", "hello"]).ended(0).started);
    kill_process(instance.daemon(), Signal::TERM).unwrap();
    wait_for("the daemon to end", || instance.processes().is_empty().then_some(()));
}

#[test]
fn a_daemon_in_the_background_keeps_nothing_open_that_its_starter_was_given() {
    let instance = RoostInstance::new();
    let given = instance.work().join("given");
    let mut starter = Command::new("sh");
    instance.clear(&mut starter).args(["-c", "exec 7> given; exec \"$0\" up", env!("CARGO_BIN_EXE_roost")]);
    RunningCommand::new(&mut starter).finish().ended(0);
    let open = fs::read_dir(format!("/proc/{}/fd", instance.daemon().as_raw_nonzero())).unwrap();
    let files: Vec<_> = open.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok()).collect();
    assert!(files.len() > 3 && !files.contains(&given.canonicalize().unwrap()), "{files:?}");
}
