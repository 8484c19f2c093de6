//! Clarity projects through a real daemon, with a stand-in for the compiler: made by `clarity__bootstrap_app`, called, and
//! there again after the daemon was killed.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::clarity_compiler;

use super::program;
use crate::kit::{RoostInstance, RunningCommand, script, wait_for};

/// Nobody is there to answer, and a call that asks waits for a person.
const RULES: &str = "[[policy.rules]]\neffect = 'allow'\ntool = 'mcp__roost__clarity__bootstrap_app'\n\
    [[policy.rules]]\neffect = 'allow'\ntool = 'mcp__roost__clarity__ensure_compiler'\n\
    [[policy.rules]]\neffect = 'allow'\ntool = 'mcp__roost__dice__fn__add'\n";
/// The revision of MCP in which a call needs no handshake.
const REVISION: &str = "2026-07-28";

/// A daemon in the instance's working folder, below which projects are made.
fn clarityd(instance: &RoostInstance) -> RunningCommand {
    instance.configure(RULES);
    let mut command = program(instance, "clarityd", &["--port", "0"]);
    command.env("CLARITYC_BIN", clarity_compiler::write(&instance.home()));
    let mut daemon = RunningCommand::new(&mut command);
    daemon.lines_to("http://");
    daemon
}

/// An MCP client on the standard input and output of `roost gateway serve --stdio`.
struct StdioClient {
    gateway: RunningCommand,
    last_id: u64,
}

impl StdioClient {
    fn new(instance: &RoostInstance) -> Self {
        let mut command = instance.command(&["gateway", "serve", "--stdio"]);
        Self { gateway: RunningCommand::new(command.stdin(Stdio::piped())), last_id: 0 }
    }

    /// Calls a tool and does not wait for its result.
    fn send(&mut self, tool: &str, arguments: &Value) {
        self.last_id += 1;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let request = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": "tools/call", "params": params });
        self.gateway.write_line(&request.to_string());
    }

    /// The result of a tool.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.send(tool, &arguments);
        loop {
            let line = self.gateway.line().expect("the gateway answers");
            let mut answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == self.last_id {
                assert!(answer["error"].is_null(), "{tool}: {answer}");
                return answer["result"].take();
            }
        }
    }

    /// What a tool returns that succeeds.
    fn succeed(&mut self, tool: &str, arguments: Value) -> Value {
        let mut result = self.call(tool, arguments);
        assert!(result["isError"].is_null(), "{tool}: {result:#}");
        result["structuredContent"].take()
    }

    /// What a tool says that fails.
    fn fail(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result:#}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.collect();
    names.sort();
    names
}

#[test]
fn an_app_is_made_compiled_and_started_and_its_tool_called() {
    let instance = RoostInstance::new();
    let daemon = clarityd(&instance);
    let mut client = StdioClient::new(&instance);
    let app = json!({ "project_name": "my-dice", "module_name": "Dice" });
    let made = client.succeed("clarity__bootstrap_app", app.clone());
    assert_eq!(
        (&made["started"], &made["introspected"], &made["idempotent"], &made["service"]["lifecycle"]),
        (&true.into(), &true.into(), &false.into(), &"RUNNING".into()),
        "{made:#}"
    );
    let folder = instance.work().join("my-dice");
    assert_eq!(names(&folder), [".clarity", "README.md", "clarity.toml", "src", "tests"]);
    assert!(folder.join(".clarity/build/Dice.wasm").exists());
    // The parameters have the names of the source.
    assert_eq!(client.succeed("dice__fn__add", json!({ "a": 2, "b": 3 })), json!({ "result": 5 }));
    let again = client.succeed("clarity__bootstrap_app", app);
    assert!(made["service"]["serviceId"].is_string());
    assert_eq!((&again["idempotent"], &again["service"]["serviceId"]), (&true.into(), &made["service"]["serviceId"]));
    client.gateway.finish().ended(0);
    daemon.signal(Signal::TERM);
    daemon.finish().ended(0);
    instance.assert_nothing_left();
}

#[test]
fn an_app_that_does_not_compile_or_start_leaves_nothing() {
    let instance = RoostInstance::new();
    let daemon = clarityd(&instance);
    let mut client = StdioClient::new(&instance);
    for (module, timeout_seconds, says) in
        [("REFUSED", 120, "line 1: REFUSED"), ("TRAPS", 120, "unreachable"), ("HANGS", 1, "did not finish within 1s")]
    {
        let app = json!({ "project_name": "app", "module_name": module, "timeout_seconds": timeout_seconds });
        let said = client.fail("clarity__bootstrap_app", app);
        assert!(said.contains(says) && said.contains("everything is as it was"), "{said}");
        assert_eq!(names(&instance.work()), Vec::<String>::new(), "after {module}");
        let summary = client.succeed("runtime__status_summary", json!({}));
        assert_eq!(summary["total"], 0, "after {module}");
    }
    client.gateway.finish().ended(0);
    daemon.signal(Signal::TERM);
    daemon.finish().ended(0);
    instance.assert_nothing_left();
}

