//! Sessions come and go, clients with them; and the daemon itself.

use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::session_event;

session_event! {
    /// A session was made.
    SessionStart {
        /// Its folder.
        repo_path: String,
        /// The folder's name.
        repo_name: String,
        /// The version of the runtime's contract that it was made under.
        agent_version: String,
        ;
    }
}

params! {
    /// A session ended; or the daemon goes down, whose own id stands there then and nothing beside it.
    SessionEnd {
        /// The session.
        session_id: String,
        /// Why; `shutdown` if it is the daemon.
        reason: String,
        /// When.
        timestamp: Timestamp,
        ;
        /// The session's workspace.
        workspace_id: String,
        /// The session's runtime.
        agent_type: String,
        /// The place after it.
        cursor: String,
    }
}

session_event! {
    /// A session was stopped.
    SessionStopped {
        ;
        /// The client that stopped it.
        stopped_by: String,
    }
}

session_event! {
    /// The runtime knows the session.
    SessionIdResolved {
        /// The session's id.
        temporary_id: String,
        /// The same: ids are permanent.
        real_id: String,
        /// Always empty: the record is the log.
        session_file: String,
        ;
    }
}

session_event! {
    /// The runtime could not begin the session.
    SessionIdFailed {
        /// The session's id.
        temporary_id: String,
        /// `claude_exited` or `error`.
        reason: String,
        /// What happened, for people.
        message: String,
        ;
    }
}

session_event! {
    /// A task failed.
    TaskFault {
        /// The kind of failure, such as `RUNTIME_EXITED`.
        code: String,
        /// What happened, for people.
        message: String,
        /// Whether to try again, and what the runtime wrote last.
        details: Map<String, Value>,
        ;
        /// The request to the runtime.
        request_id: String,
    }
}

params! {
    /// Another client looks at the session. It has no `session_id`, with which a phone would misread it.
    SessionJoined {
        /// Who came.
        joining_client_id: String,
        /// Who else looks.
        other_viewers: Vec<String>,
        /// How many look.
        viewer_count: u64,
        /// When.
        timestamp: Timestamp,
        ;
    }
}

params! {
    /// Another client looks at the session no more. It has no `session_id`, with which a phone would misread it.
    SessionLeft {
        /// Who went.
        leaving_client_id: String,
        /// Who still looks.
        remaining_viewers: Vec<String>,
        /// How many look.
        viewer_count: u64,
        /// When.
        timestamp: Timestamp,
        ;
    }
}

params! {
    /// This client watches a session.
    SessionWatchStarted {
        /// Which.
        session_id: String,
        /// Always true.
        watching: bool,
        /// When.
        timestamp: Timestamp,
        ;
    }
}

params! {
    /// This client watches a session no more.
    SessionWatchStopped {
        /// Which.
        session_id: String,
        /// Always false.
        watching: bool,
        /// When.
        timestamp: Timestamp,
        ;
        /// Why.
        reason: String,
    }
}

params! {
    /// Retention removed events of a session before they could be sent; those from `resume_at` on come.
    Truncated {
        /// Which session.
        session_id: String,
        /// The `seq` of its first event that is still there.
        resume_at: u64,
        /// When.
        timestamp: Timestamp,
        ;
    }
}

params! {
    /// A workspace was removed.
    WorkspaceRemoved {
        /// Which.
        id: String,
        /// The same.
        workspace_id: String,
        /// Its name.
        name: String,
        /// Its folder.
        path: String,
        /// When.
        timestamp: Timestamp,
        ;
        /// The place after it.
        cursor: String,
    }
}

params! {
    /// The connection lives.
    Heartbeat {
        /// The daemon's clock.
        server_time: Timestamp,
        /// Counts up.
        sequence: u64,
        /// `idle`, `running` or `waiting`.
        claude_status: String,
        /// How long the daemon runs.
        uptime_seconds: u64,
        ;
        /// When it was sent.
        timestamp: Timestamp,
    }
}
