//! Converts the errors of the engine, the log, the gateway and the workspace into wire errors. No other module does.

use std::io::ErrorKind;

use roost_engine::Error as EngineError;
use roost_gateway::services::ServiceError;
use roost_log::Error as LogError;
use roost_rpc::{Fault, FaultCode};
use roost_workspace::Error as WorkspaceError;
use roost_workspace::git::GitKind;

/// Converts an engine error, with the ids and limits that it carries.
pub(crate) fn engine(error: EngineError) -> Fault {
    let code = match &error {
        EngineError::UnknownRuntime { id, known } => {
            return Fault::params(&error).with("agent_type", id).with("supported_agent_types", known);
        }
        EngineError::UnknownSession(id) => return Fault::no_session(id),
        EngineError::RuntimeDisabled(id) => {
            return Fault::new(FaultCode::InternalError, &error).with("agent_type", id).with("status", "disabled");
        }
        EngineError::BadVariable { .. } => return Fault::params(&error).with("field", "env"),
        EngineError::BadCwd { cwd, .. } => return Fault::params(&error).with("path", cwd),
        EngineError::TooManySessions { max } => return Fault::new(FaultCode::Busy, &error).with("max", max),
        EngineError::QueueFull { session, max } | EngineError::QueueTooBig { session, max } => {
            return Fault::new(FaultCode::Busy, &error).with("session_id", session).with("max", max);
        }
        EngineError::Yolo(session) => {
            return Fault::params(&error).with("session_id", session).with("permission_mode", "yolo");
        }
        EngineError::NotPromptable(session) => return Fault::params(&error).with("session_id", session),
        EngineError::Working(session) => return Fault::new(FaultCode::Busy, &error).with("session_id", session),
        EngineError::NothingToStop(_) => FaultCode::AgentNotRunning,
        EngineError::UnknownThoughtLevel { .. } => return Fault::params(&error).with("field", "thought_level"),
        EngineError::NotQueued(prompt) => return Fault::params(&error).with("prompt_id", prompt),
        EngineError::SessionFailed(_) => FaultCode::SessionInvalid,
        // A client that answers too late is told with the code under which it looks for that.
        EngineError::NotPending(_) => FaultCode::InternalError,
        EngineError::AlreadyAnswered { by, .. } => {
            return Fault::new(FaultCode::InternalError, &error)
                .with("answered_by", by)
                .with("already_responded", true);
        }
        EngineError::AttemptMismatch(_) | EngineError::InputHashMismatch(_) => FaultCode::SessionInvalid,
        EngineError::OnlyOnce(_) | EngineError::OnlyHere(_) | EngineError::NoImages(_) => FaultCode::InvalidParams,
        EngineError::UnknownRule(id) => return Fault::params(&error).with("rule_id", id),
        EngineError::DiskFull => FaultCode::DiskFull,
        EngineError::ShuttingDown => FaultCode::ShuttingDown,
        EngineError::Adapter(_) => FaultCode::AgentError,
        EngineError::Log(_) => {
            let EngineError::Log(error) = error else { return Fault::new(FaultCode::InternalError, error) };
            return log(error);
        }
        EngineError::Environment(_) | EngineError::Artifact(_) | EngineError::Unreadable { .. } => {
            FaultCode::InternalError
        }
    };
    Fault::new(code, error)
}

/// Converts an error about a service of the MCP gateway.
pub(crate) fn service(error: ServiceError) -> Fault {
    let code = match &error {
        ServiceError::Unknown(id) => {
            return Fault::new(FaultCode::ServiceNotFound, &error).with("service_id", id);
        }
        ServiceError::Invalid(invalid) => {
            return Fault::params(&error).with("field", "manifest").with("pointer", &invalid.pointer);
        }
        ServiceError::NoTool(tool) => return Fault::params(&error).with("field", "tools").with("tool", tool),
        ServiceError::RedirectElsewhere(_) => return Fault::params(&error).with("field", "redirect_uri"),
        ServiceError::NoLogin => return Fault::params(&error).with("field", "login_id"),
        ServiceError::Conflict(_)
        | ServiceError::Disabled(_)
        | ServiceError::Refused(_)
        | ServiceError::NotRunning(_)
        | ServiceError::Outdated(_)
        | ServiceError::NotListed(_) => FaultCode::ServiceConflict,
        ServiceError::Upstream(_) => FaultCode::ServiceFailed,
        ServiceError::Log(_) => FaultCode::InternalError,
        ServiceError::Ending => FaultCode::ShuttingDown,
    };
    Fault::new(code, error)
}