#[test]
fn an_app_whose_client_goes_away_is_undone_all_the_same() {
    let instance = RoostInstance::new();
    let daemon = clarityd(&instance);
    let mut client = StdioClient::new(&instance);
    let app = json!({ "project_name": "app", "module_name": "HANGS", "timeout_seconds": 3 });
    client.send("clarity__bootstrap_app", &app);
    wait_for("the project to be begun", || Some(()).filter(|()| !names(&instance.work()).is_empty()));
    client.gateway.signal(Signal::KILL);
    drop(client.gateway.finish());
    wait_for("everything to be as it was", || Some(()).filter(|()| names(&instance.work()).is_empty()));
    daemon.signal(Signal::TERM);
    daemon.finish().ended(0);
    instance.assert_nothing_left();
}

#[test]
fn an_app_that_cannot_be_made_again_leaves_its_service_as_somebody_made_it() {
    let instance = RoostInstance::new();
    let daemon = clarityd(&instance);
    let mut client = StdioClient::new(&instance);
    let app = json!({ "project_name": "my-dice", "module_name": "Dice" });
    let made = client.succeed("clarity__bootstrap_app", app.clone());
    let service = json!({ "service_id": made["service"]["serviceId"] });
    let mut manifest = client.succeed("runtime__get_service", service.clone())["service"]["manifest"].clone();
    manifest["metadata"]["displayName"] = "The dice".into();
    manifest["spec"]["origin"]["limits"] = json!({ "timeoutMs": 1234 });
    let file = instance.work().join("dice.json");
    fs::write(&file, manifest.to_string()).unwrap();
    instance.run(&["services", "apply", file.to_str().unwrap()]).ended(0);
    instance.run(&["services", "start", "dice"]).ended(0);
    // What the compiler makes from now on cannot be started.
    fs::copy(instance.home().join("clarityc.traps.wasm"), instance.home().join("clarityc.wasm")).unwrap();
    let said = client.fail("clarity__bootstrap_app", app);
    assert!(said.contains("everything is as it was"), "{said}");
    let after = client.succeed("runtime__get_service", service)["service"].clone();
    assert_eq!(
        (&after["manifest"]["metadata"]["displayName"], &after["manifest"]["spec"]["origin"]["limits"]["timeoutMs"]),
        (&"The dice".into(), &1234.into()),
        "{after:#}"
    );
    assert_eq!(after["runtime"]["lifecycle"], "RUNNING", "{after:#}");
    assert_eq!(client.succeed("dice__fn__add", json!({ "a": 2, "b": 3 })), json!({ "result": 5 }));
    client.gateway.finish().ended(0);
    daemon.signal(Signal::TERM);
    daemon.finish().ended(0);
    instance.assert_nothing_left();
}

#[test]
fn the_compiler_is_not_started_as_often_as_somebody_asks_for_it() {
    let instance = RoostInstance::new();
    let daemon = clarityd(&instance);
    script(&instance.home().join("clarityc"), "echo run >> \"$0.runs\"; echo clarityc 9");
    let mut client = StdioClient::new(&instance);
    for _ in 0..5 {
        let found = client.succeed("clarity__ensure_compiler", json!({ "timeout_seconds": 100_000 }));
        assert_eq!(found["version"], "clarityc 9", "{found}");
    }
    assert_eq!(fs::read_to_string(instance.home().join("clarityc.runs")).unwrap(), "run\n");
    client.gateway.finish().ended(0);
    daemon.signal(Signal::TERM);
    daemon.finish().ended(0);
    instance.assert_nothing_left();
}

