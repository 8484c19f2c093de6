//! Agents that are services: their timers begin runs, and people write to their runs. The clock is the test's.

use std::sync::Arc;
use std::time::Duration;

use roost_gateway::endpoint::{Endpoint, EndpointSettings};
use roost_gateway::governance::GovernanceOptions;
use roost_gateway::runs::{AgentCalls, MessageRole, RunMessages, Runs, RunsError, Timers};
use roost_gateway::services::{ServiceOptions, Services};
use roost_log::{Filter, Log, Start, StreamId};
use roost_model::event::EventBody;
use roost_model::ids::{RunId, ServiceId};
use roost_model::mode::Mode;
use roost_model::payload::McpToolCalledPayload;
use roost_model::run::{AgentEvent, RunStatus, RunSummary, Trigger};
use roost_model::service::Lifecycle;
use roost_model::tool::PolicyResult;
use roost_policy::{Effect, Rule, RuleSet};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::mcp_servers::{Behaviour, FakeServer, FakeServers, tool};
use testkit::soon;

use crate::governed::Governed;
use crate::services::kit::manifest;
use crate::support;

const PERIOD: Duration = Duration::from_mins(5);

/// An agent that runs, and what looks after it.
struct Stage {
    governed: Governed,
    services: Arc<Services>,
    service: ServiceId,
    server: FakeServer,
    runs: Arc<Runs>,
    calls: AgentCalls,
    /// While this is held, the clock goes on only when the test says so.
    _clock: std::sync::mpsc::Sender<()>,
}

impl Stage {
    /// An agent named `dice`, with this rule and with this change of what its manifest says of the agent.
    async fn open(rule: Option<Rule>, agent: Value) -> Self {
        let (clock, held) = std::sync::mpsc::channel();
        // Tokio moves a paused clock by itself, but not while something blocks.
        tokio::task::spawn_blocking(move || held.recv());
        let rules = Arc::new(RuleSet::new(&rule.into_iter().collect::<Vec<_>>()).unwrap());
        let options = GovernanceOptions { client_mode: Mode::Yolo, ..GovernanceOptions::default() };
        let governed = Governed::start_with(|config| config.rules = rules, options).await;
        tokio::time::pause();
        let log: Arc<dyn Log> = Arc::new(governed.host.log.clone());
        let servers = FakeServers::default();
        let options = ServiceOptions::default();
        let services = Services::start(log.clone(), Arc::new(servers.clone()), options, "1.2.3").await.unwrap();
        let services = Arc::new(services);
        let mut document = manifest(
            "dice",
            json!({ "metadata": { "serviceType": "agent", "agent": {
            "agentId": "dice", "name": "Dice", "role": "roller", "objective": "roll", "triggers": ["timer", "api"],
            "timer": { "schedules": [{ "scheduleId": "tick", "scheduleExpr": "every 5 min" }] },
        } } }),
        );
        document["metadata"]["agent"].as_object_mut().unwrap().extend(agent.as_object().unwrap().clone());
        let server = servers.at(document["spec"]["origin"]["endpoint"].as_str().unwrap());
        server.offer(vec![tool("on_timer", "rolls"), tool("receive_chat", "answers")]);
        let service = services.apply(&document).await.unwrap().id.clone();
        services.start_service(&service).await.unwrap();
        let settings = EndpointSettings::new("1.2.3");
        let endpoint = Endpoint::new(services.clone(), governed.governor.clone(), settings).unwrap();
        let runs = Arc::new(Runs::new(log, Some(services.clone())));
        let calls = AgentCalls::new(endpoint);
        Self { governed, services, service, server, runs, calls, _clock: clock }
    }

    fn timers(&self) -> Timers {
        Timers::start(self.services.clone(), self.runs.clone(), self.calls.clone())
    }

    async fn list(&self) -> Vec<RunSummary> {
        self.runs.list(100).await.unwrap()
    }

    /// Lets time go by until the runs are as wanted.
    async fn until(&self, wanted: impl Fn(&[RunSummary]) -> bool) -> Vec<RunSummary> {
        loop {
            let runs = self.list().await;
            if wanted(&runs) {
                return runs;
            }
            tokio::time::advance(PERIOD / 4).await;
            tokio::task::yield_now().await;
        }
    }

