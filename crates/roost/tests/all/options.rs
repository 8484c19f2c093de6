//! What a single session is started with: variables, settings, and a home of its own.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::agents::Agent;

use crate::codex::MODEL;
use crate::kit::{RoostInstance, RunningCommand, answer, of_type};
use crate::real;

const SECRET: &str = "very-secret-value";
/// What `md5sum` makes of it: a proof that it was there which does not tell it.
const PROOF: &str = "5354ba295271a1a7cf28be3c45bba03e";

/// Runs a command in a session of Claude Code, with something set for Roost itself.
fn shell(instance: &RoostInstance, options: &[&str], command: &str) -> (String, String) {
    let prompt = format!("SCRIPT:shell RUN:{command}");
    let fixed = ["run", "--json", "--permission-mode", "yolo"];
    let args = [&fixed, options, &[prompt.as_str()]].concat();
    let done =
        RunningCommand::new(instance.command(&args).env("TOKEN", SECRET).env("LEAK", "leaked")).finish().ended(0);
    assert!(!format!("{}{}", done.stdout, done.stderr).contains(SECRET), "{done:#?}");
    let events = parsed(&done.stdout);
    (events[0]["trace"]["session_id"].as_str().unwrap().to_owned(), answer(&events))
}

fn parsed(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_variable_reaches_its_own_session_for_good_and_is_told_nobody_else() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    let hash = "printf %s \"$TOKEN\" | md5sum";
    let argv = format!("{hash}; grep -la 'very-secre[t]' /proc/[0-9]*/cmdline || echo nowhere");
    let (session, told) = shell(&instance, &["--runtime", "claude", "--env", "TOKEN"], &argv);
    assert!(told.contains(PROOF) && told.contains("nowhere"), "{told}");

    let (_, other) = shell(&instance, &["--runtime", "claude"], "echo [$TOKEN$LEAK]");
    assert!(other.contains("[]"), "{other}");

    instance.run(&["down"]).ended(0);
    let (_, again) = shell(&instance, &["--session", &session], hash);
    assert!(again.contains(PROOF), "{again}");

    let log = instance.run(&["log", "--json", &session]).ended(0).stdout;
    let events = parsed(&log);
    let created = of_type(&events, "session.created");
    assert_eq!(created[0]["payload"]["env"], json!(["TOKEN"]));
    let listed = instance.run(&["sessions", "--json"]).ended(0).stdout;
    instance.run(&["down"]).ended(0);
    for (what, text) in [("log", log), ("list", listed), ("files", files(&instance.state()))] {
        assert!(!text.contains(SECRET), "{what}: {text}");
    }
}

/// Everything in the state directory but the database, which may hold it.
fn files(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: std::path::PathBuf| match path.is_dir() {
        true => files(&path),
        false if path.file_name().unwrap().to_string_lossy().starts_with("roost.db") => String::new(),
        false => String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned(),
    };
    entries.map(text).collect()
}

#[test]
fn a_variable_that_decides_what_runs_is_refused() {
    for (variable, why) in
        [("LD_PRELOAD=x", "LD_PRELOAD"), ("PATH=/x", "roost.toml"), ("a-b=c", "letters"), ("MISSING", "not set here")]
    {
        let done = RoostInstance::new().run(&["run", "--env", variable, "hello"]).ended(2);
        assert!(done.stderr.contains(why), "{done:#?}");
    }
}

#[test]
fn a_variable_of_the_session_is_not_replaced_by_one_of_the_configuration() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    let options = ["--runtime", "claude", "--env", "NO_COLOR=of the session"];
    let (_, told) = shell(&instance, &options, "echo [$NO_COLOR]");
    assert!(told.contains("[of the session]"), "{told}");
}

#[test]
fn secrets_in_settings_are_hashed_and_not_told() {
    let config =
        r#"{"model":"m","api_key":"hidden-1","env":{"GREETING":"hidden-2"},"list":[{"env":{"A":"hidden-3"}}]}"#;
    let instance = real::instance(Agent::Claude, "claude", &[]);
    let args = ["run", "--json", "--runtime", "claude", "--runtime-config", config, "SCRIPT:text"];
    let events = instance.run(&args).ended(0).stdout;
    assert!(!events.contains("hidden"), "{events}");
    let events = parsed(&events);
    let payload = &events[0]["payload"];
    assert_eq!(
        (&payload["runtime_config"]["model"], &payload["runtime_config"]["api_key"]),
        (&"m".into(), &"[redacted]".into())
    );
    assert!(payload["runtime_config_hash"].as_str().unwrap().starts_with("sha256:"), "{payload}");
}

#[test]
fn every_namespace_has_its_own_home_and_an_ephemeral_one_is_gone_afterwards() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    let home = |options: &[&str]| {
        let options = [&["--runtime", "claude"], options].concat();
        let (_, told) = shell(&instance, &options, "echo at:$HOME:");
        told.split("at:").last().and_then(|rest| rest.split(':').next()).unwrap_or_default().to_owned()
    };
    let own = instance.work().with_file_name("home");
    assert_eq!(home(&[]), own.display().to_string(), "shared unless told otherwise");
    let (work, play) = (home(&["--namespace", "work"]), home(&["--isolation", "namespaced", "--namespace", "play"]));
    assert!(work != play && Path::new(&work).is_dir() && Path::new(&play).is_dir(), "{work} {play}");
    assert_eq!(home(&["--namespace", "work"]), work, "kept between sessions");
    let passing = home(&["--isolation", "ephemeral"]);
    assert!(passing.starts_with(&instance.state().display().to_string()), "{passing}");
    instance.run(&["down"]).ended(0);
    assert!(!Path::new(&passing).parent().unwrap().exists(), "{passing}");
    let done = instance.run(&["run", "--isolation", "none", "hello"]).ended(2);
    assert!(done.stderr.contains("shared"), "{done:#?}");
}

#[test]
fn another_model_is_used_from_the_prompt_on_that_names_it() {
    let cases = [(Agent::Claude, "claude", "claude-opus-4-5"), (Agent::Codex, "codex", "gpt-5.1-codex")];
    for (agent, id, model) in cases {
        let instance = real::instance(agent, id, &[]);
        let first = instance.run(&["run", "--json", "--runtime", id, "SCRIPT:text"]).ended(0).stdout;
        let session = parsed(&first)[0]["trace"]["session_id"].as_str().unwrap().to_owned();
        let again = ["run", "--json", "--session", &session, "--model", model, "SCRIPT:text again"];
        let events = parsed(&instance.run(&again).ended(0).stdout);
        assert!(
            of_type(&events, "session.updated").iter().any(|event| event["payload"]["model"] == model),
            "{events:#?}"
        );
        let asked = MODEL.requests().into_iter().filter(|request| request.script.as_deref() == Some("text"));
        assert!(asked.map(|request| request.model).any(|asked| asked == model), "{id}");
    }
}
