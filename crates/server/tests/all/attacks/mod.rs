//! What a hostile client, or a repository that somebody prepared, might try: every attack on every method that takes a
//! path or a name of git's, and every odd repository under every method that works on one.
//!
//! The tables are snapshots: what each came to, in the words that clients are told. Whatever came of it, nothing outside
//! the workspace was read or changed.

mod corpus;
mod odd;
mod race;
mod trapped_workspace;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use corpus::{Attack, Kind};
use roost_rpc::{Cost, Method, PROTOCOL_VERSION, Scope, openrpc};
use serde_json::{Value, json};
use testkit::soon;
use trapped_workspace::TrappedWorkspace;

/// The word of a refusal, with git's own reason behind it.
fn word(outcome: &Result<Value, Value>) -> String {
    match outcome {
        Ok(_) => "ok".into(),
        Err(fault) => {
            let (code, kind) = (fault["data"]["code"].as_str().unwrap(), fault["data"]["kind"].as_str());
            kind.map_or_else(|| code.to_owned(), |kind| format!("{code}/{kind}"))
        }
    }
}

/// Every parameter of a method that names a place on the disk or something of git's.
fn named_parameters() -> Vec<(Method, String, Kind)> {
    let document = openrpc::document(PROTOCOL_VERSION);
    let mut found = Vec::new();
    for described in document["methods"].as_array().unwrap() {
        let method = Method::from_name(described["name"].as_str().unwrap()).unwrap();
        for param in described["params"].as_array().unwrap() {
            let name = param["name"].as_str().unwrap();
            if let Some(kind) = corpus::kind(method, name) {
                found.push((method, name.to_owned(), kind));
            }
        }
    }
    found
}

#[tokio::test]
async fn every_attack_on_every_parameter_is_refused_with_its_code_or_does_no_harm() {
    let mut table = String::new();
    let mut place = TrappedWorkspace::new().await;
    for (method, param, kind) in named_parameters() {
        assert!(method.scope() < Scope::Admin, "{} is for whoever sits at the machine", method.name());
        let mut outcomes = BTreeMap::<String, Vec<&str>>::new();
        for Attack { name, text } in corpus::attacks(kind) {
            let params = corpus::params(method, &param, &place.filled(text));
            let outcome = place.attack(method.name(), params).await;
            outcomes.entry(word(&outcome)).or_default().push(name);
        }
        place.is_untouched();
        if method.cost() != Cost::Read && outcomes.contains_key("ok") {
            // The next one finds everything as it was.
            place = TrappedWorkspace::new().await;
        }
        _ = writeln!(table, "{} `{param}`", method.name());
        for (word, names) in outcomes {
            _ = writeln!(table, "    {word}: {}", names.join(", "));
        }
    }
    insta::assert_snapshot!("attacks", table);
}

#[tokio::test]
async fn no_odd_repository_breaks_a_method_or_is_answered_without_a_reason() {
    let kinds = odd::kinds();
    let mut rows = BTreeMap::<&str, Vec<String>>::new();
    for &(_, make) in &kinds {
        let mut place = TrappedWorkspace::new().await;
        let id = place.workspace(make).await;
        for method in odd::methods() {
            let outcome = place.attack(method.name(), odd::params(method, &id)).await;
            rows.entry(method.name()).or_default().push(word(&outcome));
            if outcome.is_ok() && [Method::GitUnstage, Method::GitDiscard, Method::GitInit].contains(&method) {
                // The next one finds the odd thing as it was.
                place.remake(make);
            }
        }
        place.is_untouched();
    }
    let names: Vec<_> = kinds.iter().map(|(name, _)| *name).collect();
    let mut table = format!("| method | {} |\n|---{}|\n", names.join(" | "), "|---".repeat(names.len()));
    for (method, words) in rows {
        _ = writeln!(table, "| {method} | {} |", words.join(" | "));
    }
    insta::assert_snapshot!("odd_repositories", table);
}

