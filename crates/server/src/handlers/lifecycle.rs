//! `initialize`, `shutdown` and `status/*`.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::join_all;
use roost_log::{Health, Start};
use roost_model::registry::{RuntimeRegistry, RuntimeStatus};
use roost_rpc::notification::EventName;
use roost_rpc::{
    Empty, EventFormat, Fault, HealthResult, InitializeParams, InitializeResult, NoParams, PROTOCOL_VERSION,
    SERVER_NAME, ServerCapabilities, ServerInfo, StatusResult, Success,
};
use serde_json::json;

use super::{agent, routing, run, service, shape};
use crate::caller::Door;
use crate::cdev::notify::Naming;
use crate::connection::Connection;
use crate::dispatch::Context;
use crate::fault;
use crate::feed::{DELTA_EVENT, Feed, Selection};
use crate::host::Host;

pub(crate) async fn initialize(context: &Context<'_>, params: InitializeParams) -> Result<InitializeResult, Fault> {
    if let Some(connection) = context.connection {
        connection.initialize();
        // The local door's clients say what they want to follow.
        if context.caller.door != Door::Local {
            follow_usual(context.host, connection, wants_deltas(&params)).await?;
        }
    }
    let info = ServerInfo { name: SERVER_NAME.into(), version: context.host.daemon.version.clone() };
    Ok(InitializeResult {
        protocol_version: PROTOCOL_VERSION.into(),
        server_info: info.clone(),
        server_info_snake: info,
        capabilities: capabilities(context).await,
        client_id: context.caller.client_id.to_string(),
    })
}

/// Whether the client names `agent_message_delta` among the notifications that it can take.
fn wants_deltas(params: &InitializeParams) -> bool {
    let named = params.capabilities.as_ref().and_then(|capabilities| capabilities.get("notifications")?.as_array());
    named.is_some_and(|names| names.iter().any(|name| name == DELTA_EVENT))
}

/// Starts the default cdev feed; a second `initialize` changes nothing.
async fn follow_usual(host: &Arc<Host>, connection: &Arc<Connection>, deltas: bool) -> Result<(), Fault> {
    if !connection.feeds().is_empty() {
        return Ok(());
    }
    let selection = Selection::Usual { deltas };
    let follower = host.sessions.log.follow(selection.filter(), Start::Now).await.map_err(fault::log)?;
    let feed = Feed::cdev(host.clone(), connection.clone(), selection, Naming::Claude, follower, None);
    let replaced = connection.feeds().put(EventFormat::Cdev, feed);
    join_all(replaced.into_iter().map(Feed::end)).await;
    let default = host.workspaces.default();
    let params = json!({
        "session_id": host.daemon.instance,
        "agent_type": host.sessions.engine.registry().await.default_runtime,
        "repo_path": default.as_ref().map(|entry| entry.path.as_str()).unwrap_or_default(),
        "repo_name": default.as_ref().map(|entry| entry.name.as_str()).unwrap_or_default(),
        "agent_version": host.daemon.version,
    });
    connection.notify("session_start", params);
    Ok(())
}

async fn capabilities(context: &Context<'_>) -> ServerCapabilities {
    let all =
        |names: &[&str]| -> BTreeMap<String, bool> { names.iter().map(|name| ((*name).to_owned(), true)).collect() };
    let mut registry = context.host.sessions.engine.registry().await;
    if !context.caller.is_owner() {
        disable_missing(context, &mut registry);
    }
    let git = ["status", "diff", "stage", "unstage", "discard", "commit", "push", "pull", "branches", "checkout"];
    ServerCapabilities {
        agent: all(&["run", "stop", "respond", "sessions", "sessionWatch"]),
        git: all(&git),
        file: all(&["get", "list"]),
        repository: all(&["index", "search", "list", "tree", "stats", "rebuild"]),
        notifications: EventName::ALL.iter().map(|event| event.name().to_owned()).collect(),
        supported_agents: registry.runtimes.iter().map(|runtime| runtime.id.clone()).collect(),
        runtime_registry: registry,
    }
}

/// Shows devices a runtime that is not installed as disabled: they offer whatever is active. Somebody at the machine is
/// told apart what is disabled and what is missing.
fn disable_missing(context: &Context<'_>, registry: &mut RuntimeRegistry) {
    for runtime in &mut registry.runtimes {
        let reason = routing::missing_runtime(context, runtime);
        if let Some(look) = runtime.availability.as_mut().filter(|look| !look.installed) {
            look.reason = Some(reason);
            runtime.status = RuntimeStatus::Disabled;
        }
    }
}

pub(crate) async fn initialized(_: &Context<'_>, _: NoParams) -> Result<Empty, Fault> {
    Ok(Empty {})
}

pub(crate) async fn shutdown(context: &Context<'_>, _: NoParams) -> Result<Success, Fault> {
    if let Some(connection) = context.connection {
        connection.feeds().clear();
        connection.begin_leaving();
    }
    Ok(Success::DONE)
}

pub(crate) async fn status(context: &Context<'_>, _: NoParams) -> Result<StatusResult, Fault> {
    let host = context.host;
    let default = host.workspaces.default();
    let agent = agent::current(host, None).await?;
    let pending = host.sessions.log.pending(None).await.map_err(fault::log)?.len() as u64;
    let running = host.sessions.log.open_tasks().await.map_err(fault::log)?.len() as u64;
    let state = match &agent {
        Some(record) => shape::agent_state(
            record,
            !host.sessions.log.pending(Some(&record.session_id)).await.map_err(fault::log)?.is_empty(),
        ),
        None => "idle",
    };
    let is_git_repo = match &default {
        Some(entry) => shape::is_git(&entry.path).await,
        None => false,
    };
    Ok(StatusResult {
        session_id: agent.map(|record| record.session_id.to_string()).unwrap_or_default(),
        agent_session_id: host.daemon.instance.clone(),
        claude_state: state.into(),
        agent_state: state.into(),
        agent_type: host.sessions.engine.registry().await.default_runtime,
        version: host.daemon.version.clone(),
        agent_version: host.daemon.version.clone(),
        connected_clients: host.presence.count() as u64,
        repo_path: default.as_ref().map(|entry| entry.path.clone()).unwrap_or_default(),
        repo_name: default.map(|entry| entry.name).unwrap_or_default(),
        uptime_seconds: host.daemon.uptime_seconds(),
        watcher_enabled: true,
        git_enabled: true,
        is_git_repo,
        running_tasks: running,
        pending,
        gateway: service::gateway_status(host).await.map_err(run::shape)?,
    })
}

pub(crate) async fn health(context: &Context<'_>, _: NoParams) -> Result<HealthResult, Fault> {
    let healthy = *context.host.sessions.log.health().borrow() == Health::Ok;
    let status = if healthy { "ok" } else { "stalled" };
    Ok(HealthResult { status: status.into(), healthy, uptime_seconds: context.host.daemon.uptime_seconds() })
}
