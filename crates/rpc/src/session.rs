//! The methods that start, prompt, stop and answer sessions, and those for their state.

use std::collections::BTreeMap;

use roost_model::mode::AnyMode;
use roost_model::runtime::IsolationLevel;
use roost_model::secret::Secret;
use roost_model::session::{QueuedPrompt, TaskOutcome};
use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::agent::RunMode;
use super::attachment::PromptImage;

words! {
    /// Which session `session/start` uses if no `session_id` is given.
    #[derive(Default)]
    StartMode {
        /// The workspace's current session, else one that is running, else the latest; a new one if there is none.
        #[default]
        Attach,
        /// A new one.
        New,
    }
}

words! {
    /// Whether a person can be asked while the prompt runs.
    Presence {
        /// Approvals and questions wait until some client answers.
        Present,
        /// Nobody answers: what would be asked is denied at once.
        Nobody,
    }
}

params! {
    /// Parameters of `session/start`. `env`, `isolation`, `credential_namespace`, `worktree`, `mcp_servers` and `runtime_config` are
    /// refused for a session that exists.
    #[derive(Default)]
    SessionStartParams {
        ;
        /// The workspace to work in; required unless `session_id` or `cwd` is given.
        workspace_id: String,
        /// The folder to work in. Outside of workspaces and `workspaces.roots` it needs the scope `admin`.
        cwd: String,
        /// The session to attach to. One that only its runtime has becomes a session of Roost.
        #[serde(alias = "resume_session_id")]
        session_id: String,
        /// Which session to use if `session_id` is absent; `attach` if absent.
        mode: StartMode,
        /// How much it may do without asking; `ask` for a new session if absent. An existing one changes with
        /// its next task.
        permission_mode: AnyMode,
        /// True is the same as the `permission_mode` `yolo`, and wins over it.
        yolo_mode: bool,
        /// Id of the runtime for a new session, such as `claude`; the registry's default if absent. An existing session
        /// must have it.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
        /// Whether a new session gets a git worktree and branch of its own; false if absent. Needs `workspace_id`.
        worktree: bool,
        /// Title for lists, at most 1 KiB; the first line of the first prompt if absent.
        title: String,
        /// Model to use, at most 1 KiB; the runtime's default if absent. An existing session changes with
        /// its next task.
        model: String,
        /// How much the model thinks: one of the `levels` that `session/get` lists for the session. Only for a session
        /// that exists, which changes with its next task; a new one takes it in `runtime_config`.
        thought_level: String,
        /// The runtime's own settings, at most 64 KiB, passed on without interpretation.
        #[serde(alias = "runtimeConfig")]
        runtime_config: Map<String, Value>,
        /// Extra environment variables for the runtime. No answer and no event shows their values.
        env: BTreeMap<String, Secret>,
        /// How much of the user's home the runtime shares. If absent, the configured default; `namespaced`
        /// with a `credential_namespace`.
        #[serde(alias = "isolation_level", alias = "isolationLevel")]
        isolation: IsolationLevel,
        /// Name of the set of logins to use, 1 to 200 characters; `default` if absent.
        #[serde(alias = "credentialNamespace")]
        credential_namespace: String,
        /// MCP servers of a new session, besides those of the host. One that its runtime cannot use is refused.
        #[serde(alias = "mcpServers")]
        mcp_servers: Vec<McpServerParams>,
    }
}

params! {
    /// An MCP server of a session: a program that its runtime starts (`command`), or an address (`url`).
    #[serde(deny_unknown_fields)]
    McpServerParams {
        /// Unique within the session; runtimes make it part of the names of the server's tools.
        name: String,
        ;
        /// The program, which speaks MCP on its stdin and stdout.
        command: String,
        /// Its arguments; none if absent.
        args: Vec<String>,
        /// Variables for the program. No answer and no event shows their values.
        env: BTreeMap<String, Secret>,
        /// The endpoint of a server that speaks "streamable HTTP".
        url: String,
        /// Headers for every request to it. No answer and no event shows their values.
        headers: BTreeMap<String, Secret>,
    }
}

params! {
    /// Parameters of `session/fork`.
    SessionForkParams {
        /// The session to fork. One that only its runtime has becomes a session of Roost first.
        session_id: String,
        ;
        /// The workspace that the session must belong to; any if absent.
        workspace_id: String,
        /// A folder outside the workspaces in which to look for the session; needs the scope `admin`.
        cwd: String,
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
        /// Title of the new session, at most 1 KiB; that of the other one if absent.
        title: String,
        /// How much the new session may do without asking; as much as the other one if absent.
        permission_mode: AnyMode,
        /// True is the same as the `permission_mode` `yolo`, and wins over it.
        yolo_mode: bool,
    }
}