    async fn kinds(&self, run: &RunId) -> Vec<String> {
        let events = self.runs.events(Some(run), 100).await.unwrap();
        events.into_iter().map(|event| event.event.kind).collect()
    }

    /// The calls that the gateway recorded; it takes no more of them afterwards.
    async fn calls(&self) -> Vec<McpToolCalledPayload> {
        self.governed.records().await
    }

    /// Begins a run as an orchestration client does.
    async fn begin(&self, run: &str, service: Option<&ServiceId>) -> RunId {
        let mut event = json!({ "kind": "agent.run_started", "run_id": run, "agent": "dice" });
        if let Some(service) = service {
            event["service_id"] = json!(service);
        }
        self.runs.report(vec![AgentEvent::parse(&event).unwrap()]).await.unwrap();
        run.into()
    }

    fn messages(&self) -> RunMessages {
        RunMessages::new(self.services.clone(), self.runs.clone(), self.calls.clone())
    }
}

fn deny_the_handler() -> Rule {
    Rule { tool: Some("mcp__roost__dice__on_timer".into()), name: Some("house".into()), ..Rule::new(Effect::Deny) }
}

fn all_over(runs: &[RunSummary]) -> bool {
    runs.iter().all(|run| run.status.is_terminal())
}

#[tokio::test]
async fn a_timer_begins_one_run_after_the_other_and_each_calls_the_handler() {
    let stage = Stage::open(None, json!({})).await;
    let timers = stage.timers();
    let runs = stage.until(|runs| runs.len() >= 3 && all_over(runs)).await;
    timers.close().await;
    for run in &runs {
        assert_eq!(
            (run.status, run.trigger, run.tool_call_count),
            (RunStatus::Completed, Trigger::Timer, 1),
            "{run:?}"
        );
        assert!(run.run_id.as_str().starts_with(&format!("timer_{}_tick_", stage.service)), "{run:?}");
        assert_eq!(run.trigger_context.as_ref().unwrap()["scheduleExpr"], "every 5 min");
        let expected = ["run_created", "run_started", "tool_called", "run_completed"];
        assert_eq!(stage.kinds(&run.run_id).await, expected.map(|kind| format!("agent.{kind}")));
    }
    let calls = stage.calls().await;
    assert!(calls.len() >= 3 && calls.iter().all(|call| call.success && call.routed_tool == "on_timer"), "{calls:?}");
    assert_eq!(calls[0].client.as_deref(), Some("agent-service"));
}

#[tokio::test]
async fn a_rule_that_denies_the_handler_is_obeyed() {
    let stage = Stage::open(Some(deny_the_handler()), json!({})).await;
    let timers = stage.timers();
    let runs = stage.until(|runs| !runs.is_empty() && all_over(runs)).await;
    timers.close().await;
    assert_eq!(runs[0].status, RunStatus::Failed, "{runs:?}");
    let calls = stage.calls().await;
    let is_denied = |call: &McpToolCalledPayload| !call.success && call.policy.result == PolicyResult::Deny;
    assert!(!calls.is_empty() && calls.iter().all(is_denied), "{calls:?}");
}

#[tokio::test]
async fn an_agent_without_a_handler_fails_its_runs_and_says_what_is_missing() {
    let schedules = json!([{ "scheduleId": "tick", "scheduleExpr": "every 5 min" }]);
    let timer = json!({ "timer": { "schedules": schedules, "handlerTool": "fn__roll" } });
    let stage = Stage::open(None, timer).await;
    let timers = stage.timers();
    let runs = stage.until(|runs| !runs.is_empty() && all_over(runs)).await;
    timers.close().await;
    let why = runs[0].failure_reason.as_deref().unwrap();
    assert!(why.contains("fn__roll"), "{why}");
    assert_eq!((runs[0].status, runs[0].tool_call_count), (RunStatus::Failed, 0));
}

