//! Random commands against random runtimes: whatever happens, the log tells a story that holds together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use roost_engine::{Config, Prompt};
use roost_proto::event::EventBody;
use roost_proto::failure::FailureCode;
use roost_proto::ids::SessionId;
use roost_proto::session::SessionStatus;
use testkit::facts::{asks, delta, exited, requested, started};
use testkit::fake::{FakeAdapter, FakeRuntimes, FakeSession, FakeTask, How};
use testkit::{Harness, Home, soon};
use tokio::task::JoinSet;

const SESSIONS: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    Prompt(usize),
    Stop(usize, Confirms),
    Close(usize),
    Agent(usize, Act),
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

/// What an agent does, if it is there.
#[derive(Clone, Copy, Debug)]
enum Act {
    Say,
    UseTool,
    Finish,
    Fail,
    Exit,
    /// The adapter ends without a result.
    Vanish,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let session = || 0..SESSIONS;
    let confirms = prop_oneof![4 => Just(Confirms::Yes), 1 => Just(Confirms::No)];
    let act =
        prop::sample::select(vec![Act::Say, Act::UseTool, Act::Finish, Act::Finish, Act::Fail, Act::Exit, Act::Vanish]);
    let step = prop_oneof![
        8 => session().prop_map(Step::Prompt),
        3 => (session(), confirms).prop_map(|(session, confirms)| Step::Stop(session, confirms)),
        2 => session().prop_map(Step::Close),
        10 => (session(), act).prop_map(|(session, act)| Step::Agent(session, act)),
        6 => Just(Step::Breathe),
        1 => Just(Step::CrashAndRestart),
    ];
    prop::collection::vec(step, 1..40)
}

/// How many runtimes may live, and for how long without a task.
fn limits() -> impl Strategy<Value = (usize, Duration)> {
    let idle = prop::sample::select(vec![Duration::from_millis(1), Duration::from_secs(60)]);
    (prop::sample::select(vec![1, 2, 32]), idle)
}

/// The agents that work, by session; opened and started by themselves.
#[derive(Clone, Default)]
struct Agents(Arc<Mutex<HashMap<SessionId, FakeTask>>>);

impl Agents {
    async fn open_all(self, mut runtimes: FakeRuntimes) {
        let mut sessions = JoinSet::new();
        while let Some(opening) = runtimes.next().await {
            let (How::Create(open) | How::Resume(open, _)) = &opening.how else { continue };
            let id = open.session_id.clone();
            sessions.spawn(self.clone().start_all(id, opening.accept()));
        }
    }

    async fn start_all(self, id: SessionId, mut session: FakeSession) {
        while let Some(task) = session.next_task().await {
            self.0.lock().unwrap().insert(id.clone(), task);
        }
    }

    fn take(&self, id: &SessionId) -> Option<FakeTask> {
        self.0.lock().unwrap().remove(id)
    }

    async fn act(&self, id: &SessionId, act: Act) {
        let Some(agent) = self.take(id) else { return };
        match act {
            Act::Say => agent.say(delta("hi")).await,
            Act::UseTool => agent.say_all([requested("a"), asks("a"), started("a")]).await,
            Act::Finish => return agent.finish().await,
            Act::Fail => {
                let end = roost_engine::adapter::TaskEnd::failed(FailureCode::RuntimeError, "no");
                return agent.end(end).await;
            }
            Act::Exit => return agent.say(exited()).await,
            Act::Vanish => return,
        }
        // A task that was started meanwhile is the newer one.
        self.0.lock().unwrap().entry(id.clone()).or_insert(agent);
    }
}

/// One run: the engine, the agents, and what was said to whom.
struct Run {
    host: Harness,
    agents: Agents,
    sessions: Vec<SessionId>,
    said: BTreeMap<SessionId, Vec<u32>>,
    count: u32,
}

