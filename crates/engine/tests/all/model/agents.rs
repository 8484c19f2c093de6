//! The agents of a history: they ask, wait for leave or not, and sometimes cheat.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use proptest::prelude::*;
use roost_engine::HostTools;
use roost_engine::adapter::TaskEnd;
use roost_model::failure::FailureCode;
use roost_model::ids::SessionId;
use roost_model::tool::{ToolManifest, ToolManifestEntry};
use serde_json::Value;
use testkit::facts::*;
use testkit::fake::{EngineMessage, FakeRuntimes, FakeSession, FakeTask, How};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// How long an agent is waited for.
const ARRIVAL: Duration = Duration::from_millis(20);

/// What an agent does, if it is there. Calls have a number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Say,
    /// Asks about a call, for the first time or once more.
    Ask(u8),
    /// Asks about another attempt at a call.
    AskAgain(u8),
    /// Wants the host to run a call.
    AskHost(u8),
    Question(u8),
    /// Runs every call that it was allowed.
    RunAllowed,
    RunUnasked(u8),
    /// Runs a call, allowed or not.
    Cheat(u8),
    /// Gives up a call.
    Withdraw(u8),
    Finish,
    Fail,
    Exit,
    /// The adapter ends without a result.
    Vanish,
}

pub(super) fn acts() -> impl Strategy<Value = Act> {
    let call = || 0..3_u8;
    prop_oneof![
        1 => Just(Act::Say),
        6 => call().prop_map(Act::Ask),
        1 => call().prop_map(Act::AskAgain),
        2 => call().prop_map(Act::AskHost),
        2 => call().prop_map(Act::Question),
        5 => Just(Act::RunAllowed),
        1 => call().prop_map(Act::RunUnasked),
        1 => call().prop_map(Act::Cheat),
        1 => call().prop_map(Act::Withdraw),
        3 => Just(Act::Finish),
        1 => Just(Act::Fail),
        1 => Just(Act::Exit),
        1 => Just(Act::Vanish),
    ]
}

/// A tool of the host's that writes down what it ran.
#[derive(Default)]
pub(super) struct HostTool(Mutex<Vec<String>>);

impl HostTool {
    pub(super) fn ran(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}

#[async_trait]
impl HostTools for HostTool {
    fn manifest(&self) -> ToolManifest {
        let (name, description, input_schema, schema_hash) = ("lookup".into(), None, None, None);
        ToolManifest { tools: vec![ToolManifestEntry { name, description, input_schema, schema_hash }] }
    }

    async fn call(&self, _: &str, input: Value) -> Result<Value, String> {
        self.0.lock().push(input["path"].as_str().unwrap().to_owned());
        Ok("found".into())
    }
}

/// The agents that work, by session; opened and started by themselves.
#[derive(Clone, Default)]
pub(super) struct Agents {
    working: Arc<Mutex<BTreeMap<SessionId, Agent>>>,
    arrived: Arc<Notify>,
    /// Everything that the engine ever told any of them.
    received: Arc<Mutex<Vec<EngineMessage>>>,
}

/// An agent at its task.
pub(super) struct Agent {
    task: FakeTask,
    allowed: Vec<String>,
    received: Arc<Mutex<Vec<EngineMessage>>>,
}

impl Agent {
    /// Takes in what it was told.
    fn listen(&mut self) {
        let told = self.task.messages_so_far();
        let allowed = told.iter().filter_map(|told| match told {
            EngineMessage::Approved(call) => Some(call.to_string()),
            _ => None,
        });
        self.allowed.extend(allowed);
        self.received.lock().extend(told);
    }

    pub(super) async fn end(&self, end: TaskEnd) {
        self.task.end(end).await;
    }

    /// Calls are named after their task: an id stands for one call in the whole history.
    fn call(&self, kind: &str, number: u8) -> String {
        format!("{}-{kind}{number}", self.task.input().task_id)
    }

    /// Does something; the agent again, if it still works.
    async fn act(mut self, act: Act) -> Option<Self> {
        self.listen();
        let task = &self.task;
        match act {
            Act::Say => task.say(delta("hi")).await,
            Act::Ask(number) => {
                let call = self.call("a", number);
                task.say_all([requested(&call), asks(&call)]).await;
            }
            Act::AskAgain(number) => {
                let call = self.call("a", number);
                task.say_all([attempt(&call, 2), asks(&call)]).await;
            }
            Act::AskHost(number) => {
                let call = self.call("h", number);
                task.say_all([requested_of("lookup", &call), asks_host("lookup", &call)]).await;
            }
            Act::Question(number) => task.say(question(&self.call("q", number))).await,
            Act::RunAllowed => {
                let calls = std::mem::take(&mut self.allowed);
                task.say_all(calls.iter().flat_map(|call| [started(call), completed(call)])).await;
            }
            Act::RunUnasked(number) => {
                let call = self.call("u", number);
                task.say_all([requested(&call), started(&call), completed(&call)]).await;
            }
            Act::Cheat(number) => task.say(started(&self.call("a", number))).await,
            Act::Withdraw(number) => task.say(failed(&self.call("a", number))).await,
            Act::Finish => {
                task.finish().await;
                return None;
            }
            Act::Fail => {
                task.end(TaskEnd::failed(FailureCode::RuntimeError, "no")).await;
                return None;
            }
            Act::Exit => {
                task.say(exited()).await;
                return None;
            }
            Act::Vanish => return None,
        }
        self.task.heard().await;
        Some(self)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.listen();
    }
}

impl Agents {
    pub(super) async fn open_all(self, mut runtimes: FakeRuntimes) {
        let mut sessions = JoinSet::new();
        while let Some(opening) = runtimes.next().await {
            let (How::Create(open) | How::Resume(open, _)) = &opening.how else { continue };
            let id = open.session_id.clone();
            sessions.spawn(self.clone().start_all(id, opening.accept()));
        }
    }

    async fn start_all(self, id: SessionId, mut session: FakeSession) {
        while let Some(task) = session.next_task().await {
            let agent = Agent { task, allowed: Vec::new(), received: self.received.clone() };
            self.working.lock().insert(id.clone(), agent);
            self.arrived.notify_waiters();
        }
    }

    /// Waits a moment for the agent of a task that has begun; there may be no place for its runtime.
    pub(super) async fn arrive(&self, id: &SessionId) {
        let arrival = async {
            loop {
                let next = self.arrived.notified();
                if self.working.lock().contains_key(id) {
                    return;
                }
                next.await;
            }
        };
        // Without it the history only has less to tell.
        let _ = tokio::time::timeout(ARRIVAL, arrival).await;
    }

    pub(super) fn take(&self, id: &SessionId) -> Option<Agent> {
        self.working.lock().remove(id)
    }

    /// The nth agent does something, if there is one.
    pub(super) async fn act(&self, nth: usize, act: Act) {
        let Some((id, agent)) = self.take_nth(nth) else { return };
        if let Some(agent) = agent.act(act).await {
            // A task that was started meanwhile is the newer one.
            self.working.lock().entry(id).or_insert(agent);
        }
    }

    fn take_nth(&self, nth: usize) -> Option<(SessionId, Agent)> {
        let mut working = self.working.lock();
        let at = nth.checked_rem(working.len())?;
        let id = working.keys().nth(at)?.clone();
        working.remove_entry(&id)
    }

    /// Nobody works any more.
    pub(super) fn forget(&self) {
        self.working.lock().clear();
    }

    pub(super) fn received_messages(&self) -> Vec<EngineMessage> {
        self.received.lock().clone()
    }
}