/// Converts a workspace error, with the path or the git operation that failed.
pub(crate) fn workspace(error: WorkspaceError) -> Fault {
    let (code, path) = match &error {
        WorkspaceError::PathTraversal { path } => (FaultCode::PathTraversal, path),
        WorkspaceError::NotFound { path } => (FaultCode::FileNotFound, path),
        WorkspaceError::NotADirectory { path } => {
            let fault = Fault::new(FaultCode::DirectoryNotFound, &error);
            return fault.with("path", path).with("error_code", "NOT_A_DIRECTORY");
        }
        WorkspaceError::Denied { path } => {
            let fault = Fault::new(FaultCode::FileReadError, &error);
            return fault.with("path", path).with("error_code", "PERMISSION_DENIED");
        }
        WorkspaceError::TooLarge { path, size, limit } => {
            let fault = Fault::new(FaultCode::FileTooLarge, &error);
            return fault.with("path", path).with("size", size).with("max_size", limit);
        }
        WorkspaceError::Io { path, source } if source.kind() == ErrorKind::StorageFull => (FaultCode::DiskFull, path),
        WorkspaceError::NotAFile { path, .. } | WorkspaceError::Io { path, .. } => (FaultCode::FileReadError, path),
        WorkspaceError::BadPattern { .. } => return Fault::params(&error).with("field", "pattern"),
        WorkspaceError::NoRoot { folder, .. } => (FaultCode::DirectoryNotFound, folder),
        WorkspaceError::Git { operation, kind, .. } => {
            let code = match kind {
                GitKind::NotARepository | GitKind::Bare => FaultCode::NotAGitRepo,
                GitKind::Conflict => FaultCode::GitConflict,
                GitKind::BadName | GitKind::BadAddress => FaultCode::InvalidParams,
                GitKind::DiskFull => FaultCode::DiskFull,
                _ => FaultCode::GitOperationFailed,
            };
            // Some clients look for the word under another name.
            let fault = Fault::new(code, &error).with("operation", operation).with("kind", kind.word());
            return fault.with("error_code", kind.word());
        }
    };
    Fault::new(code, &error).with("path", path)
}

/// Like [`workspace`], for errors that do not know their git operation, such as that of an invalid branch name.
pub(crate) fn during(operation: &'static str) -> impl Fn(WorkspaceError) -> Fault {
    move |error| workspace(error.during(operation))
}

/// The fault for work on another thread that panicked; the details go to the daemon's log only.
pub(crate) fn panicked(error: tokio::task::JoinError) -> Fault {
    tracing::error!(%error, "A client's call failed.");
    Fault::new(FaultCode::InternalError, "it failed in Roost; see the daemon's log")
}

/// Converts a log error. Unexpected ones go to the daemon's log, because they may name paths of the host.
pub(crate) fn log(error: LogError) -> Fault {
    match &error {
        LogError::Truncated { stream, resume_at } => {
            Fault::new(FaultCode::Truncated, &error).with("session_id", stream.as_str()).with("resume_at", resume_at)
        }
        LogError::BadCursor(_) | LogError::UnknownCursor(_) | LogError::Ahead { .. } => Fault::params(&error),
        LogError::Closed => Fault::new(FaultCode::ShuttingDown, "Roost is shutting down"),
        _ => {
            // Paths of the host are nobody's business out there.
            tracing::error!(%error, "The log failed under a client's call.");
            Fault::new(FaultCode::InternalError, "the event log could not do it; see the daemon's log")
        }
    }
}
