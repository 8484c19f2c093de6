//! No ambient authority: a module can do what its manifest and the policy name, and nothing else.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roost_model::secret::Secret;
use roost_model::service::wasm::{FolderAccess, FolderGrant, WasmCapabilities, WasmLimits};
use roost_wasm::effects::{EffectError, GrantedFile, HttpRequest, HttpResponse, ModelRequest};
use roost_wasm::outcome::FailureKind;
use roost_wasm::tool::ToolAnnotations;
use roost_wasm::{Effects, WasmService};
use serde_json::{Value, json};

use crate::kit::{Stage, failure, result};

/// Effects that write down what they are asked and answer with it.
#[derive(Clone, Default)]
struct Recorded(Arc<Mutex<Vec<String>>>);

impl Recorded {
    fn note(&self, text: String) -> String {
        self.0.lock().push(text.clone());
        text
    }
}

#[async_trait]
impl Effects for Recorded {
    async fn call_model(&self, request: ModelRequest) -> Result<String, EffectError> {
        Ok(self.note(format!("{} {:?} {}", request.model, request.system, request.prompt)))
    }

    async fn list_models(&self) -> Vec<String> {
        vec!["small".into(), "other".into()]
    }

    async fn http(&self, request: HttpRequest) -> Result<HttpResponse, EffectError> {
        let body = self.note(format!("{} {} {:?} {}", request.method, request.url, request.headers, request.body));
        Ok(HttpResponse { status: 200, headers: vec![("x".into(), "y".into())], body })
    }

    async fn read_file(&self, file: GrantedFile) -> Result<Option<String>, EffectError> {
        Ok(Some(self.note(format!("read {}", file.relative.display()))))
    }

    async fn write_file(&self, file: GrantedFile, text: String) -> Result<(), EffectError> {
        self.note(format!("write {} {text}", file.relative.display()));
        Ok(())
    }

    async fn list_folder(&self, _: GrantedFile) -> Result<Vec<String>, EffectError> {
        Ok(vec!["a".into(), "b".into()])
    }

    async fn file_exists(&self, _: GrantedFile) -> Result<bool, EffectError> {
        Ok(true)
    }

    async fn remove_file(&self, file: GrantedFile) -> Result<(), EffectError> {
        self.note(format!("remove {}", file.relative.display()));
        Ok(())
    }

    async fn make_folder(&self, file: GrantedFile) -> Result<(), EffectError> {
        self.note(format!("make {}", file.relative.display()));
        Ok(())
    }

    async fn secret(&self, name: &str) -> Option<Secret> {
        (name == "KEY").then(|| "s3cret".into())
    }

    async fn ask(&self, key: &str, question: &str) -> Result<Option<String>, EffectError> {
        self.note(format!("ask {key} {question}"));
        Ok((key != "nobody").then(|| "yes".into()))
    }

    async fn list_tools(&self) -> Result<Vec<Value>, EffectError> {
        Ok(vec![json!({ "name": "docs__search" }), json!({ "name": "shell__run" })])
    }

    async fn call_tool(&self, tool: &str, arguments: &str) -> Result<String, EffectError> {
        Ok(self.note(format!("{tool} {arguments}")))
    }
}

const SOURCE: &str = "
    function call_model(m: String, p: String) -> Result<String, String> { x }
    function call_model_system(m: String, s: String, p: String) -> Result<String, String> { x }
    function list_models() -> List<String> { x }
    function http_get(u: String) -> Result<String, String> { x }
    function http_post(u: String, b: String) -> Result<String, String> { x }
    function http_request(m: String, u: String, h: String, b: String) -> Result<String, String> { x }
    function http_request_full(m: String, u: String, h: String, b: String) -> Result<String, String> { x }
    function read_file(p: String) -> String { x }
    function write_file(p: String, t: String) -> Unit { x }
    function list_dir(p: String) -> List<String> { x }
    function file_exists(p: String) -> Bool { x }
    function remove_file(p: String) -> Unit { x }
    function make_dir(p: String) -> Unit { x }
    function get_secret(n: String) -> Option<String> { x }
    function hitl_ask(k: String, q: String) -> String { x }
    function mcp_connect(u: String) -> Result<Int64, String> { x }
    function tools() -> Result<String, String> { x }
    function tool(t: String, a: String) -> Result<String, String> { x }
    function mcp_call_tool(s: Int64, t: String, a: String) -> Result<String, String> { x }
    function now() -> Int64 { x }
    function random_int(a: Int64, b: Int64) -> Int64 { x }
    function random_float() -> Float64 { x }
    function sleep(m: Int64) -> Unit { x }";

