//! The session record as the sum of events.

use roost_model::content::TranscriptMessage;
use roost_model::event::EventBody;
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::payload::*;
use roost_model::runtime::RuntimeName;
use roost_model::session::{OpenTask, QueuedPrompt, SessionRecord, SessionStatus, SessionUsage, TaskOutcome};
use serde_json::json;
use testkit::events::examples;
use testkit::events::{body, event, time};

fn created(title: Option<&str>) -> EventBody {
    let mut payload = json!({ "contract_version": "1", "runtime": "codex-sdk", "cwd": "/w",
        "credential_namespace": "ada", "model": "gpt-6", "permission_mode": "ask", "mode": "ask" });
    if let Some(title) = title {
        payload["title"] = json!(title);
    }
    body("session.created", payload)
}

fn started(prompt: &str) -> EventBody {
    body(
        "task.started",
        json!({ "messages": [TranscriptMessage::user(prompt)], "permission_mode": "auto", "mode": "auto",
            "interaction_mode": "interactive" }),
    )
}

fn completed() -> EventBody {
    TaskCompletedPayload { reason: "end_turn".into() }.into()
}

fn closed() -> EventBody {
    SessionClosedPayload { reason: "stop".into() }.into()
}

fn updated(update: SessionUpdatedPayload) -> EventBody {
    update.into()
}

fn queued(id: &str, held: bool) -> QueuedPrompt {
    QueuedPrompt { prompt_id: id.into(), message: TranscriptMessage::user(id), held }
}

/// The record after these events, numbered from 1.
fn record(bodies: impl IntoIterator<Item = EventBody>) -> Option<SessionRecord> {
    (1..).zip(bodies).fold(None, |record, (seq, body)| SessionRecord::after(record, &event(seq, body)))
}

/// The record after `session.created` and these events.
fn record_of(bodies: impl IntoIterator<Item = EventBody>) -> SessionRecord {
    record([created(None)].into_iter().chain(bodies)).unwrap()
}

#[test]
fn there_is_no_record_before_the_session_is_created() {
    assert_eq!(record([started("hello"), completed(), closed()]), None);
}

#[test]
fn a_record_follows_its_session_from_created_over_started_to_completed() {
    let new = SessionRecord {
        session_id: SessionId::from("s1"),
        runtime: RuntimeName::CodexSdk,
        status: SessionStatus::Created,
        cwd: "/w".into(),
        credential_namespace: "ada".into(),
        mode: Mode::Ask,
        title: None,
        model: Some("gpt-6".into()),
        runtime_session_id: None,
        created_at: time(1),
        updated_at: time(1),
        open_task: None,
        last_outcome: None,
        failure: None,
        usage: SessionUsage::default(),
        tasks: 0,
        queue: Vec::new(),
        workspace_id: None,
        isolation: None,
        env: Vec::new(),
        mcp_servers: Vec::new(),
        runtime_config: None,
        runtime_config_hash: None,
        messages: 0,
        unknown_messages: 0,
        hidden: false,
        adopted: None,
        forked: None,
    };
    assert_eq!(record_of([]), new);

    let running = SessionRecord {
        status: SessionStatus::Active,
        mode: Mode::Auto,
        title: Some("hello".into()),
        updated_at: time(2),
        open_task: Some(OpenTask { task_id: "task_1".into(), first_seq: 2, started_at: time(2) }),
        tasks: 1,
        messages: 1,
        ..new
    };
    assert_eq!(record_of([started("hello")]), running);

    let idle =
        SessionRecord { updated_at: time(3), open_task: None, last_outcome: Some(TaskOutcome::Completed), ..running };
    assert_eq!(record_of([started("hello"), completed()]), idle);
}

#[test]
fn each_ending_of_a_task_is_remembered() {
    let error = json!({ "code": "INTERNAL", "message": "m", "retryable": false });
    let cases = [
        ("task.completed", json!({ "reason": "r" }), TaskOutcome::Completed),
        ("task.failed", json!({ "reason": "r", "error": error }), TaskOutcome::Failed),
        ("task.stopped", json!({ "reason": "r" }), TaskOutcome::Stopped),
    ];
    for (name, payload, outcome) in cases {
        let record = record_of([started("hello"), body(name, payload)]);
        assert_eq!((record.open_task, record.last_outcome), (None, Some(outcome)), "{name}");
        assert_eq!(record.status, SessionStatus::Active, "{name} ends the task and not the session");
    }
}

