//! Steering sessions: start, send, stop, answer, look.

use std::collections::BTreeMap;

use roost_model::mode::AnyMode;
use roost_model::runtime::IsolationLevel;
use roost_model::secret::Secret;
use roost_model::session::{QueuedPrompt, TaskOutcome};
use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::agent::RunMode;
use super::attachment::PromptImage;

words! {
    /// Which session `session/start` gives where none is named.
    #[derive(Default)]
    StartMode {
        /// The latest of the workspace, a new one if there is none.
        #[default]
        Attach,
        /// A new one.
        New,
    }
}

words! {
    /// Whether somebody can be asked.
    Presence {
        /// Whoever watches may answer; what is asked waits.
        Present,
        /// The sender is alone; what would be asked is denied at once.
        Nobody,
    }
}

params! {
    /// The session to have.
    #[derive(Default)]
    SessionStartParams {
        ;
        /// Where; required from afar.
        workspace_id: String,
        /// Where, for the local door: a folder, workspace or not.
        cwd: String,
        /// The session to go on with.
        #[serde(alias = "resume_session_id")]
        session_id: String,
        /// Which one where none is named.
        mode: StartMode,
        /// How much it may do unasked.
        permission_mode: AnyMode,
        /// It may do everything unasked.
        yolo_mode: bool,
        /// Which runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
        /// A new session works in a working copy and on a branch of its own.
        worktree: bool,
        /// Its name.
        title: String,
        /// Its model.
        model: String,
        /// The runtime's own configuration.
        #[serde(alias = "runtimeConfig")]
        runtime_config: Map<String, Value>,
        /// Variables that its runtime gets on top of its environment; their values are told nobody else.
        env: BTreeMap<String, Secret>,
        /// How much of the user's home its runtime shares.
        #[serde(alias = "isolation_level", alias = "isolationLevel")]
        isolation: IsolationLevel,
        /// Whose logins it uses, where they are kept apart.
        #[serde(alias = "credentialNamespace")]
        credential_namespace: String,
    }
}

params! {
    /// A session to go on from.
    SessionForkParams {
        /// Which one; also one that only its runtime keeps, which becomes one of ours.
        session_id: String,
        ;
        /// The workspace that it must belong to.
        workspace_id: String,
        /// The folder that it may be found in besides the workspaces.
        cwd: String,
        /// The runtime that must be its own.
        #[serde(alias = "runtime")]
        agent_type: String,
        /// The new session's name; else the same.
        title: String,
        /// How much the new session may do unasked; else as much.
        permission_mode: AnyMode,
        /// It may do everything unasked.
        yolo_mode: bool,
    }
}

wire! {
    /// The session is there.
    SessionStartResult {
        /// Its id; permanent.
        session_id: String,
        /// The same.
        id: String,
        /// Its workspace; empty if its folder is none.
        workspace_id: String,
        /// `attached`, or `starting` for a new one.
        status: String,
        /// `attached`, `existing`, `started` or `forked`.
        outcome: String,
        /// `managed` or `history`.
        source: String,
        /// Its runtime.
        agent_type: String,
        /// For people.
        message: String,
        /// Something waits for an answer.
        has_pending_permission: bool,
        /// What kind of call waits.
        #[serde(skip_serializing_if = "Option::is_none")]
        pending_permission_type: Option<String>,
        /// What that call is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        pending_permission_target: Option<String>,
        /// Its folder.
        project_path: String,
        /// When it began.
        started_at: Timestamp,
        /// When it last changed.
        last_active: Timestamp,
    }
}

params! {
    /// A prompt.
    SessionSendParams {
        /// What to do.
        prompt: String,
        ;
        /// To which session; absent means by `mode`.
        session_id: String,
        /// Where, for a new session or the latest.
        workspace_id: String,
        /// A new session, or the latest of the workspace.
        mode: RunMode,
        /// How much it may do unasked.
        permission_mode: AnyMode,
        /// It may do everything unasked.
        yolo_mode: bool,
        /// Which runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
        /// Whether somebody can be asked; `present` if absent.
        approver: Presence,
        /// The session's model from this prompt on.
        model: String,
        /// Images that belong to the prompt: png, jpeg, gif or webp, at most 5 of 10 MiB each.
        images: Vec<PromptImage>,
        /// Files that the prompt refers to: paths below the session's folder; at the local door any.
        files: Vec<String>,
    }
}

