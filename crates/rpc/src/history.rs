//! The methods that list, read and watch sessions.

use roost_model::session::SessionRecord;
use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::conversation::Message;
use crate::element::Element;

words! {
    /// Who has the record of a session.
    KeptBy {
        /// Roost: it is in the log.
        Managed,
        /// Only its runtime: it was begun with the runtime's own command. The first prompt makes it `managed`.
        History,
    }
}

params! {
    /// Parameters of `session/list`.
    #[derive(Default)]
    SessionListParams {
        ;
        /// Only sessions of the runtime with this id; all if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
        /// Only sessions of this workspace; all if absent.
        workspace_id: String,
        /// Only sessions that work in this folder; all if absent. A folder outside the workspaces needs
        /// the scope `admin`.
        cwd: String,
        /// Only sessions that Roost has, or only those that runtimes have; both if absent.
        source: KeptBy,
        /// Most sessions to return: 1 to 500, default 50.
        limit: u32,
        /// Sessions to skip; 0 if absent.
        offset: u32,
    }
}

wire! {
    /// One session in a list.
    SessionInfo {
        /// Id of the session.
        session_id: String,
        /// Id of its runtime.
        agent_type: String,
        /// Its title; `(session)` if it has none yet.
        summary: String,
        /// The first line of the first prompt, or the title; absent if there is neither.
        #[serde(skip_serializing_if = "Option::is_none")]
        first_prompt: Option<String>,
        /// Tasks that it has had.
        task_count: u64,
        /// Messages in its history; always 0 for the source `history`, because the runtime does not count them.
        message_count: u64,
        /// When it was created; for the source `history` the same as `last_updated`.
        start_time: Timestamp,
        /// When it last changed.
        last_updated: Timestamp,
        /// `running` if it has a process or a task, else `historical`.
        status: String,
        /// Who has its record.
        source: KeptBy,
        /// Its workspace; absent if its folder belongs to none.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_id: Option<String>,
        /// Its working directory, absolute.
        project_path: String,
        /// Its model; absent means the runtime's default.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// How much its model thinks; absent if its runtime has no such setting.
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_level: Option<ThoughtLevel>,
        /// Whether a running task takes messages, see `delivery` of `session/send`.
        steers: bool,
        /// Ids of the clients that watch it or have it on their screen.
        viewers: Vec<String>,
        /// Its complete record.
        record: SessionRecord,
    }
}

wire! {
    /// How much the model of a session thinks before it answers.
    ThoughtLevel {
        /// The name of the runtime's own setting for it, as in `runtime_config`.
        setting: String,
        /// The level of the session; absent means the runtime's default.
        #[serde(skip_serializing_if = "Option::is_none")]
        current: Option<String>,
        /// The levels that can be chosen.
        levels: Vec<String>,
    }
}

wire! {
    /// A page of sessions, last changed first. It is shorter than `limit` if it would exceed 768 KiB.
    SessionListResult {
        /// The sessions of this page.
        sessions: Vec<SessionInfo>,
        /// Number of sessions on all pages.
        total: u64,
        /// Which runtimes could not be asked for their sessions, and why; absent if all could.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<String>,
    }
}

words! {
    /// The order of a page of messages.
    #[derive(Default)]
    Order {
        /// Oldest first; the default.
        #[default]
        Asc,
        /// Newest first, for a screen that scrolls back.
        Desc,
    }
}

params! {
    /// Parameters of `session/messages`.
    MessagesParams {
        /// Id of the session; the runtime's own id is understood, too.
        session_id: String,
        ;
        /// The workspace that the session must belong to; any if absent.
        workspace_id: String,
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
        /// Most messages to return: 1 to 500, default 50.
        limit: u32,
        /// Messages to skip, counted in `order`; 0 if absent.
        offset: u32,
        /// The order in which to count and return; `asc` if absent.
        order: Order,
    }
}

