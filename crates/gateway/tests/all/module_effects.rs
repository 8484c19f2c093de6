//! What modules really do outside of their memory: requests over HTTP, files, secrets, questions to people, and calls of
//! other tools, through the gateway and its policy.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;

use parking_lot::Mutex;
use roost_engine::adapter::Answer;
use roost_engine::{Response, ResponseTo};
use roost_gateway::endpoint::{Endpoint, EndpointSettings};
use roost_gateway::governance::GovernanceOptions;
use roost_gateway::module_door::ModuleDoor;
use roost_gateway::principal::Principal;
use roost_gateway::runs::Runs;
use roost_gateway::services::{ServiceOptions, Services};
use roost_gateway::upstream::{AddressPolicy, GatewayAccess, ModuleGateway};
use roost_log::Log;
use roost_model::approval::{Answerer, Pending, PendingAsk};
use roost_model::event::NormalizedEventType;
use roost_model::ids::ServiceId;
use roost_model::mode::Mode;
use roost_model::service::Lifecycle;
use roost_model::service::wasm::{FolderAccess, FolderGrant, WasmCapabilities};
use roost_policy::{Effect, Rule, RuleSet};
use rustix::fs::{CWD, FileType, mknodat};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::model::ModelServer;
use testkit::soon;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use crate::governed::Governed;
use crate::support;

/// Each function of the module does one thing; `mcp_call_tool` is called in the session of `mcp_connect`.
const SOURCE: &str = "module Acts
    function http_get(u: String) -> Result<String, String> { x }
    function http_request_full(m: String, u: String, h: String, b: String) -> Result<String, String> { x }
    function read_file(p: String) -> String { x }
    function write_file(p: String, t: String) -> Unit { x }
    function list_dir(p: String) -> List<String> { x }
    function file_exists(p: String) -> Bool { x }
    function remove_file(p: String) -> Unit { x }
    function make_dir(p: String) -> Unit { x }
    function get_secret(n: String) -> Option<String> { x }
    function call_model(m: String, p: String) -> Result<String, String> { x }
    function hitl_ask(k: String, q: String) -> String { x }
    function tool(t: String, a: String) -> Result<String, String> { x }
    function again() -> Result<String, String> { x }";

fn module() -> String {
    let (mut imports, mut functions) = (String::new(), String::new());
    for (name, parameters, returned) in [
        ("http_get", 1, true),
        ("http_request_full", 4, true),
        ("read_file", 1, true),
        ("write_file", 2, false),
        ("list_dir", 1, true),
        ("file_exists", 1, true),
        ("remove_file", 1, false),
        ("make_dir", 1, false),
        ("get_secret", 1, true),
        ("call_model", 2, true),
        ("hitl_ask", 2, true),
    ] {
        let passed: String = (0..parameters).map(|at| format!("local.get {at} ")).collect();
        let types = "i32 ".repeat(parameters);
        let result = if returned { "(result i32)" } else { "" };
        imports += &format!("(import \"env\" \"{name}\" (func ${name} (param {types}) {result}))");
        functions += &format!("(func (export \"{name}\") (param {types}) {result} {passed} call ${name})");
    }
    format!(
        r#"(module {imports}
        (import "env" "mcp_connect" (func $connect (param i32) (result i32)))
        (import "env" "mcp_call_tool" (func $call (param i64 i32 i32) (result i32)))
        (memory (export "memory") 2)
        (global (export "__heap_base") i32 (i32.const 4096))
        (data (i32.const 1024) "\0f\00\00\00acts__fn__again")
        (data (i32.const 1048) "\02\00\00\00{{}}")
        {functions}
        (func (export "tool") (param i32 i32) (result i32)
            (drop (call $connect (i32.const 1048))) (call $call (i64.const 1) (local.get 0) (local.get 1)))
        (func (export "again") (result i32)
            (drop (call $connect (i32.const 1048))) (call $call (i64.const 1) (i32.const 1024) (i32.const 1048))))"#
    )
}

/// The module as a service of a gateway with an engine, beside a service that adds numbers.
struct Stage {
    governed: Governed,
    endpoint: Arc<Endpoint>,
    services: Arc<Services>,
    runs: Arc<Runs>,
    model: ModelServer,
    folder: TempDir,
    _door: Arc<dyn ModuleGateway>,
    _connector: support::Gateway,
}

