//! The events of `opencode serve`: one JSON object per `data:` line of its stream.
//!
//! Parsed with tolerance: an unknown event or part is no error.

use serde::Deserialize;
use serde_json::Value;

/// An event that may concern a task.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", content = "properties")]
pub(super) enum ServerEvent {
    #[serde(rename = "session.created", alias = "session.updated")]
    Session { info: SessionInfo },
    #[serde(rename = "message.updated")]
    Message { info: MessageInfo },
    #[serde(rename = "message.part.updated")]
    Part { part: MessagePart },
    #[serde(rename = "message.part.delta", rename_all = "camelCase")]
    Delta {
        #[serde(rename = "sessionID")]
        session: String,
        #[serde(rename = "partID")]
        part: String,
        field: String,
        delta: String,
    },
    #[serde(rename = "session.status")]
    Status {
        #[serde(rename = "sessionID")]
        session: String,
        status: SessionStatus,
    },
    #[serde(rename = "session.idle")]
    Idle {
        #[serde(rename = "sessionID")]
        session: String,
    },
    #[serde(rename = "session.error")]
    Error {
        #[serde(rename = "sessionID", default)]
        session: Option<String>,
        #[serde(default)]
        error: Option<NamedError>,
    },
    #[serde(rename = "permission.asked")]
    Permission(PermissionRequest),
    #[serde(rename = "permission.replied")]
    PermissionReplied(RequestReply),
    #[serde(rename = "question.asked")]
    Question(QuestionRequest),
    #[serde(rename = "question.replied")]
    QuestionReplied(RequestReply),
    #[serde(rename = "question.rejected")]
    QuestionRejected(RequestReply),
    #[serde(rename = "todo.updated")]
    Todo {
        #[serde(rename = "sessionID")]
        session: String,
        todos: Vec<Todo>,
    },
}

/// Events that carry nothing we need.
const IGNORED: [&str; 20] = [
    "catalog.updated",
    "command.executed",
    "file.edited",
    "file.watcher.updated",
    "installation.update-available",
    "integration.updated",
    "lsp.client.diagnostics",
    "lsp.updated",
    "mcp.tools.changed",
    "message.part.removed",
    "message.removed",
    "plugin.added",
    "project.updated",
    "reference.updated",
    "server.connected",
    "server.heartbeat",
    "server.instance.disposed",
    "session.compacted",
    "session.diff",
    "vcs.branch.updated",
];

/// One line of the stream.
#[derive(Debug)]
pub(super) enum StreamLine {
    /// An event that may concern a task.
    Event(Box<ServerEvent>),
    /// An event of [`IGNORED`].
    Ignored,
    /// A JSON object that is no event we know.
    Unknown(Value),
    /// Not a JSON object with a type.
    Noise,
}

/// Parses one line of the stream; never fails.
pub(super) fn parse(text: &str) -> StreamLine {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(borrow)]
        r#type: std::borrow::Cow<'a, str>,
    }
    match serde_json::from_str::<Kind<'_>>(text) {
        Err(_) => StreamLine::Noise,
        Ok(kind) if IGNORED.contains(&kind.r#type.as_ref()) => StreamLine::Ignored,
        Ok(_) => match serde_json::from_str(text) {
            Ok(event) => StreamLine::Event(Box::new(event)),
            Err(_) => serde_json::from_str(text).map_or(StreamLine::Noise, StreamLine::Unknown),
        },
    }
}

/// The ids of a session and of its parent, if another session started it.
#[derive(Debug, Deserialize)]
pub(super) struct SessionInfo {
    pub(super) id: String,
    #[serde(rename = "parentID", default)]
    pub(super) parent: Option<String>,
}

/// A message, without its parts.
#[derive(Debug, Deserialize)]
pub(super) struct MessageInfo {
    pub(super) id: String,
    #[serde(rename = "sessionID")]
    pub(super) session: String,
    pub(super) role: String,
    #[serde(rename = "parentID", default)]
    pub(super) parent: Option<String>,
    #[serde(default)]
    pub(super) time: Times,
    #[serde(default)]
    pub(super) error: Option<NamedError>,
}

/// Times in milliseconds since 1970; `None` until then.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Times {
    #[serde(default)]
    pub(super) completed: Option<u64>,
    #[serde(default)]
    pub(super) end: Option<u64>,
}