params! {
    /// Parameters of `workspace/session/messages`.
    WorkspaceMessagesParams {
        /// The workspace that the session must belong to.
        workspace_id: String,
        /// Id of the session; the runtime's own id is understood, too.
        session_id: String,
        ;
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
        /// Most messages to return: 1 to 500, default 50.
        limit: u32,
        /// Messages to skip, counted in `order`; 0 if absent.
        offset: u32,
        /// The order in which to count and return; `asc` if absent.
        order: Order,
    }
}

impl From<WorkspaceMessagesParams> for MessagesParams {
    fn from(params: WorkspaceMessagesParams) -> Self {
        let WorkspaceMessagesParams { workspace_id, session_id, agent_type, limit, offset, order } = params;
        Self { workspace_id: Some(workspace_id), session_id, agent_type, limit, offset, order }
    }
}

wire! {
    /// A page of messages. It is shorter than `limit` if it would exceed 768 KiB.
    MessagesResult {
        /// Id of the session.
        session_id: String,
        /// The messages of this page, in the order that was requested.
        messages: Vec<Message>,
        /// Number of messages on all pages.
        total: u64,
        /// The limit that was applied.
        limit: u32,
        /// The messages that were skipped.
        offset: u32,
        /// Whether there are more messages after these.
        has_more: bool,
        /// Time it took in milliseconds.
        query_time_ms: f64,
    }
}

params! {
    /// Parameters of `session/elements`. Without `before` and `after` the last elements are returned.
    ElementsParams {
        /// Id of the session; the runtime's own id is understood, too.
        session_id: String,
        ;
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
        /// Most elements to return: 1 to 100, default 50.
        limit: u32,
        /// Return the last elements before the one with this id. An unknown id is an error.
        before: String,
        /// Return the first elements after the one with this id. An unknown id is an error.
        after: String,
    }
}

wire! {
    /// Which part of a session's elements a page contains.
    ElementsPage {
        /// Number of all elements.
        total: u64,
        /// Number of elements in this page.
        returned: u64,
        /// Whether there are elements before these; get them with `before` and `oldest_id`.
        has_more_before: bool,
        /// Whether there are elements after these; get them with `after` and `newest_id`.
        has_more_after: bool,
        /// Id of the first element here; absent if the page is empty.
        #[serde(skip_serializing_if = "Option::is_none")]
        oldest_id: Option<String>,
        /// Id of the last element here; absent if the page is empty.
        #[serde(skip_serializing_if = "Option::is_none")]
        newest_id: Option<String>,
    }
}

wire! {
    /// A page of elements.
    ElementsResult {
        /// Id of the session.
        session_id: String,
        /// The elements of this page, oldest first.
        elements: Vec<Element>,
        /// Which part of the session they are.
        pagination: ElementsPage,
    }
}

params! {
    /// Parameters of `session/watch`.
    WatchParams {
        /// Id of the session; the runtime's own id is understood, too.
        session_id: String,
        ;
        /// The workspace that the session must belong to; any if absent.
        workspace_id: String,
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
        /// A cursor: events after it are sent again first. If absent, only new events are sent.
        after: String,
    }
}

params! {
    /// Parameters of `workspace/session/watch`.
    WorkspaceWatchParams {
        /// The workspace that the session must belong to.
        workspace_id: String,
        /// Id of the session; the runtime's own id is understood, too.
        session_id: String,
        ;
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
        /// A cursor: events after it are sent again first. If absent, only new events are sent.
        after: String,
    }
}

impl From<WorkspaceWatchParams> for WatchParams {
    fn from(params: WorkspaceWatchParams) -> Self {
        let WorkspaceWatchParams { workspace_id, session_id, agent_type, after } = params;
        Self { workspace_id: Some(workspace_id), session_id, agent_type, after }
    }
}

params! {
    /// Parameters of `session/unwatch`. Without a `session_id`, one watched session that matches the others ends.
    #[derive(Default)]
    UnwatchParams {
        ;
        /// Id of the session, from `session/start` or `session/list`.
        session_id: String,
        /// Only a session of this workspace; any if absent.
        workspace_id: String,
        /// Only a session of this runtime; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
    }
}

