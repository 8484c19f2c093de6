//! Which services are agents: a run may only be begun in the name of one, and by a trigger that it declares.

use roost_model::ids::ServiceId;
use roost_model::run::{AgentEvent, Trigger};
use roost_model::service::manifest::ServiceType;

use crate::services::Services;

/// The services of the gateway, as runs see them.
pub trait AgentServices: Send + Sync {
    /// The names of the triggers that the service declares.
    fn triggers(&self, service: &ServiceId) -> Result<Vec<String>, UnfitService>;
}

/// Why no run can be begun in the name of a service.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnfitService {
    /// Nobody declared it.
    #[error("there is no service {0}")]
    Unknown(ServiceId),
    /// It only offers tools.
    #[error("{0} is no agent; its manifest needs `serviceType: agent`")]
    NoAgent(ServiceId),
    /// Its manifest does not name this trigger.
    #[error(
        "{service} does not declare the trigger {trigger}; its manifest names those of an agent in `agent.triggers`"
    )]
    Undeclared {
        /// The agent whose manifest was looked at.
        service: ServiceId,
        /// The trigger that the event names.
        trigger: &'static str,
    },
}

impl AgentServices for Services {
    fn triggers(&self, service: &ServiceId) -> Result<Vec<String>, UnfitService> {
        let view = self.get(service).map_err(|_| UnfitService::Unknown(service.clone()))?;
        let metadata = &view.stored.manifest.metadata;
        if metadata.service_type != ServiceType::Agent {
            return Err(UnfitService::NoAgent(service.clone()));
        }
        let declared = metadata.agent.as_ref().and_then(|agent| agent.get("triggers")?.as_array());
        Ok(declared.into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_owned())).collect())
    }
}

/// Refuses an event that begins a run in the name of a service that is no such agent.
pub(super) fn check(services: Option<&dyn AgentServices>, event: &AgentEvent) -> Result<(), UnfitService> {
    let Some(service) = event.service_id.as_ref().filter(|_| event.action() == "run_created") else { return Ok(()) };
    let declared = services.ok_or_else(|| UnfitService::Unknown(service.clone()))?.triggers(service)?;
    match event.trigger().map(Trigger::name) {
        Some(trigger) if !declared.iter().any(|name| name == trigger) => {
            Err(UnfitService::Undeclared { service: service.clone(), trigger })
        }
        _ => Ok(()),
    }
}
