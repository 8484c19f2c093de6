//! Events about a runtime's process: requests to it, and output outside its protocol.

use serde::{Deserialize, Serialize};

use crate::ids::RequestId;

payload! {
    /// `runtime.request.started`: Roost sent a request to the runtime.
    RuntimeRequestStartedPayload {
        /// The same id stands in `runtime.request.completed`.
        request_id: RequestId,
        /// The method's name in the runtime's own protocol.
        method: String,
    }
}

/// How the runtime answered a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RequestStatus {
    /// With a result.
    Ok,
    /// With an error.
    Error,
}

payload! {
    /// `runtime.request.completed`: the runtime answered a request.
    RuntimeRequestCompletedPayload {
        /// The request, as in `runtime.request.started`.
        request_id: RequestId,
        /// The method's name in the runtime's own protocol.
        method: String,
        /// Whether it answered with a result or an error.
        status: RequestStatus,
        /// Time from request to answer, in milliseconds.
        duration_ms: u64,
    }
}

/// How important a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NoticeLevel {
    /// Harmless, such as a line on stderr.
    Info,
    /// Unexpected, such as a protocol message that Roost does not know.
    Warning,
    /// Something failed, such as a message that could not be read.
    Error,
}

/// Where a notice comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NoticeSource {
    /// A line on the runtime's stdout that is not part of its protocol.
    Stdout,
    /// A line on the runtime's stderr.
    Stderr,
    /// A protocol message without an event of its own; the message is in `runtime.raw`.
    Protocol,
    /// Roost's engine, about the session.
    Engine,
}

payload! {
    /// `runtime.notice`: output outside the protocol, and messages that have no event type of their own.
    RuntimeNoticePayload {
        /// How important it is.
        level: NoticeLevel,
        /// Where it comes from.
        source: NoticeSource,
        /// The line or message, for people.
        message: String,
    }
}