#[tokio::test]
async fn a_service_that_stops_fires_no_more_and_goes_on_when_it_is_started() {
    let stage = Stage::open(None, json!({})).await;
    let timers = stage.timers();
    stage.until(|runs| !runs.is_empty()).await;
    stage.services.stop_service(&stage.service).await.unwrap();
    let before = stage.until(all_over).await.len();
    for _ in 0..40 {
        tokio::time::advance(PERIOD).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(stage.list().await.len(), before);
    stage.services.start_service(&stage.service).await.unwrap();
    stage.until(|runs| runs.len() > before).await;
    timers.close().await;
}

#[tokio::test]
async fn what_runs_when_the_daemon_ends_is_cancelled_and_what_it_left_is_failed() {
    let stage = Stage::open(None, json!({})).await;
    stage.server.on_call(Behaviour::Hangs);
    let timers = stage.timers();
    let runs = stage.until(|runs| runs.iter().any(|run| run.status == RunStatus::Running)).await;
    timers.close().await;
    let run = stage.list().await.into_iter().find(|run| run.run_id == runs[0].run_id).unwrap();
    assert_eq!(run.status, RunStatus::Cancelled);
    // One that a killed daemon could not end.
    let left = format!("timer_{}_tick_1", stage.service);
    let created = json!({ "kind": "agent.run_created", "run_id": left, "service_id": stage.service, "data": {
        "trigger": "timer", "triggerContext": { "scheduleId": "tick", "scheduleExpr": "every 5 min", "firedAt": "then" },
    } });
    stage.runs.report(vec![AgentEvent::parse(&created).unwrap()]).await.unwrap();
    let timers = stage.timers();
    let is_failed = |run: &RunSummary| run.run_id.as_str() == left && run.status == RunStatus::Failed;
    stage.until(|runs| runs.iter().any(is_failed)).await;
    timers.close().await;
}

#[tokio::test]
async fn an_agent_answers_messages_to_its_run_and_both_are_recorded() {
    let stage = Stage::open(None, json!({})).await;
    let run = stage.begin("talk", Some(&stage.service)).await;
    let messages = stage.messages();
    let answer = messages.send(&run, MessageRole::User, "roll!").await.unwrap().unwrap();
    assert_eq!(answer, "roll!", "the server says what it was given, of which the message is read");
    let expected = ["run_started", "chat.user_message", "chat.assistant_message"];
    assert_eq!(stage.kinds(&run).await, expected.map(|kind| format!("agent.{kind}")));
    stage.server.on_call(Behaviour::Fails(roost_gateway::lifecycle::ServiceFault::Broken));
    let failed = messages.send(&run, MessageRole::User, "again").await.unwrap_err();
    assert!(matches!(failed, RunsError::NoAnswer { .. }), "{failed}");
    assert_eq!(stage.kinds(&run).await.last().unwrap(), "agent.chat.system_message");
    let over = json!({ "kind": "agent.run_completed", "run_id": run });
    stage.runs.report(vec![AgentEvent::parse(&over).unwrap()]).await.unwrap();
    let refused = messages.send(&run, MessageRole::User, "still there?").await.unwrap_err();
    assert!(matches!(refused, RunsError::Over(_)), "{refused}");
    let unknown = messages.send(&"nobody".into(), MessageRole::User, "?").await.unwrap_err();
    assert!(matches!(unknown, RunsError::Unknown(_)), "{unknown}");
}

#[tokio::test]
async fn an_agent_that_does_not_declare_the_trigger_api_is_not_called_by_messages() {
    let stage = Stage::open(None, json!({ "triggers": ["timer"] })).await;
    let run = stage.begin("talk", Some(&stage.service)).await;
    let refused = stage.messages().send(&run, MessageRole::User, "roll!").await.unwrap_err();
    assert!(refused.to_string().contains("the trigger \"api\""), "{refused}");
    assert_eq!(stage.calls().await, []);
}

#[tokio::test]
async fn a_message_is_only_recorded_where_nobody_answers_here() {
    let stage = Stage::open(None, json!({ "chat": { "mode": "disabled" } })).await;
    let messages = stage.messages();
    for (run, service) in [("theirs", None), ("silent", Some(&stage.service))] {
        let run = stage.begin(run, service).await;
        assert_eq!(messages.send(&run, MessageRole::User, "hello").await.unwrap(), None);
        assert_eq!(stage.kinds(&run).await.last().unwrap(), "agent.chat.user_message");
    }
    let page = stage.governed.host.log.read(&StreamId::host(), 0, 1000).await.unwrap();
    let is_call = |body: &EventBody| matches!(body, EventBody::McpToolCalled(_));
    assert!(!page.batch.iter().any(|entry| is_call(&entry.event().unwrap().body)));
}

#[tokio::test]
async fn an_echo_answers_without_calling_anything() {
    let stage = Stage::open(None, json!({ "chat": { "mode": "echo" } })).await;
    let run = stage.begin("echo", Some(&stage.service)).await;
    let answer = stage.messages().send(&run, MessageRole::User, "hello").await.unwrap();
    assert_eq!(answer.as_deref(), Some("Echo: hello"));
}

/// An agent that is a module in Clarity's ABI, whose parameters have names of its own: it answers with its first argument.
#[tokio::test]
async fn a_module_is_an_agent_whatever_its_parameters_are_called() {
    let source = "module Dice
        function receive_chat(said: String) -> String { said }
        function on_timer(who: String, what: String) -> String { who }";
    let wat = r#"(module (memory (export "memory") 2) (global (export "__heap_base") i32 (i32.const 4096))
        (func (export "receive_chat") (param i32) (result i32) (local.get 0))
        (func (export "on_timer") (param i32 i32) (result i32) (local.get 0)))"#;
    let options = GovernanceOptions { client_mode: Mode::Yolo, ..GovernanceOptions::default() };
    let governed = Governed::start_with(|_| {}, options).await;
    let (folder, connector) = (TempDir::new().unwrap(), support::Gateway::new());
    let log: Arc<dyn Log> = Arc::new(governed.host.log.clone());
    let services = Services::start(log.clone(), connector.connector.clone(), ServiceOptions::default(), "1.2.3");
    let services = Arc::new(services.await.unwrap());
    let (wasm, clarity) = (folder.path().join("dice.wasm"), folder.path().join("dice.clarity"));
    std::fs::write(&wasm, wat::parse_str(wat).unwrap()).unwrap();
    std::fs::write(&clarity, source).unwrap();
    let document = json!({
        "apiVersion": "clarity.runtime/v1", "kind": "MCPService",
        "metadata": { "sourceFile": clarity, "module": "dice", "serviceType": "agent", "agent": {
            "agentId": "dice", "name": "Dice", "role": "roller", "objective": "roll", "triggers": ["timer", "api"],
            "timer": { "schedules": [{ "scheduleId": "tick", "scheduleExpr": "every 1 s" }] },
        } },
        "spec": {
            "origin": { "type": "local_wasm", "wasmPath": wasm, "entry": "mcp_main" },
            "enabled": true, "autostart": true, "restartPolicy": { "mode": "never" }, "policyRef": "default",
        },
    });
    let service = services.apply(&document).await.unwrap().id.clone();
    let view = soon("the module is compiled", services.start_service(&service)).await.unwrap();
    assert_eq!(view.life.lifecycle, Lifecycle::Running, "{:?}", view.life.last_error);
    let endpoint = Endpoint::new(services.clone(), governed.governor.clone(), EndpointSettings::new("1.2.3")).unwrap();
    let (runs, calls) = (Arc::new(Runs::new(log.clone(), Some(services.clone()))), AgentCalls::new(endpoint));
    let started = json!({ "kind": "agent.run_started", "run_id": "talk", "service_id": service });
    runs.report(vec![AgentEvent::parse(&started).unwrap()]).await.unwrap();
    let messages = RunMessages::new(services.clone(), runs.clone(), calls.clone());
    let answer = messages.send(&"talk".into(), MessageRole::User, "roll!").await.unwrap();
    assert_eq!(answer.as_deref(), Some("roll!"));
    let mut events = log.follow(Filter::stream(StreamId::host()), Start::Now).await.unwrap();
    let timers = Timers::start(services.clone(), runs.clone(), calls);
    let fired = async {
        loop {
            let batch = events.next().await.unwrap();
            let ended = batch.iter().filter_map(|entry| AgentEvent::from_body(&entry.event().unwrap().body));
            if let Some(ended) =
                ended.into_iter().find(|event| ["run_completed", "run_failed"].contains(&event.action()))
            {
                return ended;
            }
        }
    };
    let ended = soon("the timer's run ends", fired).await;
    assert_eq!(ended.action(), "run_completed", "{ended:?}");
    timers.close().await;
}
