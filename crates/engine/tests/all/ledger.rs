//! The ledger of a task, rule by rule. `ledger_model` has the same rules for every sequence there is.

use roost_engine::adapter::{Fact, TaskEnd};
use roost_engine::ledger::{Asked, Ledger, Next, RUNTIME_REFUSED, Terms, UNASKED};
use roost_model::event::EventBody;
use roost_model::failure::FailureCode;
use roost_model::mode::Mode;
use roost_model::payload::OutputStream;
use roost_model::tool::{PolicyDecision, PolicyResult, PolicySource, ToolPolicyEvaluation};
use testkit::facts::{asks, attempt, completed, delta, failed, question, refused, requested, started};

/// An evaluation with this result, as the policy would give it.
pub(crate) fn evaluation(result: PolicyResult) -> ToolPolicyEvaluation {
    ToolPolicyEvaluation { source: PolicySource::Codesdk, result, rule: Some("test".into()) }
}

/// What the ledger makes of facts; calls it is asked about are decided like this.
fn entered(ledger: &mut Ledger, decision: PolicyResult, facts: Vec<Fact>) -> Vec<EventBody> {
    let mut events = Vec::new();
    for fact in facts {
        if let Next::Decide(Asked::Tool(call)) = ledger.enter(fact, &mut events) {
            events.extend(ledger.decide(&call, vec![evaluation(decision)], "because", Terms::default()));
        }
    }
    events
}

fn names(events: &[EventBody]) -> Vec<&str> {
    let short = |event| EventBody::name(event).trim_start_matches("tool.").trim_start_matches("call.");
    events.iter().map(short).collect()
}

fn output(call: &str) -> Fact {
    Fact::ToolOutputDelta { call: call.into(), stream: OutputStream::Stdout, delta: "line".into() }
}

#[test]
fn a_runtime_may_leave_out_or_repeat_what_it_likes() {
    let whole = ["requested", "policy_evaluated", "approved", "started", "completed"];
    let cases: Vec<(&str, PolicyResult, Vec<Fact>, Vec<&str>)> = vec![
        (
            "asked, allowed, run",
            PolicyResult::Allow,
            vec![requested("a"), asks("a"), started("a"), completed("a")],
            whole.into(),
        ),
        (
            "allowed and done, never said to run",
            PolicyResult::Allow,
            vec![requested("a"), asks("a"), completed("a")],
            whole.into(),
        ),
        ("never asked", PolicyResult::Allow, vec![requested("a"), started("a"), completed("a")], whole.into()),
        ("only done", PolicyResult::Allow, vec![requested("a"), completed("a")], whole.into()),
        (
            "done twice",
            PolicyResult::Allow,
            vec![requested("a"), completed("a"), completed("a"), started("a")],
            whole.into(),
        ),
        (
            "output counts as running",
            PolicyResult::Allow,
            vec![requested("a"), output("a"), completed("a"), output("a")],
            vec!["requested", "policy_evaluated", "approved", "started", "output.delta", "completed"],
        ),
        (
            "denied, then reported as failed",
            PolicyResult::Deny,
            vec![requested("a"), asks("a"), failed("a")],
            vec!["requested", "policy_evaluated", "denied"],
        ),
        (
            "announced twice",
            PolicyResult::Allow,
            vec![requested("a"), requested("a"), completed("a")],
            vec!["requested", "runtime.notice", "policy_evaluated", "approved", "started", "completed"],
        ),
        ("run and never announced", PolicyResult::Allow, vec![started("a")], vec!["runtime.notice"]),
        ("asked about and never announced", PolicyResult::Allow, vec![asks("a"), completed("a")], whole.into()),
        (
            "a second attempt",
            PolicyResult::Deny,
            vec![requested("a"), completed("a"), attempt("a", 2), asks("a")],
            [&whole[..], &["requested", "policy_evaluated", "denied"]].concat(),
        ),
        (
            "a second attempt during the first",
            PolicyResult::Allow,
            vec![requested("a"), attempt("a", 2), completed("a")],
            [&["requested", "policy_evaluated", "denied"], &whole[..]].concat(),
        ),
        (
            "asked twice",
            PolicyResult::Allow,
            vec![requested("a"), asks("a"), asks("a"), completed("a")],
            [&whole[..], &whole[..]].concat(),
        ),
        (
            "refused by the runtime",
            PolicyResult::Allow,
            vec![requested("a"), refused("a")],
            vec!["requested", "policy_evaluated", "denied"],
        ),
        (
            "refused by the runtime after a yes",
            PolicyResult::Allow,
            vec![requested("a"), asks("a"), refused("a")],
            whole.into(),
        ),
        ("text", PolicyResult::Allow, vec![delta("hi")], vec!["model.output.delta"]),
    ];
    for (case, decision, facts, expected) in cases {
        let events = entered(&mut Ledger::new(Mode::Ask), decision, facts);
        assert_eq!(names(&events), expected, "{case}");
    }
}

