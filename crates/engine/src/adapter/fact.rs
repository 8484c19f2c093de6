//! What an adapter reports about a running task.

use roost_model::failure::{FailureCode, TaskError};
use roost_model::ids::{QuestionId, ToolCallId};
use roost_model::payload::{
    ModelOutputCompletedPayload, ModelOutputDeltaPayload, OutputStream, PlanUpdatedPayload, QuestionAskedPayload,
    RuntimeNoticePayload, RuntimeRequestCompletedPayload, RuntimeRequestStartedPayload, SessionUpdatedPayload,
    ToolCallRequestedPayload, UsageReportedPayload,
};
use roost_model::tool::{ToolExecutedBy, ToolExecutionEnv, ToolSandboxSummary};
use serde_json::Value;

/// An event in the making: what the runtime did. The engine decides which events it becomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// What the runtime did, in Roost's terms.
    pub fact: Fact,
    /// The runtime's own message, where the fact loses something of it; kept in the event.
    pub raw: Option<Value>,
}

impl From<Fact> for Draft {
    fn from(fact: Fact) -> Self {
        Self { fact, raw: None }
    }
}

/// Something that a runtime did within a task.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// It sent a request to its model.
    RequestStarted(RuntimeRequestStartedPayload),
    /// Its model finished a request.
    RequestCompleted(RuntimeRequestCompletedPayload),
    /// The next piece of the model's answer, to be shown while it grows.
    Delta(ModelOutputDeltaPayload),
    /// A whole answer of the model; it repeats what the deltas before it said.
    Output(ModelOutputCompletedPayload),
    /// It announces a tool call, or reports that a call which it announced before has changed. The engine counts the
    /// attempts and makes the hash; a higher attempt here only says that this is a new one.
    ToolRequested(ToolCallRequestedPayload),
    /// It waits for a decision about exactly this call, announced before or not. Each question needs its own decision:
    /// an earlier one does not count.
    ToolAsks(ToolCallRequestedPayload),
    /// It waits for the host to run exactly this tool, if the policy allows it.
    HostToolAsks(ToolCallRequestedPayload),
    /// It began to run a tool.
    ToolStarted(ToolCallId),
    /// The next piece of the output of a tool that runs.
    ToolOutputDelta {
        /// The id under which the call was announced.
        call: ToolCallId,
        /// Standard output or standard error.
        stream: OutputStream,
        /// Text, not lines: it may end anywhere.
        delta: String,
    },
    /// The complete output of a tool.
    ToolOutput {
        /// The id under which the call was announced.
        call: ToolCallId,
        /// `None` if the runtime does not tell it apart.
        stdout: Option<String>,
        /// `None` if the runtime does not tell it apart.
        stderr: Option<String>,
    },
    /// A tool call ended, with success or not.
    ToolCompleted(ToolOutcome),
    /// The runtime's own rules, hooks or checks refused a call, so it never ran.
    ToolRefused {
        /// The id under which the call was announced.
        call: ToolCallId,
        /// What the agent was told.
        reason: String,
    },
    /// It asks the user a question and waits for [`TaskControl::send_answer`](super::TaskControl::send_answer).
    Question(QuestionAskedPayload),
    /// It no longer waits for the answer to its question.
    QuestionWithdrawn(QuestionId),
    /// Tokens and cost, as far as the runtime reports them.
    Usage(UsageReportedPayload),
    /// The agent's plan, complete each time it changes.
    Plan(PlanUpdatedPayload),
    /// A message for people, or one that the adapter does not understand.
    Notice(RuntimeNoticePayload),
    /// Its title, model or native id changed. Other fields are ignored: they are the engine's.
    Session(SessionUpdatedPayload),
    /// The task is over; nothing may follow.
    Ended(TaskEnd),
}

/// How a tool call ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    /// The id under which the call was announced.
    pub call: ToolCallId,
    /// The runtime or the host.
    pub executed_by: ToolExecutedBy,
    /// Inside the runtime or in the host's process.
    pub execution_env: ToolExecutionEnv,
    /// The sandbox that it ran in; `None` if there was none or the runtime does not tell.
    pub sandbox: Option<ToolSandboxSummary>,
    /// What the agent reads as the tool's result; `None` if the runtime does not show it.
    pub result: Option<Value>,
    /// The tool failed or was refused; `result` then says why.
    pub is_error: bool,
}

impl ToolOutcome {
    /// The outcome of a tool that the runtime ran itself.
    pub fn of_runtime(call: ToolCallId, result: Option<Value>, is_error: bool) -> Self {
        Self {
            call,
            executed_by: ToolExecutedBy::Runtime,
            execution_env: ToolExecutionEnv::RuntimeInternal,
            sandbox: None,
            result,
            is_error,
        }
    }

    /// The outcome of a tool that the host ran.
    pub fn of_host(call: ToolCallId, result: Option<Value>, is_error: bool) -> Self {
        let (executed_by, execution_env) = (ToolExecutedBy::Codesdk, ToolExecutionEnv::CodesdkHost);
        Self { executed_by, execution_env, ..Self::of_runtime(call, result, is_error) }
    }
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskEnd {
    /// The agent finished by itself. The text is the runtime's reason, such as `end_turn`.
    Completed(String),
    /// Somebody stopped it. The text says why.
    Stopped(String),
    /// It could not be finished.
    Failed(Box<TaskError>),
}

impl TaskEnd {
    /// A failure with this code and a message for people.
    pub fn failed(code: FailureCode, message: impl Into<String>) -> Self {
        Self::Failed(Box::new(TaskError::new(code, message)))
    }
}