impl Stage {
    /// With everything granted, and these hosts allowed to the gateway.
    async fn open(hosts: Option<&[&str]>) -> Self {
        Self::with_rules(hosts, &[allow_acts(), vec![allow("numbers__fn__add")]].concat()).await
    }

    async fn with_rules(hosts: Option<&[&str]>, rules: &[Rule]) -> Self {
        let rules = Arc::new(RuleSet::new(rules).unwrap());
        let governed = Governed::start_with(|config| config.rules = rules, GovernanceOptions::default()).await;
        let model = ModelServer::start();
        let (folder, access) = (TempDir::new().unwrap(), GatewayAccess::default());
        let granted = capabilities(&folder);
        let hosts = hosts.map(|hosts| hosts.iter().map(|host| (*host).to_owned()).collect());
        let connector = support::Gateway::with_settings(|settings| {
            settings.wasm.policy = granted.clone();
            settings.wasm.gateway = access.clone();
            let key = Some("env:TEST_TOKEN".into());
            settings.wasm.models.openai = roost_gateway::upstream::ModelServer { url: model.url(), key };
            settings.addresses = AddressPolicy::new(hosts);
            settings.secrets = folder.path().join("secrets");
        });
        let log: Arc<dyn Log> = Arc::new(governed.host.log.clone());
        let options = ServiceOptions::default();
        let services = Services::start(log, connector.connector.clone(), options, "1.2.3").await.unwrap();
        let services = Arc::new(services);
        let settings = EndpointSettings::new("1.2.3");
        let endpoint = Endpoint::new(services.clone(), governed.governor.clone(), settings).unwrap();
        let runs = Arc::new(Runs::new(Arc::new(governed.host.log.clone()), None));
        let door: Arc<dyn ModuleGateway> =
            Arc::new(ModuleDoor::new(endpoint.clone(), governed.governor.clone(), runs.clone()));
        access.open(&door);
        let stage = Self { governed, endpoint, services, runs, model, folder, _door: door, _connector: connector };
        fs::write(stage.path("acts.clarity"), SOURCE).unwrap();
        let add = "(module (func (export \"add\") (param i64 i64) (result i64) (i64.add (local.get 0) (local.get 1))))";
        stage.run("acts", &module(), json!({ "capabilities": granted })).await;
        stage.run("numbers", add, json!({})).await;
        stage
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a module as a service; `more` is what its origin has besides.
    async fn run(&self, name: &str, wat: &str, more: Value) -> ServiceId {
        let wasm = self.path(&format!("{name}.wasm"));
        fs::write(&wasm, wat::parse_str(wat).unwrap()).unwrap();
        let mut origin = json!({ "type": "local_wasm", "wasmPath": wasm, "entry": "mcp_main" });
        origin.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let manifest = json!({
            "apiVersion": "clarity.runtime/v1", "kind": "MCPService",
            "metadata": { "sourceFile": self.path(&format!("{name}.clarity")), "module": name, "serviceType": "mcp" },
            "spec": {
                "origin": origin, "enabled": true, "autostart": true, "restartPolicy": { "mode": "never" },
                "policyRef": "default",
            },
        });
        let id = self.services.apply(&manifest).await.unwrap().id.clone();
        let view = soon("the service settles", self.services.start_service(&id)).await.unwrap();
        assert_eq!(view.life.lifecycle, Lifecycle::Running, "{:?}", view.life.last_error);
        id
    }

    /// The result of a function of the module, or the text of its error.
    async fn act(&self, function: &str, arguments: Value) -> Result<Value, String> {
        act(self.endpoint.clone(), function, arguments).await
    }

    /// What waits for a person, once there are so many.
    async fn waiting(&self, count: usize) -> Vec<Arc<Pending>> {
        let asked = async {
            loop {
                let pending = self.governed.host.log.pending(None).await.unwrap();
                if pending.len() == count {
                    return pending;
                }
                tokio::task::yield_now().await;
            }
        };
        soon("people are asked", asked).await
    }

    /// Answers a question as another client does.
    async fn answer(&self, asked: &Pending, text: &str) {
        let PendingAsk::Question(question) = &asked.ask else { panic!("{asked:?}") };
        let answers = [(question.fields[0].id.clone(), vec![text.to_owned()])].into();
        let to = ResponseTo::Question { question: question.question_id.clone(), answer: Answer::Given(answers) };
        let response = Response { to, by: Answerer::default(), key: None };
        let answered = self.governed.host.engine.respond(asked.session_id.as_str(), response);
        soon("the answer is taken", answered).await.unwrap();
    }
}

async fn act(endpoint: Arc<Endpoint>, function: &str, arguments: Value) -> Result<Value, String> {
    let params = json!({ "name": format!("acts__fn__{function}"), "arguments": { "args": arguments } });
    let called = soon("the module answers", endpoint.call_tool_for(&Principal::Local, params)).await.unwrap();
    let called: Value = serde_json::from_str(called.get()).unwrap();
    match called["isError"].as_bool() {
        Some(true) => Err(called["content"][0]["text"].as_str().unwrap().to_owned()),
        _ => Ok(called["structuredContent"]["result"].clone()),
    }
}

/// What could do anything is allowed only by its whole name.
fn allow(tool: &str) -> Rule {
    Rule { tool: Some(format!("mcp__roost__{tool}")), name: Some(tool.into()), ..Rule::new(Effect::Allow) }
}

/// Every function of the module.
fn allow_acts() -> Vec<Rule> {
    let functions = SOURCE.lines().filter_map(|line| line.trim().strip_prefix("function ")?.split_once('('));
    functions.map(|(name, _)| allow(&format!("acts__fn__{name}"))).collect()
}

/// Everything, of files what is below this folder.
fn capabilities(folder: &TempDir) -> WasmCapabilities {
    let all = || vec!["*".to_owned()];
    let path = folder.path().join("granted");
    fs::create_dir(&path).unwrap();
    let folders = vec![FolderGrant { path: path.display().to_string(), access: FolderAccess::Write }];
    WasmCapabilities {
        models: vec!["gpt-*".into()],
        http_hosts: all(),
        folders,
        secrets: all(),
        tools: all(),
        ask: true,
        clock: false,
        random: false,
    }
}

/// A server that answers each path in its own way, and the requests that it got.
struct HttpServer {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
    _serving: AbortOnDropHandle<()>,
}

impl HttpServer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (url, requests) =
            (format!("http://{}", listener.local_addr().unwrap()), Arc::<Mutex<Vec<String>>>::default());
        let seen = requests.clone();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = BufReader::new(stream);
                let mut line = String::new();
                let _ = stream.read_line(&mut line).await;
                let mut header = String::new();
                while stream.read_line(&mut header).await.is_ok_and(|read| read > 2) {
                    header.clear();
                }
                let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
                seen.lock().push(path.clone());
                let _ = stream.get_mut().write_all(&response(&path)).await;
            }
        });
        Self { url, requests, _serving: AbortOnDropHandle::new(serving) }
    }
}

