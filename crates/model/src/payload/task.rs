//! A task starts and ends in one of three ways.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::TranscriptMessage;
use crate::failure::TaskError;
use crate::ids::PromptId;
use crate::mode::{Mode, PermissionMode};
use crate::runtime::InteractionMode;

payload! {
    /// `task.started`: the new messages only, never the compiled history.
    TaskStartedPayload {
        /// What the user said.
        messages: Vec<TranscriptMessage>,
        /// The mode in the seed's words.
        permission_mode: PermissionMode,
        /// The mode in ours.
        mode: Mode,
        /// Whether somebody may be asked.
        interaction_mode: InteractionMode,
        /// The queued prompt that this task serves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt_id: Option<PromptId>,
    }
}

payload! {
    /// `task.completed`: the agent is done.
    TaskCompletedPayload {
        /// Why it ended, in the runtime's word (`end_turn`, `max_tokens`, …).
        reason: String,
    }
}

payload! {
    /// `task.failed`: the agent is not done and will not be.
    TaskFailedPayload {
        /// What happened, for people.
        reason: String,
        /// What happened, for programs.
        error: TaskError,
    }
}

payload! {
    /// `task.stopped`: somebody stopped the agent.
    TaskStoppedPayload {
        /// Why.
        reason: String,
    }
}
