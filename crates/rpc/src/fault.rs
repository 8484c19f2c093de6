//! The errors that calls are answered with: one table of codes for every transport.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

macro_rules! fault_table {
    ($(#[doc = $doc:literal] $variant:ident = $number:literal, $word:literal, $status:literal;)*) => {
        /// Why a call failed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FaultCode { $(#[doc = $doc] $variant),* }

        impl FaultCode {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The number in `error.code`.
            pub fn number(self) -> i32 {
                match self { $(Self::$variant => $number),* }
            }

            /// The word in `error.data.code`.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// The status of an HTTP answer.
            pub fn status(self) -> u16 {
                match self { $(Self::$variant => $status),* }
            }

            /// What it means, in one sentence; its doc comment in the table.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$variant => $doc.trim_ascii()),* }
            }
        }
    };
}

fault_table! {
    /// It is not JSON.
    ParseError = -32700, "PARSE_ERROR", 400;
    /// It is not a request.
    InvalidRequest = -32600, "INVALID_COMMAND", 400;
    /// There is no such method.
    MethodNotFound = -32601, "METHOD_NOT_FOUND", 404;
    /// The parameters are wrong.
    InvalidParams = -32602, "INVALID_PAYLOAD", 400;
    /// Something failed on our side.
    InternalError = -32603, "INTERNAL_ERROR", 500;
    /// The agent is busy.
    AgentAlreadyRunning = -32001, "CLAUDE_ALREADY_RUNNING", 409;
    /// Nothing runs that could be stopped.
    AgentNotRunning = -32002, "CLAUDE_NOT_RUNNING", 409;
    /// The agent refused or failed.
    AgentError = -32003, "AGENT_ERROR", 500;
    /// There is nothing that an agent could work on.
    AgentNotConfigured = -32004, "AGENT_NOT_CONFIGURED", 503;
    /// No session has this id.
    SessionNotFound = -32010, "SESSION_NOT_FOUND", 404;
    /// The session cannot do that now.
    SessionInvalid = -32011, "SESSION_INVALID", 409;
    /// There is no such file.
    FileNotFound = -32020, "FILE_NOT_FOUND", 404;
    /// The file is bigger than may be read at once.
    FileTooLarge = -32021, "FILE_TOO_LARGE", 413;
    /// The path leads out of the workspace.
    PathTraversal = -32022, "PATH_TRAVERSAL", 400;
    /// The file cannot be read.
    FileReadError = -32023, "FILE_READ_ERROR", 409;
    /// There is no such folder.
    DirectoryNotFound = -32024, "DIRECTORY_NOT_FOUND", 404;
    /// The workspace's folder is not the top of a repository with files.
    NotAGitRepo = -32030, "NOT_A_GIT_REPO", 404;
    /// git could not do it; `operation` and `kind` say what and why.
    GitOperationFailed = -32031, "GIT_ERROR", 409;
    /// Conflicts wait to be resolved first.
    GitConflict = -32032, "GIT_CONFLICT", 409;
    /// Too many calls; wait for `retry_after` seconds.
    RateLimited = -32050, "RATE_LIMITED", 429;
    /// The token does not allow it.
    Forbidden = -32051, "FORBIDDEN", 403;
    /// `initialize` comes first.
    NotInitialized = -32052, "NOT_INITIALIZED", 400;
    /// Events after this position were removed; go on at `resume_at`.
    Truncated = -32053, "CURSOR_TRUNCATED", 410;
    /// No workspace has this id.
    WorkspaceNotFound = -32054, "WORKSPACE_NOT_FOUND", 404;
    /// The answer would be too big for a frame.
    TooLarge = -32055, "TOO_LARGE", 413;
    /// As much runs as may.
    Busy = -32056, "BUSY", 503;
    /// Roost is going down.
    ShuttingDown = -32057, "SHUTTING_DOWN", 503;
    /// Nothing can be recorded.
    DiskFull = -32058, "DISK_FULL", 507;
    /// The protocol's version is not served here.
    UnsupportedVersion = -32059, "UNSUPPORTED_VERSION", 400;
    /// No service has this id.
    ServiceNotFound = -32060, "SERVICE_NOT_FOUND", 404;
    /// The service cannot do that now, or its name or id is taken.
    ServiceConflict = -32061, "SERVICE_CONFLICT", 409;
    /// The service did not answer, or not as it should.
    ServiceFailed = -32062, "SERVICE_FAILED", 502;
}

/// The error object of a JSON-RPC response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{message}")]
pub struct Fault {
    /// The number of its [`FaultCode`].
    pub code: i32,
    /// What happened and what to do about it, for people.
    pub message: String,
    /// The word of its [`FaultCode`] as `code`, and further fields such as `field` or `session_id`.
    #[serde(default)]
    pub data: Map<String, Value>,
}

impl Fault {
    /// An error with this code and message.
    pub fn new(code: FaultCode, message: impl fmt::Display) -> Self {
        let data = Map::from_iter([("code".to_owned(), code.word().into())]);
        Self { code: code.number(), message: message.to_string(), data }
    }

    /// An error about the parameters.
    pub fn params(message: impl fmt::Display) -> Self {
        Self::new(FaultCode::InvalidParams, message)
    }

    /// An error about a required parameter that is absent.
    pub fn missing(field: &str) -> Self {
        Self::params(format_args!("{field} is required")).with("field", field)
    }

    /// An error about a session that does not exist.
    pub fn no_session(id: &str) -> Self {
        Self::new(FaultCode::SessionNotFound, format_args!("no session \"{id}\"")).with("session_id", id)
    }

    /// Adds a field to `data`.
    pub fn with(mut self, key: &str, value: impl Serialize) -> Self {
        self.data.insert(key.into(), json!(value));
        self
    }

    /// Its code; `None` for a number or word that this version does not know.
    pub fn kind(&self) -> Option<FaultCode> {
        let word = self.data.get("code").and_then(Value::as_str);
        FaultCode::ALL
            .iter()
            .copied()
            .find(|code| word.is_none_or(|word| word == code.word()) && code.number() == self.code)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_codes_share_a_number_or_a_word() {
        let numbers: HashSet<_> = FaultCode::ALL.iter().map(|code| code.number()).collect();
        let words: HashSet<_> = FaultCode::ALL.iter().map(|code| code.word()).collect();
        assert_eq!((numbers.len(), words.len()), (FaultCode::ALL.len(), FaultCode::ALL.len()));
    }

    #[test]
    fn an_error_tells_its_kind_again() {
        for &code in FaultCode::ALL {
            assert_eq!(Fault::new(code, "x").kind(), Some(code));
        }
    }
}
