//! ACP clients that nobody here wrote, against `roost acp`: `acpx`, the TypeScript SDK and the Python SDK. Every line that
//! Roost sends them is checked against the schemas of the SDK.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, WaitOptions};
use serde_json::{Value, json};
use testkit::acp_schema::AcpChecker;
use testkit::agents::{self, Agent};

use super::remote::{self, RemoteEditor};
use crate::kit::{Done, RoostInstance, RunningCommand, script, wait_for};
use crate::real;
use crate::terminal::Terminal;

/// A runtime behind `roost acp`, and prompts that make it do the same as the others.
#[derive(Clone, Copy)]
struct HostedAgent {
    id: &'static str,
    /// Writes `out.txt`, which has to be approved.
    write: &'static str,
    /// Answers for much longer than a test waits.
    slow: &'static str,
    /// Answers shortly.
    short: &'static str,
    agent: Option<Agent>,
}

const DEMO: HostedAgent =
    HostedAgent { id: "demo", write: "edit out.txt", slow: "slow 600", short: "hello", agent: None };
const CODEX: HostedAgent = HostedAgent { id: "codex", agent: Some(Agent::Codex), ..SCRIPTED };
const CLAUDE: HostedAgent = HostedAgent { id: "claude", agent: Some(Agent::Claude), ..SCRIPTED };
const SCRIPTED: HostedAgent =
    HostedAgent { id: "", write: "SCRIPT:shell", slow: "SCRIPT:slow", short: "SCRIPT:text", agent: None };

/// An instance with the runtime, and a command that is `roost acp` and notes every line in both directions.
struct Setup {
    instance: RoostInstance,
}

impl Setup {
    fn new(hosted: HostedAgent) -> Self {
        let instance = match hosted.agent {
            Some(agent) => real::instance(agent, hosted.id, &[]),
            None => RoostInstance::new(),
        };
        let setup = Self { instance };
        // acpx's background processes become children of this test, which reaps them.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
        fs::create_dir(setup.wire()).unwrap();
        let (roost, wire) = (env!("CARGO_BIN_EXE_roost"), setup.wire());
        let wire = wire.display();
        // The process is `roost acp` itself, so that signals of the client reach it.
        let noted = format!(
            r#"exec 3< <(tee "{wire}/$$.sent") 4> >(tee "{wire}/$$.received"); exec "$0" "$@" <&3 >&4 3<&- 4>&-"#
        );
        // It speaks version 2 with those who ask for it.
        let acp = format!("acp --protocol-v2 --runtime {}", hosted.id);
        script(&setup.agent(), &format!("exec bash -c '{noted}' '{roost}' {acp} \"$@\""));
        setup
    }

    fn wire(&self) -> PathBuf {
        self.instance.state().with_file_name("wire")
    }

    /// The command that the clients start.
    fn agent(&self) -> PathBuf {
        self.instance.state().with_file_name("agent")
    }

    fn out(&self) -> PathBuf {
        self.instance.work().join("out.txt")
    }

    /// Runs an SDK with a plan, which gets the command and the folder.
    fn drive(&self, sdk: Sdk, plan: &Value) -> Value {
        let mut whole = json!({ "command": [self.agent()], "cwd": self.instance.work() });
        whole.as_object_mut().unwrap().extend(plan.as_object().unwrap().clone());
        let done = RunningCommand::new(self.instance.clear(&mut sdk.command()).arg(whole.to_string())).finish();
        let report: Value = serde_json::from_str(&done.ended(0).stdout).unwrap();
        let version = plan.get("version").cloned().unwrap_or(json!(1));
        assert_eq!((&report["version"], &report["exit"]), (&version, &json!(0)), "{sdk:?}: {report:#}");
        report
    }

    fn acpx(&self, args: &[&str]) -> Command {
        let program = agents::acp_clients().join("node_modules/acpx/dist/cli.js");
        let mut command = Command::new(agents::program("node"));
        self.instance.clear(&mut command).arg(program).arg("--cwd").arg(self.instance.work());
        command.arg("--agent").arg(self.agent()).args(args);
        command
    }

    fn run_acpx(&self, args: &[&str]) -> Done {
        RunningCommand::new(&mut self.acpx(args)).finish()
    }

    /// Closes the session. That ends acpx's background process, which nobody would reap where the first process does not
    /// (as in some containers); acpx would take what is left of it for somebody else's process and refuse.
    fn close_session(&self) {
        let mut closing = RunningCommand::new(&mut self.acpx(&["sessions", "close"]));
        wait_for("acpx to close its session", || {
            reap_orphans(closing.pid());
            (!closing.is_running()).then_some(())
        });
        closing.finish().ended(0);
    }

