//! Prepares `roost login`: a runtime's login, checked in the environment of its sessions.

use roost_cli::{Login, LoginCommand, StateDir};
use roost_engine::adapter::Availability;
use roost_engine::{Homes, NAMESPACE};
use roost_process::Isolation;

use crate::compose;
use crate::config::Config;
use crate::error::Error;

/// Checks a runtime's login in the home of this namespace; without one, in the home that its sessions use.
pub(crate) async fn prepare(
    state: &StateDir,
    config: &Config,
    id: String,
    namespace: Option<&str>,
) -> Result<Login, Error> {
    let runtimes = compose::runtimes(state, config)?;
    let Ok(adapter) = runtimes.usable(&id) else {
        return Err(match runtimes.ids().contains(&id) {
            true => roost_engine::Error::RuntimeDisabled(id).into(),
            false => roost_cli::Error::UnknownRuntime { id, known: runtimes.ids() }.into(),
        });
    };
    let (environments, isolation) = (compose::environments(state), compose::isolation(config));
    let homes = Homes { environments: &environments, isolation: &isolation };
    let isolation = match namespace {
        Some(_) => Isolation::Namespaced,
        None => homes.isolation(&id),
    };
    if isolation == Isolation::Ephemeral {
        return Err(roost_cli::Error::EphemeralLogin(id).into());
    }
    let (env, _) = homes.kept_apart(isolation, namespace.unwrap_or(NAMESPACE)).await?;
    if let Availability::Missing { reason } = adapter.availability(&env).await {
        return Err(roost_cli::Error::NotInstalled { id, reason }.into());
    }
    let command =
        adapter.login(&env).map(|login| LoginCommand { program: login.program, args: login.args, env: login.env });
    Ok(Login { status: adapter.auth_status(&env).await, hint: adapter.ensure_login(&env).await, command, isolation })
}