fn response(path: &str) -> Vec<u8> {
    let answer = |head: &str, body: &str| format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n{body}").into_bytes();
    match path {
        "/hello" => answer("200 OK\r\nx-kind: plain", "good day"),
        "/moved" => answer("302 Found\r\nlocation: /hello", ""),
        "/long" => answer("200 OK", &"x".repeat(9 << 20)),
        "/announced" => answer("200 OK\r\ncontent-length: 99999999", "x"),
        _ => answer("404 Not Found", "nothing here"),
    }
}

#[tokio::test]
async fn a_module_reaches_a_host_follows_no_redirect_and_gets_no_endless_answer() {
    let stage = Stage::open(Some(&["127.0.0.1"])).await;
    let server = HttpServer::start().await;
    let get = |path: &str| stage.act("http_get", json!([format!("{}{path}", server.url)]));
    assert_eq!(get("/hello").await, Ok("good day".into()));
    let missing = get("/none").await.unwrap_err();
    assert!(missing.contains("HTTP 404: nothing here"), "{missing}");
    let moved = stage.act("http_request_full", json!(["GET", format!("{}/moved", server.url), "", ""])).await.unwrap();
    let moved: Value = serde_json::from_str(moved.as_str().unwrap()).unwrap();
    assert_eq!((&moved["status"], &moved["headers"]["location"]), (&json!(302), &json!("/hello")));
    assert_eq!(*server.requests.lock(), ["/hello", "/none", "/moved"]);
    for path in ["/long", "/announced"] {
        let refused = get(path).await.unwrap_err();
        assert!(refused.contains("more than 8 MiB"), "{path}: {refused}");
    }
    stage.governed.host.stop().await;
}