wire! {
    /// Whether this client watches a session now.
    WatchResult {
        /// `watching` or `unwatched`.
        status: String,
        /// The same as a boolean.
        watching: bool,
        /// The session's workspace; absent if its folder belongs to none or, after `unwatch`, if none was watched.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_id: Option<String>,
        /// Id of the session; absent if none was watched.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// Events after this cursor are sent. Absent after `unwatch`, and if the client subscribed only to
        /// the format `normalized`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
    }
}

params! {
    /// Parameters of `session/delete`. Without a `session_id`, every session that matches the others is
    /// removed from lists.
    #[derive(Default)]
    DeleteParams {
        ;
        /// Id of the session, from `session/start` or `session/list`.
        session_id: String,
        /// Only sessions of this workspace; any if absent.
        workspace_id: String,
        /// Only sessions of this runtime; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
    }
}

wire! {
    /// The sessions are no longer listed. Their events stay until retention removes them.
    DeleteResult {
        /// Always `deleted`; a failure is an error.
        status: String,
        /// Number of sessions.
        deleted: u64,
        /// The session from the parameters; absent if none was named.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// The workspace from the parameters; absent if none was named.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_id: Option<String>,
    }
}

params! {
    /// Parameters of `workspace/session/history`.
    HistoryParams {
        /// Id of the workspace, from `workspace/list`.
        workspace_id: String,
        ;
        /// Most sessions to return: 1 to 500, default 50.
        limit: u32,
        /// Sessions to skip; 0 if absent.
        offset: u32,
        /// Only sessions of the runtime with this id; all if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
    }
}

wire! {
    /// One session of a workspace.
    HistoryItem {
        /// Id of the session, by the name under which it is read in a workspace's `sessions`.
        id: String,
        /// The same as `id`.
        session_id: String,
        /// Id of the workspace.
        workspace_id: String,
        /// Id of its runtime.
        agent_type: String,
        /// Its title; `(session)` if it has none yet.
        summary: String,
        /// Messages in its history; always 0 for the source `history`, because the runtime does not count them.
        message_count: u64,
        /// When it last changed.
        last_updated: Timestamp,
        /// Its working directory, absolute.
        project_path: String,
        /// `running` if it has a process or a task, else `historical`.
        status: String,
        /// Who has its record.
        source: KeptBy,
        /// When it was created; for the source `history` the same as `last_updated`.
        started_at: Timestamp,
        /// The same as `last_updated`, by the name that some clients read.
        last_active: Timestamp,
        /// Ids of the clients that watch it or have it on their screen.
        viewers: Vec<String>,
    }
}

wire! {
    /// A page of a workspace's sessions, last changed first.
    HistoryResult {
        /// The sessions of this page; fewer than `limit` if they would exceed 768 KiB.
        sessions: Vec<HistoryItem>,
        /// Number of sessions on all pages.
        total: u64,
        /// Which runtimes could not be asked for their sessions, and why; absent if all could.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<String>,
    }
}

params! {
    /// Parameters that select a session of a workspace.
    WorkspaceSessionParams {
        /// Id of the workspace, from `workspace/list`.
        workspace_id: String,
        /// Id of the session, which must belong to the workspace.
        session_id: String,
        ;
        /// Id of the runtime that the session must have; any if absent.
        #[serde(alias = "runtime", deserialize_with = "crate::unless_blank")]
        agent_type: String,
    }
}

wire! {
    /// The session is now the one that `session/start` attaches to in this workspace.
    ActivateResult {
        /// Always true; a failure is an error.
        success: bool,
        /// Id of the workspace.
        workspace_id: String,
        /// Id of the session.
        session_id: String,
        /// The result for people.
        message: String,
    }
}

wire! {
    /// The clients that have the session on their screen.
    FocusResult {
        /// Id of the workspace.
        workspace_id: String,
        /// Id of the session.
        session_id: String,
        /// Ids of the other clients that watch it or have it on their screen.
        other_viewers: Vec<String>,
        /// Number of those clients, including this one.
        viewer_count: u64,
        /// Always true; a failure is an error.
        success: bool,
    }
}