/// A module with one exported function for each effect, which calls it.
fn module() -> String {
    let forwarded = [
        ("call_model", "i32 i32", "i32"),
        ("call_model_system", "i32 i32 i32", "i32"),
        ("list_models", "", "i32"),
        ("http_get", "i32", "i32"),
        ("http_post", "i32 i32", "i32"),
        ("http_request", "i32 i32 i32 i32", "i32"),
        ("http_request_full", "i32 i32 i32 i32", "i32"),
        ("read_file", "i32", "i32"),
        ("write_file", "i32 i32", ""),
        ("list_dir", "i32", "i32"),
        ("file_exists", "i32", "i32"),
        ("remove_file", "i32", ""),
        ("make_dir", "i32", ""),
        ("get_secret", "i32", "i32"),
        ("hitl_ask", "i32 i32", "i32"),
        ("mcp_connect", "i32", "i32"),
        ("mcp_list_tools", "i64", "i32"),
        ("mcp_call_tool", "i64 i32 i32", "i32"),
        ("now", "", "i64"),
        ("random_int", "i64 i64", "i64"),
        ("random_float", "", "f64"),
        ("sleep", "i64", ""),
    ];
    let (mut imports, mut functions) = (String::new(), String::new());
    for (name, parameters, returned) in forwarded {
        let passed: String = (0..parameters.split_whitespace().count()).map(|at| format!("local.get {at} ")).collect();
        imports += &format!("(import \"env\" \"{name}\" (func ${name} (param {parameters}) (result {returned})))");
        functions +=
            &format!("(func (export \"{name}\") (param {parameters}) (result {returned}) {passed} call ${name})");
    }
    format!(
        "(module {imports} (memory (export \"memory\") 1) (global (export \"__heap_base\") i32 (i32.const 64)) {functions}
        (func (export \"tools\") (result i32) (drop (call $mcp_connect (i32.const 0))) (call $mcp_list_tools (i64.const 1)))
        (func (export \"tool\") (param i32 i32) (result i32)
            (drop (call $mcp_connect (i32.const 0))) (call $mcp_call_tool (i64.const 1) (local.get 0) (local.get 1))))"
    )
}

fn wanted() -> WasmCapabilities {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    WasmCapabilities {
        models: texts(&["small"]),
        http_hosts: texts(&["api.example.com"]),
        folders: vec![FolderGrant { path: "/w".into(), access: FolderAccess::Write }],
        secrets: texts(&["KEY", "MISSING"]),
        tools: texts(&["docs__*"]),
        ask: true,
        clock: true,
        random: true,
    }
}

async fn load(stage: &Stage, manifest: WasmCapabilities, policy: WasmCapabilities) -> WasmService {
    let mut declaration = stage.declare(module());
    let source = stage.path("main.clarity");
    std::fs::write(&source, SOURCE).unwrap();
    declaration.source_file = Some(source);
    (declaration.capabilities, declaration.policy) = (manifest, policy);
    stage.try_load(&declaration).await.unwrap()
}

/// Every effect with arguments that the full grants allow.
fn every_effect() -> Vec<(&'static str, Value)> {
    vec![
        ("fn__call_model", json!(["small", "hi"])),
        ("fn__call_model_system", json!(["small", "be brief", "hi"])),
        ("fn__http_get", json!(["https://api.example.com/a"])),
        ("fn__http_post", json!(["https://api.example.com/a", "body"])),
        ("fn__http_request", json!(["put", "https://api.example.com/a", "{\"k\":\"v\"}", "body"])),
        ("fn__http_request_full", json!(["get", "https://api.example.com/a", "", ""])),
        ("fn__read_file", json!(["/w/a"])),
        ("fn__write_file", json!(["/w/a", "text"])),
        ("fn__list_dir", json!(["/w"])),
        ("fn__file_exists", json!(["/w/a"])),
        ("fn__remove_file", json!(["/w/a"])),
        ("fn__make_dir", json!(["/w/b/c"])),
        ("fn__hitl_ask", json!(["k", "sure?"])),
        ("fn__tool", json!(["docs__search", "{}"])),
        ("fn__now", json!([])),
        ("fn__random_int", json!([1, 6])),
        ("fn__random_float", json!([])),
        ("fn__sleep", json!([0])),
    ]
}

#[tokio::test]
async fn every_effect_works_when_manifest_and_policy_name_it() {
    let effects = Recorded::default();
    let stage = Stage::with_effects(effects.clone());
    let service = load(&stage, wanted(), wanted()).await;
    for (tool, arguments) in every_effect() {
        result(&service, tool, json!({ "args": arguments })).await;
    }
    assert_eq!(
        *effects.0.lock(),
        [
            "small None hi",
            "small Some(\"be brief\") hi",
            "GET https://api.example.com/a [] ",
            "POST https://api.example.com/a [(\"content-type\", \"text/plain\")] body",
            "PUT https://api.example.com/a [(\"k\", \"v\")] body",
            "GET https://api.example.com/a [] ",
            "read a",
            "write a text",
            "remove a",
            "make b/c",
            "ask k sure?",
            "docs__search {}",
        ]
    );
    let tool = service.tools().iter().find(|tool| tool.name == "fn__now").unwrap();
    assert_eq!(tool.annotations, ToolAnnotations::EFFECTFUL);
}

#[tokio::test]
async fn no_effect_happens_unless_both_name_it() {
    for (manifest, policy, missing) in [
        (WasmCapabilities::default(), wanted(), "its manifest does not name it under capabilities"),
        (wanted(), WasmCapabilities::default(), "the policy of this server does not allow it"),
    ] {
        let effects = Recorded::default();
        let stage = Stage::with_effects(effects.clone());
        let service = load(&stage, manifest, policy).await;
        for (tool, arguments) in every_effect() {
            let failed = failure(&service, tool, json!({ "args": arguments })).await;
            // A module that connected to nothing has no session to call tools in.
            let expected = if tool == "fn__tool" { "Unknown MCP session: 1" } else { missing };
            assert!(failed.message.contains(expected), "{tool}: {failed}");
        }
        assert_eq!(result(&service, "fn__get_secret", json!({ "n": "KEY" })).await, json!(null));
        assert_eq!(result(&service, "fn__list_models", json!({})).await, json!([]));
        assert_eq!(*effects.0.lock(), [] as [&str; 0]);
        assert!(stage.log_texts().iter().any(|line| line.contains(missing)), "{:?}", stage.log_texts());
    }
}

#[tokio::test]
async fn what_is_granted_is_no_more_than_what_is_named() {
    let effects = Recorded::default();
    let stage = Stage::with_effects(effects.clone());
    let service = load(&stage, wanted(), wanted()).await;
    for (tool, arguments) in [
        ("fn__call_model", json!(["large", "hi"])),
        ("fn__http_get", json!(["https://evil.example.com/"])),
        ("fn__http_get", json!(["https://api.example.com.evil.org/"])),
        ("fn__http_get", json!(["file:///etc/passwd"])),
        ("fn__read_file", json!(["/etc/passwd"])),
        ("fn__read_file", json!(["/w/../etc/passwd"])),
        ("fn__read_file", json!(["../etc/passwd"])),
        ("fn__write_file", json!(["/wide/a", "text"])),
        ("fn__tool", json!(["shell__run", "{}"])),
        ("fn__mcp_call_tool", json!([9, "docs__search", "{}"])),
    ] {
        let failed = failure(&service, tool, json!({ "args": arguments })).await;
        assert!(matches!(failed.kind, FailureKind::Denied | FailureKind::Returned), "{tool} {arguments}: {failed}");
    }
    assert_eq!(result(&service, "fn__tools", json!({})).await, json!("[{\"name\":\"docs__search\"}]"));
    assert_eq!(result(&service, "fn__list_models", json!({})).await, json!(["small"]));
    assert_eq!(result(&service, "fn__get_secret", json!({ "n": "KEY" })).await, json!("s3cret"));
    assert_eq!(result(&service, "fn__get_secret", json!({ "n": "MISSING" })).await, json!(null));
    assert_eq!(result(&service, "fn__get_secret", json!({ "n": "HOME" })).await, json!(null));
    assert_eq!(*effects.0.lock(), [] as [&str; 0]);
}

#[tokio::test]
async fn nobody_who_answers_is_told_as_the_language_expects() {
    let stage = Stage::with_effects(Recorded::default());
    let service = load(&stage, wanted(), wanted()).await;
    let asked = json!({ "k": "nobody", "q": "sure?" });
    assert_eq!(result(&service, "fn__hitl_ask", asked).await, json!("[hitl_ask timeout]"));
}

/// A person who takes longer than a call may.
struct Slow;

#[async_trait]
impl Effects for Slow {
    async fn ask(&self, _: &str, _: &str) -> Result<Option<String>, EffectError> {
        tokio::time::sleep(Duration::from_millis(200)).await;
        Ok(Some("at last".into()))
    }
}

#[tokio::test]
async fn the_time_that_a_person_takes_does_not_count_and_sleeping_does() {
    let stage = Stage::with_effects(Slow);
    let mut declaration = stage.declare(module());
    let source = stage.path("main.clarity");
    std::fs::write(&source, SOURCE).unwrap();
    declaration.source_file = Some(source);
    (declaration.capabilities, declaration.policy) = (wanted(), wanted());
    declaration.limits = WasmLimits { timeout_ms: Some(100), ..WasmLimits::default() };
    let service = stage.try_load(&declaration).await.unwrap();
    assert_eq!(result(&service, "fn__hitl_ask", json!({ "k": "k", "q": "q" })).await, json!("at last"));
    let failed = failure(&service, "fn__sleep", json!({ "m": 60_000 })).await;
    assert_eq!(failed.kind, FailureKind::Timeout);
}

/// A component that reads a part of the system and returns a number of it.
fn asking(import: &str, signature: &str, core: &str, call: &str) -> String {
    format!(
        r#"(component
        (import "{import}" (instance $system {signature}))
        (core module $libc (memory (export "memory") 1)
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024))
        (core instance $libc (instantiate $libc))
        (alias export $system "ask" (func $ask'))
        (core func $ask (canon lower (func $ask') (memory $libc "memory") (realloc (func $libc "realloc"))))
        (core module $m
            (import "" "ask" (func $ask {core}))
            (import "" "memory" (memory 1))
            (func (export "value") (result i64) {call}))
        (core instance $i (instantiate $m
            (with "" (instance (export "ask" (func $ask)) (export "memory" (memory $libc "memory"))))))
        (func (export "value") (result u64) (canon lift (core func $i "value"))))"#
    )
}

#[tokio::test]
async fn a_component_sees_no_clock_no_chance_no_variables_no_arguments_and_no_files() {
    let stage = Stage::new();
    let random = asking(
        "wasi:random/random@0.2.0",
        r#"(export "get-random-u64" (func (result u64)))"#,
        "(result i64)",
        "call $ask",
    );
    let clock = asking(
        "wasi:clocks/monotonic-clock@0.2.0",
        r#"(type $i u64) (export "instant" (type $instant (eq $i))) (export "now" (func (result $instant)))"#,
        "(result i64)",
        "call $ask",
    );
    let variables = asking(
        "wasi:cli/environment@0.2.0",
        r#"(type $pairs (list (tuple string string))) (export "get-environment" (func (result $pairs)))"#,
        "(param i32)",
        "(call $ask (i32.const 16)) (i64.extend_i32_u (i32.load (i32.const 20)))",
    );
    let arguments = asking(
        "wasi:cli/environment@0.2.0",
        r#"(type $texts (list string)) (export "get-arguments" (func (result $texts)))"#,
        "(param i32)",
        "(call $ask (i32.const 16)) (i64.extend_i32_u (i32.load (i32.const 20)))",
    );
    for (component, function, expected) in [
        (random, "get-random-u64", json!("289360691352306692")),
        (clock, "now", json!(0)),
        (variables, "get-environment", json!(0)),
        (arguments, "get-arguments", json!(0)),
    ] {
        let component = component.replace("$system \"ask\"", &format!("$system \"{function}\""));
        for _ in 0..2 {
            let service = stage.load(&component).await;
            assert_eq!(result(&service, "fn__value", json!({})).await, expected, "{function}");
        }
    }
}

#[tokio::test]
async fn a_component_sees_the_variables_of_its_manifest_and_a_granted_clock() {
    let stage = Stage::new();
    let variables = asking(
        "wasi:cli/environment@0.2.0",
        r#"(type $pairs (list (tuple string string))) (export "get-environment" (func (result $pairs)))"#,
        "(param i32)",
        "(call $ask (i32.const 16)) (i64.extend_i32_u (i32.load (i32.const 20)))",
    );
    let mut declaration = stage.declare(variables.replace("$system \"ask\"", "$system \"get-environment\""));
    declaration.env = vec![("A".into(), "1".into()), ("B".into(), "2".into())];
    let service = stage.try_load(&declaration).await.unwrap();
    assert_eq!(result(&service, "fn__value", json!({})).await, json!(2));

    let clock = asking(
        "wasi:clocks/wall-clock@0.2.0",
        r#"(type $d (record (field "seconds" u64) (field "nanoseconds" u32))) (export "datetime" (type $datetime (eq $d)))
            (export "now" (func (result $datetime)))"#,
        "(param i32)",
        "(call $ask (i32.const 16)) (i64.load (i32.const 16))",
    );
    let mut declaration = stage.declare(clock.replace("$system \"ask\"", "$system \"now\""));
    let granted = WasmCapabilities { clock: true, ..WasmCapabilities::default() };
    (declaration.capabilities, declaration.policy) = (granted.clone(), granted);
    let service = stage.try_load(&declaration).await.unwrap();
    assert_ne!(result(&service, "fn__value", json!({})).await, json!(0));
}
