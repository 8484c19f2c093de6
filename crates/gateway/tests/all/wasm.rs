//! Modules as services: declared by a manifest, started, called and changed, as the gateway sees them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use roost_gateway::client_profile::ClientProfile;
use roost_gateway::endpoint::Backend;
use roost_gateway::era::Era;
use roost_gateway::principal::Principal;
use roost_gateway::services::{ServiceOptions, ServiceView, Services, ToolApproval};
use roost_gateway::upstream::{UpstreamRequest, WasmSettings};
use roost_log::{Log, LogOptions, SqliteLog, StateLock};
use roost_model::ids::ServiceId;
use roost_model::service::Lifecycle;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use testkit::soon;

use crate::support;
use crate::wasm_modules::MODULES;

const MATH: &str = r#"(module
    (func (export "add") (param i64 i64) (result i64) (i64.add (local.get 0) (local.get 1)))
    (func (export "divide") (param i32 i32) (result i32) (i32.div_s (local.get 0) (local.get 1)))
    (func (export "forever") (loop (br 0))))"#;

/// Services over a real connector, in a folder of their own.
pub(crate) struct Stage {
    services: Arc<Services>,
    folder: TempDir,
    _connector: support::Gateway,
}

impl Stage {
    async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut WasmSettings)) -> Self {
        // A file that was written anew is found by the next probe.
        Self::probing_each(Duration::from_millis(50), change).await
    }

    async fn probing_each(interval: Duration, change: impl FnOnce(&mut WasmSettings)) -> Self {
        let folder = TempDir::new().unwrap();
        let lock = StateLock::acquire(folder.path(), "test").unwrap();
        let log: Arc<dyn Log> = Arc::new(SqliteLog::open(&lock, LogOptions::default()).unwrap());
        let connector = support::Gateway::with_wasm(change);
        let options = ServiceOptions { probe_interval: interval, ..ServiceOptions::default() };
        let services = Services::start(log, connector.connector.clone(), options, "1.2.3").await.unwrap();
        Self { services: Arc::new(services), folder, _connector: connector }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a module and returns its manifest.
    pub(crate) fn module(&self, name: &str, wat: &str) -> Value {
        let file = self.path(&format!("{name}.wasm"));
        std::fs::write(&file, wat::parse_str(wat).unwrap()).unwrap();
        manifest(name, &file)
    }

    /// Applies a manifest and starts its service.
    pub(crate) async fn run(&self, manifest: &Value) -> Arc<ServiceView> {
        let id = self.services.apply(manifest).await.unwrap().id.clone();
        soon("the service settles", self.services.start_service(&id)).await.unwrap()
    }

    pub(crate) async fn call(&self, id: &ServiceId, tool: &str, arguments: Value) -> Value {
        self.request(id, "tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    async fn request(&self, id: &ServiceId, method: &str, params: Value) -> Value {
        let client = ClientProfile { era: Era::Modern, capabilities: Map::new(), info: None };
        let upstream = self.services.upstream(id, &Principal::Local, &client).await.unwrap();
        let params = support::raw(&params);
        let request = UpstreamRequest {
            method,
            params: Some(&params),
            client: &client,
            patience: support::PATIENCE,
            interjections: None,
        };
        let answer = soon("the module answers", upstream.call(request)).await.unwrap();
        serde_json::from_str(answer.unwrap_or_else(|error| error).get()).unwrap()
    }

    fn tools(&self, id: &ServiceId) -> Vec<String> {
        let view = self.services.get(id).unwrap();
        view.interface.as_ref().unwrap().tools.iter().map(|tool| tool.key.clone()).collect()
    }

    fn log(&self, id: &ServiceId) -> String {
        self.services.log(id).unwrap().read(0, 1000).lines.join("\n")
    }
}

fn manifest(name: &str, wasm_path: &Path) -> Value {
    json!({
        "apiVersion": "clarity.runtime/v1", "kind": "MCPService",
        "metadata": { "sourceFile": wasm_path, "module": name, "serviceType": "mcp" },
        "spec": {
            "origin": { "type": "local_wasm", "wasmPath": wasm_path, "entry": "mcp_main" },
            "enabled": true, "autostart": true, "restartPolicy": { "mode": "never" }, "policyRef": "default",
        },
    })
}

fn built(name: &str) -> PathBuf {
    let caches = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = caches.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cache"));
    let file = MODULES.folder(&caches.join("roost")).join(name);
    assert!(file.is_file(), "{} is missing: run `cargo xtask fixtures`", file.display());
    file
}

pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[tokio::test]
async fn a_module_becomes_tools_with_schemas_and_structured_results() {
    let stage = Stage::start().await;
    let view = stage.run(&stage.module("math", MATH)).await;
    assert_eq!(view.life.lifecycle, Lifecycle::Running, "{:?}", view.life.last_error);
    let expected = ["health_check", "describe_service", "fn__add", "fn__divide", "fn__forever"];
    assert_eq!(stage.tools(&view.id), expected);
    let added = stage.call(&view.id, "fn__add", json!({ "args": [2, 3] })).await;
    assert_eq!((&added["structuredContent"]["result"], text(&added)), (&json!(5), "5"));
    assert_eq!(stage.call(&view.id, "health_check", json!({})).await["structuredContent"]["status"], "ok");
    let tools = &view.interface.as_ref().unwrap().tools;
    let divide: Value = serde_json::from_str(tools[3].definition.get()).unwrap();
    assert_eq!(divide["outputSchema"]["properties"]["result"]["type"], "integer", "{divide}");
    assert!(stage.log(&view.id).contains("compiling"), "{}", stage.log(&view.id));
}

#[tokio::test]
async fn modules_of_real_compilers_run() {
    let stage = Stage::start().await;
    for (name, tool, arguments, expected) in [
        ("numbers.wasm", "fn__fib", json!({ "args": [10] }), json!("55")),
        ("words.wasm", "fn__vowels", json!({ "text": "An old OAK" }), json!(4)),
        ("divisors.wasm", "fn__gcd", json!({ "args": [48, 36] }), json!(12)),
    ] {
        let view = stage.run(&manifest(name, &built(name))).await;
        assert_eq!(view.life.lifecycle, Lifecycle::Running, "{name}: {:?}", view.life.last_error);
        let result = stage.call(&view.id, tool, arguments).await;
        let value = &result["structuredContent"]["result"];
        // A 64-bit number within 2^53 may be a number.
        assert_eq!(value.to_string().trim_matches('"'), expected.to_string().trim_matches('"'), "{name}: {result}");
    }
}

#[tokio::test]
async fn a_trap_is_an_error_of_the_tool_and_says_nothing_against_the_service() {
    let stage = Stage::start().await;
    let view = stage.run(&stage.module("math", MATH)).await;
    for (arguments, says) in [
        (json!({ "args": [1, 0] }), "divide failed: wasm trap: integer divide by zero"),
        (json!({ "args": ["x", 0] }), "invalid arguments for fn__divide"),
        (json!({ "args": [1] }), "invalid arguments for fn__divide"),
    ] {
        let failed = stage.call(&view.id, "fn__divide", arguments).await;
        assert_eq!(failed["isError"], true, "{failed}");
        assert!(text(&failed).contains(says), "{failed}");
    }
    assert!(stage.log(&view.id).contains("divide failed"), "the author finds it in the log");
    let unknown = stage.call(&view.id, "fn__nothing", json!({})).await;
    assert_eq!(unknown["code"], -32602, "{unknown}");
    assert_eq!(stage.services.get(&view.id).unwrap().life.lifecycle, Lifecycle::Running);
}

#[tokio::test]
async fn an_endless_loop_ends_at_its_limit_while_another_service_answers() {
    let stage = Stage::start().await;
    let mut busy = stage.module("busy", MATH);
    busy["spec"]["origin"]["limits"] = json!({ "timeoutMs": 1500, "fuel": u64::MAX >> 1 });
    let (busy, calm) = (stage.run(&busy).await.id.clone(), stage.run(&stage.module("calm", MATH)).await.id.clone());
    let looping = stage.call(&busy, "fn__forever", json!({}));
    let answering = async {
        let mut answered = 0;
        loop {
            let added = stage.call(&calm, "fn__add", json!({ "args": [answered, 1] })).await;
            answered += 1;
            assert_eq!(added["structuredContent"]["result"], answered);
        }
    };
    let ended = tokio::select! {
        biased;
        ended = looping => ended,
        () = answering => unreachable!(),
    };
    assert!(text(&ended).contains("it ran for longer than 1.5s"), "{ended}");
    assert_eq!(stage.call(&calm, "fn__add", json!({ "args": [1, 1] })).await["structuredContent"]["result"], 2);
}

#[tokio::test]
async fn what_is_wrong_with_a_module_is_said_when_it_is_started() {
    let stage = Stage::start().await;
    let whole = wat::parse_str(MATH).unwrap();
    let wants_memory = r#"(module (memory (export "memory") 60000))"#;
    for (name, bytes, says) in [
        ("empty", Vec::new(), "is no wasm binary"),
        ("text", b"hello".to_vec(), "is no wasm binary"),
        ("cut", whole[..whole.len() / 2].to_vec(), "cannot be compiled"),
        ("greedy", wat::parse_str(wants_memory).unwrap(), "memory"),
    ] {
        let file = stage.path(&format!("{name}.wasm"));
        std::fs::write(&file, bytes).unwrap();
        let view = stage.run(&manifest(name, &file)).await;
        assert_eq!(view.life.lifecycle, Lifecycle::Crashed, "{name}");
        let error = view.life.last_error.clone().unwrap();
        assert!(error.contains(says), "{name}: {error}");
    }
    let missing = stage.run(&manifest("none", &stage.path("none.wasm"))).await;
    assert!(missing.life.last_error.as_ref().unwrap().contains("cannot read"), "{:?}", missing.life.last_error);
}

#[tokio::test]
async fn an_artifact_must_have_the_hash_of_its_manifest() {
    let stage = Stage::start().await;
    let mut declared = stage.module("math", MATH);
    declared["metadata"]["artifactSha256"] = "0".repeat(64).into();
    let refused = stage.run(&declared).await;
    assert!(refused.life.last_error.as_ref().unwrap().contains("SHA-256"), "{:?}", refused.life.last_error);
    let hash = Sha256::digest(std::fs::read(stage.path("math.wasm")).unwrap());
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    declared["metadata"]["artifactSha256"] = hex.into();
    assert_eq!(stage.run(&declared).await.life.lifecycle, Lifecycle::Running);
}

#[tokio::test]
async fn an_artifact_that_is_built_again_is_noticed_and_its_new_tools_are_listed() {
    let stage = Stage::start().await;
    let id = stage.run(&stage.module("math", MATH)).await.id.clone();
    let mut changes = stage.services.follow(&id).unwrap();
    let more = r#"(module
        (func (export "add") (param i64 i64) (result i64) (i64.add (local.get 0) (local.get 1)))
        (func (export "subtract") (param i64 i64) (result i64) (i64.sub (local.get 0) (local.get 1))))"#;
    stage.module("math", more);
    let has_it = |view: &Arc<ServiceView>| {
        view.interface.as_ref().is_some_and(|interface| interface.tools.iter().any(|tool| tool.key == "fn__subtract"))
    };
    soon("the new tools are listed", changes.wait_for(has_it)).await.unwrap();
    assert_eq!(stage.tools(&id), ["health_check", "describe_service", "fn__add", "fn__subtract"]);
    let result = stage.call(&id, "fn__subtract", json!({ "args": [5, 2] })).await;
    assert_eq!(result["structuredContent"]["result"], 3);
    // A new build that cannot be used leaves the old one running.
    std::fs::write(stage.path("math.wasm"), "broken").unwrap();
    let failed = soon("it is listed", stage.services.introspect(&id)).await.unwrap_err();
    assert!(failed.to_string().contains("no wasm binary"), "{failed}");
    assert_eq!(stage.call(&id, "fn__subtract", json!({ "args": [5, 2] })).await["structuredContent"]["result"], 3);
}

