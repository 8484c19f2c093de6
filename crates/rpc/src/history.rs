//! Reading sessions: lists, messages, elements, and watching them.

use roost_model::session::SessionRecord;
use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conversation::Message;
use crate::element::Element;

words! {
    /// Who keeps a session.
    KeptBy {
        /// Roost.
        Managed,
        /// Only its runtime: it began in a terminal, and goes on here when it is prompted.
        History,
    }
}

params! {
    /// Which sessions.
    #[derive(Default)]
    SessionListParams {
        ;
        /// Of this runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
        /// Of this workspace.
        workspace_id: String,
        /// Of this folder.
        cwd: String,
        /// Kept by Roost, or by runtimes only; both if absent.
        source: KeptBy,
        /// How many at most; 50 if absent.
        limit: u32,
        /// How many to pass over.
        offset: u32,
    }
}

wire! {
    /// One session of a list.
    SessionInfo {
        /// Its id.
        session_id: String,
        /// Its runtime.
        agent_type: String,
        /// A name for people.
        summary: String,
        /// The first prompt's beginning.
        #[serde(skip_serializing_if = "Option::is_none")]
        first_prompt: Option<String>,
        /// Tasks so far.
        task_count: u64,
        /// Messages so far; 0 where only its runtime keeps it, which does not count them.
        message_count: u64,
        /// When it began.
        start_time: Timestamp,
        /// When it last changed.
        last_updated: Timestamp,
        /// `running` or `historical`.
        status: String,
        /// Who keeps it.
        source: KeptBy,
        /// Its workspace.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_id: Option<String>,
        /// Its folder.
        project_path: String,
        /// Its model.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Who looks at it.
        viewers: Vec<String>,
        /// Everything that is known of it.
        record: SessionRecord,
    }
}

wire! {
    /// Some sessions, the latest first; fewer than asked for where a frame would grow too big.
    SessionListResult {
        /// Them.
        sessions: Vec<SessionInfo>,
        /// How many there are in all.
        total: u64,
        /// What could not be looked at, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<String>,
    }
}

words! {
    /// The order of a page.
    #[derive(Default)]
    Order {
        /// The oldest first.
        #[default]
        Asc,
        /// The newest first.
        Desc,
    }
}

params! {
    /// A page of messages.
    MessagesParams {
        /// Of which session.
        session_id: String,
        ;
        /// Its workspace.
        workspace_id: String,
        /// Its runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
        /// How many at most: 50 if absent, 500 at most.
        limit: u32,
        /// How many to pass over.
        offset: u32,
        /// The order that limit and offset count in.
        order: Order,
    }
}

wire! {
    /// A page of messages; shorter than asked for where a frame would grow too big.
    MessagesResult {
        /// Of which session.
        session_id: String,
        /// Them.
        messages: Vec<Message>,
        /// How many there are in all.
        total: u64,
        /// How many were asked for.
        limit: u32,
        /// How many were passed over.
        offset: u32,
        /// There are more after these.
        has_more: bool,
        /// How long it took.
        query_time_ms: f64,
    }
}

params! {
    /// A page of elements.
    ElementsParams {
        /// Of which session.
        session_id: String,
        ;
        /// Its runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
        /// How many at most: 50 if absent, 100 at most.
        limit: u32,
        /// Those before this element.
        before: String,
        /// Those after this element.
        after: String,
    }
}

wire! {
    /// Where a page of elements stands.
    ElementsPage {
        /// How many there are in all.
        total: u64,
        /// How many are here.
        returned: u64,
        /// There are older ones.
        has_more_before: bool,
        /// There are newer ones.
        has_more_after: bool,
        /// The first one here.
        #[serde(skip_serializing_if = "Option::is_none")]
        oldest_id: Option<String>,
        /// The last one here.
        #[serde(skip_serializing_if = "Option::is_none")]
        newest_id: Option<String>,
    }
}

wire! {
    /// A page of elements.
    ElementsResult {
        /// Of which session.
        session_id: String,
        /// Them.
        elements: Vec<Element>,
        /// Where the page stands.
        pagination: ElementsPage,
    }
}

params! {
    /// A session to watch.
    WatchParams {
        /// Which.
        session_id: String,
        ;
        /// Its workspace.
        workspace_id: String,
        /// Its runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
        /// Send again what came after this cursor.
        after: String,
    }
}

params! {
    /// A session to watch no more; one of the runtime's, or any, if none is named.
    #[derive(Default)]
    UnwatchParams {
        ;
        /// Which.
        session_id: String,
        /// Its workspace.
        workspace_id: String,
        /// Its runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
    }
}

wire! {
    /// Whether a session is watched now.
    WatchResult {
        /// `watching` or `unwatched`.
        status: String,
        /// It is.
        watching: bool,
        /// Its workspace.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_id: Option<String>,
        /// Which.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// What comes comes after this cursor.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
    }
}

params! {
    /// A session to forget; all of a runtime, or all, if none is named.
    #[derive(Default)]
    DeleteParams {
        ;
        /// Which.
        session_id: String,
        /// Its workspace.
        workspace_id: String,
        /// Its runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
    }
}

wire! {
    /// Sessions that are no longer listed.
    DeleteResult {
        /// `deleted`.
        status: String,
        /// How many.
        deleted: u64,
        /// Which, if one was named.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// Its workspace.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_id: Option<String>,
    }
}

params! {
    /// The sessions of a workspace.
    HistoryParams {
        /// Which.
        workspace_id: String,
        ;
        /// How many at most; 50 if absent.
        limit: u32,
        /// How many to pass over.
        offset: u32,
        /// Of this runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
    }
}

wire! {
    /// One session of a workspace.
    HistoryItem {
        /// Its id.
        session_id: String,
        /// Its workspace.
        workspace_id: String,
        /// Its runtime.
        agent_type: String,
        /// A name for people.
        summary: String,
        /// Messages so far; 0 where only its runtime keeps it, which does not count them.
        message_count: u64,
        /// When it last changed.
        last_updated: Timestamp,
        /// Its folder.
        project_path: String,
        /// `running` or `historical`.
        status: String,
        /// Who keeps it.
        source: KeptBy,
        /// When it began.
        started_at: Timestamp,
        /// When it last changed.
        last_active: Timestamp,
        /// Who looks at it.
        viewers: Vec<String>,
    }
}

wire! {
    /// The sessions of a workspace, the latest first.
    HistoryResult {
        /// Them.
        sessions: Vec<HistoryItem>,
        /// How many there are in all.
        total: u64,
        /// What could not be looked at, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<String>,
    }
}

params! {
    /// A session of a workspace.
    WorkspaceSessionParams {
        /// The workspace.
        workspace_id: String,
        /// The session.
        session_id: String,
        ;
        /// Its runtime.
        #[serde(alias = "runtime")]
        agent_type: String,
    }
}

wire! {
    /// The session is the workspace's current one.
    ActivateResult {
        /// Always true.
        success: bool,
        /// The workspace.
        workspace_id: String,
        /// The session.
        session_id: String,
        /// For people.
        message: String,
    }
}

wire! {
    /// Who else looks at the session.
    FocusResult {
        /// The workspace.
        workspace_id: String,
        /// The session.
        session_id: String,
        /// The others.
        other_viewers: Vec<String>,
        /// How many look, this client included.
        viewer_count: u64,
        /// Always true.
        success: bool,
    }
}
