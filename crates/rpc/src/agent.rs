//! The `agent/*` methods, for clients that know only one agent: that of the default workspace.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use roost_model::mode::AnyMode;
use roost_model::mode::{Mode, UnknownMode};
use roost_model::runtime::SlashCommand;
use roost_model::secret::Secret;
use serde::{Deserialize, Serialize};

use super::attachment::PromptImage;

/// The mode by which a client asks for a terminal's panel.
const INTERACTIVE: &str = "interactive";

words! {
    /// Whether a prompt starts a new session or continues one.
    #[derive(Default)]
    RunMode {
        /// Start a new session.
        #[default]
        New,
        /// Continue a session.
        Continue,
    }
}

params! {
    /// Parameters of `agent/run`.
    AgentRunParams {
        /// The prompt's text, which must not be blank.
        prompt: String,
        ;
        /// Whether to start a new session or continue `session_id`; `new` if absent.
        mode: RunMode,
        /// The session to continue; required with the mode `continue`, otherwise ignored.
        session_id: String,
        /// How much the agent may do without asking; `ask` for a new session, unchanged for another if absent. With
        /// `interactive`, what needs an approval comes as `pty_permission`, otherwise as `claude_permission`.
        permission_mode: RunPermission,
        /// True is the same as the `permission_mode` `yolo`, and wins over it.
        yolo_mode: bool,
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Id of the runtime for a new session, such as `claude`; the registry's default if absent. For the mode
        /// `continue` it must be the session's own.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
        /// Extra environment variables for a new session's runtime. No answer and no event shows their values.
        env: BTreeMap<String, Secret>,
        /// Images for the prompt: png, jpeg, gif or webp, at most 5 of 10 MiB each. Refused if the runtime takes none.
        images: Vec<PromptImage>,
        /// Files that the prompt refers to, at most 50: paths below the session's folder, over the local
        /// socket any path.
        files: Vec<String>,
    }
}

/// A permission mode in any spelling, and whether it was called `interactive`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunPermission {
    /// The mode that is meant.
    pub mode: Mode,
    /// Whether the client asks for a terminal's panel: it called the mode `interactive`.
    pub interactive: bool,
}

impl TryFrom<String> for RunPermission {
    type Error = UnknownMode;

    fn try_from(text: String) -> Result<Self, UnknownMode> {
        Ok(Self { mode: text.parse()?, interactive: text.eq_ignore_ascii_case(INTERACTIVE) })
    }
}

impl From<RunPermission> for String {
    fn from(permission: RunPermission) -> Self {
        if permission.interactive { INTERACTIVE.into() } else { permission.mode.as_str().into() }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for RunPermission {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        AnyMode::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        AnyMode::json_schema(generator)
    }
}

wire! {
    /// The prompt was accepted and the agent is working on it.
    AgentRunResult {
        /// Always `started`; a failure is an error.
        status: String,
        /// The session that runs the prompt, new or continued.
        session_id: String,
        /// The task that the prompt became.
        task_id: String,
        /// The mode from the parameters, or its default.
        mode: RunMode,
        /// Id of the session's runtime.
        agent_type: String,
    }
}

params! {
    /// Parameters that select an agent. Without a `session_id` it is the session of the default workspace that has a
    /// running task, else its latest one.
    #[derive(Default)]
    AgentParams {
        ;
        /// The agent's session; see above if absent.
        session_id: String,
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
    }
}

wire! {
    /// What was done, in one word.
    StatusWord {
        /// `stopped` after a stop, `sent` after input, `responded` after an answer.
        status: String,
        /// Id of the session's runtime.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_type: Option<String>,
    }
}

params! {
    /// Parameters of `agent/respond`.
    AgentRespondParams {
        /// Id of the approval or question, from `claude_permission` or `claude_waiting`.
        tool_use_id: String,
        ;
        /// The answer. For an approval a word such as `yes`, `no`, `allow_once`, `allow_session` or `deny`; any other
        /// word denies, and is the reason. For a question the text, or JSON with answers by field.
        response: String,
        /// True denies the approval or declines the question, whatever `response` says; false if absent.
        is_error: bool,
        /// The session; needed only if the id is open in several sessions.
        session_id: String,
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
    }
}

wire! {
    /// The answer was accepted.
    AgentRespondResult {
        /// Always `sent`; a failure is an error.
        status: String,
        /// The id that was answered.
        tool_use_id: String,
    }
}

wire! {
    /// The state of the agent.
    AgentStatusResult {
        /// `idle`, `running`, or `waiting` for an approval or an answer.
        state: String,
        /// The agent's session; absent if the default workspace has none.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// Id of the session's runtime; the registry's default if there is no session.
        agent_type: String,
        /// Name of the tool that waits for an answer, `AskUserQuestion` for a question; absent if nothing waits.
        #[serde(skip_serializing_if = "Option::is_none")]
        waiting_for: Option<String>,
    }
}

params! {
    /// Parameters of `agent/commands`.
    #[derive(Default)]
    AgentCommandsParams {
        ;
        /// Id of a session, whose runtime and folder count, also outside of every workspace; the others are then ignored.
        session_id: String,
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Id of the runtime, such as `gemini`; the registry's default if absent.
        #[serde(alias = "runtime")]
        agent_type: String,
    }
}

wire! {
    /// The commands that a prompt may begin with.
    AgentCommandsResult {
        /// Id of the runtime that has them.
        agent_type: String,
        /// By name. Those that only a running agent knows, such as those of MCP servers, are not among them.
        commands: Vec<SlashCommand>,
    }
}

params! {
    /// Parameters of `agent/input`.
    AgentInputParams {
        /// Text, or the name of a key, as `input` of `session/input`.
        input: String,
        ;
        /// The approval or question that is meant; needed if several wait.
        tool_use_id: String,
        /// The agent's session. Default: the running or latest one of the default workspace.
        session_id: String,
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
    }
}
