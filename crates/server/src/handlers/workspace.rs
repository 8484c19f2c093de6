//! Workspaces, without git yet.

use roost_proto::rpc::{
    ActivateResult, Done, Fault, FaultCode, HistoryItem, KeptBy, NoParams, SubscribeAllResult, SubscribeResult,
    SubscriptionsResult, Workspace, WorkspaceAddParams, WorkspaceListParams, WorkspaceListResult, WorkspaceParams,
    WorkspaceSessionParams, WorkspaceStatusResult, WorkspaceUpdateParams,
};
use roost_proto::session::SessionRecord;

use super::routing::Named;
use super::{history, routing, shape, watching};
use crate::dispatch::{Context, PAGE_BYTES};
use crate::workspaces::{Entry, NewWorkspace};

/// Past sessions of a workspace that are listed with it.
const SESSIONS: usize = 50;
/// Bytes that one session of a list takes, roughly and at most.
const ITEM: usize = 2 << 10;

pub(crate) async fn list(context: &Context<'_>, _: WorkspaceListParams) -> Result<WorkspaceListResult, Fault> {
    let all = context.host.workspaces.all();
    let each = (PAGE_BYTES / ITEM / all.len().max(1)).clamp(1, SESSIONS);
    let sessions = history::listed(context.host).await?;
    let mut workspaces = Vec::with_capacity(all.len());
    for entry in all.iter() {
        let records = sessions.iter().filter(|record| routing::belongs(record, entry)).cloned().collect();
        workspaces.push(shape_all(context, entry, records, each).await);
    }
    Ok(WorkspaceListResult { workspaces })
}

pub(crate) async fn get(context: &Context<'_>, params: WorkspaceParams) -> Result<Workspace, Fault> {
    shaped(context, &context.host.workspaces.get(&params.workspace_id)?).await
}

async fn shaped(context: &Context<'_>, entry: &Entry) -> Result<Workspace, Fault> {
    Ok(shape_all(context, entry, history::of_entry(context.host, entry).await?, SESSIONS).await)
}

/// A workspace with its sessions, of which so many are listed.
async fn shape_all(context: &Context<'_>, entry: &Entry, records: Vec<SessionRecord>, most: usize) -> Workspace {
    let live = records.iter().filter(|record| shape::is_live(record)).count() as u64;
    let current = records.iter().find(|record| Some(&record.session_id) == entry.current.as_ref());
    let active = current.or_else(|| records.iter().find(|record| shape::is_live(record)));
    let is_git_repo = shape::is_git(&entry.path).await;
    Workspace {
        id: entry.id.to_string(),
        name: entry.name.clone(),
        path: entry.path.clone(),
        exists: tokio::fs::metadata(&entry.path).await.is_ok_and(|metadata| metadata.is_dir()),
        auto_start: entry.auto_start,
        created_at: entry.created_at,
        sessions: items(context, entry, &records, most),
        active_session_count: live,
        has_active_session: live > 0,
        active_session_id: active.map(|record| record.session_id.to_string()).unwrap_or_default(),
        active_agent_type: active.map(|record| record.runtime.id().into()),
        is_git_repo,
        git_state: if is_git_repo { "git_init" } else { "no_git" }.into(),
    }
}

fn items(context: &Context<'_>, entry: &Entry, records: &[SessionRecord], most: usize) -> Vec<HistoryItem> {
    records
        .iter()
        .take(most)
        .map(|record| shape::item(context.host, record, KeptBy::Managed, entry.id.as_str()))
        .collect()
}

pub(crate) async fn add(context: &Context<'_>, params: WorkspaceAddParams) -> Result<Workspace, Fault> {
    let new = NewWorkspace {
        name: params.name,
        path: params.path.into(),
        auto_start: params.auto_start.unwrap_or_default(),
        create_if_missing: params.create_if_missing.unwrap_or_default(),
    };
    let entry = context.host.workspaces.add(new).await?;
    shaped(context, &entry).await
}