#[test]
fn a_module_is_called_again_after_the_daemon_was_killed_and_is_not_compiled_again() {
    let instance = RoostInstance::new();
    instance.configure(RULES);
    let compiler = clarity_compiler::write(&instance.home()).display().to_string();
    fs::write(
        instance.work().join("dice.clarity"),
        "module Dice\nfunction add(a: Int64, b: Int64) -> Int64 { a + b }\n",
    )
    .unwrap();
    instance.run(&["up"]).ended(0);
    instance.run(&["services", "add", "dice", "--compiler-bin", &compiler]).ended(0);
    let add = || instance.run(&["services", "call", "dice", "fn__add", r#"{"a": 2, "b": 3}"#]).ended(0).stdout;
    assert_eq!(add().trim(), "5");
    let compiled = || compiled_files(&instance.state().join("wasm-cache"));
    let before = wait_for("the compiled module to be kept", || Some(compiled()).filter(|files| !files.is_empty()));
    instance.kill_daemon();
    instance.run(&["up"]).ended(0);
    // It starts with the daemon; who starts it again meanwhile waits for the same start.
    instance.run(&["services", "start", "dice"]).ended(0);
    assert_eq!(add().trim(), "5");
    assert_eq!(compiled(), before);
    instance.assert_nothing_left();
}

/// The compiled modules in a cache, with the time at which each was written.
fn compiled_files(folder: &Path) -> Vec<(String, std::time::SystemTime)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .flat_map(|path| match path.is_dir() {
            true => compiled_files(&path),
            // Beside each module the cache keeps when it was used.
            false if path.extension().is_some() => Vec::new(),
            false => vec![(path.display().to_string(), path.metadata().unwrap().modified().unwrap())],
        })
        .collect();
    files.sort();
    files
}

/// A daemon whose compiler is missing, with these variables about installs.
fn without_compiler(instance: &RoostInstance, variables: &[(&str, String)]) -> RunningCommand {
    instance.configure(RULES);
    let mut command = program(instance, "clarityd", &["--port", "0"]);
    command.env("CLARITYC_BIN", instance.home().join("clarityc"));
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let mut daemon = RunningCommand::new(&mut command);
    daemon.lines_to("http://");
    daemon
}

#[test]
fn the_compiler_is_installed_by_the_operators_command_only_if_that_is_enabled_and_listed() {
    let source = RoostInstance::new();
    fs::create_dir_all(source.home()).unwrap();
    let stand_in = clarity_compiler::write(&source.home());
    let installer = source.work().join("installer.sh");
    let install = json!({ "auto_install": true });
    for (enabled, is_listed) in [("", true), ("1", false), ("1", true)] {
        let instance = RoostInstance::new();
        let (from, to) = (stand_in.display(), instance.home().join("clarityc"));
        script(&installer, &format!("cp {from} $1 && cp {from}.wasm {from}.traps.wasm $(dirname $1) && echo copied"));
        let command = format!("{} {}", installer.display(), to.display());
        let listed = if is_listed { format!("npm,{}", installer.display()) } else { "npm".into() };
        let daemon = without_compiler(
            &instance,
            &[
                ("CLARITY_ENABLE_COMPILER_INSTALL", enabled.into()),
                ("CLARITY_COMPILER_INSTALL_CMD", command),
                ("CLARITY_COMPILER_INSTALL_ALLOWLIST", listed),
            ],
        );
        let mut client = StdioClient::new(&instance);
        let missing = client.succeed("clarity__ensure_compiler", json!({}));
        assert_eq!((&missing["available"], &missing["installed"]), (&false.into(), &false.into()), "{missing}");
        assert!(!to.exists(), "nothing is installed unasked");
        let done = client.succeed("clarity__ensure_compiler", install.clone());
        let may = enabled == "1" && is_listed;
        assert_eq!((&done["available"], &done["installed"]), (&may.into(), &may.into()), "{done}");
        assert_eq!(to.exists(), may);
        match may {
            true => assert_eq!(
                (&done["version"], &done["install"]["output"]),
                (&"clarityc stand-in".into(), &"copied".into())
            ),
            false => assert!(done["next_steps"][1].as_str().unwrap().contains("CLARITY_"), "{done}"),
        }
        client.gateway.finish();
        instance.run(&["down"]).ended(0);
        daemon.finish();
    }
}

#[test]
fn an_installer_that_hangs_is_ended_with_all_that_it_started() {
    let instance = RoostInstance::new();
    let installer = instance.work().join("installer.sh");
    script(&installer, "sleep 1000 & wait");
    let daemon = without_compiler(
        &instance,
        &[
            ("CLARITY_ENABLE_COMPILER_INSTALL", "1".into()),
            ("CLARITY_COMPILER_INSTALL_CMD", installer.display().to_string()),
            ("CLARITY_COMPILER_INSTALL_ALLOWLIST", installer.display().to_string()),
        ],
    );
    let mut client = StdioClient::new(&instance);
    let done = client.succeed("clarity__ensure_compiler", json!({ "auto_install": true, "timeout_seconds": 1 }));
    assert!(done["install"]["error"].as_str().unwrap().contains("was ended"), "{done}");
    assert_eq!((&done["available"], &done["installed"]), (&false.into(), &false.into()));
    client.gateway.finish();
    instance.assert_nothing_left();
    daemon.finish();
}
