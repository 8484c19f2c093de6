//! Services seen from the gateway: one connection to a server, whatever its transport and era.

mod address_policy;
mod call_limiter;
mod connector;
mod handshake;
mod http;
mod http_auth;
mod http_client;
mod limits;
mod login_store;
mod oauth;
mod open_call;
mod open_calls;
mod param_headers;
mod pausable_deadline;
mod peer;
mod peer_upstream;
mod probe;
mod request_params;
mod service_log;
mod sse;
mod sse_reader;
mod stdio;
mod subscriptions;
mod wasm;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};

pub use address_policy::{AddressPolicy, AddressRefused};
pub use connector::{ConnectError, ConnectTarget, Connected, Connector, ConnectorSettings, ReadVariable};
pub use limits::DefaultLimits;
pub use login_store::{LoginKey, LoginStore};
pub use oauth::{LoginRequest, PendingLogin};
use probe::bypasses_queue;
pub use probe::probe;
pub use service_log::{LogSource, ServiceLog};
pub use wasm::{GatewayAccess, ModelCall, ModelServer, ModelSettings, ModuleGateway, WasmSettings};

use crate::client_profile::ClientProfile;
use crate::era::Era;
use crate::lifecycle::ServiceFault;
use crate::raw_object::to_raw;

/// How many questions a server may ask in one call; further ones are refused, so that none can ask forever.
pub(crate) const MAX_QUESTIONS: usize = 64;

/// What a server answered: its result or its error object, as it wrote them.
pub type ServerAnswer = Result<Box<RawValue>, Box<RawValue>>;

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// It took too long.
    #[error("the service did not answer within {0:?}")]
    Timeout(Duration),
    /// The connection has ended, and why.
    #[error("the service is gone: {0}")]
    Gone(Arc<str>),
    /// This call failed through the service's fault; the connection goes on.
    #[error("the service failed: {1}")]
    Failed(ServiceFault, Arc<str>),
    /// Too many calls are waiting for their turn.
    #[error("{0} calls are waiting for the service already; try again later")]
    Busy(usize),
    /// Other calls took all of the time, so the service never saw this one.
    #[error("other calls kept the service busy for {0:?}; try again later")]
    QueueTimeout(Duration),
    /// The answer is too long to be read; how long it is may follow from what the caller asked for.
    #[error("the service failed: its answer has {bytes} bytes or more; maxPayloadBytes allows {limit}")]
    AnswerTooLarge {
        /// The bytes that are known of.
        bytes: u64,
        /// How many are allowed.
        limit: usize,
    },
    /// The caller sent too much.
    #[error("the parameters have {bytes} bytes; the service's maxPayloadBytes allows {limit}")]
    TooLarge {
        /// The bytes of the parameters.
        bytes: usize,
        /// How many are allowed.
        limit: usize,
    },
}

impl UpstreamError {
    /// Whether it says something against the service, whoever calls it with whatever arguments.
    pub fn is_fault_of_service(&self) -> bool {
        match self {
            Self::Timeout(_) | Self::Gone(_) => true,
            // The login of one principal says nothing about the calls of the others.
            Self::Failed(fault, _) => *fault != ServiceFault::Unauthorized,
            Self::Busy(_) | Self::QueueTimeout(_) | Self::TooLarge { .. } | Self::AnswerTooLarge { .. } => false,
        }
    }
}

/// What a server says outside of any call, such as that its tools changed.
#[derive(Debug)]
pub struct FromServer {
    /// What it is about.
    pub method: String,
    /// Its parameters, if it has some.
    pub params: Option<Box<RawValue>>,
}

impl FromServer {
    /// A list (`tools`, `prompts` or `resources`) may be another now.
    fn list_changed(list: &str) -> Self {
        Self { method: format!("notifications/{list}/list_changed"), params: None }
    }

    /// A resource may have another content now.
    fn resource_updated(uri: &str) -> Self {
        Self { method: "notifications/resources/updated".into(), params: Some(to_raw(&json!({ "uri": uri }))) }
    }
}

/// What a server said about itself at its handshake or when it was discovered.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerProfile {
    /// How it speaks.
    pub era: Era,
    /// What it offers (`tools`, `resources`, …), as it wrote it.
    pub capabilities: Map<String, Value>,
    /// Its name and version, as it wrote them.
    pub info: Option<Value>,
    /// How its tools are to be used, for models.
    pub instructions: Option<String>,
}

/// One request to a server.
pub struct UpstreamRequest<'a> {
    /// What the server is to do, such as `tools/call`.
    pub method: &'a str,
    /// The parameters as they came, without what an era adds to `_meta`.
    pub params: Option<&'a RawValue>,
    /// The client on whose behalf it is sent; a modern server is told its capabilities.
    pub client: &'a ClientProfile,
    /// How long the answer may take, unless the service's own limit is shorter; the time that a person takes to answer a server's request does not count.
    pub patience: Duration,
    /// Takes what the server says before it answers; without it, requests of the server are refused.
    pub interjections: Option<mpsc::Sender<Interjection>>,
}

/// What a server says in the middle of a call.
#[derive(Debug)]
pub enum Interjection {
    /// Progress, a log line or another notification of this call.
    Notification {
        /// What it is about.
        method: String,
        /// Its parameters, if it has some; a progress token in them is the one of the request's `_meta`.
        params: Option<Box<RawValue>>,
    },
    /// A legacy server needs something of the client.
    Request {
        /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
        method: String,
        /// Its parameters, if it has some.
        params: Option<Box<RawValue>>,
        /// Takes the client's result or error object; dropping it refuses.
        reply: oneshot::Sender<ServerAnswer>,
    },
}

/// Why a connection has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpstreamEnd {
    /// We closed it.
    Closed,
    /// The program ended by itself without a failure.
    Exited,
    /// It broke, or the program ended with a failure: what that says about the service, and why, for people.
    Failed(ServiceFault, Arc<str>),
}

/// One connection to a server on behalf of one principal. Calls run side by side.
#[async_trait]
pub trait Upstream: Send + Sync + 'static {
    /// What the server said about itself.
    fn profile(&self) -> &ServerProfile;

    /// Sends a request and waits for its answer. Dropping the future cancels the request at the server.
    async fn call(&self, request: UpstreamRequest<'_>) -> Result<ServerAnswer, UpstreamError>;

    /// Tells the server something that it does not answer.
    async fn notify(&self, method: &str, params: Option<&RawValue>) -> Result<(), UpstreamError>;

    /// Keeps a connection that is shared from being closed for being idle, until what it returns is dropped: between calls
    /// somebody waits for what the server says.
    fn hold(&self) -> Box<dyn Send + Sync> {
        Box::new(())
    }

    /// The tools that were listed last have been compared with what was approved: from now on calls may use what is behind
    /// them.
    fn list_reviewed(&self) {}

    /// Keeps a connection that is shared from being closed for being idle, but not from making room for somebody who needs
    /// it more: the server may remember something between calls.
    fn keep(&self) -> Box<dyn Send + Sync> {
        Box::new(())
    }

    /// Returns when the connection has ended, and why.
    async fn ended(&self) -> UpstreamEnd;

    /// Ends the connection: open calls fail, and a child process is stopped.
    async fn close(&self);
}