/// `ask_secret()` returns the secret `TOKEN`, or an empty text, in the conventions of Clarity.
const SECRETIVE: &str = r#"(module
    (import "env" "get_secret" (func $get (param i32) (result i32)))
    (memory (export "memory") 1)
    (global (export "__heap_base") i32 (i32.const 4096))
    (data (i32.const 1024) "\05\00\00\00TOKEN")
    (data (i32.const 1040) "\00\00\00\00")
    (func (export "ask_secret") (result i32) (local $option i32)
        (local.set $option (call $get (i32.const 1024)))
        (if (result i32) (i32.eqz (i32.load (local.get $option)))
            (then (i32.load offset=8 (local.get $option)))
            (else (i32.const 1040)))))"#;

#[tokio::test]
async fn a_secret_is_read_only_if_the_manifest_and_the_policy_name_it() {
    for (manifest_names, policy_names, expected) in
        [(true, true, "from the manifest"), (true, false, ""), (false, true, "")]
    {
        let stage = Stage::with(|wasm| {
            if policy_names {
                wasm.policy.secrets = vec!["TOKEN".into()];
            }
        })
        .await;
        std::fs::write(stage.path("m.clarity"), "module M\n\nfunction ask_secret() -> String {\n  \"\"\n}\n").unwrap();
        let mut declared = stage.module("m", SECRETIVE);
        declared["metadata"]["sourceFile"] = json!(stage.path("m.clarity"));
        declared["spec"]["origin"]["env"] = json!([{ "name": "TOKEN", "value": "from the manifest" }]);
        if manifest_names {
            declared["spec"]["origin"]["capabilities"] = json!({ "secrets": ["TOKEN"] });
        }
        let view = stage.run(&declared).await;
        assert_eq!(view.life.lifecycle, Lifecycle::Running, "{:?}", view.life.last_error);
        let result = stage.call(&view.id, "fn__ask_secret", json!({})).await;
        assert_eq!(result["structuredContent"]["result"], expected, "{result}");
        let is_refused = stage.log(&view.id).contains("may not read the secret \"TOKEN\"");
        assert_eq!(is_refused, expected.is_empty(), "{}", stage.log(&view.id));
    }
}

