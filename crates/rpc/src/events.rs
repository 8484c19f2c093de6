//! Following the log from afar.

use roost_model::event::NormalizedEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

words! {
    /// The form that events come in.
    #[derive(Default)]
    EventFormat {
        /// The notifications of the cdev protocol.
        #[default]
        Cdev,
        /// The log's events as they are, in batches.
        Normalized,
    }
}

params! {
    /// Which events, from where, in which form. A second subscription of the same form replaces the first.
    #[derive(Default)]
    SubscribeParams {
        ;
        /// The form.
        format: EventFormat,
        /// After this cursor, or `beginning`; absent means from now on.
        after: String,
        /// Go on after a durable cursor of this name, if there is one.
        name: String,
        /// Only these types of events.
        types: Vec<String>,
        /// Only of these sessions.
        sessions: Vec<String>,
        /// Only of these workspaces.
        workspaces: Vec<String>,
        /// Call the cdev events `agent_…` instead of `claude_…`.
        neutral_names: bool,
    }
}

wire! {
    /// Events come from here on.
    EventsSubscribeResult {
        /// The form.
        format: EventFormat,
        /// They come after this cursor.
        cursor: String,
    }
}

params! {
    /// Which form to hear no more of.
    #[derive(Default)]
    UnsubscribeParams {
        ;
        /// The form; both if absent.
        format: EventFormat,
    }
}

params! {
    /// How far a reader has come.
    AckParams {
        /// The reader's name.
        name: String,
        /// The cursor that came with the last event.
        cursor: String,
        ;
    }
}

wire! {
    /// The reader's place is kept.
    AckResult {
        /// The reader's name.
        name: String,
        /// Its place.
        cursor: String,
    }
}

params! {
    /// A page of a session's events.
    LogReadParams {
        /// Which session.
        session_id: String,
        ;
        /// After this event; 0 if absent.
        after_seq: u64,
        /// How many at most; 1000 if absent.
        limit: u32,
    }
}

/// A page of a session's events.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LogReadResult {
    /// Them, as they are stored.
    #[schemars(with = "Vec<NormalizedEvent>")]
    pub events: Vec<Box<RawValue>>,
    /// The last one here; ask again after it.
    pub last_seq: u64,
    /// There are more.
    pub has_more: bool,
}

/// `event/batch`: events as they are in the log.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EventBatch {
    /// Them.
    #[schemars(with = "Vec<NormalizedEvent>")]
    pub events: Vec<Box<RawValue>>,
    /// The place after them.
    pub cursor: String,
}

params! {
    /// A piece of something too big for an event.
    ArtifactParams {
        /// Which artifact.
        artifact_id: String,
        ;
        /// From this byte on.
        offset: u64,
        /// Bytes at most; 256 KiB if absent.
        length: u32,
    }
}

wire! {
    /// A piece of an artifact.
    ArtifactResult {
        /// Which artifact.
        artifact_id: String,
        /// `utf-8` or `base64`.
        encoding: String,
        /// The piece.
        content: String,
        /// Where it begins.
        offset: u64,
        /// How big the artifact is.
        size: u64,
    }
}
