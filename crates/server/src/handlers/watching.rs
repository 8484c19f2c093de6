//! `session/watch`, `session/unwatch` and `client/session/focus`.

use roost_engine::HistoryEntry;
use roost_model::session::SessionRecord;
use roost_rpc::{
    Fault, FaultCode, FocusResult, UnwatchParams, WatchParams, WatchResult, WorkspaceSessionParams,
    WorkspaceWatchParams,
};
use serde_json::json;
use tokio::sync::oneshot;

use super::past::FoundSession;
use super::routing::{self, SessionSelector};
use super::shape;
use crate::cdev::notify::Naming;
use crate::connection::Connection;
use crate::dispatch::Context;
use crate::fault;
use crate::feed::{FeedCommand, ResumePoint};
use crate::tail::{TailHandle, Watcher};

pub(crate) async fn watch(context: &Context<'_>, params: WatchParams) -> Result<WatchResult, Fault> {
    let connection = context.connected()?;
    let (workspace, agent_type) = (params.workspace_id.as_deref(), params.agent_type.as_deref());
    let found =
        routing::find_session(context, SessionSelector { id: &params.session_id, workspace, cwd: None, agent_type })
            .await?;
    let record = found.record();
    let after = params.after.as_deref().map(str::parse::<ResumePoint>).transpose()?;
    let session = record.session_id.to_string();
    let workspace = params.workspace_id.or_else(|| shape::workspace_id(&context.host.workspaces, &record));
    remember_constants(context, &record).await?;
    let was_there = connection.views(&session);
    let commands = connection.feeds().commands();
    let cursor = match commands {
        // The feed itself takes the watch, so that nothing falls between what was missed and what comes.
        Some(commands) => {
            let (done, watched) = oneshot::channel();
            let command = FeedCommand::Watch { session: session.clone(), workspace: workspace.clone(), after, done };
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
    if let (FoundSession::Past(kept), Some(naming)) = (&found, naming) {
        tail(context, kept, workspace.clone(), naming, |_| true).await?;
    }
    if let Some(workspace) = &workspace {
        set_focus(context, connection, workspace, &record);
    }
    if !was_there {
        context.host.presence.notify_joined(context.host, connection, &session);
    }
    connection.notify("session_watch_started", json!({ "session_id": session, "watching": true }));
    Ok(WatchResult {
        status: "watching".into(),
        watching: true,
        workspace_id: workspace,
        session_id: Some(session),
        cursor,
    })
}

/// Has the session's workspace and runtime at hand for events about its viewers, which also come when nobody can wait.
async fn remember_constants(context: &Context<'_>, record: &SessionRecord) -> Result<(), Fault> {
    let notifications = &context.host.delivery.notifications;
    let constants = notifications.session_constants(&*context.host.sessions.log, &record.session_id);
    constants.await.map(drop).map_err(fault::log)
}

/// `workspace/session/watch`, which must name the workspace.
pub(crate) async fn watch_in_workspace(
    context: &Context<'_>,
    params: WorkspaceWatchParams,
) -> Result<WatchResult, Fault> {
    watch(context, params.into()).await
}

/// Tails a past session for this client, unless it is tailed already.
pub(super) async fn tail(
    context: &Context<'_>,
    kept: &HistoryEntry,
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
    let watching = TailHandle::begin(context.host, kept, watcher).await?;
    connection.feeds().add_tail(&session, watching);
    Ok(())
}

pub(crate) async fn unwatch(context: &Context<'_>, params: UnwatchParams) -> Result<WatchResult, Fault> {
    routing::check_agent_type(context, params.agent_type.as_deref())?;
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
    let workspace = session.as_deref().and_then(|session| connection.watched_workspace(session));
    let unwatched = session.filter(|session| connection.unwatch(session));
    if let Some(session) = &unwatched {
        // Watching put it on the screen.
        if connection.focus().is_some_and(|(_, focused)| focused == *session) {
            connection.set_focus(None);
        }
        context.host.presence.notify_left(context.host, connection, session);
        let params = json!({ "session_id": session, "watching": false, "reason": "client_request" });
        connection.notify("session_watch_stopped", params);
    }
    Ok(WatchResult {
        status: "unwatched".into(),
        watching: false,
        workspace_id: workspace.or(params.workspace_id),
        session_id: unwatched.or(params.session_id),
        cursor: None,
    })
}

/// The first watched session, by workspace and id, that matches the parameters.
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
    let record = routing::find_session(context, SessionSelector::from_params(&params)).await?.record();
    let session = record.session_id.as_str();
    remember_constants(context, &record).await?;
    let was_there = connection.views(session);
    set_focus(context, connection, &params.workspace_id, &record);
    if !was_there {
        context.host.presence.notify_joined(context.host, connection, session);
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

/// Notes that the client shows a session, and notifies the viewers of the one before.
fn set_focus(context: &Context<'_>, connection: &Connection, workspace: &str, record: &SessionRecord) {
    let focus = (workspace.to_owned(), record.session_id.to_string());
    let before = connection.set_focus(Some(focus));
    notify_if_gone(context, connection, before);
}

/// Notes that the client shows no session any more.
pub(super) fn clear_focus(context: &Context<'_>, connection: &Connection) {
    let before = connection.set_focus(None);
    notify_if_gone(context, connection, before);
}

/// Sends `session_left` to a session's viewers if the client neither shows nor watches it any more.
fn notify_if_gone(context: &Context<'_>, connection: &Connection, before: Option<(String, String)>) {
    if let Some((_, session)) = before.filter(|(_, session)| !connection.views(session)) {
        context.host.presence.notify_left(context.host, connection, &session);
    }
}
