//! `roost export`: a bundle that a stranger can read and that holds no secret.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::kit::{RoostInstance, of_type, script, session_id};

/// An agent that says what is in a file, and a little on stderr; told to `die`, it does.
const AGENT: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}' ;;
    *'"session/new"'*) result='{"sessionId":"native-1"}' ;;
    *'"session/prompt"'*)
      cat "$1/stderr" >&2
      case "$line" in *'die'*) exit 3 ;; esac
      cat "$1/updates"
      result='{"stopReason":"end_turn"}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done"#;

/// Secrets and where each is planted.
const PLANTED: [(&str, &str); 12] = [
    ("prompt", "sk-proj-PROMPTaaaaBBBBccccDDDDeeeeFFFF0001"),
    ("answer", "ghp_ANSWERaaaaBBBBccccDDDDeeeeFFFF00000002"),
    ("split", "sk-ant-api03-SPLITaaaaBBBBccccDDDDeeeeFFFF0003"),
    ("input", "hunter2-input-password"),
    ("command", "AKIAIOSFODNN7PLANTED"),
    ("result", "eyPLANTEDresultTOKENaaaaBBBBccccDDDD0005"),
    ("big", "ghp_BIGRESULTaaaaBBBBccccDDDDeeeeFFFF0006"),
    ("file name", "sk-proj-FILENAMEaaaaBBBBccccDDDDeeee0007"),
    ("raw", "ghp_RAWaaaaBBBBccccDDDDeeeeFFFF0000000008"),
    ("stderr", "sk-proj-STDERRaaaaBBBBccccDDDDeeeeFFFF0009"),
    ("key", "MIIEowIBAAKCAQEAplantedPLANTEDplanted0010"),
    ("env", "env-value-that-is-nobodys-business-0011"),
];

fn planted(instance: &str) -> &'static str {
    PLANTED.iter().find(|(name, _)| *name == instance).unwrap().1
}

fn updates() -> String {
    let update = |update: Value| {
        let params = json!({ "sessionId": "native-1", "update": update });
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }).to_string() + "\n"
    };
    let text = |text: &str| {
        update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }))
    };
    let (start, end) = planted("split").split_at(9);
    let call = |id: &str, title: &str, input: Value| {
        update(json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": "read",
                       "status": "pending", "rawInput": input }))
    };
    let done = |id: &str, output: Value| {
        update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
                       "rawOutput": output }))
    };
    let big = format!("{}\ntoken: {}\n", "nothing to see here\n".repeat(1000), planted("big"));
    let pem = format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", planted("key"));
    [
        text(&format!("The key is {}.\n", planted("answer"))),
        text(&format!("In pieces it is {start}")),
        text(end),
        text(". Have fun.\n"),
        call(
            "one",
            &format!("Read {}.txt", planted("file name")),
            json!({ "path": format!("{}.txt", planted("file name")),
            "password": planted("input"), "command": format!("AWS_ACCESS_KEY_ID={} aws s3 ls", planted("command")) }),
        ),
        done("one", json!({ "headers": format!("Authorization: Bearer {}", planted("result")), "pem": pem })),
        call("two", "Read a lot", json!({ "path": "big.txt" })),
        done("two", json!(big)),
        update(json!({ "sessionUpdate": "nobody_knows_this", "content": planted("raw") })),
    ]
    .concat()
}

/// An instance with the leaky agent, and the session that it worked in.
fn leaky() -> (RoostInstance, String) {
    let instance = RoostInstance::new();
    let folder = instance.work().join("agent");
    fs::create_dir(&folder).unwrap();
    let program = folder.join("agent.sh");
    script(&program, AGENT);
    fs::write(folder.join("updates"), updates()).unwrap();
    fs::write(folder.join("stderr"), format!("warning: {} was refused\n", planted("stderr"))).unwrap();
    instance.configure(&format!(
        "[runtimes.leaky]\ncommand = {program:?}\nargs = [{folder:?}]\nenv = {{ OPENAI_API_KEY = {:?} }}\n",
        planted("env"),
    ));
    let prompt = format!("use {} please", planted("prompt"));
    let run = instance.run(&["run", "--runtime", "leaky", "--json", &prompt]).ended(0);
    let session = session_id(&run.events(1));
    instance.run(&["run", "--session", &session, "die"]).ended(1);
    (instance, session)
}

/// The files of a bundle.
fn unpacked(instance: &RoostInstance, args: &[&str], name: &str) -> BTreeMap<String, String> {
    instance.run(args).ended(0);
    let archive = fs::File::open(instance.work().join(name)).unwrap();
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(GzDecoder::new(archive)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        let (folder, path) = path.split_once('/').unwrap();
        assert!(folder.starts_with("roost-"), "all of it unpacks into one folder: {folder}");
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        files.insert(path.to_owned(), String::from_utf8(bytes).unwrap());
    }
    files
}

#[test]
fn no_secret_that_was_planted_anywhere_is_in_the_bundle() {
    let (instance, session) = leaky();
    let log = instance.run(&["log", "--json", &session]).ended(0).stdout;
    for (what, secret) in PLANTED.iter().filter(|(what, _)| !matches!(*what, "split" | "big" | "env")) {
        assert!(log.contains(secret), "the secret in the {what} was not planted");
    }
    let files = unpacked(&instance, &["export", &session, "--output", "it.tar.gz"], "it.tar.gz");
    for (path, text) in &files {
        for (what, secret) in PLANTED {
            assert!(!path.contains(secret) && !text.contains(secret), "the secret in the {what} is in {path}");
        }
        let (start, end) = planted("split").split_at(9);
        let pieces = text.contains(&format!("it is {start}\"")) || text.contains(&format!("\"{end}"));
        assert!(!pieces, "the pieces of a secret are in {path}");
    }
    assert!(files.iter().any(|(path, text)| path.ends_with(".bin") && text.contains("nothing to see here")));
    assert!(files["events.jsonl"].contains("[redacted]"));
}

