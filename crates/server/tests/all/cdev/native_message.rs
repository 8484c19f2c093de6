//! What a conversation that only its runtime keeps looks like.

use roost_model::content::{TranscriptContentBlock, TranscriptMessage, TranscriptRole};
use roost_model::ids::SessionId;
use roost_model::runtime::RuntimeName;
use roost_model::time::Timestamp;
use roost_rpc::conversation::Message;
use roost_server::cdev::element::native as elements;
use roost_server::cdev::native_message::{messages, notifications};
use roost_server::cdev::notify::SessionContext;
use serde_json::{Value, json};

fn text(text: &str) -> TranscriptContentBlock {
    TranscriptContentBlock::Text { text: text.into() }
}

fn transcript_message(
    role: TranscriptRole,
    content: Vec<TranscriptContentBlock>,
) -> (Option<Timestamp>, TranscriptMessage) {
    (None, TranscriptMessage { role, content })
}

/// A file is written: a prompt, a call with its reason, its result, and an answer.
fn conversation() -> Vec<(Option<Timestamp>, TranscriptMessage)> {
    let call = TranscriptContentBlock::ToolUse {
        tool_call_id: "c1".into(),
        name: "Write".into(),
        input: json!({ "file_path": "/w/a.txt", "content": "one\n" }),
    };
    let result = TranscriptContentBlock::ToolResult {
        tool_call_id: "c1".into(),
        result: json!([{ "type": "text", "text": "written" }]),
        is_error: None,
    };
    vec![
        (Some(Timestamp::from_millis(5_000)), TranscriptMessage::user("write a file")),
        transcript_message(TranscriptRole::Assistant, vec![text("I shall."), call]),
        transcript_message(TranscriptRole::Tool, vec![result]),
        transcript_message(TranscriptRole::Assistant, vec![text(""), text("Done.")]),
    ]
}

fn project_messages(said: Vec<(Option<Timestamp>, TranscriptMessage)>) -> Vec<Message> {
    messages(&SessionId::from("s1"), Timestamp::from_millis(1_000), said)
}

#[test]
fn every_block_is_a_message_and_what_says_nothing_is_none() {
    let messages = project_messages(conversation());
    let told: Vec<_> =
        messages.iter().map(|message| json!([message.id, message.speaker, message.message.content])).collect();
    let expected = [
        json!([1, "user", [{ "type": "text", "text": "write a file" }]]),
        json!([2, "assistant", [{ "type": "text", "text": "I shall." }]]),
        json!([3, "assistant", [{ "type": "tool_use", "id": "c1", "name": "Write",
            "input": { "file_path": "/w/a.txt", "content": "one\n" } }]]),
        json!([4, "user", [{ "type": "tool_result", "tool_use_id": "c1", "content": "written", "is_error": false }]]),
        json!([5, "assistant", [{ "type": "text", "text": "Done." }]]),
    ];
    assert_eq!(told, expected);
    assert!(messages.iter().all(|message| message.timestamp == Timestamp::from_millis(5_000)));
}

#[test]
fn a_message_keeps_its_id_while_the_conversation_goes_on_and_another_in_its_place_has_another() {
    let uuids = |said| project_messages(said).into_iter().map(|message| message.uuid).collect::<Vec<_>>();
    let whole = uuids(conversation());
    assert_eq!(uuids(conversation()[..2].to_vec()), whole[..3]);
    let other = uuids(vec![(None, TranscriptMessage::user("something else"))]);
    assert_ne!(other[0], whole[0]);
}

#[test]
fn its_elements_are_those_of_a_hosted_session() {
    let elements = elements(&project_messages(conversation()));
    let told: Vec<_> = elements.iter().map(|element| json!(element)).collect();
    let kinds: Vec<_> = told.iter().map(|element| (element["id"].clone(), element["type"].clone())).collect();
    let expected = [
        ("past_1", "user_input"),
        ("past_2", "assistant_text"),
        ("past_3", "tool_call"),
        ("past_3_1", "diff"),
        ("past_4", "tool_result"),
        ("past_5", "assistant_text"),
    ];
    assert_eq!(kinds, expected.map(|(id, kind)| (json!(id), json!(kind))));
    assert_eq!(told[2]["content"]["display"], "Write(/w/a.txt)");
    assert_eq!(told[2]["content"]["status"], "completed");
    assert_eq!(told[4]["content"]["tool_name"], "Write");
}

#[test]
fn whoever_watches_is_told_as_of_a_hosted_session() {
    let about = SessionContext { workspace_id: Some("w1"), agent_type: "codex", cwd: "/w" };
    let messages = project_messages(conversation());
    let names = |message| notifications(message, &about).into_iter().map(|note| note.event).collect::<Vec<_>>();
    let expected = [
        vec!["claude_message"],
        vec!["claude_message", "claude_log", "stream_read_complete"],
        vec!["claude_message", "claude_log"],
        vec!["claude_message", "claude_log"],
        vec!["claude_message", "claude_log", "stream_read_complete"],
    ];
    assert_eq!(messages.iter().map(names).collect::<Vec<_>>(), expected);
    let params = Value::Object(notifications(&messages[4], &about).remove(0).params);
    assert_eq!(params["uuid"], messages[4].uuid);
    assert_eq!((&params["session_id"], &params["workspace_id"]), (&json!("s1"), &json!("w1")));
}

#[test]
fn a_runtimes_own_id_is_the_sessions_where_it_is_a_uuid() {
    let id = |native: &str| SessionId::for_native(&RuntimeName::from_id("opencode"), &native.into()).to_string();
    assert_eq!(id("019a0000-0000-7000-8000-0000000000aa"), "019a0000-0000-7000-8000-0000000000aa");
    assert_eq!(id("ses_1"), id("ses_1"));
    assert_ne!(id("ses_1"), id("ses_2"));
    assert_eq!(id("ses_1").len(), 36);
}