#[tokio::test]
async fn a_policy_of_all_hosts_does_not_open_this_machine_or_its_network_to_modules() {
    let stage = Stage::open(None).await;
    let server = HttpServer::start().await;
    let port = server.url.rsplit(':').next().unwrap();
    for host in ["127.0.0.1", "localhost", "x.localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"] {
        let refused = stage.act("http_get", json!([format!("http://{host}:{port}/hello")])).await.unwrap_err();
        assert!(refused.contains("this machine or of a private network"), "{host}: {refused}");
    }
    for host in ["10.0.0.1", "169.254.169.254", "192.168.1.1", "[fd00::1]"] {
        let refused = stage.act("http_get", json!([format!("http://{host}/")])).await.unwrap_err();
        assert!(refused.contains("private network"), "{host}: {refused}");
    }
    assert_eq!(*server.requests.lock(), [] as [&str; 0]);
    stage.governed.host.stop().await;
}

#[tokio::test]
async fn files_are_read_and_written_below_the_granted_folder_and_no_link_leads_out_of_it() {
    let stage = Stage::open(None).await;
    let (granted, outside) = (stage.path("granted"), stage.path("outside"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "not for modules").unwrap();
    let nothing = || Ok(Value::Null);
    assert_eq!(stage.act("make_dir", json!(["notes/deep"])).await, nothing());
    assert_eq!(stage.act("write_file", json!(["notes/deep/a", "one"])).await, nothing());
    assert_eq!(stage.act("write_file", json!(["notes/deep/a", "two"])).await, nothing());
    assert_eq!(stage.act("read_file", json!([granted.join("notes/deep/a")])).await, Ok("two".into()));
    assert_eq!(stage.act("list_dir", json!(["notes"])).await, Ok(json!(["deep"])));
    assert_eq!(stage.act("file_exists", json!(["notes/deep/a"])).await, Ok(true.into()));
    assert_eq!(stage.act("remove_file", json!(["notes/deep/a"])).await, nothing());
    assert_eq!(stage.act("file_exists", json!(["notes/deep/a"])).await, Ok(false.into()));
    assert_eq!(stage.act("read_file", json!(["notes/deep/a"])).await, Ok("".into()));

    symlink(outside.join("secret"), granted.join("link")).unwrap();
    symlink(&outside, granted.join("way")).unwrap();
    symlink("../outside/secret", granted.join("relative")).unwrap();
    for (function, arguments) in [
        ("read_file", json!(["link"])),
        ("read_file", json!(["relative"])),
        ("read_file", json!(["way/secret"])),
        ("write_file", json!(["link", "mine"])),
        ("write_file", json!(["way/new", "mine"])),
        ("list_dir", json!(["way"])),
        ("make_dir", json!(["way/new"])),
        ("remove_file", json!(["way/secret"])),
        ("read_file", json!([outside.join("secret")])),
    ] {
        let refused = stage.act(function, arguments.clone()).await;
        assert!(refused.is_err(), "{function} {arguments}: {refused:?}");
    }
    assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "not for modules");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);

    fs::File::create(granted.join("huge")).unwrap().set_len(50 << 30).unwrap();
    let refused = stage.act("read_file", json!(["huge"])).await.unwrap_err();
    assert!(refused.contains("more than 8388608 bytes"), "{refused}");

    // A pipe would be waited for until somebody writes to it, or reads from it.
    mknodat(CWD, granted.join("pipe"), FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR, 0).unwrap();
    for (function, arguments) in [("read_file", json!(["pipe"])), ("write_file", json!(["pipe", "mine"]))] {
        let refused = stage.act(function, arguments).await.unwrap_err();
        assert!(refused.contains("granted/pipe: "), "{function}: {refused}");
    }
    stage.governed.host.stop().await;
}

#[tokio::test]
async fn a_secret_comes_from_a_file_or_a_variable_of_the_daemon() {
    let stage = Stage::open(None).await;
    let secrets = stage.path("secrets");
    fs::create_dir(&secrets).unwrap();
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(secrets.join("IN_FILE"), "of the file").unwrap();
    fs::set_permissions(secrets.join("IN_FILE"), fs::Permissions::from_mode(0o600)).unwrap();
    for (name, expected) in [("IN_FILE", json!("of the file")), ("TEST_TOKEN", json!("s3cret")), ("NONE", Value::Null)]
    {
        assert_eq!(stage.act("get_secret", json!([name])).await, Ok(expected), "{name}");
    }
    stage.governed.host.stop().await;
}

