//! A device steers agents; it is no shell. Who may give which parameter is the table's word at every door.

use roost_rpc::{Cost, Example, Method, Needs, PARAMETERS, Parameter, Scope, Unless};
use serde_json::{Value, json};
use testkit::soon;

use crate::kit::{Client, Door};
use crate::player::play;
use crate::stage::unlimited;

/// A value that only those may give whom the row names.
fn guarded(row: &Parameter, home: &str) -> Value {
    match (row.unless, row.name) {
        (Unless::AllowedVariables, _) => json!({ "LANG": "C", "PYTHONPATH": "/tmp/evil" }),
        (Unless::AllowedSettings, _) => json!({ "effort": "low", "hooks": { "Stop": "touch /tmp/evil" } }),
        (Unless::PlainName, _) => json!("--settings=/tmp/evil"),
        (Unless::NotYolo, "yolo_mode") => json!(true),
        (Unless::NotYolo, _) => json!("bypassPermissions"),
        (Unless::SentAsData, _) => json!([{ "path": "/etc/hostname" }]),
        (Unless::BelowSession, _) => json!([format!("{home}/outside")]),
        (Unless::InWorkspace, _) => json!(home),
        (Unless::InWorkspaceOrRoots, _) => json!("/etc"),
        (Unless::BeneathRoots, "paths") => json!(["/etc"]),
        (Unless::BeneathRoots, _) => json!("/etc"),
        (Unless::OnAnotherMachine, _) => json!(format!("{home}/other")),
        (Unless::Never, "isolation") => json!("shared"),
        (Unless::Never, "mcp_servers") => json!([{ "name": "x", "command": "/bin/sh" }]),
        (Unless::Never, _) => json!("work"),
    }
}

/// A value of the same parameter that everybody may give.
fn open(row: &Parameter, home: &str) -> Value {
    match (row.unless, row.name) {
        (Unless::AllowedVariables, _) => json!({ "LANG": "de_DE.UTF-8", "TZ": "Europe/Berlin", "NO_COLOR": "1" }),
        (Unless::AllowedSettings, _) => json!({ "effort": "low" }),
        (Unless::PlainName, _) => json!("provider/model-4.5"),
        (Unless::NotYolo, "yolo_mode") => json!(false),
        (Unless::NotYolo, _) => json!("auto"),
        (Unless::SentAsData, _) => json!([{ "data": "R0lGODlh" }]),
        (Unless::BelowSession, _) => json!(["inside"]),
        (Unless::InWorkspace, _) => json!(format!("{home}/repo")),
        (Unless::InWorkspaceOrRoots, _) => json!(format!("{home}/code")),
        (Unless::BeneathRoots, "paths") => json!([format!("{home}/code")]),
        (Unless::BeneathRoots, _) => json!(format!("{home}/code")),
        (Unless::OnAnotherMachine, _) => json!("https://example.invalid/x.git"),
        (Unless::Never, _) => Value::Null,
    }
}

#[tokio::test]
async fn a_device_that_waits_is_let_in_or_turned_away_over_the_local_socket() {
    let door = Door::open_with(|settings| {
        unlimited(settings);
        settings.require_pairing_approval = true;
    })
    .await;
    for (reject, expected) in [(false, 200), (true, 403)] {
        let mut local = door.local().await;
        let offer = local.call("pair/create", json!({})).await.unwrap();
        let body = json!({ "pairing_token": offer["token"] });
        let answer = async {
            let request = loop {
                let waiting = local.call("device/pending", json!({})).await.unwrap();
                if let Some(first) = waiting["pending"].get(0) {
                    break first["request_id"].clone();
                }
            };
            local.call("device/approve", json!({ "request_id": request, "reject": reject })).await.unwrap();
        };
        let ((status, tokens), ()) = tokio::join!(door.post("/api/auth/exchange", None, &body), answer);
        assert_eq!(status, expected, "{tokens}");
    }
}

/// Whether the answer is the refusal of this parameter.
fn is_refused(row: &Parameter, outcome: &Result<Value, Value>) -> bool {
    let Err(fault) = outcome else { return false };
    match row.unless {
        Unless::NotYolo => fault["data"]["permission_mode"] == "yolo",
        // In the words for a file that is not there.
        Unless::BelowSession => fault["data"]["field"] == row.name,
        _ => fault["data"]["code"] == "FORBIDDEN" && fault["data"]["field"] == row.name,
    }
}

/// The method's example here, with this parameter and no other that the table guards.
fn call(row: &Parameter, value: Value, workspace: &str, session: &str) -> Value {
    let mut params = Example::for_method(row.method).params;
    let fields = params.as_object_mut().unwrap();
    for other in row.method.parameters().filter(|other| other.needs != Needs::Operate) {
        fields.remove(other.name);
    }
    for (name, here) in [("workspace_id", workspace), ("session_id", session), ("agent_type", "fake")] {
        if fields.contains_key(name) {
            fields.insert(name.into(), json!(here));
        }
    }
    fields.insert(row.name.into(), value);
    params
}

