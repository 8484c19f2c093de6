//! Prompts, answers and the queue.

use roost_engine::{Accepted, Error, Prompt};
use roost_model::event::{EventBody, NormalizedEventType as Type};
use roost_model::mode::Mode;
use testkit::Harness;
use testkit::facts::{delta, output};
use testkit::fake::EngineMessage;

#[tokio::test]
async fn a_prompt_gives_events_in_order_and_without_a_gap() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "hello").await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "hello");
    agent.say_all([delta("hi"), output("hi")]).await;
    agent.finish().await;
    host.wait_for_end(&session, &task).await;

    let types = host.types(&session).await;
    let expected = [
        "session.created",
        "task.started",
        "session.updated",
        "model.input",
        "model.output.delta",
        "model.output.completed",
        "task.completed",
    ];
    assert_eq!(types, expected);
    let seqs: Vec<_> = host.events(&session).await.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6, 7]);
    host.stop().await;
}

#[tokio::test]
async fn a_second_prompt_goes_to_the_same_runtime_and_continues_the_numbers() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let first = host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    agent.finish().await;
    host.wait_for_end(&session, &first).await;

    let second = host.begin(&session, "two").await;
    let agent = runtime.task().await;
    assert_eq!((agent.prompt().as_str(), agent.input().history.len()), ("two", 0));
    agent.finish().await;
    host.wait_for_end(&session, &second).await;

    let events = host.events(&session).await;
    assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq), "{events:#?}");
    assert_eq!(host.record(&session).await.tasks, 2);
    host.stop().await;
}

#[tokio::test]
async fn every_event_names_its_session_and_a_tasks_events_its_task() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let first = host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    host.queue(&session, "two").await;
    agent.say(delta("hi")).await;
    agent.finish().await;
    let agent = runtime.task().await;
    agent.finish().await;
    host.wait_until(&session, "the second end", |event| {
        event.body.ends_task() && event.trace.task_id.as_ref() != Some(&first)
    })
    .await;

    for event in host.events(&session).await {
        assert_eq!(event.trace.session_id, session);
        let is_the_sessions = event.body.name().starts_with("session.");
        assert_eq!(event.trace.task_id.is_none(), is_the_sessions, "{event:?}");
    }
    host.stop().await;
}

#[tokio::test]
async fn a_tasks_first_event_is_its_start_and_its_last_is_its_end() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    host.queue(&session, "two").await;
    agent.finish().await;
    let second = runtime.task().await;
    second.say(delta("hi")).await;
    second.finish().await;
    let task = second.input().task_id.clone();
    host.wait_for_end(&session, &task).await;

    let events = host.events(&session).await;
    let of_task: Vec<_> = events.iter().filter(|event| event.trace.task_id.as_ref() == Some(&task)).collect();
    assert!(matches!(of_task[0].body, EventBody::TaskStarted(_)), "{of_task:#?}");
    assert!(of_task[of_task.len() - 1].body.ends_task(), "{of_task:#?}");
    host.stop().await;
}

#[tokio::test]
async fn a_prompt_while_the_session_is_busy_waits_and_runs_afterwards() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    let queued = [host.queue(&session, "two").await, host.queue(&session, "three").await];
    let waiting: Vec<_> = host.record(&session).await.queue.into_iter().map(|prompt| prompt.prompt_id).collect();
    assert_eq!(waiting, queued);

    agent.finish().await;
    for text in ["two", "three"] {
        let agent = runtime.task().await;
        assert_eq!(agent.prompt(), text);
        agent.finish().await;
        host.wait_for_end(&session, &agent.input().task_id).await;
    }
    assert_eq!(host.record(&session).await.queue, []);
    host.stop().await;
}

#[tokio::test]
async fn a_prompt_that_is_removed_from_the_queue_never_runs() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    let (two, _) = (host.queue(&session, "two").await, host.queue(&session, "three").await);
    host.engine.remove_queued(session.as_str(), &two).await.unwrap();
    assert_eq!(host.record(&session).await.queue.len(), 1);
    let again = host.engine.remove_queued(session.as_str(), &two).await;
    assert!(matches!(again, Err(Error::NotQueued(prompt)) if prompt == two));

    agent.finish().await;
    assert_eq!(runtime.task().await.prompt(), "three");
    host.stop().await;
}

