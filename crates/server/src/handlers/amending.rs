//! `session/start` for a session that exists: what can be changed, and what only a new session can have.

use roost_engine::Amendment;
use roost_model::mode::Mode;
use roost_model::session::SessionRecord;
use roost_rpc::{Fault, SessionStartParams};

use crate::dispatch::Context;
use crate::fault;

/// Refuses parameters that only a new session can have, instead of ignoring them.
pub(super) fn only_for_new(params: &SessionStartParams) -> Result<(), Fault> {
    let named = [
        ("env", params.env.is_some()),
        ("isolation", params.isolation.is_some()),
        ("credential_namespace", params.credential_namespace.is_some()),
        ("worktree", params.worktree == Some(true)),
        ("mcp_servers", params.mcp_servers.as_ref().is_some_and(|servers| !servers.is_empty())),
        ("runtime_config", params.runtime_config.as_ref().is_some_and(|config| !config.is_empty())),
    ];
    match named.iter().find(|(_, is_there)| *is_there) {
        None => Ok(()),
        Some((field, _)) => {
            let why =
                format_args!("{field} is for a new session and this one is there; say mode \"new\" without an id");
            Err(Fault::params(why).with("field", field))
        }
    }
}

/// Changes an existing session: its title at once, its model and mode from its next task on.
pub(super) async fn amend(
    context: &Context<'_>,
    record: SessionRecord,
    params: &SessionStartParams,
    mode: Option<Mode>,
) -> Result<SessionRecord, Fault> {
    // What it is already changes nothing, and needs no runtime that could still be used.
    let amendment = Amendment {
        title: params.title.clone().filter(|title| record.title.as_ref() != Some(title)),
        model: params.model.clone().filter(|model| record.model.as_ref() != Some(model)),
        mode: mode.filter(|mode| *mode != record.mode),
        thought_level: params.thought_level.clone(),
    };
    if amendment == Amendment::default() {
        return Ok(record);
    }
    let id = record.session_id.as_str();
    context.host.sessions.engine.amend(id, amendment).await.map_err(fault::engine)?;
    context.host.sessions.get(id).await
}
