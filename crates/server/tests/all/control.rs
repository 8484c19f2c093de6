//! The gateway's own tools over `/mcp`: each is called, and each is refused to whoever may not call it.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use roost_engine::adapter::{McpServer, McpServerTransport};
use roost_engine::{Decision, Response, ResponseTo};
use roost_gateway::governance::{EngineGovernor, GovernanceOptions};
use roost_log::{Log, StreamId};
use roost_model::approval::{Answerer, ApprovalScope, PendingAsk};
use roost_rpc::Scope;
use serde_json::{Value, json};
use testkit::fake::{FakeSession, FakeTask, How};
use testkit::mcp_servers::tool;
use testkit::{Home, soon};

use crate::kit::Door;
use crate::mcp::client::McpClient;
use crate::mcp::fixture_gateway::RecordingGovernor;

/// A door whose engine gives every agent the token of its session.
async fn door() -> (Door, Arc<RecordingGovernor>) {
    let harness = Home::new()
        .start_with(|config| {
            config.mcp_servers = Arc::new(|_, token| {
                let headers = [("authorization".to_owned(), token.expose().to_owned())].into();
                let transport = McpServerTransport::Http { url: "http://127.0.0.1:1/mcp".into(), headers };
                vec![McpServer { name: "roost".into(), transport }]
            });
        })
        .await;
    let governor = Arc::new(RecordingGovernor::default());
    (Door::over_with_own_tools(harness, governor.clone(), |_| {}).await, governor)
}

async fn client(door: &Door, scope: Scope) -> McpClient {
    let token = door.pair(Some(scope)).await["access_token"].as_str().unwrap().to_owned();
    McpClient::with_token(door, "/mcp", token)
}

/// The client of a hosted agent, and what keeps the agent alive.
async fn agent(door: &mut Door) -> (McpClient, String, FakeTask, FakeSession) {
    let session = door.harness.session().await;
    door.harness.begin(&session, "go").await;
    let opening = door.runtimes().opening().await;
    let How::Create(open) = &opening.how else { panic!() };
    let McpServerTransport::Http { headers, .. } = &open.mcp_servers[0].transport else { panic!() };
    let token = headers["authorization"].clone();
    let mut runtime = opening.accept();
    let task = runtime.task().await;
    (McpClient::with_token(door, "/mcp", token), session.to_string(), task, runtime)
}

/// The manifest of a service that is a program.
pub(crate) fn manifest(module: &str) -> Value {
    json!({
        "apiVersion": "clarity.runtime/v1", "kind": "MCPService",
        "metadata": { "sourceFile": module, "module": module, "serviceType": "mcp" },
        "spec": {
            "origin": { "type": "stdio_mcp", "command": format!("{module}-mcp"), "env": [{ "name": "TOKEN", "value": "s3cret" }] },
            "enabled": true, "autostart": true, "restartPolicy": { "mode": "never" }, "policyRef": "default",
        },
    })
}

async fn tools(client: &McpClient) -> Vec<Value> {
    client.call("tools/list", json!({})).await["tools"].as_array().unwrap().clone()
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().unwrap()
}

async fn call(client: &McpClient, tool: &str, arguments: Value) -> Value {
    client.call("tools/call", json!({ "name": tool, "arguments": arguments })).await
}

