//! Which runtimes can be used on this machine, looked at now and then.

use std::time::{Duration, Instant};

use roost_model::registry::{RuntimeAvailability, RuntimeEntry, RuntimeRegistry, RuntimeStatus};
use roost_model::time::Timestamp;
use tokio::sync::Mutex;

use crate::adapter::Availability;
use crate::environment::{Homes, NAMESPACE};
use crate::registry::{Registered, Runtimes};

/// How long what was found counts.
const FRESH: Duration = Duration::from_secs(30);

/// What was found at the last look, by the order of the registry.
#[derive(Default)]
pub(crate) struct Looks(Mutex<Option<(Instant, Vec<RuntimeAvailability>)>>);

impl Looks {
    /// The registry with what each runtime says of itself, and the default that follows from it.
    pub(crate) async fn registry(&self, runtimes: &Runtimes, homes: &Homes<'_>) -> RuntimeRegistry {
        let mut last = self.0.lock().await;
        let found = match &*last {
            Some((at, found)) if at.elapsed() < FRESH => found.clone(),
            _ => {
                let found = look_at_all(runtimes, homes).await;
                *last = Some((Instant::now(), found.clone()));
                found
            }
        };
        drop(last);
        completed(runtimes, found)
    }
}

impl Runtimes {
    /// The registry with what each runtime says of itself in its own environment, looked at now.
    pub async fn surveyed(&self, homes: &Homes<'_>) -> RuntimeRegistry {
        completed(self, look_at_all(self, homes).await)
    }
}

async fn look_at_all(runtimes: &Runtimes, homes: &Homes<'_>) -> Vec<RuntimeAvailability> {
    futures::future::join_all(runtimes.iter().map(|one| look(one, homes))).await
}

/// The registry with what was found, and the default that follows from it: the named one, else the most preferred of
/// those that are ready.
fn completed(runtimes: &Runtimes, found: Vec<RuntimeAvailability>) -> RuntimeRegistry {
    let mut registry = runtimes.registry(Timestamp::now());
    for (entry, availability) in registry.runtimes.iter_mut().zip(found) {
        entry.availability = Some(availability);
    }
    let is_ready = |entry: &RuntimeEntry| {
        // What is in the way of one that is installed is its reason.
        entry.availability.as_ref().is_some_and(|look| look.installed && look.reason.is_none())
            && entry.status != RuntimeStatus::Disabled
    };
    let preferred = || {
        let ready = runtimes.iter().zip(&registry.runtimes).filter(|(_, entry)| is_ready(entry));
        let ranked = ready.filter_map(|(one, entry)| Some((one.adapter.facts().preference?, &entry.id)));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, id)| id.clone())
    };
    if let Some(default) = runtimes.named_default().map(ToOwned::to_owned).or_else(preferred) {
        registry.routing.default_agent_type.clone_from(&default);
        registry.default_runtime = default;
    }
    registry
}

async fn look(one: &Registered, homes: &Homes<'_>) -> RuntimeAvailability {
    let missing = |reason: String| RuntimeAvailability {
        installed: false,
        version: None,
        logged_in: false,
        login: None,
        reason: Some(reason),
    };
    if one.status == RuntimeStatus::Disabled {
        return missing("it is disabled in roost.toml".into());
    }
    // What belongs to nobody's session is gone again after the look.
    let (env, _folders) = match homes.of(one.adapter.name().id(), NAMESPACE).await {
        Ok(env) => env,
        Err(error) => return missing(error.to_string()),
    };
    let version = match one.adapter.availability(&env).await {
        Availability::Installed { version } => version,
        Availability::Missing { reason } => return missing(reason),
    };
    let status = one.adapter.auth_status(&env).await;
    let reason = if status.is_ready() { None } else { one.adapter.ensure_login(&env).await };
    let login = Some(status.summary().into());
    RuntimeAvailability { installed: true, version, logged_in: status.logged_in, login, reason }
}