impl Run {
    async fn step(mut self, step: &Step, configure: impl FnOnce(&mut Config)) -> Self {
        match step {
            Step::Prompt(session) => {
                let id = &self.sessions[*session];
                self.count += 1;
                let text = self.count.to_string();
                soon("a prompt", self.host.engine.prompt(id.as_str(), Prompt::text(text))).await.unwrap();
                self.said.entry(id.clone()).or_default().push(self.count);
            }
            Step::Stop(session, confirms) => {
                let id = &self.sessions[*session];
                let stop = self.host.engine.stop(id.as_str(), "enough");
                let confirm = async {
                    if let (Confirms::Yes, Some(agent)) = (confirms, self.agents.take(id)) {
                        agent.end(roost_engine::adapter::TaskEnd::Stopped("cancelled".into())).await;
                    }
                };
                // There may be nothing to stop.
                let _ = soon("a stop", async { tokio::join!(stop, confirm) }).await;
            }
            Step::Close(session) => {
                soon("a close", self.host.engine.close(self.sessions[*session].as_str(), "enough")).await.unwrap();
            }
            Step::Agent(session, act) => self.agents.act(&self.sessions[*session], *act).await,
            Step::Breathe => {
                for session in &self.sessions {
                    self.host.record(session).await;
                }
            }
            Step::CrashAndRestart => {
                let home = self.host.crash().await;
                self.agents.0.lock().unwrap().clear();
                self.host = home.start_with(configure).await;
            }
        }
        self
    }

    /// Everything that must be true of a session once the engine is down.
    async fn check(&self, id: &SessionId) -> Result<(), TestCaseError> {
        let events = self.host.events(id).await;
        let (mut running, mut ran, mut over) = (None, Vec::new(), BTreeSet::new());
        for (event, seq) in events.iter().zip(1..) {
            prop_assert_eq!(event.seq, seq);
            prop_assert_eq!(&event.trace.session_id, id);
            let Some(task) = &event.trace.task_id else { continue };
            if let EventBody::TaskStarted(start) = &event.body {
                prop_assert_eq!(running.replace(task.clone()), None, "two tasks at once");
                ran.push(start.messages[0].text().parse::<u32>().unwrap());
            }
            prop_assert_eq!(running.as_ref(), Some(task), "not the running task: {:?}", event);
            if event.body.ends_task() {
                prop_assert!(over.insert(task.clone()), "ended twice");
                running = None;
            }
        }
        prop_assert_eq!(running, None);
        let record = self.host.record(id).await;
        prop_assert_eq!(record.open_task, None);
        prop_assert!(matches!(record.status, SessionStatus::Created | SessionStatus::Closed));
        prop_assert!(ran.is_sorted(), "the queue's order is not kept: {:?}", ran);
        prop_assert!(record.queue.iter().all(|prompt| prompt.held));
        let waiting = record.queue.iter().map(|prompt| prompt.message.text().parse::<u32>().unwrap());
        let mut accounted: Vec<_> = ran.into_iter().chain(waiting).collect();
        accounted.sort_unstable();
        prop_assert_eq!(accounted, self.said.get(id).cloned().unwrap_or_default(), "a prompt was lost or ran twice");
        Ok(())
    }
}

async fn run(steps: Vec<Step>, (max_sessions, idle_timeout): (usize, Duration)) -> Result<(), TestCaseError> {
    let configure = |config: &mut Config| {
        config.max_sessions = max_sessions;
        config.idle_timeout = idle_timeout;
    };
    let mut home = Home::new();
    let runtimes = std::mem::replace(&mut home.runtimes, FakeAdapter::new().1);
    let agents = Agents::default();
    let opening = tokio::spawn(agents.clone().open_all(runtimes));
    let host = home.start_with(configure).await;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(host.session().await);
    }
    let mut run = Run { host, agents, sessions, said: BTreeMap::new(), count: 0 };
    for step in &steps {
        run = run.step(step, configure).await;
    }
    soon("the engine stops", run.host.engine.shutdown("the test is over")).await;
    for session in &run.sessions {
        run.check(session).await?;
    }
    opening.abort();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_story_holds_together(steps in steps(), limits in limits()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(run(steps, limits))?;
    }
}