/// Every tool with its arguments, in an order in which each can succeed, and a pointer into its result with what is there.
fn cases(service: &str) -> Vec<(&'static str, Value, &'static str, Value)> {
    let of_service = || json!({ "service_id": service });
    let stopped = || json!("STOPPED");
    vec![
        ("runtime__status_summary", json!({}), "/total", json!(1)),
        ("runtime__list_services", json!({}), "/services/0/service_id", json!(service)),
        ("runtime__get_service", of_service(), "/service/manifest/metadata/module", json!("notes")),
        ("runtime__start_service", of_service(), "/service/lifecycle", json!("RUNNING")),
        ("runtime__get_logs", json!({ "service_id": service, "limit": -5 }), "/lines/1", Value::Null),
        ("runtime__refresh_interface", of_service(), "/interface/serviceId", json!(service)),
        ("runtime__restart_service", of_service(), "/service/lifecycle", json!("RUNNING")),
        ("runtime__stop_service", of_service(), "/service/lifecycle", stopped()),
        ("runtime__get_audit", json!({ "limit": 1 }), "/items/0/kind", json!("service.stopped")),
        ("runtime__get_agent_runs", json!({ "limit": 100_000 }), "/items", json!([])),
        ("runtime__get_agent_events", json!({}), "/items", json!([])),
        ("runtime__set_auth_secret", json!({ "auth_ref": "file:a", "secret": "s3cret" }), "/written", json!(true)),
        ("runtime__validate_auth_ref", json!({ "auth_ref": "file:a" }), "/valid", json!(true)),
        ("runtime__auth_provider_health", json!({}), "/fileRootExists", json!(true)),
        ("runtime__list_auth_secrets", json!({}), "/items/0/authRef", json!("file:a")),
        ("runtime__delete_auth_secret", json!({ "auth_ref": "file:a" }), "/deleted", json!(true)),
        ("clarity__help", json!({ "topic": "onboarding" }), "/topic", json!("onboarding")),
        ("clarity__sources", json!({ "dir": ".", "limit": 999 }), "/total_found", json!(1)),
        ("clarity__project_structure", json!({ "project_name": "dice" }), "/tree/0", json!("dice/src/main.clarity")),
        ("clarity__ensure_compiler", json!({ "timeout_seconds": 0 }), "/available", json!(false)),
        ("runtime__register_local", json!({ "wasm_path": "a.wasm", "start_now": false }), "/created", json!(true)),
        (
            "runtime__register_remote",
            json!({ "endpoint": "http://127.0.0.1:1/mcp", "module": "far" }),
            "/started",
            json!(true),
        ),
        ("runtime__register_via_url", json!({ "url": "http://127.0.0.1:1/docs" }), "/service/module", json!("docs")),
        (
            "runtime__apply_manifest",
            json!({ "manifest": manifest("notes"), "start_now": false }),
            "/applied",
            json!(true),
        ),
        (
            "runtime__remove_service",
            json!({ "service_id": service, "cleanup_artifacts": true }),
            "/artifactRemoved",
            json!(false),
        ),
    ]
}

/// The tools of seed 003.
const SEED_003: [&str; 23] = [
    "runtime__status_summary",
    "runtime__list_services",
    "runtime__get_service",
    "runtime__get_logs",
    "runtime__start_service",
    "runtime__stop_service",
    "runtime__restart_service",
    "runtime__refresh_interface",
    "runtime__unquarantine_service",
    "runtime__remove_service",
    "runtime__get_audit",
    "runtime__get_agent_runs",
    "runtime__get_agent_events",
    "runtime__validate_auth_ref",
    "runtime__auth_provider_health",
    "runtime__list_auth_secrets",
    "runtime__set_auth_secret",
    "runtime__delete_auth_secret",
    "clarity__help",
    "clarity__sources",
    "clarity__project_structure",
    "clarity__ensure_compiler",
    "clarity__bootstrap_app",
];
/// Those that are there only with `CLARITY_ENABLE_MCP_PROVISIONING=1`.
const PROVISIONING: [&str; 4] =
    ["runtime__register_local", "runtime__register_remote", "runtime__register_via_url", "runtime__apply_manifest"];

/// The tools that have no success here, and what their error says: nothing is quarantined, and there is no compiler.
const FAILURES: [(&str, &str); 2] =
    [("runtime__unquarantine_service", "quarantine"), ("clarity__bootstrap_app", "everything is as it was")];

