//! An agent is not its own approver: what a process of a hosted agent gets from the daemon, however it hides.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use roost_rpc::{AgentMay, Example, FaultCode, Method};
use serde_json::{Value, json};

use crate::kit::{RoostInstance, RunningCommand, of_type, script, session_id, wait_for};

/// How a command of an agent may be started. `CALL` stands for the `roost` command, whose end is written into a file.
const WAYS: [(&str, &str); 7] = [
    ("as a child", "CALL"),
    ("in a session of its own", "setsid sh -c 'CALL'"),
    ("deaf to the end of its terminal", "nohup sh -c 'CALL' > /dev/null 2>&1"),
    ("as an orphan", "(setsid sh -c 'CALL' &)"),
    ("with an empty environment", "env -i sh -c 'CALL'"),
    ("as an orphan of an orphan with an empty environment", "(env -i setsid sh -c '(CALL) &' &)"),
    ("as another run", "env ROOST_RUN=00000000-0000-7000-8000-000000000000 sh -c 'CALL'"),
];

/// An instance whose agent `sly` runs the shell lines that are written to [`command`]s beside its work.
fn instance() -> RoostInstance {
    // So that nothing but the door keeps its processes out.
    instance_with("[security]\nhide_state = 'off'")
}

/// The same with more in its configuration.
pub(crate) fn instance_with(more: &str) -> RoostInstance {
    let instance = RoostInstance::new();
    let (roost, work) = (env!("CARGO_BIN_EXE_roost"), instance.work());
    let obey = "while :; do for line in go.*; do case $line in *.tmp|go.\\*) ;; *) mv $line ran.$line && . ./ran.$line;; esac; done; sleep 0.02; done";
    script(&work.join("sly"), &format!("cd {work:?}\n({obey}) > /dev/null 2>&1 &\nexec {roost} demo-agent"));
    instance.configure(&format!("[runtimes.sly]\ncommand = {:?}\n{more}", work.join("sly")));
    instance
}

/// Has a process of the agent run this; returns what it printed and its exit code.
pub(crate) fn command(instance: &RoostInstance, name: &str, way: &str, line: &str) -> (String, i32) {
    let work = instance.work();
    let call = format!("{line} > out.{name} 2>&1; echo $? > code.tmp.{name}; mv code.tmp.{name} code.{name}");
    fs::write(work.join(format!("go.{name}.tmp")), way.replace("CALL", &call)).unwrap();
    fs::rename(work.join(format!("go.{name}.tmp")), work.join(format!("go.{name}"))).unwrap();
    let code = wait_for("the agent's command to end", || fs::read_to_string(work.join(format!("code.{name}"))).ok());
    (fs::read_to_string(work.join(format!("out.{name}"))).unwrap(), code.trim().parse().unwrap())
}

/// The `roost` command as a process of the agent writes it.
pub(crate) fn roost(instance: &RoostInstance, args: &str) -> String {
    let (state, home) = (instance.state(), instance.home());
    format!("HOME={home:?} {} --state {state:?} {args}", env!("CARGO_BIN_EXE_roost"))
}

/// A run whose agent waits for leave to write a file, and what it waits for.
pub(crate) fn waiting(instance: &RoostInstance) -> (RunningCommand, Vec<Value>, String) {
    let mut run = instance.start(&["run", "--json", "--runtime", "sly", "--approvals", "wait", "edit"]);
    let lines = run.lines_to("\"approval.requested\"");
    let events: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let call = events.last().unwrap()["payload"]["tool_call_id"].as_str().unwrap().to_owned();
    (run, events, call)
}

