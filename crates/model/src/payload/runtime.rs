//! Requests to the runtime, and what it says beside its protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::RequestId;

payload! {
    /// `runtime.request.started`: a request went to the runtime.
    RuntimeRequestStartedPayload {
        /// Which one.
        request_id: RequestId,
        /// The runtime's name for it.
        method: String,
    }
}

/// How a request to a runtime ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RequestStatus {
    /// It was answered.
    Ok,
    /// It was answered with an error.
    Error,
}

payload! {
    /// `runtime.request.completed`: the runtime answered.
    RuntimeRequestCompletedPayload {
        /// Which one.
        request_id: RequestId,
        /// The runtime's name for it.
        method: String,
        /// How it ended.
        status: RequestStatus,
        /// How long it took.
        duration_ms: u64,
    }
}

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something was odd.
    Warning,
    /// Something went wrong.
    Error,
}

/// Where a notice comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NoticeSource {
    /// A line on stdout that is not protocol.
    Stdout,
    /// A line on stderr.
    Stderr,
    /// A protocol message that means nothing to us; kept raw.
    Protocol,
    /// Roost itself.
    Engine,
}

payload! {
    /// `runtime.notice`: noise, stderr, and native messages without a meaning of their own.
    RuntimeNoticePayload {
        /// How much it matters.
        level: NoticeLevel,
        /// Where it comes from.
        source: NoticeSource,
        /// What it says.
        message: String,
    }
}
