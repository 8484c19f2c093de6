//! An open fake runtime, both sides.

use async_trait::async_trait;
use roost_engine::adapter::{AdapterError, RuntimeSession, RuntimeTask, SentInput, StartedTask, TaskInput};
use roost_model::ids::RuntimeSessionId;
use roost_model::sources::ImplicitSources;
use tokio::sync::{mpsc, oneshot, watch};

use super::STEPS;
use super::task::{self, FakeTask};
use crate::soon;

/// A task that the engine waits for.
struct Starting {
    input: TaskInput,
    answer: oneshot::Sender<Result<RuntimeTask, AdapterError>>,
}

/// The test's side of an open runtime. Dropping it leaves the runtime alive and silent.
pub struct FakeSession {
    tasks: mpsc::Receiver<Starting>,
    exited: watch::Sender<bool>,
    closing: watch::Receiver<bool>,
    closed: watch::Receiver<bool>,
    may_close: watch::Sender<bool>,
}

/// Keeps a runtime from closing until it is dropped.
#[must_use]
pub struct SlowToClose(watch::Sender<bool>);

impl Drop for SlowToClose {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

/// The engine's side of an open runtime.
pub(super) struct EngineSession {
    native: RuntimeSessionId,
    tasks: mpsc::Sender<Starting>,
    exited: watch::Receiver<bool>,
    closing: watch::Sender<bool>,
    closed: watch::Sender<bool>,
    may_close: watch::Receiver<bool>,
}

/// Both sides of a runtime that is open.
pub(super) fn pair(native: RuntimeSessionId) -> (EngineSession, FakeSession) {
    let (sender, tasks) = mpsc::channel(STEPS);
    let (exit, exited) = watch::channel(false);
    let (begin_close, closing) = watch::channel(false);
    let (close, closed) = watch::channel(false);
    let (allow_close, may_close) = watch::channel(true);
    let engine = EngineSession { native, tasks: sender, exited, closing: begin_close, closed: close, may_close };
    (engine, FakeSession { tasks, exited: exit, closing, closed, may_close: allow_close })
}

impl FakeSession {
    /// The next task, started, and the engine listening to it.
    pub async fn task(&mut self) -> FakeTask {
        let task = soon("the engine starts a task", self.next_task()).await;
        task.expect("the engine has the runtime")
    }

    /// The next task, started, however long it takes to come; `None` when the engine has let go of the runtime.
    pub async fn next_task(&mut self) -> Option<FakeTask> {
        let starting = self.tasks.recv().await?;
        let (task, running) = task::pair(Some(starting.input));
        let _ = starting.answer.send(Ok(running));
        task.say_all([]).await;
        task.heard().await;
        Some(task)
    }

    /// Does not start the next task.
    pub async fn refuse_task(&mut self, error: AdapterError) {
        let _ = self.starting().await.answer.send(Err(error));
    }

    /// Takes the next task and never says what comes of it.
    pub async fn hang_on_task(&mut self) -> TaskInput {
        let Starting { input, answer } = self.starting().await;
        std::mem::forget(answer);
        input
    }

    /// The runtime's process ends by itself.
    pub fn exit(&self) {
        self.exited.send_replace(true);
    }

    /// From now on closing the runtime takes as long as the guard lives.
    pub fn slow_to_close(&self) -> SlowToClose {
        self.may_close.send_replace(false);
        SlowToClose(self.may_close.clone())
    }

    /// Waits until the engine closes the runtime, which may still take a while.
    pub async fn closing(&mut self) {
        let closing = soon("the engine closes a runtime", self.closing.wait_for(|closing| *closing)).await;
        closing.expect("the engine has the runtime");
    }

    /// Waits until the engine has closed or dropped the runtime; true if it was closed.
    pub async fn gone(&mut self) -> bool {
        soon("the engine ends a runtime", async { while self.closed.changed().await.is_ok() {} }).await;
        *self.closed.borrow()
    }

    async fn starting(&mut self) -> Starting {
        soon("the engine starts a task", self.tasks.recv()).await.expect("the engine has the runtime")
    }
}

#[async_trait]
impl RuntimeSession for EngineSession {
    fn native_id(&self) -> Option<RuntimeSessionId> {
        Some(self.native.clone())
    }

    async fn start_task(&mut self, input: TaskInput) -> Result<StartedTask, AdapterError> {
        let sent = SentInput::from_task(&input, ImplicitSources::disabled("a fake reads nothing"));
        let exited = || AdapterError::Exited { message: "the fake exited".into(), stderr_tail: None };
        let (answer, answered) = oneshot::channel();
        self.tasks.send(Starting { input, answer }).await.map_err(|_| exited())?;
        let task = tokio::select! {
            biased;
            answered = answered => answered.map_err(|_| exited())??,
            () = self.exited() => return Err(exited()),
        };
        Ok(StartedTask { input: sent, task })
    }

    async fn exited(&mut self) {
        if self.exited.wait_for(|exited| *exited).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    async fn close(mut self: Box<Self>) {
        self.closing.send_replace(true);
        // A test that is over keeps nobody.
        let _ = self.may_close.wait_for(|may| *may).await;
        self.closed.send_replace(true);
    }
}