#[tokio::test]
async fn every_tool_answers_as_its_schema_says() {
    let (door, governor) = door().await;
    let repo = door.harness.home.path().join("repo");
    std::fs::write(repo.join("main.clarity"), "module Main\n").unwrap();
    let admin = client(&door, Scope::Admin).await;
    let service = door.services.apply(&manifest("notes")).await.unwrap().id.to_string();
    let listed = tools(&admin).await;
    let cases = cases(&service);
    let covered = |tool: &&Value| {
        let name = name(tool);
        !cases.iter().any(|(case, ..)| *case == name) && !FAILURES.iter().any(|(case, _)| *case == name)
    };
    let uncovered: Vec<_> = listed.iter().filter(covered).map(name).collect();
    assert!(uncovered.is_empty(), "without a case: {uncovered:?}");
    assert_eq!(listed.len(), cases.len() + FAILURES.len(), "a case without a tool");
    for (tool, says) in FAILURES {
        let arguments = match tool {
            "clarity__bootstrap_app" => json!({ "project_name": "dice" }),
            _ => json!({ "service_id": service }),
        };
        let failed = call(&admin, tool, arguments).await;
        assert_eq!(failed["isError"], true, "{tool}: {failed}");
        assert!(failed["content"][0]["text"].as_str().unwrap().contains(says), "{tool}: {failed}");
    }
    assert!(!repo.join("dice").exists(), "nothing is left of an app that could not be compiled");
    for (tool, arguments, pointer, expected) in cases {
        let result = call(&admin, tool, arguments).await;
        assert!(result["isError"].is_null(), "{tool}: {result}");
        let structured = &result["structuredContent"];
        assert_eq!(structured.pointer(pointer).unwrap_or(&Value::Null), &expected, "{tool}: {structured:#}");
        match tool {
            "runtime__get_logs" => {
                let line = structured["lines"][0].as_str().unwrap();
                assert!(line.ends_with("] running, healthy"), "{line}");
            }
            "runtime__get_audit" => assert_eq!(structured["items"].as_array().unwrap().len(), 1, "{structured}"),
            _ => {}
        }
        let definition = listed.iter().find(|one| name(one) == tool).unwrap();
        let schema = jsonschema::validator_for(&definition["outputSchema"]).unwrap();
        assert!(schema.is_valid(structured), "{tool}: {structured:#}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(&text, structured, "{tool}");
        assert!(!result.to_string().contains("s3cret") || tool == "runtime__get_service", "{tool}");
    }
    let judged = governor.judged.lock();
    assert!(judged.contains(&("runtime__status_summary".into(), "status_summary".into())), "they pass the governor");
}

#[tokio::test]
async fn only_admins_call_what_changes_something_and_an_agent_is_not_even_shown_it() {
    let (mut door, _) = door().await;
    let service = door.services.apply(&manifest("notes")).await.unwrap().id.to_string();
    let admin = client(&door, Scope::Admin).await;
    let listed = tools(&admin).await;
    let operator = client(&door, Scope::Operate).await;
    let (agent, _, _task, _runtime) = agent(&mut door).await;
    let shown = tools(&agent).await;
    let mut refused = 0;
    for tool in &listed {
        let (name, is_read) = (name(tool), tool["annotations"]["readOnlyHint"] == true);
        let is_shown = shown.iter().any(|one| one["name"] == name);
        // What it installs is refused to others in the tool itself.
        let is_checked_inside = name == "clarity__ensure_compiler";
        assert!(is_read != is_checked_inside || !is_shown, "{name} is shown to agents");
        if is_shown {
            continue;
        }
        refused += 1;
        let result = call(&operator, name, json!({ "service_id": service })).await;
        assert!(result["content"][0]["text"].as_str().unwrap().contains("needs the scope admin"), "{name}: {result}");
        let error = agent.error("tools/call", json!({ "name": name, "arguments": {} })).await;
        assert_eq!(error["message"], format!("Unknown tool: {name}"));
    }
    let own = listed.iter().map(name);
    assert_eq!(
        own.collect::<BTreeSet<_>>(),
        SEED_003.into_iter().chain(PROVISIONING).collect(),
        "as seed 003 has them"
    );
    let reading = listed.iter().filter(|tool| shown.iter().any(|one| one["name"] == name(tool))).count();
    assert_eq!((reading, refused), (11, 16));
    assert_eq!(door.services.list().len(), 1, "nothing was registered or removed");
    assert!(door.servers.at("notes-mcp").principals().is_empty(), "nothing was started");
}

#[tokio::test]
async fn without_provisioning_no_tool_registers_services_and_none_is_shown_that_would() {
    let harness = Home::new().start_with(|_| {}).await;
    let door = Door::without_provisioning(harness, Arc::new(RecordingGovernor::default())).await;
    let admin = client(&door, Scope::Admin).await;
    let listed = tools(&admin).await;
    assert_eq!(listed.iter().map(name).collect::<BTreeSet<_>>(), SEED_003.into());
    for tool in PROVISIONING {
        let arguments = json!({
            "wasm_path": "a.wasm", "endpoint": "http://127.0.0.1:1/mcp", "url": "http://127.0.0.1:1/docs",
            "manifest": manifest("notes"),
        });
        let params = json!({ "name": tool, "arguments": arguments });
        let error = admin.error("tools/call", params).await;
        assert_eq!(error["message"], format!("Unknown tool: {tool}"));
        // Nor by the way of clients that are shown three tools only.
        let lazy = McpClient::with_token(&door, "/mcp?surface=lazy", admin.token().to_owned());
        let params = json!({ "name": "runtime__call_tool", "arguments": { "name": tool, "arguments": arguments } });
        let error = lazy.error("tools/call", params).await;
        assert_eq!(error["message"], format!("Unknown tool: {tool}"));
    }
    assert!(door.services.list().is_empty());
}

#[tokio::test]
async fn the_status_names_the_gateways_own_tools_and_counts_runs_by_their_state() {
    let (mut door, _) = door().await;
    let (_agent, _, _task, _runtime) = agent(&mut door).await;
    let mut local = door.local().await;
    let of = |run: &str, kind: &str| json!({ "kind": format!("agent.{kind}"), "run_id": run });
    let events = [of("a", "run_started"), of("b", "run_completed"), of("c", "run_failed"), of("d", "waiting")];
    local.call("run/report", json!({ "events": events })).await.unwrap();
    let status = local.call("status/get", json!({})).await.unwrap();
    let counts = json!({ "totalRuns": 5, "running": 2, "waiting": 1, "completed": 1, "failed": 1, "cancelled": 0 });
    assert_eq!(status["agents"], counts);
    let named = |items: &Value| -> BTreeSet<String> {
        items.as_array().unwrap().iter().map(|tool| name(tool).to_owned()).collect()
    };
    let shown = &status["systemTools"];
    let listed = Value::from(tools(&client(&door, Scope::Admin).await).await);
    assert_eq!(named(&shown["items"]), named(&listed));
    assert_eq!(shown["count"].as_u64(), Some(named(&listed).len() as u64));
    assert!(named(&shown["runtime"]["items"]).iter().all(|name| name.starts_with("runtime__")), "{shown}");
    assert!(named(&shown["clarity"]["items"]).contains("clarity__help"), "{shown}");
    assert!(shown["items"][0]["description"].is_string());
}

#[tokio::test]
async fn what_registers_a_service_refuses_arguments_that_it_does_not_take() {
    let (door, _) = door().await;
    let admin = client(&door, Scope::Admin).await;
    for (tool, mut arguments) in [
        ("runtime__register_local", json!({ "wasm_path": "a.wasm", "start_now": false })),
        ("runtime__register_remote", json!({ "endpoint": "http://127.0.0.1:1/mcp", "start_now": false })),
        ("runtime__register_via_url", json!({ "url": "http://127.0.0.1:1/docs", "start_now": false })),
    ] {
        for (argument, value, why) in [
            ("tool_namespaec", json!("x"), "there is no argument \"tool_namespaec\""),
            ("enabled", json!("no"), "enabled must be of the type boolean"),
            ("module", json!(7), "module must be of the type string"),
        ] {
            arguments[argument] = value;
            let refused = call(&admin, tool, arguments.clone()).await;
            assert_eq!(refused["isError"], true, "{refused}");
            assert!(refused["content"][0]["text"].as_str().unwrap().contains(why), "{tool}: {refused}");
            arguments.as_object_mut().unwrap().remove(argument);
        }
    }
    assert!(door.services.list().is_empty(), "nothing was registered");
}

#[tokio::test]
async fn a_secret_that_is_set_is_shown_to_nobody_who_is_asked_about_it_and_is_in_no_record() {
    for path in ["/mcp", "/mcp?surface=lazy"] {
        let harness = Home::new().start_with(|_| {}).await;
        let options = GovernanceOptions { record_arguments: true, ..GovernanceOptions::default() };
        let log = Arc::new(harness.log.clone());
        let governor = Arc::new(EngineGovernor::new(harness.engine.clone(), log.clone(), options));
        let door = Door::over_with_own_tools(harness, governor.clone(), |_| {}).await;
        let token = client(&door, Scope::Admin).await.token().to_owned();
        let admin = McpClient::with_token(&door, path, token);
        let (tool, arguments) = ("runtime__set_auth_secret", json!({ "auth_ref": "file:a", "secret": "s3cret" }));
        let setting = async {
            match path {
                "/mcp" => call(&admin, tool, arguments).await,
                _ => call(&admin, "runtime__call_tool", json!({ "name": tool, "arguments": arguments })).await,
            }
        };
        let answering = async {
            let asked = loop {
                match log.pending(None).await.unwrap().pop() {
                    Some(asked) => break asked,
                    None => tokio::task::yield_now().await,
                }
            };
            let PendingAsk::Approval(approval) = &asked.ask else { panic!("{asked:?}") };
            assert_eq!(approval.input, json!({ "auth_ref": "file:a", "secret": "***" }));
            let decision = Decision::Allow { scope: ApprovalScope::Once };
            let to = ResponseTo::Approval { call: asked.id().into(), attempt: None, input_hash: None, decision };
            let response = Response { to, by: Answerer::default(), key: None };
            door.harness.engine.respond(asked.session_id.as_str(), response).await.unwrap();
            asked.session_id.clone()
        };
        let (set, session) = soon("the secret is set", async { tokio::join!(setting, answering) }).await;
        assert_eq!(set["structuredContent"]["written"], true, "{set}");
        assert!(!set.to_string().contains("s3cret"));
        let kept = door.harness.home.path().join("state/secrets/a");
        assert_eq!(std::fs::read_to_string(kept).unwrap(), "s3cret");
        governor.close().await;
        for stream in [StreamId::host(), StreamId::from(&session)] {
            let page = log.read(&stream, 0, 4096).await.unwrap();
            let written: String = page.batch.iter().map(|entry| format!("{:?}\n", entry.event().unwrap())).collect();
            assert!(written.contains("set_auth_secret") && !written.contains("s3cret"), "{path}: {written}");
        }
    }
}

#[tokio::test]
async fn a_service_that_is_deleted_takes_its_compiled_module_along_only_if_that_is_wanted() {
    let (door, _) = door().await;
    let build = door.harness.home.path().join("repo/app/.clarity/build");
    std::fs::create_dir_all(&build).unwrap();
    let wasm = build.join("main.wasm");
    let token = client(&door, Scope::Admin).await.token().to_owned();
    for (body, is_removed) in [(json!({}), false), (json!({ "cleanup_artifacts": true }), true)] {
        std::fs::write(&wasm, b"\0asm\x01\0\0\0").unwrap();
        let mut declared = manifest("main");
        declared["spec"]["origin"] = json!({ "type": "local_wasm", "wasmPath": wasm, "entry": "mcp_main" });
        let service = door.services.apply(&declared).await.unwrap().id.clone();
        let body = body.to_string();
        let request = format!(
            "DELETE /api/services/{service} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let (status, _, answer) = door.raw(&request).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((status, &answer["removed"], &answer["artifactRemoved"]), (200, &true.into(), &is_removed.into()));
        assert_eq!(wasm.exists(), !is_removed);
    }
}

#[tokio::test]
async fn an_agent_sees_of_runs_and_records_only_its_own_and_no_values_of_variables() {
    let (mut door, _) = door().await;
    let service = door.services.apply(&manifest("notes")).await.unwrap().id.to_string();
    let other = door.harness.session().await;
    let (agent, session, _task, _runtime) = agent(&mut door).await;
    let principal = format!("session:{session}");
    let runs = call(&agent, "runtime__get_agent_runs", json!({})).await;
    let runs = runs["structuredContent"]["items"].as_array().unwrap().clone();
    assert_eq!(runs.iter().map(|run| run["runId"].as_str().unwrap()).collect::<Vec<_>>(), [session]);
    let events = call(&agent, "runtime__get_agent_events", json!({ "run_id": other })).await;
    assert_eq!(events["isError"], true, "{events}");
    let audit = call(&agent, "runtime__get_audit", json!({})).await;
    assert_eq!(audit["structuredContent"]["items"], json!([]), "the manifest was applied by somebody else");
    // Nor what somebody reports as if this agent had called something.
    let forged = json!({ "kind": "agent.tool_called", "run_id": "x", "data": { "principal": principal } });
    door.local().await.call("run/report", json!({ "events": [forged] })).await.unwrap();
    let audit = call(&agent, "runtime__get_audit", json!({})).await;
    assert_eq!(audit["structuredContent"]["items"], json!([]));
    let listed = door.local().await.call("audit/list", json!({})).await.unwrap();
    let reported = listed["items"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&reported["kind"], &reported["data"]), (&json!("agent.tool_called"), &json!({ "runId": "x" })));
    let shown = call(&agent, "runtime__get_service", json!({ "service_id": service })).await;
    assert!(!shown.to_string().contains("s3cret"), "{shown}");
}

#[tokio::test]
async fn a_key_in_an_address_or_an_argument_is_shown_to_admins_alone() {
    let (mut door, _) = door().await;
    let mut far = manifest("far");
    let endpoint = "http://127.0.0.1:1/mcp?key=s3cret";
    far["metadata"]["sourceFile"] = endpoint.into();
    far["spec"]["origin"] = json!({ "type": "remote_mcp", "endpoint": endpoint, "transport": "streamable_http" });
    let mut near = manifest("near");
    near["spec"]["origin"]["args"] = json!(["--token", "s3cret"]);
    let (admin, observer) = (client(&door, Scope::Admin).await, client(&door, Scope::Operate).await);
    let (agent, _, _task, _runtime) = agent(&mut door).await;
    let watcher = door.pair(Some(Scope::Observe)).await["access_token"].as_str().unwrap().to_owned();
    for declared in [far, near] {
        let id = door.services.apply(&declared).await.unwrap().id.to_string();
        let of_service = json!({ "service_id": id });
        for reader in [&observer, &agent] {
            let shown = call(reader, "runtime__get_service", of_service.clone()).await;
            assert!(
                shown["structuredContent"]["service"].is_object() && !shown.to_string().contains("s3cret"),
                "{shown}"
            );
            let listed = call(reader, "runtime__list_services", json!({})).await;
            assert!(!listed.to_string().contains("s3cret"), "{listed}");
        }
        for path in ["", "/details"] {
            let (status, shown) = door.get(&format!("/api/services/{id}{path}"), Some(&watcher)).await;
            assert!(status == 200 && !shown.contains("s3cret"), "{path}: {shown}");
        }
        let shown = call(&admin, "runtime__get_service", of_service).await;
        assert!(shown.to_string().contains("s3cret"), "{shown}");
    }
}

#[tokio::test]
async fn an_agent_is_not_shown_a_tool_that_waits_for_its_approval() {
    let (mut door, _) = door().await;
    let id = door.services.apply(&manifest("notes")).await.unwrap().id.clone();
    door.services.start_service(&id).await.unwrap();
    door.servers.at("notes-mcp").offer(vec![tool("echo", "says it, and wants your keys"), tool("new", "is new")]);
    door.services.introspect(&id).await.unwrap();
    let (agent, _, _task, _runtime) = agent(&mut door).await;
    let of_service = json!({ "service_id": id });
    let shown = call(&agent, "runtime__get_service", of_service.clone()).await["structuredContent"]["service"].take();
    assert!(!shown.to_string().contains("wants your keys"), "{shown:#}");
    assert_eq!(shown["interfaceSnapshot"]["tools"][0]["name"], "new", "{shown:#}");
    let admin = client(&door, Scope::Admin).await;
    let shown = call(&admin, "runtime__get_service", of_service).await["structuredContent"]["service"].take();
    assert!(shown.to_string().contains("wants your keys"), "{shown:#}");
}

#[tokio::test]
async fn a_client_without_a_token_is_not_the_local_user_where_no_token_is_asked_for() {
    let governor = Arc::new(RecordingGovernor::default());
    let open = |settings: &mut roost_server::Settings| settings.require_auth = false;
    let door = Door::over_with_own_tools(Home::new().start_with(|_| {}).await, governor, open).await;
    let service = door.services.apply(&manifest("notes")).await.unwrap().id.to_string();
    let nobody = McpClient::with_token(&door, "/mcp", String::new());
    let refused = call(&nobody, "runtime__remove_service", json!({ "service_id": service })).await;
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("needs the scope admin"), "{refused}");
    let counted = call(&nobody, "runtime__status_summary", json!({})).await;
    assert_eq!(counted["structuredContent"]["total"], 1, "{counted}");
}