wire! {
    /// The session that was created, forked or attached to. If something waits in it, its events are sent again.
    SessionStartResult {
        /// Id of the session; never changes.
        session_id: String,
        /// The same as `session_id`.
        id: String,
        /// Its workspace; empty if its folder belongs to none.
        workspace_id: String,
        /// `starting` for a new session, else `attached`.
        status: String,
        /// `started` or `forked` for a new session, `existing` for the workspace's running one, else `attached`.
        outcome: String,
        /// `managed` for a session that is new or has a process, else `history`.
        source: String,
        /// Id of its runtime.
        agent_type: String,
        /// The result for people.
        message: String,
        /// Whether an approval or question waits for an answer in it.
        has_pending_permission: bool,
        /// Kind of the approval that waits, as `type` of `pty_permission`; absent if none waits.
        #[serde(skip_serializing_if = "Option::is_none")]
        pending_permission_type: Option<String>,
        /// What that call is about, as `target` of `pty_permission`; absent if none waits.
        #[serde(skip_serializing_if = "Option::is_none")]
        pending_permission_target: Option<String>,
        /// Its working directory, absolute.
        project_path: String,
        /// When it was created.
        started_at: Timestamp,
        /// When it last changed.
        last_active: Timestamp,
    }
}

words! {
    /// What becomes of a prompt while a task runs.
    #[derive(Default)]
    PromptDelivery {
        /// It waits until the task has ended.
        #[default]
        Queue,
        /// The running task gets it. It waits if the runtime cannot take it now, or if it is more than plain text.
        Steer,
    }
}

params! {
    /// Parameters of `session/send`.
    SessionSendParams {
        /// The prompt's text.
        prompt: String,
        ;
        /// The session to prompt; if absent, `mode` decides. One that only its runtime has becomes a session of Roost.
        session_id: String,
        /// The workspace in which to create or find the session; required without `session_id`.
        workspace_id: String,
        /// Without `session_id`: a new session, or the one that `session/start` would attach to. `new` if absent.
        mode: RunMode,
        /// How much it may do without asking from this prompt on; `ask` for a new session, unchanged for
        /// another if absent.
        permission_mode: AnyMode,
        /// True is the same as the `permission_mode` `yolo`, and wins over it.
        yolo_mode: bool,
        /// Id of the runtime for a new session, such as `claude`; the registry's default if absent. An existing session
        /// must have it.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
        /// Whether a person can be asked while the prompt runs; `present` if absent.
        approver: Presence,
        /// Model to use from this prompt on, at most 1 KiB; unchanged if absent.
        model: String,
        /// Images for the prompt: png, jpeg, gif or webp, at most 5 of 10 MiB each. Refused if the runtime takes none.
        images: Vec<PromptImage>,
        /// Files that the prompt refers to, at most 50: paths below the session's folder, over the local
        /// socket any path.
        files: Vec<String>,
        /// What becomes of it while another task runs; `queue` if absent.
        delivery: PromptDelivery,
        /// A text that the client makes up, at most 1 KiB. Sent again with the same key, because no answer came, the
        /// prompt is the one that was sent before, as long as the daemon runs.
        key: String,
    }
}

wire! {
    /// The prompt was accepted.
    SessionSendResult {
        /// Always `sent`; see `delivery`.
        status: String,
        /// Id of the session that got the prompt.
        session_id: String,
        /// Id of its runtime.
        agent_type: String,
        /// Its workspace; absent if its folder belongs to none.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_id: Option<String>,
        /// Whether the session was created for this prompt.
        auto_created: bool,
        /// `started`, `queued` behind a running task, or `steered`: the running task got it.
        delivery: String,
        /// The task that the prompt became, or that got it; absent if it was queued.
        #[serde(skip_serializing_if = "Option::is_none")]
        task_id: Option<String>,
        /// Id of the prompt in the session's queue; absent if it was started.
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_id: Option<String>,
    }
}

words! {
    /// What `session/stop` stops.
    #[derive(Default)]
    StopWhat {
        /// The running task, then the process. The next prompt resumes the session.
        #[default]
        Session,
        /// Only the running task; the process stays ready.
        Task,
    }
}

params! {
    /// Parameters of `session/stop`.
    SessionStopParams {
        /// Id of the session, from `session/start` or `session/list`.
        session_id: String,
        ;
        /// What to stop; `session` if absent.
        what: StopWhat,
        /// Id of a queued prompt, from `session/send`: it is removed from the queue, and nothing is stopped.
        prompt_id: String,
        /// Why, for the record; `stopped by a client` if absent.
        reason: String,
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
    }
}

