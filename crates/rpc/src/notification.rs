//! The notifications that the daemon sends: every event's name and fields, in one table beside the method table.
//!
//! `roost-server` makes the cdev events as plain JSON, because clients guess an event's kind from its fields. The types
//! here are what clients are promised, and a test holds that projection to them.

use roost_model::time::Timestamp;
#[cfg(feature = "schema")]
use schemars::{Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use super::EventBatch;

mod agent;
mod ask;
mod git;
mod repository;
mod session;

pub use agent::*;
pub use ask::*;
pub use git::*;
pub use repository::*;
pub use session::*;

wire! {
    /// The fields that every event of a session has.
    SessionFields {
        /// Id of the session.
        session_id: String,
        /// Id of its runtime.
        agent_type: String,
        /// When it happened.
        timestamp: Timestamp,
        /// Its workspace; absent if its folder belongs to none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace_id: Option<String>,
        /// The cursor after this event, to resume with `after`; absent for events that are not stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
    }
}

/// Declares an event of a session: required fields, then a semicolon, then optional ones.
macro_rules! session_event {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$rdoc:meta])* $required:ident: $rty:ty,)* ; $($(#[$fdoc:meta])* $field:ident: $ty:ty,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name {
            $($(#[$rdoc])* pub $required: $rty,)*
            $($(#[$fdoc])* #[serde(default, skip_serializing_if = "Option::is_none")] pub $field: Option<$ty>,)*
            /// The session and time, at the same level as the other fields.
            #[serde(flatten)]
            pub session: super::SessionFields,
        }
    };
}
use session_event;

macro_rules! notification_table {
    ($(#[doc = $doc:literal] $variant:ident = $name:literal ($params:ty);)*) => {
        /// Every event that is sent to clients.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum EventName { $(#[doc = $doc] $variant),* }

        impl EventName {
            /// Every event, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name without the prefix `event/`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// What it tells, in one sentence; its doc comment in the table.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$variant => $doc.trim_ascii()),* }
            }

            /// JSON Schema of its fields.
            #[cfg(feature = "schema")]
            pub fn params_schema(self, generator: &mut SchemaGenerator) -> Schema {
                match self { $(Self::$variant => generator.subschema_for::<$params>()),* }
            }
        }
    };
}

notification_table! {
    /// Events as they are in the log; the only one of the format `normalized`.
    Batch = "batch" (EventBatch);
    /// A line of the agent's output; for those who watch the session.
    ClaudeLog = "claude_log" (ClaudeLog);
    /// Something was said or done; for those who watch the session.
    ClaudeMessage = "claude_message" (ClaudeMessage);
    /// What the agent does now.
    ClaudeStatus = "claude_status" (ClaudeStatus);
    /// The agent asks a question.
    ClaudeWaiting = "claude_waiting" (ClaudeWaiting);
    /// A tool call waits for an answer, in a session without a terminal's panel.
    ClaudePermission = "claude_permission" (ClaudePermission);
    /// The session's model is known or another, or its title, its mode or whether lists show it: ask for the rest.
    ClaudeSessionInfo = "claude_session_info" (ClaudeSessionInfo);
    /// A tool call waits for an answer.
    PtyPermission = "pty_permission" (PtyPermission);
    /// What waited for an answer waits no more.
    PtyPermissionResolved = "pty_permission_resolved" (PtyPermissionResolved);
    /// What a terminal would show.
    PtyState = "pty_state" (PtyState);
    /// What the agent is busy with; while it works.
    PtySpinner = "pty_spinner" (PtySpinner);
    /// A piece of a message while it is written; for those who watch the session and named this event.
    AgentMessageDelta = "agent_message_delta" (AgentMessageDelta);
    /// All of a turn has been sent.
    StreamReadComplete = "stream_read_complete" (StreamReadComplete);
    /// A session was made.
    SessionStart = "session_start" (SessionStart);
    /// A session ended, or the daemon goes down.
    SessionEnd = "session_end" (SessionEnd);
    /// A session was stopped.
    SessionStopped = "session_stopped" (SessionStopped);
    /// The runtime knows the session; its id here stays as it is.
    SessionIdResolved = "session_id_resolved" (SessionIdResolved);
    /// The runtime could not begin the session.
    SessionIdFailed = "session_id_failed" (SessionIdFailed);
    /// Another client looks at the session.
    SessionJoined = "session_joined" (SessionJoined);
    /// Another client looks at the session no more.
    SessionLeft = "session_left" (SessionLeft);
    /// This client watches a session.
    SessionWatchStarted = "session_watch_started" (SessionWatchStarted);
    /// This client watches a session no more.
    SessionWatchStopped = "session_watch_stopped" (SessionWatchStopped);
    /// Retention removed events of a session before they could be sent.
    Truncated = "truncated" (Truncated);
    /// A workspace was removed.
    WorkspaceRemoved = "workspace_removed" (WorkspaceRemoved);
    /// How far a search for repositories is; for the client that began it.
    WorkspaceDiscoverProgress = "workspace_discover_progress" (WorkspaceDiscoverProgress);
    /// A client had something done with a workspace's repository.
    GitOperationCompleted = "git_operation_completed" (GitOperationCompleted);
    /// Another branch is checked out.
    GitBranchChanged = "git_branch_changed" (GitBranchChanged);
    /// How far a push, pull or fetch is; a client that does not keep up misses some.
    GitOperationProgress = "git_operation_progress" (GitOperationProgress);
    /// A task failed.
    Error = "error" (TaskFault);
    /// A file of a workspace changed.
    FileChanged = "file_changed" (FileChanged);
    /// Too many files changed to be told one by one.
    FilesRescanned = "files_rescanned" (FilesRescanned);
    /// The state of a workspace's repository, after a change or a subscription.
    GitStatusChanged = "git_status_changed" (GitStatusChanged);
    /// What changed in a file that changed.
    GitDiff = "git_diff" (GitDiff);
    /// A workspace cannot be watched, or not as a whole.
    WatchFailed = "watch_failed" (WatchFailed);
    /// Files that fit a search that goes on.
    SearchResults = "search_results" (SearchResults);
    /// Some of what was found in files.
    GrepResults = "grep_results" (GrepResults);
    /// A search in files ended.
    GrepCompleted = "grep_completed" (GrepCompleted);
    /// The connection lives; sent every 30 seconds.
    Heartbeat = "heartbeat" (Heartbeat);
}
