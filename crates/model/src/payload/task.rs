//! A task starts, may be steered, and ends in one of three ways.

use serde::{Deserialize, Serialize};

use crate::approval::Answerer;
use crate::content::TranscriptMessage;
use crate::failure::TaskError;
use crate::ids::PromptId;
use crate::mode::{Mode, PermissionMode};
use crate::runtime::InteractionMode;

payload! {
    /// `task.started`: the new messages only, never the compiled history.
    TaskStartedPayload {
        /// The prompt's messages; the history is in earlier events.
        messages: Vec<TranscriptMessage>,
        /// The mode in the seed's three words.
        permission_mode: PermissionMode,
        /// The mode in Roost's five words; counts where the two differ.
        mode: Mode,
        /// Whether approvals and questions may wait for a person, or are denied at once.
        interaction_mode: InteractionMode,
        /// The queued prompt that became this task; absent if it did not wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt_id: Option<PromptId>,
    }
}

payload! {
    /// `task.steered`: the user said something to a task that runs, and its runtime took it.
    TaskSteeredPayload {
        /// What the user said.
        message: TranscriptMessage,
    }
}

payload! {
    /// `task.completed`: the agent finished its turn.
    TaskCompletedPayload {
        /// Why it ended, in the runtime's word (`end_turn`, `max_tokens`, …).
        reason: String,
    }
}

payload! {
    /// `task.failed`: the task ended with an error.
    TaskFailedPayload {
        /// What happened, in one sentence for people.
        reason: String,
        /// What happened, for programs.
        error: TaskError,
    }
}

payload! {
    /// `task.stopped`: somebody stopped the task before its end.
    TaskStoppedPayload {
        /// The reason given with the stop, for people.
        reason: String,
        /// The client that stopped it; absent if the host or the runtime did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stopped_by: Option<Answerer>,
    }
}
