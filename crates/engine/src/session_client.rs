//! What the client of a session does for its agent: read and write files, and run terminals.
//!
//! An ACP agent may ask its client for this. The adapter asks the policy first, and only then the [`SessionClient`].

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use roost_model::ids::{SessionId, ToolCallId};
use roost_model::mode::Mode;
use roost_model::payload::{ToolCallRequestedPayload, ToolKind};
use serde_json::Value;

/// The names of the tool calls that are requests to the client.
pub mod method {
    /// Reads a file.
    pub const READ_FILE: &str = "fs/read_text_file";
    /// Replaces or creates a file.
    pub const WRITE_FILE: &str = "fs/write_text_file";
    /// Runs a command.
    pub const CREATE_TERMINAL: &str = "terminal/create";
}

/// Whether a request to the client only carries out a call that was allowed and has not ended: it writes a file that the
/// call edits, or runs the call's very command in its folder. Agents ask about a call first, and then ask their client
/// to do it; a person is not asked twice. An agent that does its calls itself could do no less.
pub(crate) fn carries_out(
    request: &ToolCallRequestedPayload,
    allowed: &ToolCallRequestedPayload,
    allowed_files: &[PathBuf],
    folder: &Path,
) -> bool {
    let text = |input: &Value, field: &str| input.get(field).and_then(Value::as_str).map(ToOwned::to_owned);
    match request.name.as_str() {
        method::WRITE_FILE => {
            let path = text(&request.input, "path").map(PathBuf::from);
            allowed.kind == Some(ToolKind::Edit) && path.is_some_and(|path| allowed_files.contains(&path))
        }
        method::CREATE_TERMINAL => {
            let cwd = |input: &Value| text(input, "cwd").map_or_else(|| folder.to_owned(), |cwd| folder.join(cwd));
            allowed.kind == Some(ToolKind::Execute)
                && request.input.get("env").is_none()
                && request.input.get("command") == allowed.input.get("command")
                && cwd(&request.input) == cwd(&allowed.input)
        }
        _ => false,
    }
}

/// Files and terminals for the agents of all sessions, supplied by the composition root.
#[async_trait]
pub trait SessionClient: Send + Sync + 'static {
    /// What a client offers to do for this session now. An agent is told once, when it starts.
    fn offer(&self, session: &SessionId) -> ClientOffer;

    /// Reads a file: as the client sees it, with what is not saved yet, else from the disk.
    async fn read_file(&self, site: &ClientSite, request: &FileRead) -> Result<String, ClientError>;

    /// Writes a file: by the client, else to the disk.
    async fn write_file(&self, site: &ClientSite, path: &Path, content: &str) -> Result<(), ClientError>;

    /// Has a client run a command; `params` are those of `terminal/create`. `None` if no client runs terminals for this
    /// session.
    async fn create_terminal(&self, site: &ClientSite, params: Value) -> Option<Result<ClientTerminal, ClientError>>;

    /// Sends a further request about a terminal to the client that runs it.
    async fn terminal(&self, site: &ClientSite, terminal: &ClientTerminal, method: &str) -> Result<Value, ClientError>;

    /// Has the client that runs a terminal show it inside this tool call. Others see the output when the call ends.
    async fn show_terminal(&self, site: &ClientSite, terminal: &ClientTerminal, call: &ToolCallId);
}

/// What a client offers to do for a session's agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientOffer {
    /// It reads text files.
    pub read_files: bool,
    /// It writes text files.
    pub write_files: bool,
    /// It runs terminals.
    pub terminals: bool,
}

impl ClientOffer {
    /// Whether nothing is offered.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// What either of the two offers.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            read_files: self.read_files || other.read_files,
            write_files: self.write_files || other.write_files,
            terminals: self.terminals || other.terminals,
        }
    }
}

/// The session for which something is done.
#[derive(Clone, Debug)]
pub struct ClientSite {
    /// Roost's id of the session.
    pub session: SessionId,
    /// Its working directory; absolute and without links. Nothing outside of it is read or written.
    pub folder: PathBuf,
    /// The permission mode of its task. A client that may not prompt in this mode does nothing for it.
    pub mode: Mode,
}

/// Which lines of a file are read.
#[derive(Clone, Debug)]
pub struct FileRead {
    /// The absolute path.
    pub path: PathBuf,
    /// The first line, from 1 on; the first of the file if absent.
    pub line: Option<u32>,
    /// The most lines; all that follow if absent.
    pub limit: Option<u32>,
}

/// A terminal that a client runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientTerminal {
    /// The connection of the client, which no other has or will have.
    pub connection: u64,
    /// The client's own id of the terminal.
    pub id: String,
}

/// Why a client's work failed; the agent reads it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The file does not exist.
    #[error("there is no file {0}")]
    NotFound(String),
    /// Something else, in words for people.
    #[error("{0}")]
    Failed(String),
}

#[cfg(test)]
mod tests {
    use roost_model::tool::ToolCallIdentity;
    use serde_json::json;

    use super::*;

    fn call(name: &str, kind: ToolKind, input: Value) -> ToolCallRequestedPayload {
        let (identity, name) = (ToolCallIdentity::first(None, &input), name.to_owned());
        ToolCallRequestedPayload { identity, name, input, input_ref: None, title: None, kind: Some(kind) }
    }

    #[test]
    fn only_the_very_file_and_the_very_command_of_an_allowed_call_need_no_second_answer() {
        let folder = Path::new("/w");
        let run = |input: Value| call("execute", ToolKind::Execute, input);
        let terminal = |input: Value| call(method::CREATE_TERMINAL, ToolKind::Execute, input);
        let allowed = run(json!({ "command": "make" }));
        for (input, expected) in [
            (json!({ "command": "make" }), true),
            (json!({ "command": "make", "cwd": "/w" }), true),
            (json!({ "command": "make", "cwd": "/w/sub" }), false),
            (json!({ "command": "make all" }), false),
            (json!({ "command": "make", "env": { "MAKEFLAGS": "x" } }), false),
        ] {
            assert_eq!(carries_out(&terminal(input.clone()), &allowed, &[], folder), expected, "{input}");
        }
        let write = |path: &str| call(method::WRITE_FILE, ToolKind::Edit, json!({ "path": path, "content": "x" }));
        let edit = call("edit", ToolKind::Edit, json!({ "path": "/w/a" }));
        let files = [PathBuf::from("/w/a")];
        assert!(carries_out(&write("/w/a"), &edit, &files, folder));
        assert!(!carries_out(&write("/w/b"), &edit, &files, folder));
        assert!(!carries_out(&write("/w/a"), &allowed, &files, folder), "a command allows no edit");
        let read = call(method::READ_FILE, ToolKind::Read, json!({ "path": "/w/a" }));
        assert!(!carries_out(&read, &edit, &files, folder));
    }
}