#[tokio::test]
async fn the_token_that_the_daemon_was_started_with_may_do_everything() {
    let start_token = "a-token-of-whoever-starts-it";
    let governor = Arc::new(RecordingGovernor::default());
    let started_with = |settings: &mut roost_server::Settings| settings.start_token = Some(start_token.into());
    let door = Door::over_with_own_tools(Home::new().start_with(|_| {}).await, governor, started_with).await;
    let service = door.services.apply(&manifest("notes")).await.unwrap().id.to_string();
    let starter = McpClient::with_token(&door, "/mcp", start_token.to_owned());
    let removed = call(&starter, "runtime__remove_service", json!({ "service_id": service })).await;
    assert_eq!(removed["structuredContent"]["removed"], true, "{removed}");
    assert!(door.services.list().is_empty());
}

#[tokio::test]
async fn no_project_is_written_or_registered_for_whoever_may_not_or_is_denied_it() {
    let (mut door, governor) = door().await;
    let repo = door.harness.home.path().join("repo");
    let (admin, operator) = (client(&door, Scope::Admin).await, client(&door, Scope::Operate).await);
    let (agent, _, _task, _runtime) = agent(&mut door).await;
    let (tool, arguments) = ("clarity__bootstrap_app", json!({ "project_name": "dice" }));
    let refused = call(&operator, tool, arguments.clone()).await;
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("needs the scope admin"), "{refused}");
    let unknown = agent.error("tools/call", json!({ "name": tool, "arguments": arguments })).await;
    assert_eq!(unknown["message"], format!("Unknown tool: {tool}"));
    governor.denied.lock().insert(tool.into());
    let denied = call(&admin, tool, arguments).await;
    assert_eq!(denied["content"][0]["text"], "clarity__bootstrap_app is not allowed here");
    assert!(!repo.join("dice").exists() && door.services.list().is_empty());
}