pub(crate) async fn remove(context: &Context<'_>, params: WorkspaceParams) -> Result<Done, Fault> {
    let entry = context.host.workspaces.get(&params.workspace_id)?;
    let records = history::of_entry(context.host, &entry).await?;
    let busy = records.iter().filter(|record| record.open_task.is_some()).count();
    if busy > 0 {
        let why = format_args!("cannot remove workspace with {busy} active session(s); stop them first");
        return Err(Fault::new(FaultCode::InternalError, why).with("workspace_id", &entry.id));
    }
    let removed = context.host.workspaces.remove(&params.workspace_id).await?;
    Ok(Done { success: true, message: format!("Workspace {} removed", removed.name) })
}

pub(crate) async fn update(context: &Context<'_>, params: WorkspaceUpdateParams) -> Result<Workspace, Fault> {
    let entry = context.host.workspaces.update(&params.workspace_id, params.name, params.auto_start).await?;
    shaped(context, &entry).await
}

pub(crate) async fn status(context: &Context<'_>, params: WorkspaceParams) -> Result<WorkspaceStatusResult, Fault> {
    let entry = context.host.workspaces.get(&params.workspace_id)?;
    let records = history::of_entry(context.host, &entry).await?;
    let live = records.iter().filter(|record| shape::is_live(record)).count() as u64;
    let watched = records.iter().find(|record| !context.host.presence.viewers(record.session_id.as_str()).is_empty());
    let is_git_repo = shape::is_git(&entry.path).await;
    Ok(WorkspaceStatusResult {
        sessions: items(context, &entry, &records, SESSIONS),
        workspace_id: entry.id.to_string(),
        auto_start: entry.auto_start,
        created_at: entry.created_at,
        active_session_count: live,
        has_active_session: live > 0,
        git_tracker_state: if is_git_repo { "unavailable" } else { "not_git" }.into(),
        git_repo_name: if is_git_repo { entry.name.clone() } else { String::new() },
        is_git_repo,
        git_last_error: String::new(),
        is_being_watched: watched.is_some(),
        watched_session_id: watched.map(|record| record.session_id.to_string()).unwrap_or_default(),
        workspace_name: entry.name,
        path: entry.path,
    })
}

pub(crate) async fn subscribe(context: &Context<'_>, params: WorkspaceParams) -> Result<SubscribeResult, Fault> {
    let id = context.host.workspaces.get(&params.workspace_id)?.id.to_string();
    let subscribed = context.connected()?.workspaces(|all| _ = all.insert(id.clone()));
    Ok(SubscribeResult { success: true, workspace_id: id, subscribed })
}

pub(crate) async fn unsubscribe(context: &Context<'_>, params: WorkspaceParams) -> Result<SubscribeResult, Fault> {
    let connection = context.connected()?;
    let id = params.workspace_id;
    let subscribed = connection.workspaces(|all| _ = all.remove(&id));
    if connection.focus().is_some_and(|(workspace, _)| workspace == id) {
        watching::look_away(context, connection);
    }
    Ok(SubscribeResult { success: true, workspace_id: id, subscribed })
}

pub(crate) async fn subscriptions(context: &Context<'_>, _: NoParams) -> Result<SubscriptionsResult, Fault> {
    let workspaces = context.connected()?.workspaces(|_| {});
    let count = workspaces.len() as u64;
    Ok(SubscriptionsResult { workspaces, is_filtering: count > 0, count })
}

pub(crate) async fn subscribe_all(context: &Context<'_>, _: NoParams) -> Result<SubscribeAllResult, Fault> {
    let connection = context.connected()?;
    connection.workspaces(std::collections::BTreeSet::clear);
    watching::look_away(context, connection);
    Ok(SubscribeAllResult { success: true, is_filtering: false })
}

pub(crate) async fn activate(context: &Context<'_>, params: WorkspaceSessionParams) -> Result<ActivateResult, Fault> {
    let record = routing::hosted(context, Named::of_workspace(&params), None).await?;
    context.host.workspaces.activate(&params.workspace_id, &record.session_id).await?;
    Ok(ActivateResult {
        success: true,
        workspace_id: params.workspace_id,
        session_id: record.session_id.to_string(),
        message: "Session activated".into(),
    })
}
