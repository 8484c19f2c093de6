//! Whatever a runtime says and whoever decides: what the ledger writes obeys the contract.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use roost_engine::GatewayToolCall;
use roost_engine::adapter::{Fact, TaskEnd};
use roost_engine::ledger::{Ledger, Resolution, Terms};
use roost_model::event::EventBody;
use roost_model::failure::FailureCode;
use roost_model::mode::Mode;
use roost_model::payload::{OutputStream, QuestionOutcome};
use roost_model::tool::{PolicyDecision, PolicyResult, ToolCallIdentity};
use serde_json::json;
use testkit::facts::{asks, attempt, completed, delta, failed, question, request, started};

use crate::ledger::evaluation;

/// One thing that happens in a task.
#[derive(Clone, Debug)]
enum Step {
    Fact(Box<Fact>),
    Decide(String, PolicyResult),
    Answer(String),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let call = || prop::sample::select(vec!["a", "b", "c"]);
    let ask = || prop::sample::select(vec!["q", "r"]);
    let result = prop::sample::select(vec![PolicyResult::Allow, PolicyResult::Deny, PolicyResult::Ask]);
    let fact = prop_oneof![
        4 => (call(), 0..4_u32).prop_map(|(call, number)| attempt(call, number)),
        3 => call().prop_map(asks),
        1 => (call(), 0..3_u8).prop_map(|(call, way)| changed(call, way)),
        3 => call().prop_map(started),
        3 => call().prop_map(completed),
        2 => call().prop_map(failed),
        1 => call().prop_map(|call| Fact::ToolOutputDelta { call: call.into(), stream: OutputStream::Stderr, delta: "x".into() }),
        1 => call().prop_map(|call| Fact::ToolOutput { call: call.into(), stdout: None, stderr: None }),
        2 => ask().prop_map(question),
        1 => ask().prop_map(|id| Fact::QuestionWithdrawn(id.into())),
        1 => Just(delta("hi")),
    ];
    let step = prop_oneof![
        6 => fact.prop_map(|fact| Step::Fact(Box::new(fact))),
        2 => (call(), result).prop_map(|(call, result)| Step::Decide(call.into(), result)),
        1 => ask().prop_map(|id| Step::Answer(id.into())),
    ];
    prop::collection::vec(step, 0..40)
}

/// The call is another by now, announced or asked about.
fn changed(call: &str, way: u8) -> Fact {
    match way {
        0 => Fact::ToolRequested(request("write", call, 1, json!({ "path": "elsewhere" }))),
        1 => Fact::ToolAsks(request("write", call, 1, json!({ "path": "elsewhere" }))),
        _ => Fact::ToolAsks(request("read", call, 1, json!({ "path": call }))),
    }
}

fn ends() -> impl Strategy<Value = TaskEnd> {
    prop_oneof![
        Just(TaskEnd::Completed("end_turn".into())),
        Just(TaskEnd::Stopped("enough".into())),
        Just(TaskEnd::failed(FailureCode::RuntimeExited, "gone")),
    ]
}

fn take(ledger: &mut Ledger, step: &Step) -> Vec<EventBody> {
    let mut events = Vec::new();
    match step {
        Step::Fact(fact) => drop(ledger.enter(Fact::clone(fact), &mut events)),
        Step::Decide(call, result) => {
            events = ledger.decide(&call.as_str().into(), vec![evaluation(*result)], "because", Terms::default());
        }
        Step::Answer(id) => events
            .extend(ledger.resolve(&id.as_str().into(), Resolution::unanswered(QuestionOutcome::Declined, "because"))),
    }
    events
}

/// What an attempt at a tool call has had so far.
#[derive(Default)]
struct Attempt {
    last_word: Option<PolicyResult>,
    decision: Option<PolicyDecision>,
    started: bool,
    completed: bool,
}

/// Checks the whole contract of a task's events.
#[derive(Default)]
struct Contract {
    attempts: BTreeMap<(String, u32), Attempt>,
    asked: BTreeSet<String>,
    resolved: BTreeSet<String>,
    over: bool,
}

impl Contract {
    fn check(events: &[EventBody]) -> Result<(), TestCaseError> {
        let mut contract = Self::default();
        for event in events {
            contract.see(event)?;
        }
        prop_assert!(contract.over, "the task has no end");
        prop_assert_eq!(&contract.asked, &contract.resolved);
        for (key, attempt) in &contract.attempts {
            let ran = attempt.decision == Some(PolicyDecision::Allow);
            prop_assert!(attempt.decision.is_some(), "{:?} was never decided", key);
            prop_assert_eq!((attempt.started, attempt.completed), (ran, ran), "{:?}", key);
        }
        Ok(())
    }

