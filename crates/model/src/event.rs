//! The event envelope, and the one table of event types from which everything about them is made.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::ids::{ClientId, RequestId, RuntimeSessionId, SessionId, TaskId, UserId};
use crate::json::present;
use crate::payload::*;
use crate::runtime::RuntimeName;
use crate::time::Timestamp;

/// The version of the payload shapes; bumped when one breaks.
pub const SCHEMA_VERSION: u32 = 1;

macro_rules! event_table {
    ($($variant:ident($payload:ty) = $name:literal),* $(,)?) => {
        /// The event types that Roost knows; others are kept and passed on as [`EventBody::Other`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum NormalizedEventType {
            $(#[doc = concat!("`", $name, "`")] #[serde(rename = $name)] $variant),*
        }

        impl NormalizedEventType {
            /// Every known type, in the table's order.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The type of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }

        /// What happened: the type and its payload, which cannot disagree.
        #[derive(Clone, Debug, PartialEq, JsonSchema)]
        #[schemars(tag = "type", content = "payload", transform = allow_other_types)]
        pub enum EventBody {
            $(#[doc = concat!("`", $name, "`")] #[schemars(rename = $name)] $variant($payload),)*
            /// A type that this version does not know.
            #[schemars(skip)]
            Other {
                /// The name on the wire.
                name: String,
                /// The payload as it came.
                payload: Value,
            },
        }

        impl EventBody {
            /// The type, if this version knows it.
            pub fn event_type(&self) -> Option<NormalizedEventType> {
                match self {
                    $(Self::$variant(_) => Some(NormalizedEventType::$variant),)*
                    Self::Other { .. } => None,
                }
            }

            fn serialize_payload<S: SerializeStruct>(&self, to: &mut S) -> Result<(), S::Error> {
                match self {
                    $(Self::$variant(payload) => to.serialize_field("payload", payload),)*
                    Self::Other { payload, .. } => to.serialize_field("payload", payload),
                }
            }

            fn parse(name: Cow<'_, str>, payload: &RawValue) -> Result<Self, serde_json::Error> {
                let text = payload.get();
                match &*name {
                    $($name => serde_json::from_str(text).map(Self::$variant),)*
                    _ => Ok(Self::Other { payload: serde_json::from_str(text)?, name: name.into_owned() }),
                }
            }
        }

        $(impl From<$payload> for EventBody {
            fn from(payload: $payload) -> Self {
                Self::$variant(payload)
            }
        })*
    };
}

event_table! {
    SessionCreated(SessionCreatedPayload) = "session.created",
    TaskStarted(TaskStartedPayload) = "task.started",
    ModelInput(ModelInputPayload) = "model.input",
    RuntimeRequestStarted(RuntimeRequestStartedPayload) = "runtime.request.started",
    RuntimeRequestCompleted(RuntimeRequestCompletedPayload) = "runtime.request.completed",
    ModelOutputDelta(ModelOutputDeltaPayload) = "model.output.delta",
    ModelOutputCompleted(ModelOutputCompletedPayload) = "model.output.completed",
    ToolCallRequested(ToolCallRequestedPayload) = "tool.call.requested",
    ToolCallPolicyEvaluated(ToolCallPolicyEvaluatedPayload) = "tool.call.policy_evaluated",
    ToolCallApproved(ToolCallApprovedPayload) = "tool.call.approved",
    ToolCallDenied(ToolCallDeniedPayload) = "tool.call.denied",
    ToolCallStarted(ToolCallStartedPayload) = "tool.call.started",
    ToolOutputDelta(ToolOutputDeltaPayload) = "tool.output.delta",
    ToolOutputCompleted(ToolOutputCompletedPayload) = "tool.output.completed",
    ToolCallCompleted(ToolCallCompletedPayload) = "tool.call.completed",
    UsageReported(UsageReportedPayload) = "usage.reported",
    TaskCompleted(TaskCompletedPayload) = "task.completed",
    TaskFailed(TaskFailedPayload) = "task.failed",
    TaskStopped(TaskStoppedPayload) = "task.stopped",
    SessionUpdated(SessionUpdatedPayload) = "session.updated",
    SessionClosed(SessionClosedPayload) = "session.closed",
    QuestionAsked(QuestionAskedPayload) = "question.asked",
    QuestionResolved(QuestionResolvedPayload) = "question.resolved",
    PlanUpdated(PlanUpdatedPayload) = "plan.updated",
    RuntimeNotice(RuntimeNoticePayload) = "runtime.notice",
    ApprovalRequested(ApprovalRequestedPayload) = "approval.requested",
    ApprovalResolved(ApprovalResolvedPayload) = "approval.resolved",
    WorkspaceAdded(WorkspaceAddedPayload) = "workspace.added",
    WorkspaceUpdated(WorkspaceUpdatedPayload) = "workspace.updated",
    WorkspaceRemoved(WorkspaceRemovedPayload) = "workspace.removed",
    DevicePaired(DevicePairedPayload) = "device.paired",
    DeviceRevoked(DeviceRevokedPayload) = "device.revoked",
    GitOperationCompleted(GitOperationCompletedPayload) = "git.operation.completed",
    GitBranchChanged(GitBranchChangedPayload) = "git.branch.changed",
    PairingLocked(PairingLockedPayload) = "pairing.locked",
    RuleRemoved(RuleRemovedPayload) = "rule.removed",
}

/// Lets the schema accept what [`EventBody::Other`] accepts, so that a client's validator does not refuse a newer event.
fn allow_other_types(schema: &mut Schema) {
    let other = json!({
        "description": "A type that this version does not know.",
        "type": "object",
        "properties": { "type": { "type": "string", "not": { "enum": NormalizedEventType::ALL } }, "payload": true },
        "required": ["type", "payload"],
    });
    if let Some(variants) = schema.get_mut("oneOf").and_then(Value::as_array_mut) {
        variants.push(other);
    }
}

impl EventBody {
    /// The name on the wire.
    pub fn name(&self) -> &str {
        match self {
            Self::Other { name, .. } => name,
            known => known.event_type().map_or("", NormalizedEventType::as_str),
        }
    }

    /// The task is over with this event.
    pub fn ends_task(&self) -> bool {
        matches!(self, Self::TaskCompleted(_) | Self::TaskFailed(_) | Self::TaskStopped(_))
    }
}

/// Whose event it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// The session.
    pub session_id: SessionId,
    /// The task within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The request to the runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// The client that caused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<ClientId>,
    /// The person that caused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<UserId>,
}

impl Trace {
    /// The trace of a session's own events.
    pub fn session(session_id: SessionId) -> Self {
        Self { session_id, task_id: None, request_id: None, client_id: None, user_id: None }
    }
}

/// The runtime that an event comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuntimeRef {
    /// Which one.
    pub name: RuntimeName,
    /// The model it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<std::sync::Arc<str>>,
    /// Its own id for the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_session_id: Option<RuntimeSessionId>,
    /// The native message, kept where ours says less.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub raw: Option<Value>,
}