#[test]
fn a_call_that_ran_unasked_says_so() {
    let events = entered(&mut Ledger::new(Mode::Ask), PolicyResult::Deny, vec![requested("a"), completed("a")]);
    let Some(EventBody::ToolCallCompleted(done)) = events.last() else { panic!("{events:?}") };
    let sources: Vec<_> = done.policy_snapshot.sources.iter().map(|word| (word.source, word.rule.as_deref())).collect();
    assert_eq!(sources, [(PolicySource::Runtime, Some(UNASKED))]);
    assert_eq!(done.policy_snapshot.mode, Some(Mode::Ask));
}

#[test]
fn a_call_that_the_runtime_refused_says_so_and_why() {
    let events = entered(&mut Ledger::new(Mode::Auto), PolicyResult::Allow, vec![requested("a"), refused("a")]);
    let Some(EventBody::ToolCallDenied(denied)) = events.last() else { panic!("{events:?}") };
    let sources: Vec<_> = denied.policy_snapshot.sources.iter().map(|word| word.rule.as_deref()).collect();
    assert_eq!((sources.as_slice(), denied.reason.as_str()), (&[Some(RUNTIME_REFUSED)][..], "not on my watch"));
}

#[test]
fn a_call_that_fails_while_it_is_asked_about_was_withdrawn() {
    let mut ledger = Ledger::new(Mode::Ask);
    let mut events = Vec::new();
    ledger.enter(requested("a"), &mut events);
    assert_eq!(ledger.enter(asks("a"), &mut events), Next::Decide(Asked::Tool("a".into())));
    assert_eq!(ledger.pending(), [Asked::Tool("a".into())]);
    ledger.enter(failed("a"), &mut events);
    assert_eq!(names(&events), ["requested", "policy_evaluated", "denied"]);
    assert_eq!((ledger.decision(&"a".into()), ledger.pending()), (Some(PolicyDecision::Deny), vec![]));
}

#[test]
fn a_question_that_is_asked_twice_is_recorded_once_and_answered_twice() {
    let mut ledger = Ledger::new(Mode::Ask);
    let mut events = Vec::new();
    for _ in 0..2 {
        assert_eq!(ledger.enter(question("q"), &mut events), Next::Decide(Asked::Question("q".into())));
    }
    events.extend(ledger.close(TaskEnd::Completed("end_turn".into())));
    assert_eq!(names(&events), ["question.asked", "runtime.notice", "question.resolved", "task.completed"]);
}

#[test]
fn a_withdrawn_question_is_resolved() {
    let mut ledger = Ledger::new(Mode::Ask);
    let mut events = Vec::new();
    ledger.enter(question("q"), &mut events);
    ledger.enter(Fact::QuestionWithdrawn("q".into()), &mut events);
    ledger.enter(Fact::QuestionWithdrawn("q".into()), &mut events);
    assert_eq!(names(&events), ["question.asked", "question.resolved"]);
}

#[test]
fn the_end_closes_what_is_open_in_the_order_it_was_opened() {
    let ends = [
        (TaskEnd::Completed("end_turn".into()), "task.completed"),
        (TaskEnd::Stopped("enough".into()), "task.stopped"),
        (TaskEnd::failed(FailureCode::RuntimeExited, "gone"), "task.failed"),
    ];
    for (end, last) in ends {
        let mut ledger = Ledger::new(Mode::Ask);
        let facts = vec![
            requested("waits"),
            requested("runs"),
            started("runs"),
            requested("done"),
            completed("done"),
            question("q"),
        ];
        entered(&mut ledger, PolicyResult::Allow, facts);
        let closing = ledger.close(end);
        assert_eq!(names(&closing), ["policy_evaluated", "denied", "completed", "question.resolved", last]);
    }
}

#[test]
fn books_that_are_read_back_know_what_waits() {
    let mut ledger = Ledger::new(Mode::Ask);
    let mut events = Vec::new();
    ledger.enter(requested("a"), &mut events);
    ledger.enter(asks("a"), &mut events);
    events.extend(ledger.decide(&"a".into(), vec![evaluation(PolicyResult::Ask)], "because", Terms::default()));
    ledger.enter(question("q"), &mut events);
    assert_eq!(Ledger::replay(Mode::Ask, &events).pending(), ledger.pending());
}
