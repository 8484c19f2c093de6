//! Which agent a new session gets, and whether somebody is logged in to it: said before anything starts.

use roost_model::registry::{RuntimeEntry, RuntimeRegistry, RuntimeStatus};
use roost_model::runtime::RuntimeName;

use super::Args;
use crate::cli::Context;
use crate::error::Error;

/// The runtime that is named, else the default one. An error says what to do if it cannot work on a prompt.
///
/// The daemon remembers for half a minute what it saw of the agents. So that a login counts at once, whoever looks
/// unready to the daemon is looked at again from here.
pub(super) async fn runtime(
    args: &Args,
    context: &Context,
    registry: &RuntimeRegistry,
    has_prompt: bool,
) -> Result<String, Error> {
    let named = args.runtime.as_deref().map(|named| RuntimeName::from_id(named).id().to_owned());
    let id = named.as_ref().unwrap_or(&registry.default_runtime);
    let is_chosen = args.runtime.is_some() || context.settings.default_runtime.is_some();
    if !is_chosen && has_prompt && id == RuntimeName::Demo.id() {
        let now = context.backend.survey().await?;
        return match now.default_runtime == RuntimeName::Demo.id() {
            true => Err(Error::NobodyLoggedIn(ways_to_log_in(&now))),
            false => Ok(now.default_runtime),
        };
    }
    let Some(entry) = find(registry, id) else {
        let known = registry.runtimes.iter().map(|known| known.id.clone()).collect();
        return Err(Error::UnknownRuntime { id: id.clone(), known });
    };
    // A session with variables, settings or a home of its own may have a login that only it sees.
    let is_usual =
        args.env.is_empty() && args.runtime_config.is_none() && args.isolation.is_none() && args.namespace.is_none();
    if is_usual && lacks_login(entry) {
        let now = context.backend.survey().await?;
        if let Some(entry) = find(&now, id).filter(|entry| lacks_login(entry)) {
            let reason = entry.availability.as_ref().and_then(|look| look.reason.clone()).unwrap_or_default();
            return Err(Error::NotLoggedIn { id: id.clone(), reason });
        }
    }
    Ok(id.clone())
}

fn find<'a>(registry: &'a RuntimeRegistry, id: &str) -> Option<&'a RuntimeEntry> {
    registry.runtimes.iter().find(|known| known.id == id)
}

/// True if it is there, and known to have nobody logged in.
fn lacks_login(entry: &RuntimeEntry) -> bool {
    let look = entry.availability.as_ref();
    look.is_some_and(|look| look.installed && !look.logged_in && look.reason.is_some())
}

/// One line for each agent that is installed; where none is, for each that could be.
fn ways_to_log_in(registry: &RuntimeRegistry) -> Vec<String> {
    let agents = registry
        .runtimes
        .iter()
        .filter(|entry| entry.id != RuntimeName::Demo.id() && entry.status != RuntimeStatus::Disabled);
    let installed = agents.clone().filter(|entry| lacks_login(entry));
    let ways: Vec<_> = installed.map(|entry| format!("{}: roost login {}", entry.display_name, entry.id)).collect();
    if !ways.is_empty() {
        return ways;
    }
    let reason = |entry: &RuntimeEntry| {
        let look = entry.availability.as_ref()?;
        Some(format!("{}: {}", entry.display_name, look.reason.as_ref()?))
    };
    agents.filter_map(reason).collect()
}