#[test]
fn a_bundle_holds_everything_and_says_what_is_what() {
    let (instance, session) = leaky();
    let events = instance.run(&["log", "--json", &session]).ended(0).events(1);
    let files = unpacked(&instance, &["export", &session[..8]], &format!("roost-{session}.tar.gz"));
    let readme = &files["README.txt"];
    for name in [
        "manifest.json",
        "health.json",
        "capabilities.json",
        "versions.json",
        "runtime-env.json",
        "mcp-transports.json",
        "events.jsonl",
        "runtime-config.json",
        "tool-transcripts.json",
        "transcript.md",
    ] {
        assert!(!files[name].is_empty() && readme.contains(name), "{name}");
    }
    let json = |name: &str| serde_json::from_str::<Value>(&files[name]).unwrap();
    assert_eq!(files["events.jsonl"].lines().count(), events.len());
    for (line, event) in files["events.jsonl"].lines().zip(&events) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&line["seq"], &line["type"]), (&event["seq"], &event["type"]));
    }
    let manifest = json("manifest.json");
    assert_eq!((&manifest["session_id"], &manifest["runtime"]), (&session.clone().into(), &"leaky".into()));
    assert_eq!(manifest["events"]["count"], events.len());
    let included = json("artifacts/manifest.json")["included"].as_array().unwrap().len();
    assert_eq!(files.keys().filter(|name| name.ends_with(".bin")).count(), included);
    assert_eq!(manifest["artifacts"]["included"], included);
    assert_eq!(json("capabilities.json")["supportsStreaming"], true);
    assert_eq!(json("runtime-env.json")["cwd"], instance.work().display().to_string());
    assert_eq!(json("runtime-env.json").get("env"), None);
    let inputs = of_type(&events, "model.input").len();
    assert_eq!(json("runtime-config.json").as_array().unwrap().len(), inputs);
    let tools = json("tool-transcripts.json");
    assert_eq!(tools[0]["requested"]["name"], "read");
    assert!(tools[1]["completed"]["result_ref"]["artifact_id"].is_string(), "{tools:#}");
    let transcript = &files["transcript.md"];
    for part in ["> use", "The key is", "Have fun.", "→ Read", "✗ failed (RUNTIME_EXITED)"] {
        assert!(transcript.contains(part), "{part}: {transcript}");
    }
}

#[test]
fn an_artifact_that_cannot_be_had_is_left_out_with_its_reason() {
    let (instance, session) = leaky();
    let mut stored = Vec::new();
    for folder in fs::read_dir(instance.state().join("artifacts")).unwrap() {
        stored.extend(fs::read_dir(folder.unwrap().path()).unwrap().map(|file| file.unwrap().path()));
    }
    stored.sort_by_key(|path| fs::metadata(path).unwrap().len());
    fs::write(stored.last().unwrap(), "changed").unwrap();
    fs::remove_file(&stored[0]).unwrap();
    let files = unpacked(&instance, &["export", &session, "-o", "it.tar.gz"], "it.tar.gz");
    let manifest: Value = serde_json::from_str(&files["artifacts/manifest.json"]).unwrap();
    let mut reasons: Vec<_> =
        manifest["skipped"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["changed", "missing"]);
}

#[test]
fn a_session_can_be_exported_while_it_runs() {
    let instance = RoostInstance::new();
    let mut run = instance.start(&["run", "--json", "slow", "60"]);
    let line = run.lines_to("model.output.delta").remove(0);
    let event: Value = serde_json::from_str(&line).unwrap();
    let session = event["trace"]["session_id"].as_str().unwrap();
    let files = unpacked(&instance, &["export", session, "-o", "it.tar.gz"], "it.tar.gz");
    assert!(files["transcript.md"].contains("> slow 60"), "{}", files["transcript.md"]);
    run.signal(Signal::INT);
    run.finish().ended(130);
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_that_says_so() {
    let instance = RoostInstance::new();
    let session = session_id(&instance.run(&["run", "--json", "hello"]).ended(0).events(1));
    let done = instance.run(&["export", &session, "--output", "nowhere/it.tar.gz"]).ended(1);
    assert!(done.stderr.contains("nowhere/it.tar.gz could not be written"), "{done:#?}");
    fs::write(instance.work().join("mine"), "mine").unwrap();
    let done = instance.run(&["export", &session, "--output", "mine"]).ended(2);
    assert!(done.stderr.contains("mine exists already and is not replaced"), "{done:#?}");
    assert_eq!(fs::read_to_string(instance.work().join("mine")).unwrap(), "mine");
    assert!(instance.run(&["export", "unknown"]).ended(2).stderr.contains("no session"));
}

#[test]
fn what_waits_is_listed_while_it_waits() {
    let instance = RoostInstance::new();
    assert_eq!(instance.run(&["approvals"]).ended(0).stdout, "Nothing waits for an answer.\n");
    let mut run = instance.start_with_stderr(&["run", "--approvals", "wait", "edit"]);
    run.lines_to("waits for an answer");
    let listed = instance.run(&["approvals"]).ended(0).stdout;
    assert!(listed.contains("demo.txt (new file)") && listed.contains("permission_mode"), "{listed}");
    let json: Value = serde_json::from_str(instance.run(&["approvals", "--json"]).ended(0).stdout.trim()).unwrap();
    assert_eq!(json["ask"]["approval"]["name"], "demo.write");
    run.signal(Signal::INT);
    run.finish().ended(130);
    assert_eq!(instance.run(&["approvals", "--json"]).ended(0).stdout, "");
}
