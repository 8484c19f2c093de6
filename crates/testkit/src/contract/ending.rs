//! How tasks end early: a stop, a killed process, or nobody there to answer.

use roost_engine::Approver;
use roost_log::Log;
use roost_model::approval::ApprovalEnd;
use roost_model::event::{EventBody, NormalizedEvent, NormalizedEventType as Type};
use roost_model::failure::FailureCode;
use roost_model::mode::Mode;
use roost_model::payload::QuestionOutcome;
use roost_model::session::TaskOutcome;
use rustix::process::{Pid, Signal, kill_process};

use super::stage::{Stage, names};
use super::{Conformance, assert_claim};
use crate::soon;

/// 11. A stop in the middle ends the task; the runtime that claims to listen does, and nothing is left of it later.
pub async fn a_stop_ends_the_task_and_leaves_nothing_running(stage: &mut Stage) -> Conformance {
    let session = stage.session(Mode::Ask).await;
    let task = stage.begin(&session, stage.script.stream, Approver::Nobody).await;
    stage.host().wait_for(&session, Type::ModelOutputDelta).await;
    let process = stage.runtime_process().await;
    let stopped = soon("a stop", stage.host().engine.stop(session.as_str(), "enough")).await.unwrap();
    assert_eq!(stopped, TaskOutcome::Stopped);
    let then = stage.events_of(&session, &task).await;
    assert!(matches!(then.last().unwrap().body, EventBody::TaskStopped(_)), "{:?}", names(&then));

    let next = stage.run(&session, stage.script.say).await;
    assert!(matches!(next.last().unwrap().body, EventBody::TaskCompleted(_)), "{:?}", names(&next));
    let listened = stage.runtime_process().await == process;
    assert_claim("supportsStop", stage.adapter.capabilities().supports_stop, listened);
    assert_eq!(stage.events_of(&session, &task).await, then, "the task went on after its end");

    soon("a close", stage.host().engine.close(session.as_str(), "enough")).await.unwrap();
    stage.no_process_is_left().await;
    if listened { Conformance::Holds } else { Conformance::NotClaimed("supportsStop") }
}

/// 12. A stop that comes before the runtime has started is heard all the same, and the session can be used again.
pub async fn a_stop_before_the_runtime_is_there_does_not_hang(stage: &mut Stage) -> Conformance {
    let session = stage.session(Mode::Ask).await;
    let task = stage.begin(&session, stage.script.stream, Approver::Nobody).await;
    let stopped = soon("a stop", stage.host().engine.stop(session.as_str(), "too early")).await.unwrap();
    assert_eq!(stopped, TaskOutcome::Stopped);
    let end = stage.host().wait_for_end(&session, &task).await;
    assert!(matches!(end.body, EventBody::TaskStopped(_)), "{end:?}");
    let next = stage.run(&session, stage.script.say).await;
    assert!(matches!(next.last().unwrap().body, EventBody::TaskCompleted(_)), "{:?}", names(&next));
    Conformance::Holds
}

/// 13. A runtime that is killed fails its task as one that may be tried again, with nothing left open in it.
pub async fn a_runtime_that_is_killed_fails_its_task_and_the_session_goes_on(stage: &mut Stage) -> Conformance {
    let session = stage.session(Mode::Ask).await;
    let (prompt, sign) = match &stage.script.write {
        Some(write) => (write.prompt, Type::ApprovalRequested),
        None => (stage.script.stream, Type::ModelOutputDelta),
    };
    let task = stage.begin(&session, prompt, Approver::Present).await;
    stage.host().wait_for(&session, sign).await;
    let pid = i32::try_from(stage.runtime_process().await.pid).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    let end = stage.host().wait_for_end(&session, &task).await;
    let EventBody::TaskFailed(failed) = &end.body else { panic!("{end:?}") };
    assert_eq!((failed.error.code, failed.error.retryable), (FailureCode::RuntimeExited, true));

    let events = stage.events_of(&session, &task).await;
    let resolved = events.iter().filter_map(|event| match &event.body {
        EventBody::ApprovalResolved(resolved) => Some(resolved.end),
        _ => None,
    });
    let asked = usize::from(sign == Type::ApprovalRequested);
    assert_eq!(resolved.collect::<Vec<_>>(), vec![ApprovalEnd::TaskEnded; asked]);
    assert_eq!(stage.host().log.pending(Some(&session)).await.unwrap(), []);
    assert_eq!(stage.files(), [""; 0]);
    let next = stage.run(&session, stage.script.say).await;
    assert!(matches!(next.last().unwrap().body, EventBody::TaskCompleted(_)), "{:?}", names(&next));
    Conformance::Holds
}

/// 14. With nobody there every prompt comes to an end: what asks is told no, and nobody reads a terminal.
pub async fn nothing_ever_waits_for_a_terminal(stage: &mut Stage) -> Conformance {
    let session = stage.conversation().await;
    let prompts = [stage.script.write.clone().map(|write| write.prompt), stage.script.question];
    for prompt in prompts.into_iter().flatten() {
        let events = stage.run(&session, prompt).await;
        let ended = matches!(events.last().unwrap().body, EventBody::TaskCompleted(_));
        assert_claim("supportsNonInteractive", stage.adapter.capabilities().supports_non_interactive, ended);
        let answered = outcomes(&events).any(|outcome| outcome != QuestionOutcome::Declined);
        assert!(!answered, "{:?}", names(&events));
    }
    if stage.script.write.is_none() && stage.script.question.is_none() {
        stage.run(&session, stage.script.say).await;
    }
    let stdin = format!("/proc/{}/fd/0", stage.runtime_process().await.pid);
    let stdin = std::fs::read_link(stdin).unwrap();
    assert!(stdin.to_string_lossy().starts_with("pipe:"), "{}", stdin.display());

    let asked = match stage.script.question {
        Some(prompt) => {
            let events = stage.run_allowing(&session, prompt).await;
            outcomes(&events).eq([QuestionOutcome::Answered])
        }
        None => false,
    };
    assert_claim("supportsInteractiveQuestions", stage.adapter.asks_questions(), asked);
    Conformance::Holds
}

fn outcomes(events: &[NormalizedEvent]) -> impl Iterator<Item = QuestionOutcome> {
    events.iter().filter_map(|event| match &event.body {
        EventBody::QuestionResolved(resolved) => Some(resolved.outcome),
        _ => None,
    })
}
