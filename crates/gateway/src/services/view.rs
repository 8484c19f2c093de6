//! A service as others see it: one snapshot after each change.

use std::sync::Arc;

use roost_model::ids::ServiceId;
use roost_model::service::{Health, Lifecycle};
use roost_model::time::Timestamp;

use super::interface::Interface;
use super::review::ReviewedTool;
use super::stored::StoredService;
use crate::catalog::{Audience, ListedItem, MissingService, OfferedService, state_of};
use crate::lifecycle::ServiceLife;

/// A service at one moment.
#[derive(Clone, Debug)]
pub struct ServiceView {
    /// The id that follows from its manifest.
    pub id: ServiceId,
    /// What is declared and approved.
    pub stored: Arc<StoredService>,
    /// Where it is in its life.
    pub life: ServiceLife,
    /// What is being done to start it; absent unless it starts and that takes its time.
    pub progress: Option<String>,
    /// Since when it runs.
    pub running_since: Option<Timestamp>,
    /// When it last answered a probe or a list.
    pub last_answer: Option<Timestamp>,
    /// What it offers, as it was listed last; kept while it does not run.
    pub interface: Option<Arc<Interface>>,
    /// Whether what it lists is meant for the user of this machine alone: it says so, and they are logged in at it.
    pub is_private: bool,
    /// What was decided about each of its tools.
    pub tools: Arc<[ReviewedTool]>,
    /// What clients may use of it; absent unless it runs.
    pub offered: Option<Arc<OfferedService>>,
}

impl ServiceView {
    /// A service that was never started.
    pub(super) fn new(id: ServiceId, stored: Arc<StoredService>) -> Self {
        let life = match &stored.quarantine {
            None => ServiceLife::default(),
            Some(reason) => ServiceLife::quarantined(reason.clone()),
        };
        Self {
            id,
            stored,
            life,
            progress: None,
            running_since: None,
            last_answer: None,
            interface: None,
            is_private: false,
            tools: Arc::default(),
            offered: None,
        }
    }

    /// The part of the interface that clients may use.
    pub fn offer(&self) -> Option<Arc<OfferedService>> {
        let interface = self.interface.as_ref().filter(|_| self.life.lifecycle == Lifecycle::Running)?;
        let offered = interface.tools.iter().zip(&*self.tools).filter(|(_, review)| review.is_offered());
        let is_trusted = self.is_trusted();
        let copied = |items: &[ListedItem]| if is_trusted { items.to_vec() } else { Vec::new() };
        let mut profile = interface.profile.clone();
        profile.instructions = profile.instructions.filter(|_| is_trusted);
        Some(Arc::new(OfferedService {
            id: self.id.clone(),
            namespace: self.stored.namespace(),
            audience: Audience::Everyone,
            content_audience: if self.is_private { Audience::Owner } else { Audience::Everyone },
            profile,
            good_until: interface.good_until(),
            tools: offered.map(|(tool, _)| tool.clone()).collect(),
            resources: copied(&interface.resources),
            resource_templates: copied(&interface.resource_templates),
            prompts: copied(&interface.prompts),
        }))
    }

    /// Whether agents may read what it says besides its tools. While all of its tools wait for an approval, nobody has looked
    /// at it yet.
    pub fn is_trusted(&self) -> bool {
        if !self.stored.is_approved() {
            return false;
        }
        let mut held_back = self.tools.iter().filter(|review| review.is_held_back()).peekable();
        held_back.peek().is_none() || self.tools.iter().any(ReviewedTool::is_offered)
    }

    /// Why clients cannot use it; `None` if they can, or if nobody wants it to run. One that runs and could not be reached
    /// just now is named, though what it offers is still listed.
    pub(super) fn missing(&self) -> Option<MissingService> {
        let lifecycle = self.life.lifecycle;
        let is_usable = lifecycle == Lifecycle::Running && self.life.health != Health::Unreachable;
        if is_usable || !self.stored.manifest.spec.enabled {
            return None;
        }
        let reason = state_of(lifecycle);
        let reason = match &self.life.last_error {
            Some(error) => format!("{reason}: {error}"),
            None => reason.to_owned(),
        };
        let (id, namespace) = (self.id.clone(), self.stored.namespace());
        Some(MissingService { id, namespace, lifecycle, health: self.life.health, reason })
    }
}
