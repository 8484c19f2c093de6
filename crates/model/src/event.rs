//! The event envelope, and the one table of event types from which everything about them is made.

use std::borrow::Cow;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::ids::{ClientId, RequestId, RuntimeSessionId, SessionId, TaskId, UserId};
use crate::json::present;
use crate::payload::*;
use crate::runtime::RuntimeName;
use crate::time::Timestamp;

/// Version of the payload shapes. It goes up when a payload changes in a way that old readers cannot read.
pub const SCHEMA_VERSION: u32 = 1;

macro_rules! event_table {
    ($($variant:ident($payload:ty) = $name:literal),* $(,)?) => {
        /// The event types that Roost knows; others are kept and passed on as [`EventBody::Other`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum NormalizedEventType {
            $(#[doc = concat!("`", $name, "`")] #[serde(rename = $name)] $variant),*
        }

        impl NormalizedEventType {
            /// Every known type, in the table's order.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name in an event's `type`, such as `task.started`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The type with this name; `None` if this version does not know it.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }

        /// An event's type together with its payload, so that the two cannot disagree.
        #[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(tag = "type", content = "payload", transform = crate::schema::allow_other_types))]
        pub enum EventBody {
            $(#[doc = concat!("`", $name, "`")] #[cfg_attr(feature = "schema", schemars(rename = $name))] $variant($payload),)*
            /// A type that this version does not know.
            #[cfg_attr(feature = "schema", schemars(skip))]
            Other {
                /// The unknown name, as it stood in `type`.
                name: String,
                /// The payload, unchanged.
                payload: Value,
            },
        }

        impl EventBody {
            /// The type; `None` for [`EventBody::Other`].
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
    ServiceManifestApplied(ServiceManifestAppliedPayload) = "service.manifest_applied",
    ServiceStateChanged(ServiceStateChangedPayload) = "service.state_changed",
    ServiceInterfaceRefreshed(ServiceInterfaceRefreshedPayload) = "service.interface_refreshed",
    ServiceToolsApproved(ServiceToolsApprovedPayload) = "service.tools_approved",
    ServiceRemoved(ServiceRemovedPayload) = "service.removed",
    McpToolCalled(McpToolCalledPayload) = "mcp.tool_called",
    McpBudgetExceeded(McpBudgetExceededPayload) = "mcp.budget_exceeded",
    TaskSteered(TaskSteeredPayload) = "task.steered",
}

impl EventBody {
    /// The name in an event's `type`; also for types that this version does not know.
    pub fn name(&self) -> &str {
        match self {
            Self::Other { name, .. } => name,
            known => known.event_type().map_or("", NormalizedEventType::as_str),
        }
    }

    /// Whether this event is the last one of its task.
    pub fn ends_task(&self) -> bool {
        matches!(self, Self::TaskCompleted(_) | Self::TaskFailed(_) | Self::TaskStopped(_))
    }
}

/// What an event belongs to: its session and, where there is one, the task and request that caused it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trace {
    /// The session whose stream holds the event; `host` for events of the daemon itself.
    pub session_id: SessionId,
    /// The task during which it happened; absent for events between tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The request to the runtime that it answers or belongs to; absent for all other events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// The client that caused it; absent if no client did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<ClientId>,
    /// The person behind that client; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<UserId>,
}

impl Trace {
    /// The trace of an event that belongs to a session but to no task.
    pub fn session(session_id: SessionId) -> Self {
        Self { session_id, task_id: None, request_id: None, client_id: None, user_id: None }
    }
}

/// The runtime that an event comes from, and what was known of it at that time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuntimeRef {
    /// The runtime, or `host` for the daemon's own events.
    pub name: RuntimeName,
    /// The model in use; absent until the runtime has named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<std::sync::Arc<str>>,
    /// The runtime's own id for the session; absent until the runtime has told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_session_id: Option<RuntimeSessionId>,
    /// The runtime's own message, present where the normalized payload loses some of it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub raw: Option<Value>,
}

impl RuntimeRef {
    /// The runtime of this name, with nothing more known.
    pub fn new(name: RuntimeName) -> Self {
        Self { name, model: None, runtime_session_id: None, raw: None }
    }
}

/// An event that is not stored yet: it has no `seq`.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// When it happened, by the daemon's clock.
    pub time: Timestamp,
    /// The session, task and request that it belongs to.
    pub trace: Trace,
    /// The runtime that it comes from.
    pub runtime: RuntimeRef,
    /// Its type and payload.
    pub body: EventBody,
}

impl NewEvent {
    /// A new event of the daemon itself, which belongs to no session.
    pub fn for_host(time: Timestamp, body: impl Into<EventBody>) -> Self {
        let trace = Trace::session(SessionId::host());
        Self { time, trace, runtime: RuntimeRef::new(RuntimeName::Host), body: body.into() }
    }

    /// The event with the number that the log gave it.
    pub fn numbered(self, seq: u64) -> NormalizedEvent {
        let Self { time, trace, runtime, body } = self;
        NormalizedEvent { schema_version: SCHEMA_VERSION, seq, time, trace, runtime, body }
    }
}

/// One durable fact, in the same shape in the log and on the wire.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NormalizedEvent {
    /// Version of the payload shapes; 1 in this version.
    pub schema_version: u32,
    /// Position in the session's stream: 1 for the first event, without gaps.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub seq: u64,
    /// When it happened, by the daemon's clock.
    pub time: Timestamp,
    /// The session, task and request that it belongs to.
    pub trace: Trace,
    /// The runtime that it comes from.
    pub runtime: RuntimeRef,
    /// Its type and payload.
    #[cfg_attr(feature = "schema", schemars(flatten))]
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