    /// What came in the connection that sent a request of this method, and the request's id. The wire knows the order: an
    /// SDK's handlers may run after the reply that their updates came before.
    fn received_with(&self, method: &str) -> (Vec<Value>, Value) {
        let lines = |file: &Path| -> Vec<Value> {
            fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let files = fs::read_dir(self.wire()).unwrap().map(|entry| entry.unwrap().path());
        let mut sent = files.filter(|file| file.extension().is_some_and(|end| end == "sent"));
        let found = sent.find_map(|file| {
            let request = lines(&file).into_iter().find(|message| message["method"] == method)?;
            Some((lines(&file.with_extension("received")), request["id"].clone()))
        });
        found.unwrap_or_else(|| panic!("nobody sent {method}"))
    }

    /// The last status of each tool call, as the client was told.
    fn tool_statuses(&self) -> Vec<String> {
        let (received, _) = self.received_with("session/prompt");
        let mut statuses = BTreeMap::new();
        for update in received.iter().map(|message| &message["params"]["update"]) {
            if let (Some(call), Some(status)) = (update["toolCallId"].as_str(), update["status"].as_str()) {
                statuses.insert(call, status.to_owned());
            }
        }
        statuses.into_values().collect()
    }

    /// Checks every line that Roost has sent to any client here.
    #[track_caller]
    fn check_wire(&self) {
        wait_for("the connections to be over", || {
            let ended = self.instance.processes().iter().all(|command| !command.starts_with("tee "));
            ended.then_some(())
        });
        let files: Vec<_> = fs::read_dir(self.wire()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let received: Vec<_> =
            files.iter().filter(|file| file.extension().is_some_and(|end| end == "received")).collect();
        assert!(!received.is_empty());
        for file in received {
            let sent = fs::read_to_string(file.with_extension("sent")).unwrap();
            let hello: Value = serde_json::from_str(sent.lines().next().unwrap()).unwrap();
            let version = if hello["params"]["protocolVersion"] == 2 { 2 } else { 1 };
            check_connection(version, sent.lines(), fs::read_to_string(file).unwrap().lines());
        }
    }
}

/// Checks every line that Roost has sent in one connection, and that it has answered everything.
#[track_caller]
fn check_connection<'a>(version: u8, sent: impl Iterator<Item = &'a str>, received: impl Iterator<Item = &'a str>) {
    let mut checker = AcpChecker::new(version);
    sent.for_each(|line| checker.client_sent(line));
    for line in received {
        checker.agent_sent(line).unwrap_or_else(|problem| panic!("{problem}"));
    }
    assert_eq!(checker.unanswered(), Vec::<&str>::new());
}

/// An official SDK, driven by a script in `conformance/acp`.
#[derive(Clone, Copy, Debug)]
enum Sdk {
    TypeScript,
    Python,
}

impl Sdk {
    const ALL: [Self; 2] = [Self::TypeScript, Self::Python];