wire! {
    /// The task or session is stopped.
    SessionStopResult {
        /// Always true, also if no task was running.
        success: bool,
        /// The result for people.
        message: String,
        /// Id of the session's runtime.
        agent_type: String,
        /// How the task ended; absent if none was running.
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<TaskOutcome>,
    }
}

params! {
    /// Parameters of `session/input`: `key`, or if that is absent, `input`.
    ///
    /// While an approval waits, `up` and `down` move the selection among its options and `enter` takes the selected one.
    /// A key never answers another approval than the one that this client was shown.
    SessionInputParams {
        /// Id of the session, from `session/start` or `session/list`.
        session_id: String,
        ;
        /// Text, or the name of a key. While something waits it answers: the number or key of an option, a word such as
        /// `yes`, or for a question its text. Otherwise text is a prompt.
        input: String,
        /// Name of a key, such as `up`, `enter` or `escape` (deny, or stop if nothing waits). Keys that mean nothing
        /// here do nothing; an unknown one is refused.
        key: String,
        /// The approval or question that is meant; needed if several wait.
        tool_use_id: String,
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
    }
}

wire! {
    /// The input was accepted.
    SessionInputResult {
        /// Always `sent`; a failure is an error.
        status: String,
        /// The key that it was understood as; absent for text.
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// Id of the session's runtime.
        agent_type: String,
    }
}

words! {
    /// What `session/respond` answers.
    AskKind {
        /// An approval of a tool call.
        Permission,
        /// A question of the agent.
        Question,
    }
}

params! {
    /// Parameters of `session/respond`.
    SessionRespondParams {
        /// Id of the session, from `session/start` or `session/list`.
        session_id: String,
        /// Which kind to answer if `id` is absent.
        r#type: AskKind,
        /// The answer. For an approval a word such as `yes`, `no`, `allow_once`, `allow_session` or `deny`; any other
        /// word denies, and is the reason. For a question the text, or an object with values by field id or label.
        response: Value,
        ;
        /// Id of the approval or question; the oldest of that kind if absent.
        #[serde(alias = "tool_use_id", alias = "question_id", alias = "request_id")]
        id: String,
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
    }
}

params! {
    /// Parameters that select a session.
    SessionParams {
        /// Id of the session, from `session/start` or `session/list`.
        session_id: String,
        ;
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
    }
}

wire! {
    /// The current state of a session. It has every field that some client reads, hence the repetitions.
    SessionState {
        /// Id of the session.
        id: String,
        /// The same as `id`.
        session_id: String,
        /// Its workspace; empty if its folder belongs to none.
        workspace_id: String,
        /// `starting` before the first prompt, `running`, `stopping`, `stopped`, or `error` if it ended with
        /// a failed task.
        status: String,
        /// Its working directory, absolute.
        project_path: String,
        /// Id of its runtime.
        agent_type: String,
        /// When it was created.
        started_at: Timestamp,
        /// When it last changed.
        last_active: Timestamp,
        /// The same as `last_active`.
        last_updated: Timestamp,
        /// Present if the last task failed; the `task.failed` event says why.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// `idle`, `running`, or `waiting` for an answer.
        claude_state: String,
        /// The runtime's own id for it; empty until the runtime has told it.
        claude_session_id: String,
        /// Whether a task is running.
        is_running: bool,
        /// Whether an approval or question waits for an answer.
        waiting_for_input: bool,
        /// Id of the oldest that waits; absent if nothing does.
        #[serde(skip_serializing_if = "Option::is_none")]
        pending_tool_use_id: Option<String>,
        /// Its tool as the runtime names it, `AskUserQuestion` for a question; absent if nothing waits.
        #[serde(skip_serializing_if = "Option::is_none")]
        pending_tool_name: Option<String>,
        /// Its title; `(session)` if it has none yet.
        summary: String,
        /// Messages in its history.
        message_count: u64,
        /// How much it may do without asking: `plan`, `ask`, `accept_edits`, `auto` or `yolo`.
        mode: String,
        /// Its model; absent means the runtime's default.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Prompts that wait for the running task to end, in order.
        queue: Vec<QueuedPrompt>,
        /// Ids of the clients that watch it or have it on their screen.
        viewers: Vec<String>,
    }
}

params! {
    /// Parameters of `session/active`.
    #[derive(Default)]
    ActiveParams {
        ;
        /// Only sessions of this workspace; all if absent.
        workspace_id: String,
    }
}

wire! {
    /// The sessions that were prompted and not closed since.
    ActiveResult {
        /// Their current states.
        sessions: Vec<SessionState>,
    }
}
