//! Cases that no recorded run has: subagents, earlier turns, and notifications that nobody knows.

use roost_engine::adapter::{Draft, Fact};
use roost_model::payload::NoticeLevel;
use serde_json::{Value, json};

use super::map::{NotificationMapper, TurnScope};

const SCOPE: TurnScope<'static> = TurnScope { thread: "thread", turn: Some("turn") };

fn map_notification(mapper: &mut NotificationMapper, method: &str, params: &Value) -> Vec<Draft> {
    let (raw, mut drafts) = (serde_json::value::to_raw_value(params).unwrap(), Vec::new());
    mapper.on_notification(&SCOPE, method, &raw, &mut drafts);
    drafts
}

fn agent_message(thread: &str, turn: &str) -> Value {
    let item = json!({ "type": "agentMessage", "id": "m", "text": "hello" });
    json!({ "threadId": thread, "turnId": turn, "item": item })
}

fn command_execution(thread: &str, turn: &str) -> Value {
    let item = json!({ "type": "commandExecution", "id": "c", "command": "ls", "cwd": "/", "status": "completed" });
    json!({ "threadId": thread, "turnId": turn, "item": item })
}

#[test]
fn another_agent_of_codex_says_nothing_to_the_user_but_what_it_runs_is_known() {
    let mut mapper = NotificationMapper::default();
    assert_eq!(map_notification(&mut mapper, "item/completed", &agent_message("other", "its own")), []);
    let piece = json!({ "threadId": "other", "turnId": "its own", "itemId": "m", "delta": "hello" });
    assert_eq!(map_notification(&mut mapper, "item/agentMessage/delta", &piece), []);
    let facts = map_notification(&mut mapper, "item/completed", &command_execution("other", "its own"));
    assert!(matches!(facts[0].fact, Fact::ToolRequested(_)) && matches!(facts[1].fact, Fact::ToolCompleted(_)));
}

#[test]
fn what_comes_late_of_an_earlier_turn_is_nothing_of_this_one() {
    let mut mapper = NotificationMapper::default();
    assert_eq!(map_notification(&mut mapper, "item/completed", &command_execution("thread", "earlier")), []);
    assert_eq!(map_notification(&mut mapper, "item/completed", &agent_message("thread", "earlier")), []);
    let diff = json!({ "threadId": "thread", "turnId": "earlier", "diff": "+a" });
    assert_eq!(map_notification(&mut mapper, "turn/diff/updated", &diff), []);
    let mut end = Vec::new();
    mapper.on_turn_end(false, &mut end);
    assert_eq!(end, []);
}

#[test]
fn a_message_that_nobody_knows_is_kept_as_it_came() {
    let params = json!({ "threadId": "thread", "brand": "new" });
    let [unknown] = map_notification(&mut NotificationMapper::default(), "brand/new", &params).try_into().unwrap();
    assert_eq!(unknown.raw, Some(params));
    let Fact::Notice(notice) = unknown.fact else { panic!() };
    assert!(notice.level == NoticeLevel::Warning && notice.message.contains("brand/new"), "{notice:?}");
}

#[test]
fn a_hook_is_told_only_where_it_gets_in_the_way() {
    let run = |status: &str| {
        let run = json!({ "eventName": "preToolUse", "sourcePath": "/hooks", "status": status,
            "entries": [{ "kind": "feedback", "text": "not on my watch" }] });
        json!({ "threadId": "thread", "turnId": "turn", "run": run })
    };
    let mut mapper = NotificationMapper::default();
    assert_eq!(map_notification(&mut mapper, "hook/started", &run("running")), []);
    assert_eq!(map_notification(&mut mapper, "hook/completed", &run("completed")), []);
    let [blocked] = map_notification(&mut mapper, "hook/completed", &run("blocked")).try_into().unwrap();
    let Fact::Notice(notice) = blocked.fact else { panic!() };
    assert_eq!(notice.message, "a preToolUse hook of /hooks blocked what Codex was about to do: not on my watch");
}

#[test]
fn a_command_that_outlives_its_turn_goes_on_and_one_that_is_cut_does_not() {
    for (cut, completions) in [(false, 1), (true, 0)] {
        let mut mapper = NotificationMapper::default();
        let mut running = command_execution("thread", "turn");
        running["item"]["status"] = "inProgress".into();
        running["item"]["processId"] = "7".into();
        let begun = map_notification(&mut mapper, "item/started", &running);
        assert!(matches!(begun[1].fact, Fact::ToolStarted(_)), "{begun:?}");
        let mut end = Vec::new();
        mapper.on_turn_end(cut, &mut end);
        let well = |draft: &&Draft| matches!(&draft.fact, Fact::ToolCompleted(outcome) if !outcome.is_error);
        assert_eq!(end.iter().filter(well).count(), completions, "{end:?}");
    }
}

#[test]
fn text_of_a_stream_that_broke_off_is_no_part_of_the_answer_that_starts_over() {
    let piece = |delta: &str| json!({ "threadId": "thread", "turnId": "turn", "itemId": "m", "delta": delta });
    let mut mapper = NotificationMapper::default();
    let before = map_notification(&mut mapper, "item/agentMessage/delta", &piece("hel"));
    let error = json!({ "message": "Reconnecting... 1/5", "codexErrorInfo": null, "additionalDetails": null });
    let retry = json!({ "threadId": "thread", "turnId": "turn", "error": error, "willRetry": true });
    let [warning] = map_notification(&mut mapper, "error", &retry).try_into().unwrap();
    assert!(matches!(warning.fact, Fact::Notice(_)), "{warning:?}");
    let after = map_notification(&mut mapper, "item/agentMessage/delta", &piece("hello"));
    let block = |drafts: &[Draft]| match &drafts[0].fact {
        Fact::Delta(delta) => delta.block_id.clone(),
        other => panic!("{other:?}"),
    };
    assert_ne!(block(&before), block(&after));
    let [answer] =
        map_notification(&mut mapper, "item/completed", &agent_message("thread", "turn")).try_into().unwrap();
    assert!(matches!(&answer.fact, Fact::Output(output) if output.content.len() == 1), "{answer:?}");
}