#[tokio::test]
async fn a_question_of_a_module_is_a_row_that_another_client_answers_and_the_same_key_is_the_same_question() {
    let stage = Stage::open(None).await;
    let ask = |key: &str| tokio::spawn(act_owned(stage.endpoint.clone(), json!([key, "Which door?"])));
    let (one, same) = (ask("door"), ask("door"));
    let asked = stage.waiting(1).await.remove(0);
    let other = ask("window");
    let both = stage.waiting(2).await;
    let PendingAsk::Question(question) = &asked.ask else { panic!("{asked:?}") };
    assert!(question.message.ends_with("asks: Which door?"), "{question:?}");
    stage.answer(&asked, "the left one").await;
    assert_eq!(one.await.unwrap(), Ok("the left one".into()));
    assert_eq!(same.await.unwrap(), Ok("the left one".into()));
    let window = both.iter().find(|pending| pending.id() != asked.id()).unwrap();
    stage.answer(window, "open").await;
    assert_eq!(other.await.unwrap(), Ok("open".into()));
    // It was answered, so it is asked anew.
    let again = ask("door");
    let asked = stage.waiting(1).await.remove(0);
    stage.answer(&asked, "the right one").await;
    assert_eq!(again.await.unwrap(), Ok("the right one".into()));
    // Nobody waits for the answer any more.
    let dropped = ask("door");
    stage.waiting(1).await;
    dropped.abort();
    stage.waiting(0).await;
    stage.governed.host.stop().await;
}

async fn act_owned(endpoint: Arc<Endpoint>, arguments: Value) -> Result<Value, String> {
    act(endpoint, "hitl_ask", arguments).await
}

