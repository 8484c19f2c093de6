//! A running task of the fake runtime, both sides.

use async_trait::async_trait;
use roost_engine::adapter::{
    AdapterError, Answer, DRAFT_QUEUE, Draft, Fact, RuntimeTask, TaskControl, TaskEnd, TaskInput,
};
use roost_model::content::TranscriptMessage;
use roost_model::ids::{QuestionId, ToolCallId};
use roost_model::tool::ToolCallIdentity;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::STEPS;
use crate::{facts, soon};

/// What the engine told the runtime.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// The result of a tool that the host ran.
    Result(ToolCallId, Value),
    /// A tool may run.
    Approved(ToolCallId),
    /// A tool may run with another input.
    Edited(ToolCallId, Value),
    /// A tool may not run, and why.
    Denied(ToolCallId, String),
    /// What came of a question.
    Answer(QuestionId, Answer),
    /// More from the user.
    Steer(TranscriptMessage),
    /// It should stop.
    Stop,
}

/// The test's side of a running task. Dropping it is an adapter that ends without a result.
pub struct FakeTask {
    input: Option<TaskInput>,
    drafts: mpsc::Sender<Vec<Draft>>,
    told: mpsc::Receiver<Told>,
    reads: watch::Sender<Reads>,
}

/// What the runtime does with what it is told.
#[derive(Clone, Copy, PartialEq)]
enum Reads {
    Yes,
    No,
    Panics,
}

struct Control {
    told: mpsc::Sender<Told>,
    reads: watch::Receiver<Reads>,
}

/// Both sides of a task.
pub(super) fn pair(input: Option<TaskInput>) -> (FakeTask, RuntimeTask) {
    let (drafts, receiver) = mpsc::channel(DRAFT_QUEUE);
    let (tell, told) = mpsc::channel(STEPS);
    let (reads, reading) = watch::channel(Reads::Yes);
    let control = Box::new(Control { told: tell, reads: reading });
    (FakeTask { input, drafts, told, reads }, RuntimeTask { drafts: receiver, control })
}

impl FakeTask {
    /// What the task was started with.
    pub fn input(&self) -> &TaskInput {
        self.input.as_ref().expect("a task that was taken over has no input")
    }

    /// The text of what was said now.
    pub fn prompt(&self) -> String {
        self.input().messages.iter().map(TranscriptMessage::text).collect()
    }

    /// Says one thing.
    pub async fn say(&self, fact: Fact) {
        self.say_all([fact]).await;
    }

    /// Says several things in one batch. A task that nobody listens to says them to nobody.
    pub async fn say_all(&self, facts: impl IntoIterator<Item = Fact>) {
        let batch = facts.into_iter().map(Draft::from).collect();
        let _ = soon("the engine takes what the runtime says", self.drafts.send(batch)).await;
    }

    /// Waits until the engine has taken everything that was said, or listens no more.
    pub async fn heard(&self) {
        let _ = soon("the engine hears the runtime", self.drafts.reserve_many(DRAFT_QUEUE)).await;
    }

    /// Ends the task like this.
    pub async fn end(&self, end: TaskEnd) {
        self.say(Fact::Ended(end)).await;
    }

    /// Ends the task well.
    pub async fn finish(&self) {
        self.say(facts::end_turn()).await;
    }

    /// The next thing that the engine tells.
    pub async fn told(&mut self) -> Told {
        soon("the engine tells the runtime something", self.told.recv()).await.expect("the engine has the task")
    }

    /// Everything that the engine has told and nobody has looked at.
    pub fn told_so_far(&mut self) -> Vec<Told> {
        std::iter::from_fn(|| self.told.try_recv().ok()).collect()
    }

    /// Everything that the engine told until it let go of the task.
    pub async fn told_until_gone(&mut self) -> Vec<Told> {
        let mut all = Vec::new();
        while let Some(told) = soon("the engine lets go of the task", self.told.recv()).await {
            all.push(told);
        }
        all
    }

    /// From now on nothing that the engine tells is taken.
    pub fn stop_reading(&self) {
        self.reads.send_replace(Reads::No);
    }

    /// From now on it takes again what the engine tells.
    pub fn read_again(&self) {
        self.reads.send_replace(Reads::Yes);
    }

    /// From now on the adapter panics when the engine tells it something.
    pub fn panic_when_told(&self) {
        self.reads.send_replace(Reads::Panics);
    }
}

impl Control {
    async fn tell(&self, told: Told) -> Result<(), AdapterError> {
        let mut reads = self.reads.clone();
        let gone = || AdapterError::Exited { message: "the fake is gone".into(), stderr_tail: None };
        let reads = *reads.wait_for(|reads| *reads != Reads::No).await.map_err(|_| gone())?;
        assert!(reads == Reads::Yes, "the test wants this adapter to panic");
        self.told.send(told).await.map_err(|_| gone())
    }
}

#[async_trait]
impl TaskControl for Control {
    async fn send_tool_result(&self, call: &ToolCallIdentity, result: Value) -> Result<(), AdapterError> {
        self.tell(Told::Result(call.tool_call_id.clone(), result)).await
    }

    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError> {
        self.tell(Told::Approved(call.tool_call_id.clone())).await
    }

    fn takes_edited_input(&self) -> bool {
        true
    }

    async fn send_tool_edited(&self, call: &ToolCallIdentity, input: Value) -> Result<(), AdapterError> {
        self.tell(Told::Edited(call.tool_call_id.clone(), input)).await
    }

    async fn send_tool_denied(&self, call: &ToolCallIdentity, reason: &str) -> Result<(), AdapterError> {
        self.tell(Told::Denied(call.tool_call_id.clone(), reason.into())).await
    }

    async fn send_answer(&self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        self.tell(Told::Answer(question.clone(), answer)).await
    }

    async fn steer(&self, message: TranscriptMessage) -> Result<(), AdapterError> {
        self.tell(Told::Steer(message)).await
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        self.tell(Told::Stop).await
    }
}
