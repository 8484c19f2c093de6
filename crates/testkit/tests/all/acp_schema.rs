//! The check of ACP lines against the SDK's schemas: it passes what is right and fails for what is not.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use testkit::acp_schema::AcpChecker;

/// The violations of an agent in its recordings, each once.
fn violations(agent: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters/tests/traces").join(agent);
    let mut checker = AcpChecker::new(1);
    let mut violations = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for record in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            let line = record["line"].as_str().unwrap_or_default();
            match record["dir"].as_str() {
                Some("in") => checker.client_sent(line),
                Some("out") => violations.extend(checker.agent_sent(line).err()),
                _ => {}
            }
        }
    }
    violations.into_iter().map(|violation| violation.split("\nin ").next().unwrap().to_owned()).collect()
}

#[test]
fn recorded_agents_keep_to_the_schema_but_for_what_they_added_to_it() {
    let table: [(&str, &[(&str, &str)]); 4] = [
        (
            "claude-agent-acp",
            &[
                ("LoadSessionResponse", "sessionId"),
                ("PromptResponse", "usage"),
                ("ResumeSessionResponse", "sessionId"),
            ],
        ),
        ("codex-acp", &[]),
        ("gemini", &[("NewSessionResponse", "models")]),
        ("opencode-acp", &[("PromptResponse", "usage")]),
    ];
    for (agent, added) in table {
        let expected = added.iter().map(|(definition, member)| {
            format!("{definition}: Unevaluated properties are not allowed ('{member}' was unexpected)")
        });
        assert_eq!(violations(agent), expected.collect(), "{agent}");
    }
}

/// Checks one line of the agent after these of the client.
fn check(sent: &[&str], line: &str) -> Result<(), String> {
    let mut checker = AcpChecker::new(1);
    sent.iter().for_each(|line| checker.client_sent(line));
    checker.agent_sent(line)
}

#[test]
fn every_kind_of_wrong_line_is_found() {
    let prompt = r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{}}"#;
    let chunk = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}"#;
    let update = |update: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#)
    };
    check(&[prompt], r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}"#).unwrap();
    check(&[prompt], r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#).unwrap();
    check(&["{"], r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#).unwrap();
    check(&[], &update(chunk)).unwrap();
    check(&[], r#"{"jsonrpc":"2.0","method":"_own","params":1}"#).unwrap();

    let unknown_member = chunk.replacen('{', r#"{"extra":1,"#, 1);
    let wrong_type = chunk.replace(r#""hi""#, "1");
    let table = [
        ("starting daemon", "not a JSON object"),
        (r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#, "not a JSON object"),
        (r#"{"id":1,"result":{"stopReason":"end_turn"}}"#, "jsonrpc"),
        (r#"{"jsonrpc":"2.0"}"#, "neither a method nor an id"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"bored"}}"#, "PromptResponse/stopReason"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn","sessionId":"s"}}"#, "sessionId"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"},"error":null}"#, "does not belong"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602}}"#, "message"),
        (r#"{"jsonrpc":"2.0","id":2,"result":{}}"#, "nobody asked"),
        (r#"{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}"#, "nobody asked"),
        (r#"{"jsonrpc":"2.0","method":"session/started","params":{}}"#, "no notification `session/started`"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{}}"#, "RequestPermissionRequest"),
        (&update(&unknown_member), "extra"),
        (&update(&wrong_type), "SessionNotification/update"),
        (&update(r#"{"sessionUpdate":"error","message":"no"}"#), "SessionNotification/update"),
    ];
    for (line, expected) in table {
        let problem = check(&[prompt], line).expect_err(line);
        assert!(problem.contains(expected), "{expected:?} is not in {problem}");
    }
}

#[test]
fn a_second_answer_is_a_violation_and_a_missing_one_is_named() {
    let mut checker = AcpChecker::new(1);
    checker.client_sent(r#"{"jsonrpc":"2.0","id":"a","method":"session/prompt","params":{}}"#);
    checker.client_sent(r#"{"jsonrpc":"2.0","id":"b","method":"session/list","params":{}}"#);
    let answer = r#"{"jsonrpc":"2.0","id":"a","result":{"stopReason":"end_turn"}}"#;
    checker.agent_sent(answer).unwrap();
    assert!(checker.agent_sent(answer).unwrap_err().contains("answered before"));
    assert_eq!(checker.unanswered(), ["session/list"]);
}