#[tokio::test]
async fn a_tool_that_a_module_calls_is_judged_and_recorded_as_one_of_its_caller() {
    let call = json!(["numbers__fn__add", r#"{"args": [2, 3]}"#]);
    let stage = Stage::open(None).await;
    assert_eq!(stage.act("tool", call.clone()).await, Ok("5".into()));
    let unknown = stage.act("tool", json!(["numbers__fn__none", "{}"])).await.unwrap_err();
    assert!(unknown.contains("numbers__fn__none"), "{unknown}");
    let unread = stage.act("tool", json!(["numbers__fn__add", "no JSON"])).await.unwrap_err();
    assert!(unread.contains("no JSON"), "{unread}");
    let records = stage.governed.records().await;
    let recorded: Vec<_> = records.iter().map(|one| (one.tool.as_str(), one.principal.as_str(), one.success)).collect();
    assert_eq!(recorded[..2], [("numbers__fn__add", "local", true), ("acts__fn__tool", "local", true)]);
    stage.governed.host.stop().await;

    let deny = Rule { effect: Effect::Deny, name: Some("house".into()), ..allow("numbers__fn__add") };
    let stage = Stage::with_rules(None, &[allow_acts(), vec![deny]].concat()).await;
    let denied = stage.act("tool", call).await.unwrap_err();
    assert!(denied.contains("rule:house"), "{denied}");
    let records = stage.governed.records().await;
    assert_eq!((records[0].tool.as_str(), records[0].success), ("numbers__fn__add", false));
    stage.governed.host.stop().await;
}

#[tokio::test]
async fn a_tool_that_a_module_calls_belongs_to_the_run_and_the_trace_of_its_caller() {
    let stage = Stage::open(None).await;
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let params = json!({
        "name": "acts__fn__tool", "arguments": { "args": ["numbers__fn__add", r#"{"args": [2, 3]}"#] },
        "_meta": { "runId": "nightly", "traceparent": format!("00-{trace}-b7ad6b7169203331-01") },
    });
    soon("the module answers", stage.endpoint.call_tool_for(&Principal::Local, params)).await.unwrap();
    let records = stage.governed.records().await;
    let named: Vec<_> = records
        .iter()
        .map(|call| {
            let run = call.run_id.as_ref().map(roost_model::ids::RunId::as_str);
            (call.tool.as_str(), run, call.trace_id.as_deref())
        })
        .collect();
    let expected = |tool| (tool, Some("nightly"), Some(trace));
    assert_eq!(named, [expected("numbers__fn__add"), expected("acts__fn__tool")]);
    stage.governed.host.stop().await;
}

#[tokio::test]
async fn what_a_module_asks_of_a_model_counts_in_the_run_of_its_caller() {
    let mut stage = Stage::open(None).await;
    let params = |meta: Value| json!({ "name": "acts__fn__call_model", "arguments": { "args": ["gpt-small", "hello"] }, "_meta": meta });
    let named = params(json!({ "runId": "nightly" }));
    soon("the module answers", stage.endpoint.call_tool_for(&Principal::Local, named)).await.unwrap();
    assert_eq!(stage.model.requests().len(), 1);
    let runs = stage.runs.list(10).await.unwrap();
    let run = runs.iter().find(|run| run.run_id.as_str() == "nightly").unwrap();
    assert!((run.llm_call_count, run.input_tokens > 0, run.output_tokens > 0) == (1, true, true), "{run:?}");

    let session = stage.governed.host.session_in(Mode::Yolo).await;
    stage.governed.host.begin(&session, "go on").await;
    let (_runtime, _task) = stage.governed.host.runtimes().task().await;
    let principal = Principal::Session(session.clone());
    soon("the module answers", stage.endpoint.call_tool_for(&principal, params(json!({})))).await.unwrap();
    let expected = run.input_tokens;
    stage.governed.host.wait_for(&session, NormalizedEventType::UsageReported).await;
    let used = stage.governed.host.record(&session).await.usage;
    assert_eq!((used.model_calls, used.input_tokens), (1, expected));
    stage.runs.close().await;
    stage.governed.host.stop().await;
}

#[tokio::test]
async fn modules_call_each_other_only_so_deep() {
    let stage = Stage::open(None).await;
    let ended = stage.act("again", json!([])).await.unwrap_err();
    assert!(ended.contains("4 modules have called each other already"), "{ended}");
    let calls = stage.governed.records().await;
    assert_eq!(calls.iter().filter(|call| call.tool == "acts__fn__again").count(), 5);
    stage.governed.host.stop().await;
}

/// A component that says how many variables it sees.
const VARIABLES: &str = r#"(component
    (import "wasi:cli/environment@0.2.0" (instance $system
        (type $pairs (list (tuple string string))) (export "get-environment" (func (result $pairs)))))
    (core module $libc (memory (export "memory") 1)
        (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024))
    (core instance $libc (instantiate $libc))
    (alias export $system "get-environment" (func $ask'))
    (core func $ask (canon lower (func $ask') (memory $libc "memory") (realloc (func $libc "realloc"))))
    (core module $m
        (import "" "ask" (func $ask (param i32)))
        (import "" "memory" (memory 1))
        (func (export "value") (result i32) (call $ask (i32.const 16)) (i32.load (i32.const 20))))
    (core instance $i (instantiate $m
        (with "" (instance (export "ask" (func $ask)) (export "memory" (memory $libc "memory"))))))
    (func (export "value") (result u32) (canon lift (core func $i "value"))))"#;

#[tokio::test]
async fn a_component_gets_no_variable_with_a_secret_that_manifest_and_policy_do_not_both_name() {
    let stage = Stage::with_rules(None, &[allow("unnamed__fn__value"), allow("named__fn__value")]).await;
    let env = json!([{ "name": "PLAIN", "value": "1" }, { "name": "TOKEN", "secretRef": "env:TEST_TOKEN" }]);
    for (module, named, seen) in [("unnamed", json!([]), 1), ("named", json!(["TOKEN"]), 2)] {
        let id = stage.run(module, VARIABLES, json!({ "env": env, "capabilities": { "secrets": named } })).await;
        let params = json!({ "name": format!("{module}__fn__value"), "arguments": {} });
        let called = soon("it answers", stage.endpoint.call_tool_for(&Principal::Local, params)).await.unwrap();
        let called: Value = serde_json::from_str(called.get()).unwrap();
        assert_eq!(called["structuredContent"]["result"], seen, "{called}");
        let log = stage.services.log(&id).unwrap().read(0, 1000).lines.join("\n");
        assert_eq!(log.contains("the variable TOKEN is left out"), seen == 1, "{log}");
    }
    stage.governed.host.stop().await;
}