    fn known(&mut self, identity: &ToolCallIdentity) -> Result<&mut Attempt, TestCaseError> {
        let found = self.attempts.get_mut(&key(identity));
        found.ok_or_else(|| TestCaseError::fail(format!("{identity:?} was never requested")))
    }

    fn decide(&mut self, identity: &ToolCallIdentity, decision: PolicyDecision) -> Result<(), TestCaseError> {
        let attempt = self.known(identity)?;
        let word = match decision {
            PolicyDecision::Allow => PolicyResult::Allow,
            PolicyDecision::Deny => PolicyResult::Deny,
        };
        prop_assert_eq!(attempt.last_word, Some(word), "a decision needs a word: {:?}", identity);
        prop_assert_eq!(attempt.decision.replace(decision), None, "decided twice: {:?}", identity);
        Ok(())
    }

    fn see(&mut self, event: &EventBody) -> Result<(), TestCaseError> {
        prop_assert!(!self.over, "{event:?} after the end");
        match event {
            EventBody::ToolCallRequested(call) => {
                let before = self.attempts.insert(key(&call.identity), Attempt::default());
                prop_assert!(before.is_none(), "requested twice: {call:?}");
            }
            EventBody::ToolCallPolicyEvaluated(word) => {
                let attempt = self.known(&word.identity)?;
                prop_assert!(attempt.decision.is_none(), "a word after the decision: {word:?}");
                attempt.last_word = Some(word.result);
            }
            EventBody::ToolCallApproved(call) => self.decide(&call.identity, PolicyDecision::Allow)?,
            EventBody::ToolCallDenied(call) => {
                self.decide(&call.identity, PolicyDecision::Deny)?;
                prop_assert_eq!(call.policy_snapshot.decision, PolicyDecision::Deny);
            }
            EventBody::ToolCallStarted(call) => {
                let attempt = self.known(&call.identity)?;
                prop_assert_eq!((attempt.decision, attempt.started), (Some(PolicyDecision::Allow), false));
                attempt.started = true;
            }
            EventBody::ToolOutputDelta(piece) => self.runs(&piece.identity)?,
            EventBody::ToolOutputCompleted(whole) => self.runs(&whole.identity)?,
            EventBody::ToolCallCompleted(call) => {
                self.runs(&call.identity)?;
                self.known(&call.identity)?.completed = true;
                prop_assert_eq!(call.policy_snapshot.decision, PolicyDecision::Allow);
                prop_assert!(!call.policy_snapshot.sources.is_empty());
            }
            EventBody::QuestionAsked(asked) => {
                prop_assert!(self.asked.insert(asked.question_id.to_string()), "asked twice: {asked:?}");
            }
            EventBody::QuestionResolved(resolved) => {
                let id = resolved.question_id.to_string();
                prop_assert!(self.asked.contains(&id), "never asked: {resolved:?}");
                prop_assert!(self.resolved.insert(id), "resolved twice: {resolved:?}");
            }
            event => self.over = event.ends_task(),
        }
        Ok(())
    }

    fn runs(&mut self, identity: &ToolCallIdentity) -> Result<(), TestCaseError> {
        let attempt = self.known(identity)?;
        prop_assert_eq!((attempt.started, attempt.completed), (true, false), "{:?} does not run", identity);
        Ok(())
    }
}

/// One thing that happens in a task whose agent uses the MCP gateway.
#[derive(Clone, Debug)]
enum GatewayStep {
    /// The runtime says something about a call of the gateway, or somebody decides about it.
    Runtime(Step),
    /// A request reaches the gateway: with this input, and perhaps with the runtime's id of the call.
    Request(&'static str, Option<&'static str>),
    /// Somebody decides about the request of this number.
    Decide(usize, PolicyResult),
    /// The request of this number runs, if it may.
    Start(usize),
    /// The request of this number is over.
    Done(usize, bool),
}

