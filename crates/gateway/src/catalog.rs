//! What all running services offer, as one snapshot.

use std::sync::Arc;

use roost_model::ids::ServiceId;
use roost_model::service::{Health, Lifecycle};
use roost_model::time::Timestamp;
use serde_json::value::RawValue;

use crate::era::Era;
use crate::namespace::Namespace;
use crate::principal::Principal;
use crate::upstream::ServerProfile;

/// The extension by which modern services have tasks.
pub(crate) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// What all running services offer at one moment. A new one is made at each change.
#[derive(Debug, Default)]
pub struct Catalog {
    /// Grows with each change; clients' lists are cached by it.
    pub generation: u64,
    /// The services that can be used now, ordered by namespace.
    pub services: Vec<Arc<OfferedService>>,
    /// The enabled services that cannot be used now, ordered by namespace.
    pub missing: Vec<MissingService>,
}

/// Who sees a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everybody who may use tools.
    Everyone,
    /// Everybody but hosted agents.
    People,
    /// The user of this machine and the agents that work for them; no paired devices.
    Owner,
}

/// Who looks, as far as it decides what is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Viewer {
    /// The user of this machine, who sees everything.
    Local,
    /// A paired device.
    Device,
    /// A hosted agent.
    Agent,
}

impl From<&Principal> for Viewer {
    fn from(principal: &Principal) -> Self {
        match principal {
            Principal::Local => Self::Local,
            Principal::Device(_) => Self::Device,
            Principal::Session(_) => Self::Agent,
        }
    }
}

impl Audience {
    /// Whether what this audience sees is seen by this viewer.
    pub fn includes(self, viewer: Viewer) -> bool {
        match self {
            Self::Everyone => true,
            Self::People => viewer != Viewer::Agent,
            Self::Owner => viewer != Viewer::Device,
        }
    }
}

/// A service that can be used, with the part of its interface that policy and approvals let through.
#[derive(Debug)]
pub struct OfferedService {
    /// The id by which its connections and its records name it.
    pub id: ServiceId,
    /// The prefix of its names.
    pub namespace: Namespace,
    /// Who sees it.
    pub audience: Audience,
    /// Who of them sees what it has beside tools.
    pub content_audience: Audience,
    /// What the service said about itself.
    pub profile: ServerProfile,
    /// Until when the service says that its lists are good; `None` if it promises nothing.
    pub good_until: Option<Timestamp>,
    /// Its approved and allowed tools, in the service's order.
    pub tools: Vec<ListedItem>,
    /// Its resources, by address.
    pub resources: Vec<ListedItem>,
    /// Its templates of addresses.
    pub resource_templates: Vec<ListedItem>,
    /// Its prompts, in the order of the service.
    pub prompts: Vec<ListedItem>,
}

impl OfferedService {
    /// Whether it speaks as clients of this era do.
    pub(crate) fn speaks_as(&self, era: &Era) -> bool {
        std::mem::discriminant(&self.profile.era) == std::mem::discriminant(era)
    }

    /// Whether clients of this era can have calls of it run as tasks.
    pub(crate) fn has_tasks(&self, era: &Era) -> bool {
        let capabilities = &self.profile.capabilities;
        let extension = || capabilities.get("extensions")?.get(TASKS_EXTENSION);
        self.speaks_as(era) && (capabilities.contains_key("tasks") || extension().is_some())
    }
}

/// One entry of a list, as the service wrote it.
#[derive(Clone, Debug)]
pub struct ListedItem {
    /// The name, address or template by which the service knows it.
    pub key: String,
    /// The whole entry.
    pub definition: Box<RawValue>,
}

/// An enabled service that cannot be used now, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingService {
    /// The id under which its state can be looked up.
    pub id: ServiceId,
    /// The prefix that its names would have.
    pub namespace: Namespace,
    /// Where it is in its life.
    pub lifecycle: Lifecycle,
    /// What the last look found.
    pub health: Health,
    /// Why it cannot be used, for people; it may have words of the service itself.
    pub reason: String,
}

impl MissingService {
    /// Why it cannot be used, in words of ours alone.
    pub fn state(&self) -> &'static str {
        state_of(self.lifecycle)
    }
}

/// Where a service that cannot be used is in its life, in words.
pub(crate) fn state_of(lifecycle: Lifecycle) -> &'static str {
    match lifecycle {
        Lifecycle::Running => "it cannot be reached",
        Lifecycle::Registered => "it was not started yet",
        Lifecycle::Starting => "it is starting",
        Lifecycle::Stopping => "it is being stopped",
        Lifecycle::Stopped => "it is stopped",
        Lifecycle::Crashed => "it failed",
        Lifecycle::Quarantined => "it is quarantined",
    }
}