wire! {
    /// The prompt was taken.
    SessionSendResult {
        /// `sent`.
        status: String,
        /// By which session.
        session_id: String,
        /// Its runtime.
        agent_type: String,
        /// Its workspace.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_id: Option<String>,
        /// The session was made for it.
        auto_created: bool,
        /// `started` or `queued`.
        delivery: String,
        /// The task that it became.
        #[serde(skip_serializing_if = "Option::is_none")]
        task_id: Option<String>,
        /// Its place in the queue.
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_id: Option<String>,
    }
}

words! {
    /// What is stopped.
    #[derive(Default)]
    StopWhat {
        /// The session: its task, then its process.
        #[default]
        Session,
        /// The running task; the session stays ready.
        Task,
    }
}

params! {
    /// What to stop.
    SessionStopParams {
        /// Which session.
        session_id: String,
        ;
        /// All of it, or its task.
        what: StopWhat,
        /// Why, for the record.
        reason: String,
        /// Its runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
    }
}

wire! {
    /// It is stopped.
    SessionStopResult {
        /// Always true.
        success: bool,
        /// For people.
        message: String,
        /// Its runtime.
        agent_type: String,
        /// How the task ended, if one ran.
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<TaskOutcome>,
    }
}

params! {
    /// Something typed to a session.
    SessionInputParams {
        /// Which session.
        session_id: String,
        ;
        /// Text, or the name of a key.
        input: String,
        /// A key.
        key: String,
        /// Its runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
    }
}

wire! {
    /// It was taken.
    SessionInputResult {
        /// `sent`.
        status: String,
        /// The key, if it was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// The session's runtime.
        agent_type: String,
    }
}

words! {
    /// What is answered.
    AskKind {
        /// A tool call.
        Permission,
        /// A question.
        Question,
    }
}

params! {
    /// An answer to what waits in a session.
    SessionRespondParams {
        /// Which session.
        session_id: String,
        /// What is answered.
        r#type: AskKind,
        /// The answer: a word, or for a question also an object of answers by field.
        response: Value,
        ;
        /// Which of several.
        #[serde(alias = "tool_use_id", alias = "question_id", alias = "request_id")]
        id: String,
        /// Its runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
    }
}

params! {
    /// A session.
    SessionParams {
        /// Which.
        session_id: String,
        ;
        /// Its runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
    }
}

wire! {
    /// A session as it is now.
    SessionState {
        /// Its id.
        id: String,
        /// The same.
        session_id: String,
        /// Its workspace; empty if its folder is none.
        workspace_id: String,
        /// `starting`, `running`, `stopping`, `stopped` or `error`.
        status: String,
        /// Its folder.
        project_path: String,
        /// Its runtime.
        agent_type: String,
        /// When it began.
        started_at: Timestamp,
        /// When it last changed.
        last_active: Timestamp,
        /// The same.
        last_updated: Timestamp,
        /// Why the last task failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// `idle`, `running` or `waiting`.
        claude_state: String,
        /// The runtime's own id.
        claude_session_id: String,
        /// A task runs.
        is_running: bool,
        /// Something waits for an answer.
        waiting_for_input: bool,
        /// What waits.
        #[serde(skip_serializing_if = "Option::is_none")]
        pending_tool_use_id: Option<String>,
        /// Its tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        pending_tool_name: Option<String>,
        /// A name for people.
        summary: String,
        /// Messages so far.
        message_count: u64,
        /// How much it may do unasked.
        mode: String,
        /// Its model.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The prompts that wait.
        queue: Vec<QueuedPrompt>,
        /// The connections that look at it.
        viewers: Vec<String>,
    }
}

params! {
    /// Where to look.
    #[derive(Default)]
    ActiveParams {
        ;
        /// Only there.
        workspace_id: String,
    }
}

wire! {
    /// Sessions with a process or a task.
    ActiveResult {
        /// Them.
        sessions: Vec<SessionState>,
    }
}
