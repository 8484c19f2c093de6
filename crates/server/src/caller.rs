//! The identity of a caller: its transport, its scope and its device.

use roost_model::approval::Answerer;
use roost_model::ids::{ClientId, UserId};
use roost_rpc::{Fault, FaultCode, Method, Needs, Scope};
use uuid::Uuid;

use crate::agents::Agent;

/// The transport over which a caller reached the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// The local socket: the user of this machine.
    Local,
    /// A WebSocket over TCP, admitted by its token.
    WebSocket,
    /// A single HTTP request, admitted by its token. It has no connection, so it cannot follow events.
    Http,
}

impl Door {
    /// The transport's name, as events record it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::WebSocket => "websocket",
            Self::Http => "http",
        }
    }
}

/// Who calls, and what they may do; one per connection, or per HTTP request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// A random id, new for each connection or HTTP request.
    pub client_id: ClientId,
    /// The transport, which decides what a local-only parameter may hold.
    pub door: Door,
    /// The most that this caller may do; compared with each method's own scope.
    pub scope: Scope,
    /// The paired device behind it; absent at the local door and where no token is asked for.
    pub device: Option<Device>,
    /// The hosted agent that it is a process of.
    pub agent: Option<Agent>,
}

/// A paired device, as calls are counted and recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    /// Its id, which stays the same when its tokens are refreshed.
    pub id: String,
    /// The name that people gave it, for the record.
    pub name: String,
}

impl Caller {
    /// A caller with a new client id that is no agent's process.
    pub(crate) fn new(door: Door, scope: Scope, device: Option<Device>) -> Self {
        Self { client_id: ClientId::from(Uuid::new_v4().to_string()), door, scope, device, agent: None }
    }

    /// Refuses a method whose scope is beyond the caller's.
    pub(crate) fn may(&self, method: Method) -> Result<(), Fault> {
        if self.scope >= method.scope() {
            return Ok(());
        }
        let why =
            format_args!("{} needs the scope {:?}; this token has {:?}", method.name(), method.scope(), self.scope);
        Err(Fault::new(FaultCode::Forbidden, why).with("scope", self.scope).with("needs", method.scope()))
    }

    /// Whether this caller is what a parameter needs.
    pub(crate) fn is(&self, needs: Needs) -> bool {
        match needs {
            Needs::Operate => true,
            Needs::Admin => self.scope >= Scope::Admin,
            Needs::Local => self.is_owner(),
        }
    }

    /// Whether the caller is the user at the machine, who may do everything.
    pub(crate) fn is_owner(&self) -> bool {
        self.door == Door::Local && self.scope >= Scope::Admin
    }

    /// The key of its rate limits: the device's id, or the transport's name where there is no device.
    pub(crate) fn account(&self) -> &str {
        self.device.as_ref().map_or(self.door.as_str(), |device| &device.id)
    }

    /// The caller in the form in which events record who answered.
    pub(crate) fn answerer(&self) -> Answerer {
        Answerer {
            client_id: Some(self.client_id.clone()),
            user_id: self.device.as_ref().map(|device| UserId::from(device.name.as_str())),
            from: Some(self.door.as_str().into()),
        }
    }
}
