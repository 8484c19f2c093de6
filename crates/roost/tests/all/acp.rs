//! An agent that speaks ACP and that nobody knows but `roost.toml`, as a person uses it; and Roost itself as such an agent.

mod alone;
mod bad_input;
mod client_agent;
mod client_requests;
mod clients;
mod doors;
mod editor;
mod remote;
mod remote_http;
mod scenarios;
mod setup;
mod stdio;
mod tool_servers;
mod version_2;

use serde_json::Value;
use testkit::scripted_agent::{MODELS, MODELS_BY};

use crate::contract::{play, this_binary};
use crate::kit::{RoostInstance, answer, of_type, session_id};
use crate::terminal::CTRL_D;

/// An instance where the scripted agent can be used, with these lines about it and these variables.
pub(crate) fn instance(more: &str, env: &str) -> RoostInstance {
    let instance = RoostInstance::new();
    let (program, args) = (this_binary(), play("scripted_agent"));
    instance.configure(&format!(
        "[runtimes.scripted]\ncommand = {program:?}\nargs = {args:?}\n{more}\n[runtimes.scripted.env]\n{env}"
    ));
    instance
}

fn models(by: &str, more: &str) -> RoostInstance {
    instance(more, &format!("{MODELS} = {by:?}\n"))
}

fn run(instance: &RoostInstance, more: &[&str], code: i32) -> Vec<Value> {
    let done = instance.run(&[&["run", "--json"], more].concat()).ended(code);
    done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn failure(events: &[Value]) -> String {
    of_type(events, "task.failed")[0]["payload"]["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn the_agent_uses_the_model_that_is_named_and_goes_on_with_it_in_a_new_process() {
    for by in MODELS_BY {
        let instance = models(by, "");
        let events = run(&instance, &["--runtime", "scripted", "--model", "big", "model"], 0);
        assert_eq!(answer(&events), "My model is big.", "{by}");
        let id = session_id(&events);
        let events = run(&instance, &["--session", &id, "--model", "small", "model"], 0);
        assert_eq!(answer(&events), "My model is small.", "{by}");
        assert_eq!(of_type(&events, "session.updated")[0]["payload"]["model"], "small", "{by}");
        run(&instance, &["--session", &id, "--model", "big", "model"], 0);
        instance.run(&["down"]).ended(0);
        assert_eq!(answer(&run(&instance, &["--session", &id, "model"], 0)), "My model is big.", "{by}");
    }
}

#[test]
fn the_model_of_the_configuration_is_used_where_none_is_named() {
    let instance = models(MODELS_BY[0], "model = 'big'");
    assert_eq!(answer(&run(&instance, &["--runtime", "scripted", "model"], 0)), "My model is big.");
}

#[test]
fn a_model_that_the_agent_does_not_have_is_refused_with_those_that_it_has() {
    for by in MODELS_BY {
        let why = failure(&run(&models(by, ""), &["--runtime", "scripted", "--model", "huge", "model"], 1));
        assert!(why.contains("huge") && why.contains("small, big"), "{by}: {why}");
    }
}

#[test]
fn an_agent_that_offers_no_models_refuses_one_and_the_session_goes_on_without() {
    let instance = instance("", "");
    let why = failure(&run(&instance, &["--runtime", "scripted", "--model", "big", "model"], 1));
    assert!(why.contains("cannot choose a model") && why.contains("args"), "{why}");
    let events = run(&instance, &["--runtime", "scripted", "model"], 0);
    let id = session_id(&events);
    let refused = run(&instance, &["--session", &id, "--model", "big", "model"], 1);
    assert!(failure(&refused).contains("cannot choose a model"), "{refused:#?}");
    assert_eq!(
        of_type(&refused, "session.updated").iter().filter(|event| event["payload"]["model"] == "big").count(),
        0
    );
    assert_eq!(answer(&run(&instance, &["--session", &id, "model"], 0)), "My model is small.");
}

#[test]
fn settings_that_the_agent_would_never_see_are_refused_with_what_to_use_instead() {
    let instance = instance("", "");
    for runtime in ["scripted", "demo"] {
        let args = ["--runtime", runtime, "--runtime-config", r#"{"theme":"dark"}"#, "say"];
        let why = failure(&run(&instance, &args, 1));
        assert!(why.contains("settings") && why.contains("args") && why.contains("env"), "{why}");
    }
    run(&instance, &["--runtime", "scripted", "--runtime-config", "{}", "say"], 0);
}

#[test]
fn messages_that_mean_nothing_are_kept_and_counted_also_those_between_two_tasks() {
    let instance = instance("", "");
    let mut talk = instance.terminal(&["run", "--runtime", "scripted"]);
    talk.shows("> ").types("later\n").shows("Wait for it.").shows("\n> ");
    talk.types("unknown\n").shows("Nobody understood that.").shows("\n> ").types(CTRL_D);
    talk.ended(0);
    let session: Value = serde_json::from_str(&instance.run(&["sessions", "--json"]).ended(0).stdout).unwrap();
    assert_eq!(session["unknown_messages"], 3, "{session}");
    let log = instance.run(&["log", "--json", session["session_id"].as_str().unwrap()]).ended(0).stdout;
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kept = of_type(&events, "runtime.notice").into_iter().any(|event| event["runtime"]["raw"]["to"] == "snow");
    assert!(kept, "{log}");
}
