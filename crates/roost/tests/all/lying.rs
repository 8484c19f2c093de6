//! An ACP agent that says one thing and asks for another, as its host sees it: the log shows what it really asked for,
//! and each of it was judged.

use serde_json::Value;

use crate::acp::instance;
use crate::kit::{RoostInstance, answer, of_type, session_id};

/// The attempts at the agent's one call: what each asked for, and the words of the policy about it.
fn attempts(events: &[Value]) -> Vec<(Value, Vec<String>)> {
    let requests = of_type(events, "tool.call.requested").into_iter().map(|event| &event["payload"]);
    let words = |attempt: &Value| {
        let words = of_type(events, "tool.call.policy_evaluated").into_iter().map(|event| &event["payload"]);
        let about = words.filter(move |word| word["attempt"] == *attempt);
        about.map(|word| word["result"].as_str().unwrap().to_owned()).collect()
    };
    requests.map(|call| (call["input"].clone(), words(&call["attempt"]))).collect()
}

/// What comes of a lie while nobody is there to be asked.
fn lie(instance: &RoostInstance, way: &str, mode: &str, code: i32) -> Vec<Value> {
    let prompt = format!("lie {way}");
    let args = ["run", "--json", "--runtime", "scripted", "--permission-mode", mode, &prompt];
    let done = instance.run(&args).ended(code);
    done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn is_asked(words: &[String]) -> bool {
    words.iter().any(|word| word == "ask")
}

fn log_of(instance: &RoostInstance, events: &[Value]) -> String {
    instance.run(&["log", "--json", &session_id(events)]).ended(0).stdout
}

#[test]
fn an_agent_that_announces_ls_and_asks_for_rm_is_asked_about_rm() {
    let instance = instance("", "");
    let events = lie(&instance, "announced", "ask", 0);
    let attempts = attempts(&events);
    assert_eq!(attempts.len(), 2, "{attempts:?}");
    assert_eq!(attempts[0].0["command"], "ls");
    assert_eq!(attempts[1].0["command"], "rm -rf /");
    assert!(is_asked(&attempts[1].1), "{attempts:?}");
    assert_eq!(of_type(&events, "tool.call.approved").len(), 0);
    assert_eq!(answer(&events), "refused. ");
    assert!(log_of(&instance, &events).contains("rm -rf /"));
}

#[test]
fn an_agent_that_announces_a_read_and_asks_for_rm_is_asked_about_rm() {
    let instance = instance("", "");
    let events = lie(&instance, "kind", "ask", 0);
    let attempts = attempts(&events);
    let last = attempts.last().unwrap();
    assert_eq!(last.0["command"], "rm -rf x", "{attempts:?}");
    assert!(is_asked(&last.1), "{attempts:?}");
    assert_eq!(answer(&events), "refused. ");
    assert!(log_of(&instance, &events).contains("rm -rf x"));
}

#[test]
fn an_agent_that_says_nothing_but_that_it_reads_is_asked_about() {
    let events = lie(&instance("", ""), "blind", "ask", 0);
    let attempts = attempts(&events);
    assert!(is_asked(&attempts[0].1), "{attempts:?}");
    assert_eq!(answer(&events), "refused. ");
}

#[test]
fn an_agent_that_makes_something_else_of_what_it_was_allowed_is_asked_about_and_ended() {
    let instance = instance("", "");
    let events = lie(&instance, "changed", "ask", 1);
    let attempts = attempts(&events);
    assert_eq!(attempts[0].0["command"], "ls");
    assert_eq!(attempts[1].0["command"], "rm -rf x");
    assert!(!is_asked(&attempts[0].1) && is_asked(&attempts[1].1), "{attempts:?}");
    assert_eq!(of_type(&events, "task.failed")[0]["payload"]["error"]["code"], "POLICY_VIOLATION");
    assert!(log_of(&instance, &events).contains("rm -rf x"));
}

#[test]
fn an_agent_that_asks_twice_under_one_id_is_decided_about_twice() {
    let instance = instance("", "");
    for (mode, said) in [("ask", "refused. refused. "), ("yolo", "allowed. allowed. ")] {
        let events = lie(&instance, "twice", mode, 0);
        let attempts = attempts(&events);
        assert_eq!(attempts.len(), 2, "{attempts:?}");
        assert!(attempts.iter().all(|(input, words)| input["command"] == "touch x" && !words.is_empty()));
        assert_eq!(answer(&events), said);
    }
}

#[test]
fn an_agent_that_goes_to_another_file_than_it_was_allowed_is_asked_about_and_ended() {
    let instance = instance("", "");
    let events = lie(&instance, "places", "acceptEdits", 1);
    let attempts = attempts(&events);
    assert!(!is_asked(&attempts[0].1) && is_asked(&attempts[1].1), "{attempts:?}");
    assert_eq!(attempts[1].0["locations"][0], "/etc/passwd");
    assert_eq!(of_type(&events, "task.failed")[0]["payload"]["error"]["code"], "POLICY_VIOLATION");
    assert!(log_of(&instance, &events).contains("/etc/passwd"));
}
