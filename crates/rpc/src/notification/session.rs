//! Events about sessions that start and end, about other clients, and about the daemon.

use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::session_event;

session_event! {
    /// A session was created. Also sent after `initialize`, with the daemon's own id, for clients that wait for it.
    SessionStart {
        /// The session's working directory, absolute.
        repo_path: String,
        /// Name of that folder.
        repo_name: String,
        /// Version of the runtime contract that it was created under; Roost's version in the one after `initialize`.
        agent_version: String,
        ;
    }
}

params! {
    /// A session was closed, or the daemon is going down.
    SessionEnd {
        /// Id of the session; the id of the daemon's run if it goes down.
        session_id: String,
        /// Why it ended; `shutdown` if the daemon goes down.
        reason: String,
        /// When it ended.
        timestamp: Timestamp,
        ;
        /// The session's workspace; absent if it has none or the daemon goes down.
        workspace_id: String,
        /// Id of the session's runtime; absent if the daemon goes down.
        agent_type: String,
        /// The cursor after this event; absent if the daemon goes down.
        cursor: String,
    }
}

session_event! {
    /// A session's task was stopped.
    SessionStopped {
        ;
        /// Id of the client that stopped it; absent if no client did.
        stopped_by: String,
    }
}

session_event! {
    /// The runtime has told its own id for the session. The id that clients use does not change.
    SessionIdResolved {
        /// Id of the session.
        temporary_id: String,
        /// The same, because ids never change.
        real_id: String,
        /// Always empty; read the session with `session/messages`.
        session_file: String,
        ;
    }
}

session_event! {
    /// A task failed before the runtime had told its own id for the session.
    SessionIdFailed {
        /// Id of the session.
        temporary_id: String,
        /// `claude_exited` if the runtime's process ended, else `error`.
        reason: String,
        /// What happened, for people.
        message: String,
        ;
    }
}

session_event! {
    /// A task failed.
    TaskFault {
        /// The kind of failure: a `FailureCode`, such as `RUNTIME_EXITED`.
        code: String,
        /// What happened, for people.
        message: String,
        /// `retryable`, and where there is one, `stderr_tail`: see `TaskError`.
        details: Map<String, Value>,
        ;
        /// Id of the request to the runtime; absent if it belongs to none.
        request_id: String,
    }
}

params! {
    /// Another client has begun to watch the session. Its own fields are also in `payload`, because a phone takes an
    /// object with a `session_id` beside them for another event.
    SessionJoined {
        /// Id of the session.
        session_id: String,
        /// Id of the client that came.
        joining_client_id: String,
        /// Ids of the others that watch it, at most 16.
        other_viewers: Vec<String>,
        /// Number of clients that watch it.
        viewer_count: u64,
        /// `joining_client_id`, `other_viewers` and `viewer_count` once more.
        payload: Map<String, Value>,
        /// When it was sent.
        timestamp: Timestamp,
        ;
        /// The session's workspace; absent if its folder belongs to none.
        workspace_id: String,
        /// Id of the session's runtime; absent if only the runtime keeps the session.
        agent_type: String,
    }
}

params! {
    /// Another client no longer watches the session. Its own fields are also in `payload`, as in `session_joined`.
    SessionLeft {
        /// Id of the session.
        session_id: String,
        /// Id of the client that left.
        leaving_client_id: String,
        /// Ids of those that still watch it, at most 16.
        remaining_viewers: Vec<String>,
        /// Number of clients that still watch it.
        viewer_count: u64,
        /// `leaving_client_id`, `remaining_viewers` and `viewer_count` once more.
        payload: Map<String, Value>,
        /// When it was sent.
        timestamp: Timestamp,
        ;
        /// The session's workspace; absent if its folder belongs to none.
        workspace_id: String,
        /// Id of the session's runtime; absent if only the runtime keeps the session.
        agent_type: String,
    }
}

params! {
    /// This client now watches a session.
    SessionWatchStarted {
        /// Id of the session.
        session_id: String,
        /// Always true; `session_watch_stopped` has false.
        watching: bool,
        /// When it was sent.
        timestamp: Timestamp,
        ;
    }
}

params! {
    /// This client no longer watches a session.
    SessionWatchStopped {
        /// Id of the session.
        session_id: String,
        /// Always false; `session_watch_started` has true.
        watching: bool,
        /// When it was sent.
        timestamp: Timestamp,
        ;
        /// Why it stopped; `client_request` after `session/unwatch`.
        reason: String,
    }
}

params! {
    /// Retention removed events of a session before they could be sent. Those from `resume_at` on follow.
    Truncated {
        /// Id of the session.
        session_id: String,
        /// `seq` of the first event that is still stored.
        resume_at: u64,
        /// When it was sent.
        timestamp: Timestamp,
        ;
    }
}

params! {
    /// A workspace was removed. Its folder and sessions stay.
    WorkspaceRemoved {
        /// Id of the workspace.
        id: String,
        /// The same as `id`.
        workspace_id: String,
        /// The name that it had.
        name: String,
        /// Its folder, absolute.
        path: String,
        /// When it was removed.
        timestamp: Timestamp,
        ;
        /// The cursor after this event; pass it as `after` to resume.
        cursor: String,
    }
}

params! {
    /// Sent every 30 seconds, so that both sides notice a broken connection.
    Heartbeat {
        /// Time of the daemon's clock.
        server_time: Timestamp,
        /// Counts the heartbeats of this run of the daemon, over all connections.
        sequence: u64,
        /// State of the default agent: `idle`, `running` or `waiting`.
        claude_status: String,
        /// Seconds since the daemon started.
        uptime_seconds: u64,
        ;
        /// When it was sent: the same as `server_time`.
        timestamp: Timestamp,
    }
}