    fn command(self) -> Command {
        let (scripts, clients) =
            (Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/acp"), agents::acp_clients());
        match self {
            Self::TypeScript => {
                let mut command = Command::new(agents::program("node"));
                command.arg(scripts.join("client.mjs")).arg(clients.join("node_modules"));
                command
            }
            Self::Python => {
                let mut command = Command::new(clients.join("python/bin/python"));
                // The folder of the script is the checkout, which is nobody's to write into.
                command.arg("-B").arg(scripts.join("client.py"));
                command
            }
        }
    }
}

fn update_kind(message: &Value) -> Option<&str> {
    message["params"]["update"]["sessionUpdate"].as_str()
}

fn stops(report: &Value) -> Vec<&str> {
    report["turns"].as_array().unwrap().iter().map(|turn| turn["stop"].as_str().unwrap_or("error")).collect()
}

fn approved_calls_run(hosted: HostedAgent) {
    for sdk in Sdk::ALL {
        let setup = Setup::new(hosted);
        let report = setup.drive(sdk, &json!({ "prompts": [hosted.write], "answer": "allow_once" }));
        assert_eq!(stops(&report), ["end_turn"], "{sdk:?}: {report:#}");
        assert_eq!(report["permissions"].as_array().unwrap().len(), 1, "{sdk:?}: {report:#}");
        assert!(setup.out().exists(), "{sdk:?}: {report:#}");
        setup.check_wire();
        assert_eq!(setup.tool_statuses(), ["completed"], "{sdk:?}: {report:#}");
    }
}

fn denied_calls_do_not_run(hosted: HostedAgent) {
    for sdk in Sdk::ALL {
        let setup = Setup::new(hosted);
        let report = setup.drive(sdk, &json!({ "prompts": [hosted.write], "answer": "reject_once" }));
        assert_eq!(stops(&report), ["end_turn"], "{sdk:?}: {report:#}");
        assert!(!setup.out().exists(), "{sdk:?}: {report:#}");
        setup.check_wire();
        assert_eq!(setup.tool_statuses(), ["failed"], "{sdk:?}: {report:#}");
    }
}

fn a_cancelled_turn_ends_so_and_the_session_goes_on(hosted: HostedAgent) {
    for sdk in Sdk::ALL {
        let setup = Setup::new(hosted);
        let prompts = [hosted.slow, hosted.short];
        let report = setup.drive(sdk, &json!({ "prompts": prompts, "cancel_on": "agent_message_chunk" }));
        assert_eq!(stops(&report), ["cancelled", "end_turn"], "{sdk:?}: {report:#}");
        setup.check_wire();
    }
}

fn cancelling_instead_of_answering_ends_the_turn(hosted: HostedAgent) {
    for sdk in Sdk::ALL {
        let setup = Setup::new(hosted);
        let report = setup.drive(sdk, &json!({ "prompts": [hosted.write], "answer": "cancel" }));
        assert_eq!(stops(&report), ["cancelled"], "{sdk:?}: {report:#}");
        assert!(!setup.out().exists(), "{sdk:?}: {report:#}");
        setup.check_wire();
    }
}

/// One SDK begins the session, the other one loads it in another process.
fn a_session_is_loaded_with_what_was_said_and_goes_on(hosted: HostedAgent) {
    for (first, second) in [(Sdk::TypeScript, Sdk::Python), (Sdk::Python, Sdk::TypeScript)] {
        let setup = Setup::new(hosted);
        let begun = setup.drive(first, &json!({ "prompts": [hosted.short] }));
        let report = setup.drive(second, &json!({ "load": begun["session"], "prompts": [hosted.short] }));
        assert_eq!(stops(&report), ["end_turn"], "{second:?}: {report:#}");
        setup.check_wire();
        let (received, load) = setup.received_with("session/load");
        let is_update = |message: &&Value| message.get("method").is_some() || message["id"] != load;
        let replayed: Vec<_> = received.iter().take_while(is_update).filter_map(update_kind).collect();
        for kind in ["user_message_chunk", "agent_message_chunk"] {
            assert!(replayed.contains(&kind), "{second:?}: {kind} is not in {replayed:?}");
        }
    }
}

/// Reaps the ended children of this process, but for one.
fn reap_orphans(except: u32) {
    for entry in fs::read_dir("/proc").unwrap() {
        let Ok(pid) = entry.unwrap().file_name().to_string_lossy().parse::<u32>() else { continue };
        // A process may be gone by now.
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let is_ended_child = stat.rsplit(") ").next().unwrap().starts_with(&format!("Z {} ", std::process::id()));
        if is_ended_child && pid != except {
            let _ = rustix::process::waitpid(Pid::from_raw(pid.cast_signed()), WaitOptions::NOHANG);
        }
    }
}

fn acpx_approves_and_denies(hosted: HostedAgent) {
    let setup = Setup::new(hosted);
    // Its code for a turn in which everything that was asked was denied.
    setup.run_acpx(&["--deny-all", "--format", "json", "exec", hosted.write]).ended(5);
    assert!(!setup.out().exists());
    let done = setup.run_acpx(&["--approve-all", "--format", "json", "exec", hosted.write]).ended(0);
    assert!(done.stdout.contains("session/request_permission") && done.stdout.contains("end_turn"), "{}", done.stdout);
    assert!(setup.out().exists());
    setup.check_wire();
}

fn acpx_keeps_a_session_and_cancels_a_turn(hosted: HostedAgent) {
    let setup = Setup::new(hosted);
    setup.run_acpx(&["sessions", "new"]).ended(0);
    let done = setup.run_acpx(&["--format", "json", "prompt", hosted.short]).ended(0);
    assert!(done.stdout.contains("end_turn"), "{}", done.stdout);
    let mut slow = RunningCommand::new(&mut setup.acpx(&["--format", "json", "prompt", hosted.slow]));
    slow.lines_to("agent_message_chunk");
    setup.run_acpx(&["cancel"]).ended(0);
    slow.lines_to(r#""stopReason":"cancelled""#);
    slow.finish();
    let done = setup.run_acpx(&["--format", "json", "prompt", hosted.short]).ended(0);
    assert!(done.stdout.contains("end_turn"), "{}", done.stdout);
    setup.close_session();
    setup.check_wire();
}

#[test]
fn acpx_decides_by_its_policy() {
    let setup = Setup::new(DEMO);
    for (policy, code) in [
        (r#"{"autoDeny":["edit"],"defaultAction":"approve"}"#, 5),
        (r#"{"defaultAction":"deny"}"#, 5),
        (r#"{"autoApprove":["edit"],"defaultAction":"deny"}"#, 0),
    ] {
        setup.run_acpx(&["--permission-policy", policy, "--format", "quiet", "exec", DEMO.write]).ended(code);
        assert_eq!(setup.out().exists(), code == 0, "{policy}");
    }
    setup.check_wire();
}

#[test]
fn acpx_changes_the_mode_of_its_session() {
    let setup = Setup::new(DEMO);
    setup.run_acpx(&["sessions", "new"]).ended(0);
    for (change, writes) in [(["set-mode", "plan"].as_slice(), false), (&["set", "mode", "yolo"], true)] {
        setup.run_acpx(change).ended(0);
        setup.run_acpx(&["--deny-all", "--format", "quiet", "prompt", DEMO.write]).ended(0);
        assert_eq!(setup.out().exists(), writes, "{change:?}");
    }
    setup.close_session();
    setup.check_wire();
}

#[tokio::test]
async fn the_typescript_sdk_prompts_answers_loads_and_cancels_over_a_websocket() {
    use_typescript_sdk_over("ws", 1).await;
}

#[tokio::test]
async fn the_typescript_sdk_prompts_answers_loads_and_cancels_over_http() {
    use_typescript_sdk_over("http", 1).await;
}

#[tokio::test]
async fn the_typescript_sdk_speaks_version_2_over_a_websocket() {
    use_typescript_sdk_over("ws", 2).await;
}

#[tokio::test]
async fn the_typescript_sdk_speaks_version_2_over_http() {
    use_typescript_sdk_over("http", 2).await;
}

/// The draft of version 2 over stdio: approve, deny, cancel in both ways, and load.
fn the_typescript_sdk_speaks_version_2(hosted: HostedAgent) {
    let drive = |plan: Value| {
        let setup = Setup::new(hosted);
        let mut plan = plan;
        plan["version"] = json!(2);
        let report = setup.drive(Sdk::TypeScript, &plan);
        (setup, report)
    };
    for (answer, status, stop) in [
        ("allow_once", "completed", "end_turn"),
        ("reject_once", "failed", "end_turn"),
        ("cancel", "failed", "cancelled"),
    ] {
        let (setup, report) = drive(json!({ "prompts": [hosted.write], "answer": answer }));
        assert_eq!(stops(&report), [stop], "{answer}: {report:#}");
        assert_eq!(report["permissions"].as_array().unwrap().len(), 1, "{answer}: {report:#}");
        assert_eq!(setup.out().exists(), answer == "allow_once", "{answer}: {report:#}");
        setup.check_wire();
        assert_eq!(setup.tool_statuses(), [status], "{answer}: {report:#}");
    }
    let (setup, report) = drive(json!({ "prompts": [hosted.slow, hosted.short], "cancel_on": "agent_message_chunk" }));
    assert_eq!(stops(&report), ["cancelled", "end_turn"], "{report:#}");
    let plan = json!({ "version": 2, "load": report["session"], "prompts": [hosted.short] });
    let report = setup.drive(Sdk::TypeScript, &plan);
    assert_eq!(stops(&report), ["end_turn"], "{report:#}");
    setup.check_wire();
    let (received, _) = setup.received_with("session/resume");
    let prompts = received.iter().filter_map(update_kind).filter(|kind| *kind == "user_message_chunk").count();
    assert_eq!(prompts, 3, "{received:#?}");
}

/// The name of the transport is also the scheme of its address.
async fn use_typescript_sdk_over(transport: &str, version: u8) {
    let instance = RoostInstance::new();
    instance.configure("[server]\nacp_protocol_v2 = true\n");
    let door = remote::up(&instance);
    let authorization = format!("Bearer {}", remote::paired(&instance, door).await);
    let mut plan = json!({
        "transport": transport, "url": format!("{transport}://{door}/acp"), "headers": { "Authorization": authorization },
        "cwd": instance.work(), "prompts": [DEMO.slow, DEMO.write, DEMO.short], "version": version,
        "cancel_on": "agent_message_chunk",
    });
    // The report, and how many prompts the client was shown.
    let drive = |plan: &Value| -> (Value, usize) {
        let mut command = Sdk::TypeScript.command();
        let done = RunningCommand::new(instance.clear(&mut command).arg(plan.to_string())).finish().ended(0);
        let mut report: Value = serde_json::from_str(&done.stdout).unwrap();
        let wire = report["wire"].take();
        let lines = |side: &str| -> Vec<_> { wire[side].as_array().unwrap().iter().map(Value::to_string).collect() };
        let [sent, received] = ["sent", "received"].map(lines);
        check_connection(version, sent.iter().map(String::as_str), received.iter().map(String::as_str));
        let prompts = received.iter().filter(|line| line.contains("user_message_chunk")).count();
        (report, prompts)
    };
    let (begun, _) = drive(&plan);
    assert_eq!(begun["version"], version, "{begun:#}");
    assert_eq!(stops(&begun), ["cancelled", "end_turn", "end_turn"], "{begun:#}");
    assert!(instance.work().join("out.txt").exists(), "{begun:#}");
    plan["load"] = begun["session"].clone();
    plan["prompts"] = json!([DEMO.short]);
    plan["cancel_on"] = Value::Null;
    let (loaded, prompts) = drive(&plan);
    assert_eq!(stops(&loaded), ["end_turn"], "{loaded:#}");
    // The three of before; version 2 also repeats a prompt to whoever sent it.
    assert_eq!(prompts, if version == 2 { 4 } else { 3 }, "{loaded:#}");
}

/// What the session of an editor is for: somebody else answers, and the session stays when its editor is gone.
#[tokio::test]
async fn a_session_of_acpx_is_watched_and_approved_over_a_websocket_and_goes_on_without_acpx() {
    let setup = Setup::new(DEMO);
    let door = remote::up(&setup.instance);
    let token = remote::paired(&setup.instance, door).await;
    let mut acpx = setup.acpx(&["exec", DEMO.write]);
    // At a terminal it asks the user, who does not answer here.
    acpx.env("TERM", "dumb");
    let mut acpx = Terminal::open(80, acpx);
    acpx.shows("(y/N)");

    let mut phone = RemoteEditor::open(door, &token).await;
    let listed = phone.call("session/list", json!({})).await;
    let session = listed["result"]["sessions"][0]["sessionId"].as_str().unwrap().to_owned();
    let params = json!({ "sessionId": session, "cwd": setup.instance.work(), "mcpServers": [] });
    phone.call("session/load", params).await;
    let asked = phone.wait(|message| message["method"] == "session/request_permission").await;
    assert!(!setup.out().exists());
    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } });
    phone.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": outcome })).await;
    acpx.shows("I wrote `out.txt`.");
    assert!(setup.out().exists());

    acpx.kill();
    let prompt = phone.prompt(&session, "resume").await;
    assert_eq!(phone.reply(prompt).await["result"]["stopReason"], "end_turn");
    let remembered = "Prompts in this session: 2";
    phone
        .wait(|message| {
            let text = message["params"]["update"]["content"]["text"].as_str();
            text.is_some_and(|text| text.contains(remembered))
        })
        .await;
}

/// Every scenario with every client, for each of these runtimes.
macro_rules! with_every_client {
    ($($module:ident: $hosted:expr;)*) => { $(
        mod $module {
            use super::*;

            #[test]
            fn approved_calls_run() {
                super::approved_calls_run($hosted);
            }

            #[test]
            fn denied_calls_do_not_run() {
                super::denied_calls_do_not_run($hosted);
            }

            #[test]
            fn a_cancelled_turn_ends_so_and_the_session_goes_on() {
                super::a_cancelled_turn_ends_so_and_the_session_goes_on($hosted);
            }

            #[test]
            fn cancelling_instead_of_answering_ends_the_turn() {
                super::cancelling_instead_of_answering_ends_the_turn($hosted);
            }

            #[test]
            fn a_session_is_loaded_with_what_was_said_and_goes_on() {
                super::a_session_is_loaded_with_what_was_said_and_goes_on($hosted);
            }

            #[test]
            fn the_typescript_sdk_speaks_version_2() {
                super::the_typescript_sdk_speaks_version_2($hosted);
            }

            #[test]
            fn acpx_approves_and_denies() {
                super::acpx_approves_and_denies($hosted);
            }

            #[test]
            fn acpx_keeps_a_session_and_cancels_a_turn() {
                super::acpx_keeps_a_session_and_cancels_a_turn($hosted);
            }
        }
    )* };
}

with_every_client! {
    demo: DEMO;
    codex: CODEX;
    claude: CLAUDE;
}