#[tokio::test]
async fn every_guarded_parameter_is_refused_or_taken_as_the_table_says_from_every_caller() {
    let mut door = Door::open_with(unlimited).await;
    let _agents = play(&mut door);
    let home = door.harness.home.path().canonicalize().unwrap();
    for folder in ["code", "other", "outside", "repo/inside"] {
        std::fs::create_dir_all(home.join(folder)).unwrap();
    }
    let (home, workspace) = (home.to_str().unwrap().to_owned(), door.workspace().await);
    let mut owner = door.local().await;
    let mut callers: Vec<(Option<Scope>, Client)> = vec![(None, door.local().await)];
    for scope in [Scope::Observe, Scope::Operate, Scope::Admin] {
        let token = door.pair(Some(scope)).await["access_token"].as_str().unwrap().to_owned();
        let mut client = door.connect(&token).await.unwrap();
        client.hello().await;
        callers.push((Some(scope), client));
    }
    for row in PARAMETERS.iter().filter(|row| row.needs != Needs::Operate) {
        for (scope, client) in &mut callers {
            let what = format!("{}.{} from {scope:?}", row.method.name(), row.name);
            for (value, is_guarded) in [(guarded(row, &home), true), (open(row, &home), false)] {
                // `agent/run` takes one prompt at a time.
                let idle = async { while client.call("agent/status", json!({})).await.unwrap()["state"] != "idle" {} };
                soon("the agent is done", idle).await;
                let start = json!({ "workspace_id": workspace, "mode": "new" });
                let started = owner.call("session/start", start).await.unwrap();
                let session = started["session_id"].as_str().unwrap();
                let outcome = client.call(row.method.name(), call(row, value, &workspace, session)).await;
                if scope.is_some_and(|scope| scope < row.method.scope()) {
                    let fault = outcome.unwrap_err();
                    assert_eq!(fault["data"]["code"], "FORBIDDEN", "{what}: {fault}");
                    continue;
                }
                let may = match row.needs {
                    Needs::Operate => true,
                    Needs::Admin => scope.is_none_or(|scope| scope == Scope::Admin),
                    Needs::Local => scope.is_none(),
                };
                assert_eq!(is_refused(row, &outcome), is_guarded && !may, "{what}: {outcome:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_refusal_names_the_key_the_scope_that_it_needs_and_what_to_do() {
    let door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let workspace = door.workspace().await;
    let table = [
        ("session/start", json!({ "env": { "GIT_SSH_COMMAND": "evil" } }), "env.GIT_SSH_COMMAND", "LANG"),
        ("agent/run", json!({ "prompt": "x", "env": { "LANG": "../../x" } }), "env.LANG", "[runtimes.<id>.env]"),
        (
            "session/start",
            json!({ "runtimeConfig": { "apiKeyHelper": "evil" } }),
            "runtime_config.apiKeyHelper",
            "effort",
        ),
        ("session/start", json!({ "runtime_config": { "effort": "$(x)" } }), "runtime_config.effort", "roost.toml"),
        ("session/start", json!({ "isolationLevel": "shared" }), "isolation", "leave it out"),
    ];
    for (method, mut params, field, advice) in table {
        params["workspace_id"] = json!(workspace);
        let fault = client.call(method, params).await.unwrap_err();
        let message = fault["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("{field} needs the scope admin")), "{message}");
        assert!(message.contains(advice), "{message}");
        assert_eq!((&fault["data"]["needs"], &fault["data"]["scope"]), (&json!("admin"), &json!("operate")));
    }
    assert_eq!(client.call("session/list", json!({})).await.unwrap()["total"], 0);
}

#[tokio::test]
async fn the_same_parameters_are_refused_over_http_and_over_rest() {
    let door = Door::open_with(unlimited).await;
    let (token, workspace) = (door.token().await, door.workspace().await);
    let start = json!({ "workspace_id": workspace, "env": { "LD_PRELOAD": "x" } });
    let (_, answer) = door.rpc(&token, "session/start", start).await;
    assert_eq!(answer["error"]["data"]["key"], "LD_PRELOAD", "{answer}");
    let run = json!({ "workspace_id": workspace, "prompt": "x", "env": { "PYTHONPATH": "x" } });
    for path in ["/api/agent/run", "/api/claude/run"] {
        let (status, answer) = door.post(path, Some(&token), &run).await;
        assert_eq!((status, &answer["details"]["key"]), (403, &json!("PYTHONPATH")), "{path}: {answer}");
    }
}

#[test]
fn no_row_guards_a_method_that_changes_nothing_but_a_folder_or_a_secret_that_is_looked_for() {
    let reads: Vec<_> = PARAMETERS
        .iter()
        .filter(|row| row.needs != Needs::Operate && row.method.cost() == Cost::Read)
        .map(|row| row.method)
        .collect();
    assert_eq!(reads, [Method::SessionList, Method::WorkspaceDiscover, Method::SecretValidate]);
}