impl RuntimeRef {
    /// The runtime of this name, with nothing more known.
    pub fn new(name: RuntimeName) -> Self {
        Self { name, model: None, runtime_session_id: None, raw: None }
    }
}

/// An event that the log has not numbered yet.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// When it happened.
    pub time: Timestamp,
    /// Whose it is.
    pub trace: Trace,
    /// Where it comes from.
    pub runtime: RuntimeRef,
    /// What happened.
    pub body: EventBody,
}

impl NewEvent {
    /// Something that happened to the host itself and not to a session.
    pub fn of_host(time: Timestamp, body: impl Into<EventBody>) -> Self {
        let trace = Trace::session(SessionId::host());
        Self { time, trace, runtime: RuntimeRef::new(RuntimeName::Host), body: body.into() }
    }

    /// The event with its place in the stream.
    pub fn numbered(self, seq: u64) -> NormalizedEvent {
        let Self { time, trace, runtime, body } = self;
        NormalizedEvent { schema_version: SCHEMA_VERSION, seq, time, trace, runtime, body }
    }
}

/// One durable fact, as stored and as sent.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
pub struct NormalizedEvent {
    /// The version of the payload shapes.
    pub schema_version: u32,
    /// Its place in the session's stream, from 1 without a gap.
    #[schemars(range(min = 1))]
    pub seq: u64,
    /// When it happened.
    pub time: Timestamp,
    /// Whose it is.
    pub trace: Trace,
    /// Where it comes from.
    pub runtime: RuntimeRef,
    /// What happened.
    #[schemars(flatten)]
    pub body: EventBody,
}

impl Serialize for NormalizedEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut event = serializer.serialize_struct("NormalizedEvent", 7)?;
        event.serialize_field("schema_version", &self.schema_version)?;
        event.serialize_field("seq", &self.seq)?;
        event.serialize_field("time", &self.time)?;
        event.serialize_field("type", self.body.name())?;
        event.serialize_field("trace", &self.trace)?;
        event.serialize_field("runtime", &self.runtime)?;
        self.body.serialize_payload(&mut event)?;
        event.end()
    }
}

impl<'de> Deserialize<'de> for NormalizedEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Envelope<'a> {
            schema_version: u32,
            seq: u64,
            time: Timestamp,
            #[serde(rename = "type", borrow)]
            name: Cow<'a, str>,
            trace: Trace,
            runtime: RuntimeRef,
            payload: Box<RawValue>,
        }
        let Envelope { schema_version, seq, time, name, trace, runtime, payload } =
            Envelope::deserialize(deserializer)?;
        let body = EventBody::parse(name, &payload).map_err(de::Error::custom)?;
        Ok(Self { schema_version, seq, time, trace, runtime, body })
    }
}