#[tokio::test]
async fn the_same_attacks_over_http_read_nothing_either() {
    let place = TrappedWorkspace::new().await;
    let routes: BTreeSet<_> = named_parameters()
        .into_iter()
        .filter(|(_, _, kind)| *kind == Kind::Path)
        .flat_map(|(method, param, _)| method.routes().into_iter().map(move |route| (route.path, param.clone())))
        .chain([
            ("/api/file/raw".to_owned(), "path".to_owned()),
            ("/api/images/validate".to_owned(), "path".to_owned()),
        ])
        .collect();
    for (path, param) in routes {
        for attack in ["../outside/secret", "%2e%2e/outside/secret", "link-dir/secret", "%ff", "a%00b", "..%2foutside"]
        {
            let (status, body) = place.get(&format!("{path}?{param}={attack}&pattern=c4nary")).await;
            assert!(!body.contains("c4nary-content") && !body.contains("c4nary-name"), "{path} {attack}: {body}");
            assert!([400, 403, 404, 405, 409].contains(&status) || status == 200, "{path} {attack}: {status} {body}");
        }
    }
    place.is_untouched();
}

#[tokio::test]
async fn what_is_no_text_is_no_request() {
    let mut place = TrappedWorkspace::new().await;
    for bytes in [b"\xff".as_slice(), b"\\ud800"] {
        let frame = [br#"{"jsonrpc":"2.0","id":1,"method":"file/get","params":{"path":""#, bytes, br#""}}"#].concat();
        let answer = place.local(&frame).await;
        assert!([json!(-32700), json!(-32602)].contains(&answer["error"]["code"]), "{answer}");
    }
    let answer = place.local(br#"{"jsonrpc":"2.0","id":1,"method":"status/health"}"#).await;
    assert_eq!(answer["result"]["status"], json!("ok"));
}

#[tokio::test]
async fn a_worktree_that_became_a_link_to_another_repository_is_not_worked_in() {
    let mut place = TrappedWorkspace::new().await;
    let workspace = json!({ "workspace_id": "$workspace", "worktree": true });
    let started = place.attack("session/start", workspace).await.unwrap();
    let folder = PathBuf::from(started["project_path"].as_str().unwrap());
    let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let outside = place.home.join("outside");
    for args in [vec!["init", "--quiet"], vec!["add", "c4nary-name"]] {
        assert!(Command::new("git").args(args).current_dir(&outside).status().unwrap().success());
    }
    place.remember();
    fs::rename(&folder, folder.with_extension("away")).unwrap();
    symlink(&outside, &folder).unwrap();
    for (method, params) in [
        ("workspace/worktree/diff", json!({ "name": name })),
        ("workspace/worktree/merge", json!({ "name": name, "message": "harm" })),
        ("workspace/worktree/remove", json!({ "name": name, "force": true })),
        ("workspace/worktree/discard", json!({ "name": name, "force": true })),
    ] {
        let outcome = place.attack(method, params).await;
        assert!(outcome.is_err(), "{method}: {outcome:?}");
    }
    place.attack("workspace/worktree/list", json!({})).await.unwrap();
    place.is_untouched();
}

#[tokio::test]
async fn a_push_that_hangs_is_ended_after_its_time_and_says_so() {
    let mut place = TrappedWorkspace::new().await;
    let (script, mark) = (place.home.join("hang"), place.home.join("started"));
    fs::write(&script, format!("#!/bin/sh\ntouch {}\nexec sleep 600\n", mark.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    for (key, value) in [("core.sshCommand", script.to_str().unwrap()), ("remote.origin.url", "ssh://x.invalid/x")] {
        let set = Command::new("git").args(["config", key, value]).current_dir(place.home.join("repo")).status();
        assert!(set.unwrap().success());
    }
    let pushing = place.client.ask("git/push", json!({})).await;
    soon("a push that hangs", async {
        while !mark.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(301)).await;
    tokio::time::resume();
    let ended = place.client.answer(pushing).await;
    assert_eq!(word(&ended), "GIT_ERROR/TIMEOUT");
    let told = place.client.event("git_operation_completed").await;
    assert_eq!((&told["operation"], &told["success"]), (&json!("push"), &json!(false)));
}
