//! Random histories of sessions, tasks, approvals and questions, with crashes: whatever happens, the log tells a story
//! that holds together, nothing runs without an allow, and no allow is lost.
//!
//! `cargo xtask test --full` plays ten thousand of them.

mod agents;
mod person;
mod story;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use roost_engine::adapter::TaskEnd;
use roost_engine::{Accepted, Approver, Config, Prompt};
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use testkit::fake::FakeAdapter;
use testkit::{Harness, Home, soon};

use agents::{Act, Agents, HostTool};
use person::{Person, PersonAction};

const SESSIONS: usize = 3;
/// Histories in a usual run, and in a full one.
const HISTORIES: u32 = 64;
const FULL_HISTORIES: u32 = 10_000;
/// Histories that are played at once.
const STAGES: u32 = 4;

#[derive(Clone, Debug)]
enum Step {
    Prompt(usize, Approver, Mode),
    Stop(usize, Confirms),
    Close(usize),
    /// The nth of the agents that work does something.
    Agent(usize, Act),
    Person(PersonAction),
    /// Lets everybody else have a turn.
    Breathe,
    CrashAndRestart,
}

/// Whether a runtime that is stopped says so.
#[derive(Clone, Copy, Debug)]
enum Confirms {
    Yes,
    No,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let session = || 0..SESSIONS;
    let confirms = prop_oneof![4 => Just(Confirms::Yes), 1 => Just(Confirms::No)];
    let approver = prop_oneof![4 => Just(Approver::Present), 1 => Just(Approver::Nobody)];
    let mode = prop_oneof![5 => Just(Mode::Ask), 1 => Just(Mode::Yolo)];
    let step = prop_oneof![
        8 => (session(), approver, mode).prop_map(|(session, approver, mode)| Step::Prompt(session, approver, mode)),
        1 => (session(), confirms).prop_map(|(session, confirms)| Step::Stop(session, confirms)),
        1 => session().prop_map(Step::Close),
        24 => (session(), agents::acts()).prop_map(|(nth, act)| Step::Agent(nth, act)),
        12 => person::person_action().prop_map(Step::Person),
        4 => Just(Step::Breathe),
        1 => Just(Step::CrashAndRestart),
    ];
    prop::collection::vec(step, 1..60)
}

/// AnswerKind many runtimes may live, how long without a task, and how long somebody may take to answer.
#[derive(Clone, Copy, Debug)]
struct Limits {
    sessions: usize,
    idle: Duration,
    approval: Duration,
}

fn limits() -> impl Strategy<Value = Limits> {
    let short_or_long = || prop_oneof![1 => Just(Duration::from_millis(1)), 4 => Just(Duration::from_secs(60))];
    let sessions = prop_oneof![1 => Just(1), 1 => Just(2), 4 => Just(32)];
    (sessions, short_or_long(), short_or_long()).prop_map(|(sessions, idle, approval)| Limits {
        sessions,
        idle,
        approval,
    })
}

/// One run: the engine, the agents, a person, and what was said to whom.
struct Run {
    host: Harness,
    agents: Agents,
    person: Person,
    tools: Arc<HostTool>,
    sessions: Vec<SessionId>,
    said: BTreeMap<SessionId, Vec<u32>>,
    count: u32,
}

impl Run {
    async fn step(mut self, step: &Step, limits: Limits) -> Self {
        match step {
            Step::Prompt(session, approver, mode) => {
                let id = &self.sessions[*session];
                self.count += 1;
                let prompt = Prompt { mode: Some(*mode), approver: *approver, ..Prompt::text(self.count.to_string()) };
                let accepted = soon("a prompt", self.host.engine.prompt(id.as_str(), prompt)).await.unwrap();
                self.said.entry(id.clone()).or_default().push(self.count);
                if matches!(accepted, Accepted::Started(_)) {
                    self.agents.arrive(id).await;
                }
            }
            Step::Stop(session, confirms) => {
                let id = &self.sessions[*session];
                let stop = self.host.engine.stop(id.as_str(), "enough");
                let confirm = async {
                    if let (Confirms::Yes, Some(agent)) = (confirms, self.agents.take(id)) {
                        agent.end(TaskEnd::Stopped("cancelled".into())).await;
                    }
                };
                // There may be nothing to stop.
                let _ = soon("a stop", async { tokio::join!(stop, confirm) }).await;
            }
            Step::Close(session) => {
                soon("a close", self.host.engine.close(self.sessions[*session].as_str(), "enough")).await.unwrap();
            }
            Step::Agent(nth, act) => self.agents.act(*nth, *act).await,
            Step::Person(says) => self.person.say(&self.host, &self.sessions, *says).await,
            Step::Breathe => {
                for session in &self.sessions {
                    self.host.record(session).await;
                }
            }
            Step::CrashAndRestart => {
                let home = self.host.crash().await;
                self.agents.forget();
                sound(&home);
                let tools = self.tools.clone();
                self.host = home.start_with(|config| configure(config, limits, tools)).await;
            }
        }
        self
    }
}

/// What derives from events is what the events say.
fn sound(home: &Home) {
    let report = roost_log::check(home.path()).unwrap();
    assert_eq!(report.problems, [""; 0]);
}

fn configure(config: &mut Config, limits: Limits, tools: Arc<HostTool>) {
    config.max_sessions = limits.sessions;
    config.idle_timeout = limits.idle;
    config.approval_timeout = Some(limits.approval);
    config.host_tools = Some(tools);
}

async fn run(steps: Vec<Step>, limits: Limits) -> Result<(), TestCaseError> {
    let mut home = Home::new();
    let runtimes = std::mem::replace(&mut home.runtimes, FakeAdapter::new().1);
    let agents = Agents::default();
    let opening = tokio::spawn(agents.clone().open_all(runtimes));
    let tools = Arc::new(HostTool::default());
    let host = home.start_with(|config| configure(config, limits, tools.clone())).await;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(host.session().await);
    }
    let (person, said) = (Person::default(), BTreeMap::new());
    let mut run = Run { host, agents, person, tools, sessions, said, count: 0 };
    for step in &steps {
        run = run.step(step, limits).await;
    }
    soon("the engine stops", run.host.engine.shutdown("the test is over")).await;
    opening.abort();
    run.agents.forget();
    let checked = story::check(&run).await;
    sound(&run.host.crash().await);
    checked
}

#[test]
fn the_story_holds_together() {
    let histories = if std::env::var_os("ROOST_FULL").is_some() { FULL_HISTORIES } else { HISTORIES };
    let play = || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let cases = histories.div_ceil(STAGES);
        let config = ProptestConfig { cases, max_shrink_iters: 200, source_file: Some(file!()), ..Default::default() };
        TestRunner::new(config).run(&(steps(), limits()), |(steps, limits)| runtime.block_on(run(steps, limits)))
    };
    // Histories mostly wait for disks and clocks, so several are played at once.
    let failures: Vec<_> = std::thread::scope(|scope| {
        let stages: Vec<_> = (0..STAGES).map(|_| scope.spawn(play)).collect();
        stages.into_iter().filter_map(|stage| stage.join().unwrap().err()).collect()
    });
    assert!(failures.is_empty(), "{}", failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"));
}