#[tokio::test]
async fn a_full_queue_refuses_the_next_prompt() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (_runtime, _agent) = host.runtimes().task().await;
    for at in 0..100 {
        host.queue(&session, &at.to_string()).await;
    }
    let refused = host.prompt(&session, "one too many").await;
    assert!(matches!(refused, Err(Error::QueueFull { max: 100, .. })), "{refused:?}");
    assert_eq!(host.record(&session).await.queue.len(), 100);
    host.stop().await;
}

#[tokio::test]
async fn the_mode_of_a_queued_prompt_counts_only_when_it_runs() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    host.queue(&session, "two").await;
    let yolo = Prompt { mode: Some(Mode::Yolo), ..Prompt::text("three") };
    let queued = host.engine.prompt(session.as_str(), yolo).await.unwrap();
    assert!(matches!(queued, Accepted::Queued(_)));

    let mut modes = vec![agent.input().mode];
    agent.finish().await;
    for _ in 0..2 {
        let agent = runtime.task().await;
        modes.push(agent.input().mode);
        agent.finish().await;
        host.wait_for_end(&session, &agent.input().task_id).await;
    }
    assert_eq!(modes, [Mode::Ask, Mode::Ask, Mode::Yolo]);
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_is_told_once_that_prompts_wait_for_the_end_of_its_task() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (_runtime, mut agent) = host.runtimes().task().await;
    host.queue(&session, "two").await;
    host.queue(&session, "three").await;
    assert_eq!(agent.messages_so_far(), [EngineMessage::PromptWaiting]);
    host.stop().await;
}

#[tokio::test]
async fn what_the_runtime_says_about_its_session_changes_only_what_is_its_own() {
    use roost_engine::adapter::Fact;
    use roost_model::payload::SessionUpdatedPayload;
    use roost_model::session::SessionStatus;

    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (_runtime, agent) = host.runtimes().task().await;
    host.queue(&session, "two").await;
    let update = SessionUpdatedPayload {
        status: Some(SessionStatus::Closed),
        title: Some("a title".into()),
        model: Some("a model".into()),
        mode: Some(Mode::Yolo),
        runtime_config: None,
        runtime_config_hash: None,
        runtime_session_id: Some("another".into()),
        queue: Some(Vec::new()),
        reason: None,
        hidden: Some(true),
    };
    agent.say(Fact::Session(update)).await;
    agent.say(delta("hi")).await;
    let said = host.wait_for(&session, Type::ModelOutputDelta).await;
    let record = host.record(&session).await;
    assert_eq!((record.status, record.mode, record.queue.len()), (SessionStatus::Active, Mode::Ask, 1));
    assert_eq!((record.title.as_deref(), record.model.as_deref()), (Some("a title"), Some("a model")));
    assert_eq!((record.runtime_session_id, record.hidden), (Some("another".into()), false));
    assert_eq!(said.runtime.runtime_session_id, Some("another".into()));
    assert_eq!(said.trace.task_id, Some(task));
    host.stop().await;
}

#[tokio::test]
async fn an_unknown_runtime_is_refused_with_the_known_ones() {
    let host = Harness::start().await;
    let mut new = host.new_session(Mode::Ask);
    new.runtime = Some("nope".into());
    let refused = host.engine.create_session(new).await.unwrap_err();
    assert_eq!(refused.to_string(), "unknown runtime \"nope\"; known are fake");
    host.stop().await;
}

#[tokio::test]
async fn an_unknown_session_is_refused() {
    let host = Harness::start().await;
    let refused = host.prompt(&"nope".into(), "hello").await;
    assert!(matches!(refused, Err(Error::UnknownSession(_))), "{refused:?}");
    host.stop().await;
}