#[test]
fn the_title_is_the_given_one_or_the_first_prompts_first_line() {
    let long = "é".repeat(81);
    let cases = [
        (Some("Mine"), vec!["hello"], Some("Mine")),
        (None, vec!["hello"], Some("hello")),
        (None, vec!["\n  \n  fix the build \nplease"], Some("fix the build")),
        (None, vec!["first", "second"], Some("first")),
        (None, vec!["", "second"], Some("second")),
        (None, vec![""], None),
        (None, vec![], None),
        (None, vec![&*long], Some(&long[..160])),
    ];
    for (given, prompts, title) in cases {
        let bodies = [created(given)].into_iter().chain(prompts.iter().map(|prompt| started(prompt)));
        assert_eq!(record(bodies).unwrap().title.as_deref(), title, "{given:?} {prompts:?}");
    }
}

#[test]
fn an_update_changes_what_it_names() {
    let update = updated(SessionUpdatedPayload {
        status: Some(SessionStatus::Ending),
        title: Some("Better".into()),
        model: Some("gpt-6-mini".into()),
        mode: Some(Mode::Plan),
        runtime_config: json!({ "effort": "high" }).as_object().cloned(),
        runtime_config_hash: Some("sha256:1".into()),
        runtime_session_id: Some("thread-7".into()),
        queue: Some(vec![queued("prompt_1", false)]),
        reason: None,
        hidden: Some(true),
    });
    let expected = SessionRecord {
        status: SessionStatus::Ending,
        title: Some("Better".into()),
        model: Some("gpt-6-mini".into()),
        mode: Mode::Plan,
        runtime_config: json!({ "effort": "high" }).as_object().cloned(),
        runtime_config_hash: Some("sha256:1".into()),
        runtime_session_id: Some("thread-7".into()),
        queue: vec![queued("prompt_1", false)],
        hidden: true,
        updated_at: time(3),
        ..record_of([started("hello")])
    };
    assert_eq!(record_of([started("hello"), update.clone()]), expected);

    let nothing = updated(SessionUpdatedPayload::default());
    let unchanged = SessionRecord { updated_at: time(4), ..expected };
    assert_eq!(record_of([started("hello"), update, nothing]), unchanged);
}

#[test]
fn the_queue_is_what_the_last_update_says() {
    let queue = |prompts: &[&QueuedPrompt]| {
        let queue = Some(prompts.iter().copied().cloned().collect());
        updated(SessionUpdatedPayload { queue, ..SessionUpdatedPayload::default() })
    };
    let (one, two, held) = (queued("prompt_1", false), queued("prompt_2", false), queued("prompt_2", true));
    let cases = [
        (vec![queue(&[&one]), queue(&[&one, &two])], vec![&one, &two]),
        (vec![queue(&[&one, &two]), started("prompt_1")], vec![&one, &two]),
        (vec![queue(&[&one, &two]), queue(&[&two])], vec![&two]),
        (vec![queue(&[&two]), queue(&[&held])], vec![&held]),
        (vec![queue(&[&held]), closed()], vec![&held]),
        (vec![queue(&[&one]), queue(&[])], vec![]),
    ];
    for (bodies, expected) in cases {
        let record = record_of(bodies.clone());
        assert_eq!(record.queue.iter().collect::<Vec<_>>(), expected, "{bodies:?}");
    }
}

#[test]
fn a_native_id_stays_known() {
    let native = updated(SessionUpdatedPayload {
        runtime_session_id: Some("thread-7".into()),
        ..SessionUpdatedPayload::default()
    });
    let record = record_of([native, started("hello"), completed(), closed()]);
    assert_eq!(record.runtime_session_id, Some("thread-7".into()));
}

#[test]
fn a_closed_session_that_is_prompted_is_active_again() {
    let life = [started("hello"), completed(), closed()];
    assert_eq!(record_of(life.clone()).status, SessionStatus::Closed);
    let resumed = record_of(life.into_iter().chain([started("again")]));
    assert_eq!((resumed.status, resumed.tasks, resumed.title.as_deref()), (SessionStatus::Active, 2, Some("hello")));
}

#[test]
fn a_session_is_created_once() {
    let record = record_of([started("hello")]);
    assert_eq!(record_of([started("hello"), created(Some("Other"))]), record);
}

#[test]
fn exactly_the_events_that_concern_a_record_change_it() {
    for event in examples() {
        let before = match event.body {
            EventBody::SessionCreated(_) => None,
            _ => Some(record_of([])),
        };
        let changed = SessionRecord::after(before.clone(), &event) != before;
        assert_eq!(changed, SessionRecord::concerns(&event.body), "{}", event.body.name());
    }
}

#[test]
fn a_record_is_read_back_as_it_was() {
    let full = examples().iter().fold(None, SessionRecord::after).unwrap();
    let json = serde_json::to_string(&full).unwrap();
    assert_eq!(serde_json::from_str::<SessionRecord>(&json).unwrap(), full);
}
