use roost_model::content::ArtifactRef;
use roost_model::pattern::{CallPattern, Touches};
use roost_model::tool::{ToolCallIdentity, ToolClass};
use serde_json::json;

use super::*;

fn approval_request(kind: ToolKind, input: Value) -> ApprovalRequestedPayload {
    ApprovalRequestedPayload {
        identity: ToolCallIdentity::first(None, &input),
        name: "tool".into(),
        title: Some("A title".into()),
        kind: Some(kind),
        input,
        input_ref: None,
        class: None,
        rule: Some("mode".into()),
        offer: None,
        expires_at: None,
    }
}

fn shown(kind: ToolKind, input: Value) -> Card {
    card(Style::PLAIN, &approval_request(kind, input), Path::new("/nowhere"), Extent::Beginning)
}

#[test]
fn a_command_is_shown_as_it_will_run() {
    let table = [
        (json!({ "command": "git status; rm -rf x" }), "  $ git status; rm -rf x\n"),
        (json!({ "command": "a \\\nb\n\x1b[2Jc" }), "  $ a \\\n  > b\n  > ␛[2Jc\n"),
        (json!({ "cmd": ["sh", "-c", "echo 'hi' > x"] }), "  $ sh -c 'echo '\\''hi'\\'' > x'\n"),
        (
            json!({ "command": "ls", "cwd": "/", "env": { "A": "b" } }),
            "  $ ls\n  in / (outside of the workspace)\n  env: {\n    \"A\": \"b\"\n  }\n",
        ),
    ];
    for (input, expected) in table {
        let text = shown(ToolKind::Execute, input).text;
        assert_eq!(text, format!("? tool · rule mode · the agent calls it \"A title\"\n{expected}"));
    }
}

#[test]
fn the_host_of_an_address_is_the_one_that_is_reached() {
    let table = [
        ("https://example.com/a?b", "example.com"),
        ("https://github.com@evil.test/", "evil.test"),
        ("https://a:b@evil.test:8080#x", "evil.test:8080"),
        ("https://evil.test\\@github.com/", "evil.test"),
    ];
    for (url, host) in table {
        let text = shown(ToolKind::Fetch, json!({ "url": url })).text;
        assert!(text.contains(&format!("  host: {host}\n  url: {url}\n")), "{text}");
    }
}

#[test]
fn a_path_with_content_is_no_change_where_the_tool_only_reads() {
    let text = shown(ToolKind::Search, json!({ "path": "src", "content": "word" })).text;
    assert!(text.ends_with("  path: src\n  content: word\n"), "{text}");
}

#[test]
fn a_dangerous_call_says_so_whichever_rule_asks() {
    let mut asked = approval_request(ToolKind::Execute, json!({ "command": "rm -rf x" }));
    for (rule, head) in [
        ("claude_settings:ask Bash(rm:*)", "? tool · dangerous · rule claude_settings:ask Bash(rm:*)"),
        ("permission_mode:dangerous", "? tool · rule permission_mode:dangerous"),
    ] {
        (asked.class, asked.rule) = (Some(ToolClass::Dangerous), Some(rule.into()));
        let text = card(Style::PLAIN, &asked, Path::new("/nowhere"), Extent::Beginning).text;
        assert!(text.starts_with(head), "{text}");
    }
}

#[test]
fn a_title_cannot_pretend_to_be_more_lines() {
    let mut asked = approval_request(ToolKind::Execute, json!({ "command": "ls" }));
    asked.title = Some("harmless\n  $ echo hi\u{202e}".into());
    let text = card(Style::PLAIN, &asked, Path::new("/nowhere"), Extent::Beginning).text;
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("<U+202E>"), "{text}");
}

#[test]
fn a_big_call_is_cut_and_can_be_shown_whole() {
    let command: String = (1..=100).map(|line| format!("echo {line}\n")).collect();
    let asked = approval_request(ToolKind::Execute, json!({ "command": command, "long": "x".repeat(1000) }));
    let short = card(Style::PLAIN, &asked, Path::new("/nowhere"), Extent::Beginning);
    assert!(short.cut && short.text.contains("… 62 more lines") && !short.text.contains("echo 41"), "{}", short.text);
    let whole = card(Style::PLAIN, &asked, Path::new("/nowhere"), Extent::All);
    assert!(!whole.cut && whole.text.contains("echo 100") && whole.text.contains(&"x".repeat(1000)), "{}", whole.text);
}

#[test]
fn an_input_that_is_not_all_there_is_never_shown_as_if_it_were() {
    let mut asked = approval_request(ToolKind::Edit, json!({ "path": "a", "content": "the beginning…" }));
    let id = "art_0".into();
    asked.input_ref =
        Some(ArtifactRef { artifact_id: id, content_type: None, size_bytes: None, content_hash: None, name: None });
    let text = card(Style::PLAIN, &asked, Path::new("/nowhere"), Extent::Beginning).text;
    assert!(text.contains("only the beginning") && !text.contains("@@"), "{text}");
}

#[test]
fn an_offer_says_what_it_covers() {
    let mut asked = approval_request(ToolKind::Edit, json!({ "path": "a", "content": "b" }));
    asked.offer = Some(CallPattern { touches: Some(Touches::File("src/**".into())), ..Default::default() });
    let text = card(Style::PLAIN, &asked, Path::new("/nowhere"), Extent::Beginning).text;
    assert!(text.ends_with("  s and w would also cover changes to src/**\n"), "{text}");
}

#[test]
fn an_offer_about_a_line_of_commands_names_each_of_them() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut asked = approval_request(ToolKind::Execute, json!({ "command": "git add . && CI=1 npm test" }));
    let commands = vec![words(&["git", "add", "*"]), words(&["CI=1", "npm", "test", "*"])];
    asked.offer = Some(CallPattern { touches: Some(Touches::Commands(commands)), ..Default::default() });
    let text = card(Style::PLAIN, &asked, Path::new("/nowhere"), Extent::Beginning).text;
    let expected = "  s and w would also cover `git add …` and `CI=1 npm test …`, in every folder of this workspace\n";
    assert!(text.ends_with(expected), "{text}");
}