#[tokio::test]
async fn a_new_build_is_held_back_until_it_is_approved_if_the_module_was_granted_anything() {
    for is_granted in [true, false] {
        let stage =
            Stage::probing_each(Duration::from_hours(1), |wasm| wasm.policy.secrets = vec!["TOKEN".into()]).await;
        std::fs::write(stage.path("m.clarity"), "module M\n\nfunction ask_secret() -> String {\n  \"\"\n}\n").unwrap();
        let declare = |wat: &str| {
            let mut declared = stage.module("m", wat);
            declared["metadata"]["sourceFile"] = json!(stage.path("m.clarity"));
            declared["spec"]["origin"]["env"] = json!([{ "name": "TOKEN", "value": "first, and last" }]);
            if is_granted {
                declared["spec"]["origin"]["capabilities"] = json!({ "secrets": ["TOKEN"] });
            }
            declared
        };
        let id = stage.run(&declare(SECRETIVE)).await.id.clone();
        let offered = || stage.services.get(&id).unwrap().tools.iter().filter(|tool| tool.is_offered()).count();
        assert_eq!(offered(), 3);
        // The same tools, and code that asks for another name.
        stage.module("m", &SECRETIVE.replace("TOKEN", "OTHER"));
        let listed = stage.request(&id, "tools/list", json!({})).await;
        assert_eq!(listed["tools"][2].get("_meta").is_some(), is_granted, "{listed}");
        let first = stage.call(&id, "fn__ask_secret", json!({})).await;
        soon("it is listed", stage.services.introspect(&id)).await.unwrap();
        if is_granted {
            assert_eq!(first["structuredContent"]["result"], "first, and last", "calls use what was reviewed");
            assert_eq!(offered(), 0);
            let log = stage.log(&id);
            let says = "the tool \"fn__ask_secret\" was built again since it was approved and is held back until";
            assert!(log.contains(says), "{log}");
            let approval = ToolApproval { tools: Vec::new(), revision: None, by: "somebody".into() };
            stage.services.approve(&id, approval).await.unwrap();
        }
        assert_eq!(offered(), 3);
        let second = stage.call(&id, "fn__ask_secret", json!({})).await;
        assert_eq!(second["structuredContent"]["result"], "", "the new code");
    }
}

#[tokio::test]
async fn imports_that_are_not_offered_are_named_when_the_manifest_is_applied() {
    let stage = Stage::start().await;
    let module = r#"(module (import "env" "a2a_submit" (func)) (import "wasi_snapshot_preview1" "fd_write" (func)))"#;
    let manifest = stage.module("submits", module);
    let refused = stage.services.apply(&manifest).await.unwrap_err().to_string();
    assert!(refused.starts_with("invalid manifest: /spec/origin: "), "{refused}");
    assert!(refused.contains("env.a2a_submit, wasi_snapshot_preview1.fd_write"), "{refused}");
    assert!(stage.services.list().is_empty(), "nothing is declared");
    // What is not built yet can be declared all the same, and is looked at when it is started.
    let (file, away) = (stage.path("submits.wasm"), stage.path("away.wasm"));
    std::fs::rename(&file, &away).unwrap();
    let id = stage.services.apply(&manifest).await.unwrap().id.clone();
    std::fs::rename(&away, &file).unwrap();
    let view = soon("the service settles", stage.services.start_service(&id)).await.unwrap();
    assert!(view.life.last_error.as_ref().unwrap().contains("env.a2a_submit"), "{:?}", view.life.last_error);
}
