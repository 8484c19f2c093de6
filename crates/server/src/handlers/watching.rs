//! Watching sessions, and saying which one is on the screen.

use roost_engine::Kept;
use roost_model::session::SessionRecord;
use roost_rpc::{Fault, FaultCode, FocusResult, UnwatchParams, WatchParams, WatchResult, WorkspaceSessionParams};
use serde_json::json;
use tokio::sync::oneshot;

use super::past::Found;
use super::routing::{self, Named};
use super::shape;
use crate::cdev::notify::Naming;
use crate::connection::Connection;
use crate::dispatch::Context;
use crate::feed::{Command, ResumePoint};
use crate::tail::{Watcher, Watching};

pub(crate) async fn watch(context: &Context<'_>, params: WatchParams) -> Result<WatchResult, Fault> {
    let connection = context.connected()?;
    let (workspace, agent_type) = (params.workspace_id.as_deref(), params.agent_type.as_deref());
    let found = routing::found(context, Named { id: &params.session_id, workspace, cwd: None, agent_type }).await?;
    let record = found.record();
    let after = params.after.as_deref().map(str::parse::<ResumePoint>).transpose()?;
    let session = record.session_id.to_string();
    let workspace = params.workspace_id.or_else(|| shape::workspace_of(&context.host.workspaces, &record));
    let was_there = connection.views(&session);
    let commands = connection.feeds().commands();
    let cursor = match commands {
        // The feed itself takes the watch, so that nothing falls between what was missed and what comes.
        Some(commands) => {
            let (done, watched) = oneshot::channel();
            let command = Command::Watch { session: session.clone(), workspace: workspace.clone(), after, done };
            let gone = |_| Fault::new(FaultCode::InternalError, "the connection is closing");
            commands.send(command).await.map_err(|_| gone(()))?;
            Some(watched.await.map_err(|_| gone(()))??.to_string())
        }
        // Whoever follows the log's own form reads the session there; the watch only makes it a viewer.
        None => {
            connection.watch(&session, workspace.clone());
            None
        }
    };
    let naming = connection.feeds().naming();
    if let (Found::Past(kept), Some(naming)) = (&found, naming) {
        tail(context, kept, workspace.clone(), naming, |_| true).await?;
    }
    if let Some(workspace) = &workspace {
        look_at(context, connection, workspace, &record);
    }
    if !was_there {
        context.host.presence.joined(connection, &session);
    }
    connection.tell("session_watch_started", json!({ "session_id": session, "watching": true }));
    Ok(WatchResult {
        status: "watching".into(),
        watching: true,
        workspace_id: workspace,
        session_id: Some(session),
        cursor,
    })
}

/// Tells this client of a past session, if it is not told already.
pub(super) async fn tail(
    context: &Context<'_>,
    kept: &Kept,
    workspace: Option<String>,
    naming: Naming,
    wants: impl Fn(&str) -> bool + Send + Sync + 'static,
) -> Result<(), Fault> {
    let connection = context.connected()?;
    let session = kept.session_id().to_string();
    if connection.feeds().has_tail(&session) {
        return Ok(());
    }
    let watcher = Watcher { connection: connection.clone(), workspace, naming, wants: Box::new(wants) };
    let watching = Watching::begin(context.host, kept, watcher).await?;
    connection.feeds().add_tail(&session, watching);
    Ok(())
}

pub(crate) async fn unwatch(context: &Context<'_>, params: UnwatchParams) -> Result<WatchResult, Fault> {
    routing::known(context, params.agent_type.as_deref())?;
    let connection = context.connected()?;
    let session = match &params.session_id {
        // A session that is gone, or that only its runtime keeps, can still be watched no more.
        Some(id) => match context.host.sessions.get(id).await {
            Ok(record) => Some(record.session_id.to_string()),
            Err(_) => {
                let past = context.host.sessions.engine.native_history().listed(id);
                Some(past.map_or_else(|| id.clone(), |kept| kept.session_id().to_string()))
            }
        },
        None => first_watched(context, connection, &params).await,
    };
    let unwatched = session.filter(|session| connection.unwatch(session));
    if let Some(session) = &unwatched {
        // Watching put it on the screen.
        if connection.focus().is_some_and(|(_, focused)| focused == *session) {
            connection.set_focus(None);
        }
        context.host.presence.left(connection, session);
        let params = json!({ "session_id": session, "watching": false, "reason": "client_request" });
        connection.tell("session_watch_stopped", params);
    }
    Ok(WatchResult {
        status: "unwatched".into(),
        watching: false,
        workspace_id: params.workspace_id,
        session_id: unwatched.or(params.session_id),
        cursor: None,
    })
}

/// The lowest workspace and session that is watched and fits; always the same one for the same watches.
async fn first_watched(context: &Context<'_>, connection: &Connection, params: &UnwatchParams) -> Option<String> {
    let mut watched = connection.watched();
    watched.sort_by(|(a, of_a), (b, of_b)| (of_a, a).cmp(&(of_b, b)));
    for (session, workspace) in watched {
        let right_place = params.workspace_id.is_none() || params.workspace_id == workspace;
        let agent_type = params.agent_type.as_deref();
        let record = match context.host.sessions.get(&session).await {
            Ok(record) => Some(record),
            Err(_) => context.host.sessions.engine.native_history().listed(&session).map(|kept| kept.record()),
        };
        let right_runtime = agent_type.is_none() || record.is_some_and(|record| routing::runs_on(&record, agent_type));
        if right_place && right_runtime {
            return Some(session);
        }
    }
    None
}

pub(crate) async fn focus(context: &Context<'_>, params: WorkspaceSessionParams) -> Result<FocusResult, Fault> {
    let connection = context.connected()?;
    let record = routing::found(context, Named::of_workspace(&params)).await?.record();
    let session = record.session_id.as_str();
    let was_there = connection.views(session);
    look_at(context, connection, &params.workspace_id, &record);
    if !was_there {
        context.host.presence.joined(connection, session);
    }
    let mut viewers = context.host.presence.viewers(session);
    let viewer_count = viewers.len() as u64;
    viewers.retain(|viewer| viewer != context.caller.client_id.as_str());
    Ok(FocusResult {
        workspace_id: params.workspace_id,
        session_id: session.into(),
        other_viewers: viewers,
        viewer_count,
        success: true,
    })
}

/// Puts a session on the client's screen.
fn look_at(context: &Context<'_>, connection: &Connection, workspace: &str, record: &SessionRecord) {
    let focus = (workspace.to_owned(), record.session_id.to_string());
    let before = connection.set_focus(Some(focus));
    gone_from(context, connection, before);
}

/// Takes the session off the client's screen that is there.
pub(super) fn look_away(context: &Context<'_>, connection: &Connection) {
    let before = connection.set_focus(None);
    gone_from(context, connection, before);
}

/// Tells those on a session that was on the client's screen, if the client has nothing to do with it any more.
fn gone_from(context: &Context<'_>, connection: &Connection, before: Option<(String, String)>) {
    if let Some((_, session)) = before.filter(|(_, session)| !connection.views(session)) {
        context.host.presence.left(connection, &session);
    }
}
