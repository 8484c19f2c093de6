//! Text search over what was said in sessions.

use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};

params! {
    /// Parameters of `session/search`.
    SessionSearchParams {
        /// Words, of which each must occur in the same prompt, answer or tool call; upper and lower case are the same.
        query: String,
        ;
        /// Most hits: 1 to 100, default 20.
        limit: u32,
        /// Sessions to skip, the latest first: `next_offset` of the call before; 0 if absent.
        offset: u32,
    }
}

words! {
    /// What a hit was found in.
    SearchHitKind {
        /// What somebody said to the agent.
        Prompt,
        /// What the agent said.
        Answer,
        /// The name or the arguments of a tool call.
        ToolCall,
    }
}

wire! {
    /// A place in a session where all words of a search occur.
    SearchHit {
        /// Id of the session.
        session_id: String,
        /// Number of the event in its session.
        seq: u64,
        /// When it happened.
        time: Timestamp,
        /// What it was found in.
        kind: SearchHitKind,
        /// The words around the first one that was found, on one line; `…` where something is left out.
        excerpt: String,
    }
}

wire! {
    /// What `session/search` found in a bounded part of the log.
    SessionSearchResult {
        /// The hits, those of the latest session first and of each session the latest; three of a session at most.
        hits: Vec<SearchHit>,
        /// Number of sessions that this call looked at.
        searched: u64,
        /// `offset` of the call that goes on; absent if all sessions were looked at.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_offset: Option<u32>,
    }
}