fn pending(instance: &RoostInstance) -> Vec<Value> {
    let listed = instance.run(&["approvals", "--json"]).ended(0);
    listed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_process_of_an_agent_cannot_answer_what_the_agent_asked_however_it_was_started() {
    let instance = instance();
    let (run, events, call) = waiting(&instance);
    let session = events[0]["trace"]["session_id"].as_str().unwrap();
    for (number, (how, way)) in WAYS.into_iter().enumerate() {
        let answer = roost(&instance, &format!("approvals answer {call} allow"));
        let (said, code) = command(&instance, &number.to_string(), way, &answer);
        assert_ne!(code, 0, "{how}: {said}");
        assert!(said.contains(session) && said.contains("does not approve"), "{how}: {said}");
        assert_eq!(pending(&instance).len(), 1, "{how}: {said}");
    }
    assert!(!instance.work().join("demo.txt").exists());

    // Whoever sits at the machine still can.
    instance.run(&["approvals", "answer", &call, "deny", "--reason", "it tried to allow it by itself"]).ended(0);
    let told = run.finish().ended(0).stdout;
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let notices = of_type(&told, "runtime.notice");
    let told_of = |notice: &&&Value| notice["payload"]["message"].as_str().unwrap().contains("permission/pending");
    assert!(notices.iter().any(|notice| told_of(&notice)), "viewers see that it tried: {told:#?}");
    for notice in notices {
        assert_eq!((&notice["payload"]["level"], &notice["payload"]["source"]), (&json!("warning"), &json!("engine")));
    }
    let resolved = of_type(&told, "approval.resolved");
    assert_eq!(resolved[0]["payload"]["decision"], "deny");
    assert!(!instance.work().join("demo.txt").exists());
    instance.assert_nothing_left();
}

#[test]
fn a_process_of_an_agent_neither_ends_the_daemon_nor_starts_another_one() {
    let instance = instance();
    let (run, _, call) = waiting(&instance);
    let daemon = instance.daemon();
    for (number, args) in ["down", "serve", "up", "stop 0", "pair", "devices", "sessions"].into_iter().enumerate() {
        for (how, way) in [WAYS[0], WAYS[4]] {
            let name = format!("{number}-{}", how.len());
            let (said, code) = command(&instance, &name, way, &roost(&instance, args));
            assert_ne!(code, 0, "{args} {how}: {said}");
            assert!(said.contains("an agent"), "{args} {how}: {said}");
        }
    }
    assert_eq!(instance.daemon(), daemon);
    instance.run(&["approvals", "answer", &call, "deny"]).ended(0);
    run.finish().ended(0);
    instance.assert_nothing_left();
}

#[test]
fn a_process_of_an_agent_may_look_at_its_own_session_and_at_no_other() {
    let instance = instance();
    let other = session_id(&instance.run(&["run", "--json", "hello"]).ended(0).events(1));
    let (run, events, call) = waiting(&instance);
    let own = session_id(&events);
    let answers = walk(&instance, &json!({ "own": own, "other": other }));
    let forbidden = FaultCode::Forbidden.number();
    for (call, answer) in Method::ALL.iter().zip(&answers["own"].as_array().unwrap()[..]) {
        let code = &answer["error"]["code"];
        match call.agent_may() {
            AgentMay::Nothing => assert_eq!(*code, forbidden, "{}: {answer}", call.name()),
            AgentMay::Call | AgentMay::LookAtItself | AgentMay::ReportItself => {
                assert!(code.is_null(), "{}: {answer}", call.name())
            }
        }
    }
    for (call, answer) in Method::ALL.iter().zip(&answers["other"].as_array().unwrap()[..]) {
        let code = &answer["error"]["code"];
        match call.agent_may() {
            AgentMay::Nothing | AgentMay::LookAtItself | AgentMay::ReportItself => {
                assert_eq!(*code, forbidden, "{}: {answer}", call.name())
            }
            AgentMay::Call => assert!(code.is_null(), "{}: {answer}", call.name()),
        }
    }
    assert_eq!(answers["told"], json!([]), "nothing is told unasked");
    instance.run(&["approvals", "answer", &call, "deny"]).ended(0);
    let told = run.finish().ended(0).stdout;
    let notices = told.lines().filter(|line| line.contains("\"runtime.notice\"")).count();
    assert!((1..=5).contains(&notices), "an agent that knocks hundreds of times does not fill the log: {notices}");
    instance.assert_nothing_left();
}

/// Has a process of the agent call every method with its example, first about its own session and then about another.
fn walk(instance: &RoostInstance, sessions: &Value) -> Value {
    let (work, socket) = (instance.work(), instance.state().join("roost.sock"));
    fs::write(work.join("sessions.json"), sessions.to_string()).unwrap();
    let part = ["--exact", "--ignored", "--nocapture", "self_approval::caller_of_every_method"].join(" ");
    let binary = std::env::current_exe().unwrap();
    let line = format!("ROOST_TEST_SOCKET={socket:?} {binary:?} {part}");
    let (said, code) = command(instance, "walk", "CALL", &line);
    assert_eq!(code, 0, "{said}");
    serde_json::from_slice(&fs::read(work.join("answers.json")).unwrap()).unwrap()
}

#[test]
#[ignore = "not a test: a process that an agent starts"]
fn caller_of_every_method() {
    let sessions: Value = serde_json::from_slice(&fs::read("sessions.json").unwrap()).unwrap();
    let mut stream = UnixStream::connect(std::env::var_os("ROOST_TEST_SOCKET").unwrap()).unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let (mut answers, mut told) = (json!({}), Vec::new());
    for (whose, session) in sessions.as_object().unwrap() {
        // The last of all, as it ends the connection.
        let goodbye = |method: &&Method| **method == Method::Shutdown;
        let order = Method::ALL.iter().filter(|method| !goodbye(method)).chain(Method::ALL.iter().filter(goodbye));
        let mut answered: Vec<(usize, Value)> = Vec::new();
        for method in order {
            let mut params = Example::for_method(*method).params;
            if params.get("session_id").is_some() {
                params["session_id"] = session.clone();
            }
            if method.agent_may() == AgentMay::ReportItself {
                params["events"][0]["run_id"] = session.clone();
            }
            // What an example says beside it is true of another session.
            if let (AgentMay::LookAtItself, Some(params)) = (method.agent_may(), params.as_object_mut()) {
                params.retain(|name, _| ["session_id", "tool_name", "tool_use_id"].contains(&name.as_str()));
            }
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method.name(), "params": params });
            writeln!(stream, "{call}").unwrap();
            let answer = loop {
                let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
                if line.get("id").is_some() {
                    break line;
                }
                told.push(line);
            };
            let instance = Method::ALL.iter().position(|other| other == method).unwrap();
            answered.push((instance, answer));
        }
        answered.sort_by_key(|(instance, _)| *instance);
        answers[whose] = answered.into_iter().map(|(_, answer)| answer).collect();
        stream = UnixStream::connect(std::env::var_os("ROOST_TEST_SOCKET").unwrap()).unwrap();
        lines = BufReader::new(stream.try_clone().unwrap()).lines();
    }
    answers["told"] = told.into();
    fs::write("answers.json", answers.to_string()).unwrap();
}
