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

/// A message from the engine to the runtime, as [`TaskControl`] was called.
#[derive(Clone, Debug, PartialEq)]
pub enum EngineMessage {
    /// The result of a tool that the host ran.
    Result(ToolCallId, Value),
    /// A tool call is approved as it is.
    Approved(ToolCallId),
    /// A tool call is approved with another input.
    Edited(ToolCallId, Value),
    /// A tool call is denied, for this reason.
    Denied(ToolCallId, String),
    /// A question is answered or declined.
    Answer(QuestionId, Answer),
    /// A message of the user's into the running task.
    Steer(TranscriptMessage),
    /// Another prompt waits for the end of the task.
    PromptWaiting,
    /// The task is asked to stop; it may still report anything.
    Stop,
}

/// The test's side of a running task. Dropping it is an adapter that ends without a result.
pub struct FakeTask {
    input: Option<TaskInput>,
    drafts: mpsc::Sender<Vec<Draft>>,
    messages: mpsc::Receiver<EngineMessage>,
    reads: watch::Sender<Reads>,
}

/// What the fake does with messages of the engine: takes them, leaves them waiting, or panics.
#[derive(Clone, Copy, PartialEq)]
enum Reads {
    Yes,
    No,
    Panics,
}

struct Control {
    messages: mpsc::Sender<EngineMessage>,
    reads: watch::Receiver<Reads>,
}

/// Both sides of a task.
pub(super) fn pair(input: Option<TaskInput>) -> (FakeTask, RuntimeTask) {
    let (drafts, receiver) = mpsc::channel(DRAFT_QUEUE);
    let (sender, messages) = mpsc::channel(STEPS);
    let (reads, reading) = watch::channel(Reads::Yes);
    let control = Box::new(Control { messages: sender, reads: reading });
    (FakeTask { input, drafts, messages, reads }, RuntimeTask { drafts: receiver, control })
}

impl FakeTask {
    /// The input that the task was started with; panics for a task that was taken over.
    pub fn input(&self) -> &TaskInput {
        self.input.as_ref().expect("a task that was taken over has no input")
    }

    /// The text of the prompt, without the history.
    pub fn prompt(&self) -> String {
        self.input().messages.iter().map(TranscriptMessage::text).collect()
    }

    /// Reports one fact to the engine.
    pub async fn say(&self, fact: Fact) {
        self.say_all([fact]).await;
    }

    /// Reports several facts in one batch. If the engine has dropped the task, they are lost.
    pub async fn say_all(&self, facts: impl IntoIterator<Item = Fact>) {
        let batch = facts.into_iter().map(Draft::from).collect();
        let _ = soon("the engine takes what the runtime says", self.drafts.send(batch)).await;
    }

    /// Waits until the engine has taken every fact that was reported, or has dropped the task.
    pub async fn heard(&self) {
        let _ = soon("the engine hears the runtime", self.drafts.reserve_many(DRAFT_QUEUE)).await;
    }

    /// Reports this end of the task.
    pub async fn end(&self, end: TaskEnd) {
        self.say(Fact::Ended(end)).await;
    }

    /// Reports that the task is completed.
    pub async fn finish(&self) {
        self.say(facts::end_turn()).await;
    }

    /// Waits for the next message of the engine.
    pub async fn next_message(&mut self) -> EngineMessage {
        soon("the engine tells the runtime something", self.messages.recv()).await.expect("the engine has the task")
    }

    /// The messages of the engine that the test has not taken yet.
    pub fn messages_so_far(&mut self) -> Vec<EngineMessage> {
        std::iter::from_fn(|| self.messages.try_recv().ok()).collect()
    }

    /// All messages of the engine until it drops the task.
    pub async fn messages_until_gone(&mut self) -> Vec<EngineMessage> {
        let mut all = Vec::new();
        while let Some(message) = soon("the engine lets go of the task", self.messages.recv()).await {
            all.push(message);
        }
        all
    }

    /// From now on messages of the engine are left waiting.
    pub fn stop_reading(&self) {
        self.reads.send_replace(Reads::No);
    }

    /// From now on messages of the engine are taken again, also those that waited.
    pub fn read_again(&self) {
        self.reads.send_replace(Reads::Yes);
    }

    /// From now on the adapter panics on every message of the engine.
    pub fn panic_when_told(&self) {
        self.reads.send_replace(Reads::Panics);
    }
}

impl Control {
    async fn send(&self, message: EngineMessage) -> Result<(), AdapterError> {
        let mut reads = self.reads.clone();
        let gone = || AdapterError::Exited { message: "the fake is gone".into(), stderr_tail: None };
        let reads = *reads.wait_for(|reads| *reads != Reads::No).await.map_err(|_| gone())?;
        assert!(reads == Reads::Yes, "the test wants this adapter to panic");
        self.messages.send(message).await.map_err(|_| gone())
    }
}

#[async_trait]
impl TaskControl for Control {
    async fn send_tool_result(&self, call: &ToolCallIdentity, result: Value) -> Result<(), AdapterError> {
        self.send(EngineMessage::Result(call.tool_call_id.clone(), result)).await
    }

    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError> {
        self.send(EngineMessage::Approved(call.tool_call_id.clone())).await
    }

    fn takes_edited_input(&self) -> bool {
        true
    }

    async fn send_tool_edited(&self, call: &ToolCallIdentity, input: Value) -> Result<(), AdapterError> {
        self.send(EngineMessage::Edited(call.tool_call_id.clone(), input)).await
    }

    async fn send_tool_denied(&self, call: &ToolCallIdentity, reason: &str) -> Result<(), AdapterError> {
        self.send(EngineMessage::Denied(call.tool_call_id.clone(), reason.into())).await
    }

    async fn send_answer(&self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        self.send(EngineMessage::Answer(question.clone(), answer)).await
    }

    async fn steer(&self, message: TranscriptMessage) -> Result<(), AdapterError> {
        self.send(EngineMessage::Steer(message)).await
    }

    async fn prompt_waiting(&self) -> Result<(), AdapterError> {
        self.send(EngineMessage::PromptWaiting).await
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        self.send(EngineMessage::Stop).await
    }
}