fn gateway_steps() -> impl Strategy<Value = Vec<GatewayStep>> {
    let call = || prop::sample::select(vec!["a", "b"]);
    let about = |call: &str, input: &str| {
        let first = request("mcp__roost__docs__search", call, 1, json!({ "path": input }));
        let identity = ToolCallIdentity { runtime_tool_call_id: Some(call.into()), ..first.identity.clone() };
        roost_model::payload::ToolCallRequestedPayload { identity, ..first }
    };
    let results = || prop::sample::select(vec![PolicyResult::Allow, PolicyResult::Deny, PolicyResult::Ask]);
    let fact = prop_oneof![
        3 => (call(), call()).prop_map(move |(call, input)| Fact::ToolRequested(about(call, input))),
        3 => (call(), call()).prop_map(move |(call, input)| Fact::ToolAsks(about(call, input))),
        2 => call().prop_map(started),
        2 => call().prop_map(completed),
        2 => call().prop_map(failed),
        1 => call().prop_map(testkit::facts::refused),
    ];
    let runtime = prop_oneof![
        4 => fact.prop_map(|fact| Step::Fact(Box::new(fact))),
        1 => (call(), results()).prop_map(|(call, result)| Step::Decide(call.into(), result)),
    ];
    let step = prop_oneof![
        4 => runtime.prop_map(GatewayStep::Runtime),
        2 => (call(), prop::option::of(call())).prop_map(|(input, native)| GatewayStep::Request(input, native)),
        2 => (0..4_usize, results()).prop_map(|(number, result)| GatewayStep::Decide(number, result)),
        2 => (0..4_usize).prop_map(GatewayStep::Start),
        2 => (0..4_usize, any::<bool>()).prop_map(|(number, is_error)| GatewayStep::Done(number, is_error)),
    ];
    prop::collection::vec(step, 0..40)
}

fn take_with_gateway(ledger: &mut Ledger, requests: &mut Vec<ToolCallIdentity>, step: &GatewayStep) -> Vec<EventBody> {
    let mut events = Vec::new();
    match step {
        GatewayStep::Runtime(step) => return take(ledger, step),
        GatewayStep::Request(input, native) => {
            let runtime_tool_call_id = native.map(str::to_owned);
            let input = json!({ "path": input });
            let (only_looks, always_asks) = (false, false);
            let tool = "docs__search".into();
            let call = GatewayToolCall { tool, input, runtime_tool_call_id, only_looks, always_asks };
            requests.push(ledger.join_gateway_call(call, &mut events));
        }
        GatewayStep::Decide(number, result) => {
            if let Some(request) = requests.get(*number) {
                events = ledger.decide(&request.tool_call_id, vec![evaluation(*result)], "because", Terms::default());
            }
        }
        GatewayStep::Start(number) => {
            let request = requests.get(*number).cloned();
            events.extend(request.and_then(|request| {
                let decided = ledger.gateway_decision(&request, &request.input_hash);
                let may_run = decided.is_some_and(|(decision, _)| decision == PolicyDecision::Allow);
                may_run.then(|| ledger.start_in_gateway(&request.tool_call_id)).flatten()
            }));
        }
        GatewayStep::Done(number, is_error) => {
            if let Some(request) = requests.get(*number) {
                events = ledger.complete_in_gateway(request, json!("done"), *is_error);
            }
        }
    }
    events
}

fn key(identity: &ToolCallIdentity) -> (String, u32) {
    (identity.tool_call_id.to_string(), identity.attempt)
}

proptest! {
    #[test]
    fn the_contract_holds_whatever_the_runtime_says(steps in steps(), end in ends()) {
        let mut ledger = Ledger::new(Mode::Ask);
        let mut events: Vec<_> = steps.iter().flat_map(|step| take(&mut ledger, step)).collect();
        events.extend(ledger.close(end));
        Contract::check(&events)?;
        prop_assert_eq!(ledger.pending(), []);
    }

    #[test]
    fn the_contract_holds_whatever_the_runtime_says_of_calls_that_the_gateway_runs(
        steps in gateway_steps(),
        end in ends(),
    ) {
        let (mut ledger, mut requests) = (Ledger::new(Mode::Ask), Vec::new());
        let mut events = Vec::new();
        for step in &steps {
            events.extend(take_with_gateway(&mut ledger, &mut requests, step));
        }
        events.extend(ledger.close(end));
        Contract::check(&events)?;
    }

    #[test]
    fn books_read_back_from_the_log_close_like_the_ones_that_were_lost(steps in steps(), end in ends()) {
        let mut ledger = Ledger::new(Mode::Ask);
        let events: Vec<_> = steps.iter().flat_map(|step| take(&mut ledger, step)).collect();
        prop_assert_eq!(Ledger::replay(Mode::Ask, &events).close(end.clone()), ledger.close(end));
    }

    #[test]
    fn a_crash_after_any_event_leaves_books_that_can_be_closed(steps in steps(), cut in any::<prop::sample::Index>()) {
        let mut ledger = Ledger::new(Mode::Ask);
        let mut events: Vec<_> = steps.iter().flat_map(|step| take(&mut ledger, step)).collect();
        events.truncate(cut.index(events.len() + 1));
        let closing = Ledger::replay(Mode::Ask, &events).close(TaskEnd::failed(FailureCode::HostRestarted, "cut"));
        events.extend(closing);
        Contract::check(&events)?;
    }
}