/// An error. Serialised as the `raw` part of a task error.
#[derive(Clone, Debug, Deserialize, serde::Serialize)]
pub(super) struct NamedError {
    pub(super) name: String,
    #[serde(default)]
    pub(super) data: Value,
}

/// What a session is doing.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum SessionStatus {
    Busy,
    Idle,
    Retry {
        attempt: u64,
        #[serde(default)]
        message: String,
    },
    #[serde(other)]
    Other,
}

/// A part of a message. The ids are missing in the database, which has them in columns.
#[derive(Debug, Deserialize)]
pub(super) struct MessagePart {
    #[serde(default)]
    pub(super) id: String,
    #[serde(rename = "sessionID", default)]
    pub(super) session: String,
    #[serde(rename = "messageID", default)]
    pub(super) message: String,
    #[serde(flatten)]
    pub(super) kind: PartKind,
}

/// The kind of a part.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(super) enum PartKind {
    Text {
        text: String,
        #[serde(default)]
        time: Times,
        #[serde(default)]
        synthetic: bool,
    },
    Reasoning {
        text: String,
    },
    Tool {
        tool: String,
        #[serde(rename = "callID")]
        call: String,
        state: Box<ToolState>,
    },
    StepFinish {
        tokens: Tokens,
        #[serde(default)]
        cost: f64,
    },
    #[serde(other)]
    Other,
}

/// The state of a tool call; which fields it has depends on the status.
#[derive(Debug, Deserialize)]
pub(super) struct ToolState {
    pub(super) status: ToolStatus,
    #[serde(default)]
    pub(super) input: Value,
    #[serde(default)]
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) output: Option<String>,
    #[serde(default)]
    pub(super) error: Option<String>,
    #[serde(default)]
    pub(super) metadata: Value,
}

/// The progress of a tool call. `Running` comes before OpenCode requests a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ToolStatus {
    Pending,
    Running,
    Completed,
    Error,
}

/// The token counts of one request to the model.
#[derive(Debug, Default, Deserialize, serde::Serialize)]
pub(super) struct Tokens {
    #[serde(default)]
    pub(super) input: u64,
    #[serde(default)]
    pub(super) output: u64,
    #[serde(default)]
    pub(super) reasoning: u64,
    #[serde(default)]
    pub(super) cache: CacheTokens,
}

/// The tokens that were read from or written to the provider's cache; not counted as input.
#[derive(Debug, Default, Deserialize, serde::Serialize)]
pub(super) struct CacheTokens {
    #[serde(default)]
    pub(super) read: u64,
    #[serde(default)]
    pub(super) write: u64,
}

/// A request for a permission.
#[derive(Debug, Deserialize)]
pub(super) struct PermissionRequest {
    pub(super) id: String,
    #[serde(rename = "sessionID")]
    pub(super) session: String,
    pub(super) permission: String,
    #[serde(default)]
    pub(super) patterns: Vec<String>,
    #[serde(default)]
    pub(super) metadata: Value,
    #[serde(default)]
    pub(super) tool: Option<ToolRef>,
}

/// The tool call that a permission is for.
#[derive(Debug, Deserialize)]
pub(super) struct ToolRef {
    #[serde(rename = "callID")]
    pub(super) call: String,
}

/// A request for a permission or an answer was answered, by whomever.
#[derive(Debug, Deserialize)]
pub(super) struct RequestReply {
    #[serde(rename = "requestID")]
    pub(super) request: String,
}

/// A request for answers from the user.
#[derive(Debug, Deserialize)]
pub(super) struct QuestionRequest {
    pub(super) id: String,
    #[serde(rename = "sessionID")]
    pub(super) session: String,
    pub(super) questions: Vec<QuestionItem>,
}

/// One of the questions of a request.
#[derive(Debug, Deserialize)]
pub(super) struct QuestionItem {
    pub(super) question: String,
    #[serde(default)]
    pub(super) header: String,
    #[serde(default)]
    pub(super) options: Vec<Choice>,
    #[serde(default)]
    pub(super) multiple: bool,
}

/// A choice that a question offers.
#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    pub(super) label: String,
    #[serde(default)]
    pub(super) description: Option<String>,
}

/// A step of the agent's plan.
#[derive(Debug, Deserialize)]
pub(super) struct Todo {
    pub(super) content: String,
    #[serde(default)]
    pub(super) status: String,
    #[serde(default)]
    pub(super) priority: String,
}
