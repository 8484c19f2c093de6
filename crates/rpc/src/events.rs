//! The methods for subscriptions to the log, and for reading it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

words! {
    /// The form in which a subscription sends events.
    #[derive(Default)]
    EventFormat {
        /// One notification `event/<name>` for everything that a screen shows.
        #[default]
        Cdev,
        /// The log's own events in batches, as `event/batch`.
        Normalized,
    }
}

params! {
    /// Parameters of `events/subscribe`. A second subscription of the same format replaces the first.
    #[derive(Default)]
    SubscribeParams {
        ;
        /// The form of the events; `cdev` if absent.
        format: EventFormat,
        /// The cursor after which to resume, or `beginning` for the oldest event that is still stored. If absent, only
        /// new events are sent.
        after: String,
        /// Resume after the cursor that `events/ack` stored under this name, 1 to 100 characters. `after` wins; without
        /// a stored cursor only new events are sent.
        name: String,
        /// Only events with these names; all if absent or empty, except `agent_message_delta`, which must be named.
        types: Vec<String>,
        /// Only events of these sessions; all if absent or empty.
        sessions: Vec<String>,
        /// Only events of these workspaces; all if absent or empty.
        workspaces: Vec<String>,
        /// Whether events named `claude_…` are called `agent_…`; false if absent. Only for the format `cdev`.
        neutral_names: bool,
    }
}

wire! {
    /// The subscription is active.
    EventsSubscribeResult {
        /// The form of the events.
        format: EventFormat,
        /// Events after this cursor will be sent.
        cursor: String,
    }
}

params! {
    /// Parameters of `events/unsubscribe`.
    #[derive(Default)]
    UnsubscribeParams {
        ;
        /// The format whose subscription ends; both if absent.
        format: EventFormat,
    }
}

params! {
    /// Parameters of `events/ack`.
    AckParams {
        /// Name of the reader, 1 to 100 characters; each device has its own names.
        name: String,
        /// The cursor of the last event that the reader has processed.
        cursor: String,
        ;
    }
}

wire! {
    /// The cursor is stored.
    AckResult {
        /// Name of the reader.
        name: String,
        /// The cursor that `events/subscribe` with this name resumes after.
        cursor: String,
    }
}

params! {
    /// Parameters of `log/read`.
    LogReadParams {
        /// Id of the session, from `session/start` or `session/list`.
        session_id: String,
        ;
        /// Return events after this `seq`; 0 if absent, which is the beginning.
        after_seq: u64,
        /// Return the last events before this `seq` instead, for a screen that scrolls back. A number beyond the end, such as
        /// 9007199254740991, is the end.
        before_seq: u64,
        /// Only events of these types, such as `plan.updated`; needs `before_seq`. All if absent or empty.
        types: Vec<String>,
        /// Most events to return: 1 to 10000, default 1000. Fewer are returned if they would exceed 768 KiB.
        limit: u32,
    }
}

/// A page of a session's events.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogReadResult {
    /// The events in order, as they are stored.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<roost_model::event::NormalizedEvent>"))]
    pub events: Vec<Box<RawValue>>,
    /// `seq` of the last event here, or `after_seq` if there is none. Pass it as `after_seq` for the next page.
    pub last_seq: u64,
    /// Whether there are more events after these; with `before_seq`, before these.
    pub has_more: bool,
}

/// `event/batch`: events as they are in the log, for the format `normalized`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventBatch {
    /// The events in order.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<roost_model::event::NormalizedEvent>"))]
    pub events: Vec<Box<RawValue>>,
    /// The cursor after the last of them; pass it as `after` to resume.
    pub cursor: String,
}

params! {
    /// Parameters of `artifact/read`.
    ArtifactParams {
        /// Id of the artifact, from an event.
        artifact_id: String,
        ;
        /// First byte to return, from 0; 0 if absent.
        offset: u64,
        /// Most bytes to return: 1 to 512 KiB, default 256 KiB.
        length: u32,
    }
}

wire! {
    /// A piece of an artifact.
    ArtifactResult {
        /// Id of the artifact.
        artifact_id: String,
        /// Encoding of `content`: `utf-8` if the piece is valid text, else `base64`.
        encoding: String,
        /// The bytes of the piece, in `encoding`.
        content: String,
        /// Position of its first byte.
        offset: u64,
        /// Size of the whole artifact in bytes.
        size: u64,
    }
}
