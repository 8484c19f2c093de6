//! Which runtimes can be used on this machine: asks every adapter, and caches the answers for [`CACHE_TTL`].

use std::time::{Duration, Instant};

use roost_model::registry::{RuntimeAvailability, RuntimeEntry, RuntimeRegistry, RuntimeStatus};
use roost_model::time::Timestamp;
use tokio::sync::Mutex;

use crate::adapter::{Availability, RuntimeAdapter};
use crate::environment::{Homes, NAMESPACE};
use crate::registry::{RegisteredRuntime, Runtimes};

/// How long the answers of the adapters are reused.
const CACHE_TTL: Duration = Duration::from_secs(30);

/// When the adapters were last asked, and their answers in the order of the registry.
#[derive(Default)]
pub(crate) struct AvailabilityCache(Mutex<Option<(Instant, Vec<RuntimeAvailability>)>>);

impl AvailabilityCache {
    /// The registry with the availability of every runtime, from the cache if it is fresh.
    pub(crate) async fn registry(&self, runtimes: &Runtimes, homes: &Homes<'_>) -> RuntimeRegistry {
        let mut last = self.0.lock().await;
        let found = match &*last {
            Some((at, found)) if at.elapsed() < CACHE_TTL => found.clone(),
            _ => {
                let found = probe_all(runtimes, homes).await;
                *last = Some((Instant::now(), found.clone()));
                found
            }
        };
        drop(last);
        with_availability(runtimes, found)
    }
}

impl Runtimes {
    /// The registry with the availability of every runtime, asked now and without the cache.
    pub async fn surveyed(&self, homes: &Homes<'_>) -> RuntimeRegistry {
        with_availability(self, probe_all(self, homes).await)
    }
}

async fn probe_all(runtimes: &Runtimes, homes: &Homes<'_>) -> Vec<RuntimeAvailability> {
    futures::future::join_all(runtimes.iter().map(|one| probe(one, homes))).await
}

/// The registry with these answers filled in. The default is the named runtime, else the most preferred one that is
/// ready.
fn with_availability(runtimes: &Runtimes, found: Vec<RuntimeAvailability>) -> RuntimeRegistry {
    let mut registry = runtimes.registry(Timestamp::now());
    for (entry, availability) in registry.runtimes.iter_mut().zip(found) {
        entry.availability = Some(availability);
    }
    let is_ready = |entry: &RuntimeEntry| {
        // A runtime that is installed but cannot be used has a reason, such as a missing login.
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

async fn probe(one: &RegisteredRuntime, homes: &Homes<'_>) -> RuntimeAvailability {
    let missing = |reason: String| RuntimeAvailability {
        installed: false,
        version: None,
        logged_in: false,
        login: None,
        reason: Some(reason),
        note: None,
    };
    if one.status == RuntimeStatus::Disabled {
        return missing("it is disabled in roost.toml".into());
    }
    // Ephemeral folders are removed again when this guard is dropped.
    let (env, _folders) = match homes.environment(one.adapter.name().id(), NAMESPACE).await {
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
    let note = version.as_deref().and_then(|version| version_note(&*one.adapter, version));
    RuntimeAvailability { installed: true, version, logged_in: status.logged_in, login, reason, note }
}

/// What to tell people about the installed version of a runtime; `None` if Roost was tested with it.
pub fn version_note(adapter: &dyn RuntimeAdapter, version: &str) -> Option<String> {
    adapter.facts().tested?.note(adapter.display_name(), version)
}
