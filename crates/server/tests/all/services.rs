//! Services at the door: who may do what, what others see of it, and the stream of what happens.

use std::collections::BTreeSet;
use std::time::Duration;

use roost_gateway::lifecycle::ServiceFault;
use roost_log::{Log, Retention, StreamId};
use roost_model::event::{EventBody, NewEvent};
use roost_model::service::Lifecycle;
use roost_model::time::Timestamp;
use roost_rpc::Scope;
use serde_json::{Value, json};
use testkit::mcp_servers::Behaviour;
use testkit::soon;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;

use crate::kit::Door;

fn manifest() -> Value {
    json!({
        "apiVersion": "clarity.runtime/v1",
        "kind": "MCPService",
        "metadata": { "sourceFile": "notes", "module": "notes", "serviceType": "mcp" },
        "spec": {
            "origin": {
                "type": "stdio_mcp", "command": "notes-mcp",
                "env": [{ "name": "TOKEN", "value": "s3cret" }, { "name": "KEY", "secretRef": "env:KEY" }],
            },
            "enabled": true, "autostart": true, "restartPolicy": { "mode": "never" }, "policyRef": "default",
        },
    })
}

async fn token(door: &Door, scope: Scope) -> String {
    door.pair(Some(scope)).await["access_token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_audit_is_what_a_replay_of_the_log_from_zero_gives() {
    let door = Door::open().await;
    let mut local = door.local().await;
    let applied = local.call("service/apply", json!({ "manifest": manifest() })).await.unwrap();
    let id = json!({ "service_id": applied["service"]["serviceId"] });
    local.call("service/start", id.clone()).await.unwrap();
    // More than are read at once.
    let event =
        |at: usize| json!({ "kind": "agent.tool_called", "run_id": format!("r{}", at % 7), "data": { "at": at } });
    let events: Vec<_> = (0..1200).map(event).collect();
    local.call("run/report", json!({ "events": events })).await.unwrap();
    local.call("service/stop", id).await.unwrap();
    let page = door.harness.log.read(&StreamId::host(), 0, 10_000).await.unwrap();
    let replayed = page.batch.iter().filter_map(|entry| {
        let name = entry.event().unwrap().body.name();
        ["service.", "mcp.", "agent."].iter().any(|of_gateway| name.starts_with(of_gateway)).then(|| entry.seq())
    });
    let replayed: Vec<u64> = replayed.collect();
    let seqs = |listed: &Value| -> Vec<u64> {
        listed["items"].as_array().unwrap().iter().map(|record| record["seq"].as_u64().unwrap()).collect()
    };
    let whole = local.call("audit/list", json!({ "limit": 2000 })).await.unwrap();
    assert_eq!(seqs(&whole), replayed);
    assert!(replayed.len() > 1200);
    let middle = replayed[700];
    let rest = local.call("audit/list", json!({ "limit": 2000, "after": middle })).await.unwrap();
    assert_eq!(seqs(&rest), replayed[701..]);
    // A page goes on where the one before ended.
    let (mut followed, mut after) = (Vec::new(), json!(middle));
    while followed.len() < replayed.len() {
        let page = local.call("audit/list", json!({ "limit": 150, "after": after })).await.unwrap();
        if seqs(&page).is_empty() {
            break;
        }
        followed.extend(seqs(&page));
        after = page["last"].clone();
    }
    assert_eq!(followed, replayed[701..]);
}

#[tokio::test]
async fn whole_records_of_every_kind_are_the_same_by_whichever_way_they_are_read_and_after_a_restart() {
    let door = Door::open().await;
    let of_gateway = |body: &EventBody| ["service.", "mcp."].iter().any(|prefix| body.name().starts_with(prefix));
    let examples = testkit::events::examples().into_iter().filter(|example| of_gateway(&example.body));
    let events: Vec<_> = examples.map(|example| NewEvent::for_host(example.time, example.body)).collect();
    door.harness.log.append(&StreamId::host(), events).await.unwrap().await.unwrap();
    let mut local = door.local().await;
    let event = json!({ "kind": "agent.handoff", "run_id": "r", "level": "warn", "data": { "to": "b" } });
    local.call("run/report", json!({ "events": [event] })).await.unwrap();
    let whole = local.call("audit/list", json!({ "limit": 2000 })).await.unwrap()["items"].clone();
    let records = whole.as_array().unwrap();
    let kinds: BTreeSet<_> = records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    for kind in
        ["mcp.tool_called", "mcp.budget_exceeded", "service.manifest_applied", "service.removed", "agent.handoff"]
    {
        assert!(kinds.contains(kind), "{kind} is not among {kinds:?}");
    }
    let call = records.iter().find(|record| record["kind"] == "mcp.tool_called").unwrap();
    assert_eq!((&call["data"]["runId"], &call["data"]["arguments"]), (&json!("nightly"), &json!({ "query": "tides" })));

    // Forwards, a few at a time.
    let (mut forwards, mut after) = (vec![records[0].clone()], records[0]["seq"].clone());
    while forwards.len() < records.len() {
        let page = local.call("audit/list", json!({ "limit": 2, "after": after })).await.unwrap();
        assert_ne!(page["items"], json!([]));
        forwards.extend(page["items"].as_array().unwrap().clone());
        after = page["last"].clone();
    }
    assert_eq!(&forwards, records);
    // As a stream.
    let reader = token(&door, Scope::Observe).await;
    let mut stream = Stream::open(&door, &reader, "", Some("0")).await;
    let mut streamed = Vec::new();
    while streamed.len() < records.len() {
        streamed.push(stream.next().await.2);
    }
    assert_eq!(&streamed, records);
    // By the next server, which knows only the log.
    drop((stream, local));
    let again = Door::over(door.close().await, |_| {}).await;
    assert_eq!(again.local().await.call("audit/list", json!({ "limit": 2000 })).await.unwrap()["items"], whole);
}

#[tokio::test]
async fn the_events_and_calls_of_a_service_are_found_behind_a_flood_of_reports() {
    let door = Door::open().await;
    let mut local = door.local().await;
    let applied = local.call("service/apply", json!({ "manifest": manifest() })).await.unwrap();
    let id = json!({ "service_id": applied["service"]["serviceId"] });
    let log = &door.harness.log;
    let append = |events: Vec<NewEvent>| async move {
        log.append(&StreamId::host(), events).await.unwrap().await.unwrap();
    };
    let examples = testkit::events::examples().into_iter();
    let mut call = examples.map(|example| example.body).find_map(|body| match body {
        EventBody::McpToolCalled(called) => Some(called),
        _ => None,
    });
    call.as_mut().unwrap().service_id = Some(id["service_id"].as_str().unwrap().into());
    append(vec![NewEvent::for_host(Timestamp::now(), call.unwrap())]).await;
    let payload = json!({ "level": "info", "message": "thinks", "data": { "runId": "r" } });
    for _ in 0..52 {
        let report = || EventBody::Other { name: "agent.llm_called".into(), payload: payload.clone() };
        append((0..1000).map(|_| NewEvent::for_host(Timestamp::now(), report())).collect()).await;
    }
    let kinds = |records: &Value| -> Vec<String> {
        records.as_array().unwrap().iter().map(|record| record["kind"].as_str().unwrap().to_owned()).collect()
    };
    let expected = ["service.manifest_applied", "mcp.tool_called"];
    let events = local.call("service/events", id.clone()).await.unwrap();
    assert_eq!(kinds(&events["items"]), expected);
    let details = local.call("service/details", id).await.unwrap();
    assert_eq!(
        (kinds(&details["events"]), details["recentCalls"].as_array().unwrap().len()),
        (expected.map(String::from).to_vec(), 1)
    );
}

#[tokio::test]
async fn the_audit_goes_on_with_what_retention_left() {
    let door = Door::open().await;
    let mut local = door.local().await;
    let report = |run: &str| json!({ "events": [{ "kind": "agent.tool_called", "run_id": run, "data": {} }] });
    local.call("run/report", report("old")).await.unwrap();
    let old = local.call("audit/list", json!({})).await.unwrap();
    assert_eq!(old["items"][0]["data"]["runId"], "old", "{old}");
    let everything = Retention { max_age: Duration::ZERO, max_bytes: u64::MAX };
    let later = Timestamp::from_millis(Timestamp::now().as_millis() + 60_000);
    assert!(door.harness.log.retain(everything, later).await.unwrap().events > 0);
    local.call("run/report", report("new")).await.unwrap();
    for asked in [json!({}), json!({ "after": 1 }), json!({ "after": old["last"] })] {
        let left = local.call("audit/list", asked.clone()).await.unwrap();
        let items = left["items"].as_array().unwrap();
        assert_eq!((items.len(), &items[0]["data"]["runId"]), (1, &json!("new")), "{asked}: {left}");
    }
    // A cursor of another log waits for what comes next.
    let ahead = local.call("audit/list", json!({ "after": 1_000_000 })).await.unwrap();
    assert_eq!((&ahead["items"], ahead["last"].as_u64() < Some(1_000_000)), (&json!([]), true));
}

#[tokio::test]
async fn what_starts_or_stops_a_program_or_approves_needs_admin_and_a_page_cannot_ask_for_it() {
    let door = Door::open().await;
    let applied = door.local().await.call("service/apply", json!({ "manifest": manifest() })).await.unwrap();
    let id = applied["service"]["serviceId"].as_str().unwrap().to_owned();
    let operator = token(&door, Scope::Operate).await;
    for (path, body) in [
        ("apply".to_owned(), json!({ "manifest": manifest() })),
        (format!("{id}/start"), json!({})),
        (format!("{id}/stop"), json!({})),
        (format!("{id}/restart"), json!({})),
        (format!("{id}/introspect"), json!({})),
        (format!("{id}/unquarantine"), json!({})),
        (format!("{id}/approve"), json!({})),
    ] {
        let (status, _) = door.post(&format!("/api/services/{path}"), Some(&operator), &body).await;
        assert_eq!(status, 403, "{path}");
        let (status, _) = door.post(&format!("/api/services/{path}"), None, &body).await;
        assert_eq!(status, 401, "{path}");
    }
    let admin = format!("Bearer {}", token(&door, Scope::Admin).await);
    let start = format!("POST /api/services/{id}/start");
    let json_type = ("Content-Type", "application/json");
    let evil = [("Authorization", admin.as_str()), ("Origin", "http://evil.example"), json_type];
    assert_eq!(door.http(&start, &evil, "{}").await.0, 403);
    let form = [("Authorization", admin.as_str()), ("Content-Type", "text/plain")];
    assert_eq!(door.http(&start, &form, "{}").await.0, 415);
    assert_eq!(door.services.list()[0].life.restart_count, 0);
    assert!(door.servers.at("notes-mcp").principals().is_empty(), "nothing was started");
    let honest = [("Authorization", admin.as_str()), json_type];
    assert_eq!(door.http(&start, &honest, "{}").await.0, 200);
}

#[tokio::test]
async fn values_of_variables_are_shown_to_admins_only_and_are_in_no_event() {
    let door = Door::open().await;
    let mut local = door.local().await;
    let applied = local.call("service/apply", json!({ "manifest": manifest() })).await.unwrap();
    let id = applied["service"]["serviceId"].clone();
    let seen = |service: &Value| service["service"]["manifest"]["spec"]["origin"]["env"][0]["value"].clone();
    assert_eq!(seen(&applied), "s3cret");
    let mut phone = door.client().await;
    let shown = phone.call("service/get", json!({ "service_id": id })).await.unwrap();
    assert_eq!(seen(&shown), "***");
    let details = phone.call("service/details", json!({ "service_id": id })).await.unwrap();
    assert!(!details.to_string().contains("s3cret"), "{details}");
    let audit = local.call("audit/list", json!({})).await.unwrap();
    assert!(!audit.to_string().contains("s3cret"), "{audit}");
}

#[tokio::test]
async fn a_wrong_manifest_is_a_400_that_names_the_place() {
    let door = Door::open().await;
    let admin = token(&door, Scope::Admin).await;
    let mut wrong = manifest();
    wrong["spec"]["restartPolicy"]["mode"] = json!("sometimes");
    let (status, refused) = door.post("/api/services/apply", Some(&admin), &json!({ "manifest": wrong })).await;
    assert_eq!((status, &refused["details"]["pointer"]), (400, &json!("/spec/restartPolicy/mode")));
    assert!(refused["error"].as_str().unwrap().starts_with("invalid manifest: "), "{refused}");
}

#[tokio::test]
async fn the_status_has_the_services_beside_the_agent() {
    let door = Door::open().await;
    let mut local = door.local().await;
    local.call("service/apply", json!({ "manifest": manifest() })).await.unwrap();
    let status = local.call("status/get", json!({})).await.unwrap();
    assert_eq!(status["summary"]["total"], 1);
    assert_eq!((&status["summary"]["stopped"], &status["summary"]["localMcp"]), (&json!(1), &json!(1)));
    assert_eq!((&status["gateway"]["mcpPath"], &status["gateway"]["healthy"]), (&json!("/mcp"), &json!(false)));
    assert_eq!((&status["claude_state"], &status["services"][0]["module"]), (&json!("idle"), &json!("notes")));
}

#[tokio::test]
async fn a_reader_of_a_log_waits_for_the_next_line() {
    let door = Door::open().await;
    let mut local = door.local().await;
    let applied = local.call("service/apply", json!({ "manifest": manifest() })).await.unwrap();
    let id = applied["service"]["serviceId"].clone();
    let mut reader = door.local().await;
    let params = json!({ "service_id": id, "after": 0, "follow": true });
    let (read, started) =
        tokio::join!(reader.call("service/logs", params), local.call("service/start", json!({ "service_id": id })));
    started.unwrap();
    assert!(!read.unwrap()["lines"].as_array().unwrap().is_empty());
}

/// An open stream of events.
struct Stream(Lines<BufReader<TcpStream>>);

impl Stream {
    async fn open(door: &Door, token: &str, query: &str, last: Option<&str>) -> Self {
        let mut socket = TcpStream::connect(door.address).await.unwrap();
        let last = last.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        let head = format!(
            "GET /api/events{query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{last}\r\n"
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        Self(BufReader::new(socket).lines())
    }

    /// The next event: its id, its name and its data.
    async fn next(&mut self) -> (String, String, Value) {
        let (mut id, mut name) = (String::new(), String::new());
        loop {
            let line = soon("a line of the stream comes", self.0.next_line()).await.unwrap().unwrap();
            match line.split_once(": ") {
                Some(("id", text)) => id = text.into(),
                Some(("event", text)) => name = text.into(),
                Some(("data", text)) => return (id, name, serde_json::from_str(text).unwrap()),
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn the_stream_tells_what_happens_and_goes_on_where_a_client_was() {
    let door = Door::open().await;
    let mut local = door.local().await;
    let reader = token(&door, Scope::Observe).await;
    let applied = local.call("service/apply", json!({ "manifest": manifest() })).await.unwrap();
    let mut stream = Stream::open(&door, &reader, "?names=1", None).await;
    let (first, name, data) = stream.next().await;
    assert_eq!((name.as_str(), &data["kind"]), ("service.manifest_applied", &json!("service.manifest_applied")));
    assert_eq!(data["seq"].to_string(), first);
    let id = applied["service"]["serviceId"].clone();
    local.call("service/start", json!({ "service_id": id })).await.unwrap();
    let mut names = Vec::new();
    while names.last().is_none_or(|name| name != "service.started") {
        names.push(stream.next().await.1);
    }
    assert_eq!(names, ["service.starting", "service.tools_approved", "service.interface_refreshed", "service.started"]);
    drop(stream);
    local.call("service/stop", json!({ "service_id": id })).await.unwrap();
    let mut again = Stream::open(&door, &reader, "?names=1", Some(&first)).await;
    let mut all = Vec::new();
    while all.last().is_none_or(|name| name != "service.stopped") {
        all.push(again.next().await.1);
    }
    names.extend(["service.stopping".to_owned(), "service.stopped".to_owned()]);
    assert_eq!(all, names);
    // Who hears events without a name, as clarity-runtime sends them, hears all of them.
    let mut unnamed = Stream::open(&door, &reader, "", None).await;
    let (id, name, data) = unnamed.next().await;
    assert_eq!((id, name.as_str(), &data["kind"]), (first, "", &json!("service.manifest_applied")));
}

#[tokio::test]
async fn a_quarantined_service_is_let_out_over_http() {
    let door = Door::open().await;
    let token = token(&door, Scope::Admin).await;
    let mut failing = manifest();
    failing["spec"]["restartPolicy"] = json!({ "mode": "on-failure", "maxRestarts": 0 });
    door.servers.at("notes-mcp").on_connect(Behaviour::Fails(ServiceFault::Broken));
    let id = door.services.apply(&failing).await.unwrap().id.clone();
    let failed = soon("it fails", door.services.start_service(&id)).await.unwrap();
    assert_eq!(failed.life.lifecycle, Lifecycle::Quarantined);
    let path = format!("/api/services/{id}/unquarantine");
    let (status, answer) = door.post(&path, Some(&token), &json!({})).await;
    assert_eq!((status, &answer["service"]["runtime"]["lifecycle"]), (200, &json!("STOPPED")), "{answer}");
    let (status, answer) = door.post(&path, Some(&token), &json!({})).await;
    assert_eq!(status, 409, "it is not quarantined any more: {answer}");
}

#[tokio::test]
async fn a_service_that_starts_slowly_says_over_http_what_is_being_done() {
    let door = Door::open().await;
    let token = token(&door, Scope::Observe).await;
    door.servers.at("notes-mcp").on_connect(Behaviour::Hangs);
    let id = door.services.apply(&manifest()).await.unwrap().id.clone();
    let mut view = door.services.follow(&id).unwrap();
    let starting = door.services.start_service(&id);
    let shown = async {
        view.wait_for(|view| view.progress.is_some()).await.unwrap();
        door.get(&format!("/api/services/{id}"), Some(&token)).await.1
    };
    let shown = tokio::select! {
        started = starting => panic!("it hangs: {started:?}"),
        shown = soon("the start says how far it is", shown) => shown,
    };
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let runtime = &shown["service"]["runtime"];
    assert_eq!((&runtime["lifecycle"], &runtime["progress"]), (&json!("STARTING"), &json!("connecting")), "{shown}");
}

#[tokio::test]
async fn parts_of_a_manifest_that_have_no_effect_are_named_when_it_is_applied() {
    let door = Door::open().await;
    let mut local = door.local().await;
    let mut declared = manifest();
    let plain = local.call("service/apply", json!({ "manifest": declared })).await.unwrap();
    assert!(plain["warnings"].is_null(), "{plain}");
    declared["metadata"]["workspaceRoot"] = json!("/w");
    let warned = local.call("service/apply", json!({ "manifest": declared })).await.unwrap();
    assert_eq!(warned["warnings"], json!(["/metadata/workspaceRoot is kept, and has no effect here"]));
}
