//! The events of `opencode serve`: one JSON object per `data:` line of its stream.
//!
//! Read with tolerance: an event or part that is not here is kept as it came and never an error.

use serde::Deserialize;
use serde_json::Value;

/// One event, as far as it concerns a task.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", content = "properties")]
pub(super) enum Event {
    #[serde(rename = "session.created", alias = "session.updated")]
    Session { info: SessionInfo },
    #[serde(rename = "message.updated")]
    Message { info: Info },
    #[serde(rename = "message.part.updated")]
    Part { part: Part },
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
        status: Status,
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
    Permission(Permission),
    #[serde(rename = "permission.replied")]
    PermissionReplied(Replied),
    #[serde(rename = "question.asked")]
    Question(Question),
    #[serde(rename = "question.replied")]
    QuestionReplied(Replied),
    #[serde(rename = "question.rejected")]
    QuestionRejected(Replied),
    #[serde(rename = "todo.updated")]
    Todo {
        #[serde(rename = "sessionID")]
        session: String,
        todos: Vec<Todo>,
    },
}

/// Events that say nothing which is not said elsewhere.
const QUIET: [&str; 20] = [
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

/// What a line of the stream holds.
#[derive(Debug)]
pub(super) enum Told {
    /// Something that concerns a task.
    Event(Box<Event>),
    /// Nothing that concerns a task.
    Quiet,
    /// Nobody knows what it means.
    Unknown(Value),
    /// Not protocol.
    Noise,
}

/// Reads one line of the stream.
pub(super) fn parse(text: &str) -> Told {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(borrow)]
        r#type: std::borrow::Cow<'a, str>,
    }
    match serde_json::from_str::<Kind<'_>>(text) {
        Err(_) => Told::Noise,
        Ok(kind) if QUIET.contains(&kind.r#type.as_ref()) => Told::Quiet,
        Ok(_) => match serde_json::from_str(text) {
            Ok(event) => Told::Event(Box::new(event)),
            Err(_) => serde_json::from_str(text).map_or(Told::Noise, Told::Unknown),
        },
    }
}

/// A session, as far as one is told from another.
#[derive(Debug, Deserialize)]
pub(super) struct SessionInfo {
    pub(super) id: String,
    #[serde(rename = "parentID", default)]
    pub(super) parent: Option<String>,
}

/// A message, without its parts.
#[derive(Debug, Deserialize)]
pub(super) struct Info {
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

/// When something was done.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Times {
    #[serde(default)]
    pub(super) completed: Option<u64>,
    #[serde(default)]
    pub(super) end: Option<u64>,
}

/// An error in OpenCode's words.
#[derive(Clone, Debug, Deserialize, serde::Serialize)]
pub(super) struct NamedError {
    pub(super) name: String,
    #[serde(default)]
    pub(super) data: Value,
}

/// What a session does.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Status {
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

/// A piece of a message.
#[derive(Debug, Deserialize)]
pub(super) struct Part {
    #[serde(default)]
    pub(super) id: String,
    #[serde(rename = "sessionID", default)]
    pub(super) session: String,
    #[serde(rename = "messageID", default)]
    pub(super) message: String,
    #[serde(flatten)]
    pub(super) kind: PartKind,
}

/// What a piece of a message is.
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

/// How far a tool call is.
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

/// The steps of a tool call; `running` comes before anybody was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ToolStatus {
    Pending,
    Running,
    Completed,
    Error,
}

/// The tokens of one request to the model.
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

/// The tokens that came from or went to a cache; they are not among the input.
#[derive(Debug, Default, Deserialize, serde::Serialize)]
pub(super) struct CacheTokens {
    #[serde(default)]
    pub(super) read: u64,
    #[serde(default)]
    pub(super) write: u64,
}

/// May this be done?
#[derive(Debug, Deserialize)]
pub(super) struct Permission {
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

/// The call that something is about.
#[derive(Debug, Deserialize)]
pub(super) struct ToolRef {
    #[serde(rename = "callID")]
    pub(super) call: String,
}

/// Something was answered.
#[derive(Debug, Deserialize)]
pub(super) struct Replied {
    #[serde(rename = "requestID")]
    pub(super) request: String,
}

/// What does the user say?
#[derive(Debug, Deserialize)]
pub(super) struct Question {
    pub(super) id: String,
    #[serde(rename = "sessionID")]
    pub(super) session: String,
    pub(super) questions: Vec<OneQuestion>,
}

/// One of the questions that are asked at once.
#[derive(Debug, Deserialize)]
pub(super) struct OneQuestion {
    pub(super) question: String,
    #[serde(default)]
    pub(super) header: String,
    #[serde(default)]
    pub(super) options: Vec<Choice>,
    #[serde(default)]
    pub(super) multiple: bool,
}

/// A choice.
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