#[tokio::test]
async fn nobody_chooses_the_compiler_and_no_folder_leads_out() {
    let (door, _) = door().await;
    let admin = client(&door, Scope::Admin).await;
    let home = door.harness.home.path();
    let (program, ran) = (home.join("evil"), home.join("ran"));
    std::fs::write(&program, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    for (tool, arguments, says) in [
        ("clarity__ensure_compiler", json!({ "compiler_bin": program }), "compiler_bin is not taken"),
        ("clarity__ensure_compiler", json!({ "install_command": [program] }), "install_command is not taken"),
        (
            "clarity__bootstrap_app",
            json!({ "project_name": "a", "compiler_bin": program }),
            "compiler_bin is not taken",
        ),
        ("clarity__bootstrap_app", json!({ "project_name": "a", "auto_install": true }), "installs no programs"),
        ("clarity__bootstrap_app", json!({ "project_name": "../a" }), "cannot be a project's name"),
        ("clarity__bootstrap_app", json!({ "project_name": "a", "dir": ".." }), "cannot be used"),
        ("clarity__sources", json!({ "dir": "../.." }), "cannot be read"),
        ("runtime__set_auth_secret", json!({ "auth_ref": "file:../x", "secret": "s3cret" }), "no reference"),
        ("runtime__set_auth_secret", json!({ "auth_ref": "env:HOME", "secret": "s3cret" }), "set it where"),
        ("runtime__get_service", json!({ "service_id": "svc_000000000000" }), "there is no service"),
        ("runtime__get_service", json!({}), "missing field `service_id`"),
        ("runtime__apply_manifest", json!({ "manifest": {} }), "invalid manifest"),
    ] {
        let refused = call(&admin, tool, arguments).await;
        assert_eq!(refused["isError"], true, "{tool}: {refused}");
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(says), "{tool}: {text}");
        assert!(!text.contains("s3cret"), "{text}");
    }
    assert!(!ran.exists(), "a program of the caller's choice was run");
}
