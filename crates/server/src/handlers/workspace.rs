//! `workspace/*`: lists, adds, changes and removes workspaces, with a summary of their repositories.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use roost_model::session::SessionRecord;
use roost_rpc::{
    ActivateResult, Done, Fault, FaultCode, HistoryItem, KeptBy, NoParams, SubscribeAllResult, SubscribeResult,
    SubscriptionsResult, Workspace, WorkspaceAddParams, WorkspaceGit, WorkspaceListParams, WorkspaceListResult,
    WorkspaceParams, WorkspaceSessionParams, WorkspaceStatusResult, WorkspaceUpdateParams,
};
use roost_workspace::git::{Git, GitState, Probe, Timeouts};

use super::routing::SessionSelector;
use super::{history, routing, shape, watching};
use crate::connection::Connection;
use crate::dispatch::{Context, PAGE_BYTES};
use crate::folder_policy::Reach;
use crate::host::Host;
use crate::workspaces::{NewWorkspace, WorkspaceEntry};
use crate::{fault, live_workspaces};

/// The most sessions that are listed with a workspace.
const SESSIONS: usize = 50;
/// How many repositories are probed concurrently.
const PROBES: usize = 10;
/// Workspaces that a client begins to follow at once.
const AT_ONCE: usize = 4;
/// The time limit of each git process of a probe.
const PROBE_TIME: Duration = Duration::from_secs(5);
/// The estimated size of one listed session, in bytes.
const ITEM: usize = 2 << 10;

pub(crate) async fn list(context: &Context<'_>, params: WorkspaceListParams) -> Result<WorkspaceListResult, Fault> {
    let all = context.host.workspaces.all();
    let probed = if params.include_git == Some(false) { 0 } else { params.git_limit.unwrap_or(u32::MAX) as usize };
    let each = (PAGE_BYTES / ITEM / all.len().max(1)).clamp(1, SESSIONS);
    let sessions = history::listed_sessions(&context.host.sessions).await?;
    let shaped = all.iter().enumerate().map(|(at, entry)| {
        let records = sessions.iter().filter(|record| routing::belongs_to(record, entry)).cloned().collect();
        async move {
            let is_looked_at = at < probed && context.host.workspaces.check(entry).is_ok();
            let git = if is_looked_at { probe(entry).await.ok() } else { None };
            workspace_result(context, entry, records, each, git).await
        }
    });
    let shaped: Vec<_> = shaped.collect();
    Ok(WorkspaceListResult { workspaces: stream::iter(shaped).buffered(PROBES).collect().await })
}

pub(crate) async fn get(context: &Context<'_>, params: WorkspaceParams) -> Result<Workspace, Fault> {
    probed_result(context, &context.host.workspaces.get(&params.workspace_id)?).await
}

async fn probed_result(context: &Context<'_>, entry: &WorkspaceEntry) -> Result<Workspace, Fault> {
    let records = history::workspace_sessions(&context.host.sessions, entry).await?;
    Ok(workspace_result(context, entry, records, SESSIONS, probe(entry).await.ok()).await)
}

/// A workspace as clients get it, with at most `most` of its sessions.
async fn workspace_result(
    context: &Context<'_>,
    entry: &WorkspaceEntry,
    records: Vec<SessionRecord>,
    most: usize,
    git: Option<Probe>,
) -> Workspace {
    let live = records.iter().filter(|record| shape::is_live(record)).count() as u64;
    let current = records.iter().find(|record| Some(&record.session_id) == entry.current.as_ref());
    let active = current.or_else(|| records.iter().find(|record| shape::is_live(record)));
    // A repository that cannot be read is still one.
    let is_git_repo = match &git {
        Some(probe) => probe.state != GitState::NoGit,
        None => shape::is_git(&entry.path).await,
    };
    let unread = if is_git_repo { GitState::Init } else { GitState::NoGit };
    Workspace {
        id: entry.id.to_string(),
        name: entry.name.clone(),
        path: entry.path.clone(),
        exists: tokio::fs::metadata(&entry.path).await.is_ok_and(|metadata| metadata.is_dir()),
        auto_start: entry.auto_start,
        created_at: entry.created_at,
        sessions: items(context, entry, &records, most),
        session_count: records.len() as u64,
        active_session_count: live,
        has_active_session: live > 0,
        active_session_id: active.map(|record| record.session_id.to_string()).unwrap_or_default(),
        active_agent_type: active.map(|record| record.runtime.id().into()),
        is_git_repo,
        git_state: git.as_ref().map_or(unread, |probe| probe.state).word().into(),
        git: git.map(git_summary),
    }
}

/// The summary of a workspace's repository, with a short time limit so that a slow one holds up nobody.
async fn probe(entry: &WorkspaceEntry) -> Result<Probe, Fault> {
    let timeouts = Timeouts { read: PROBE_TIME, ..Timeouts::default() };
    let root = super::file::blocking(entry, Ok).await?;
    Git::new(root).with_timeouts(timeouts).probe().await.map_err(fault::workspace)
}

fn git_summary(probe: Probe) -> WorkspaceGit {
    let status = probe.status.unwrap_or_default();
    WorkspaceGit {
        initialized: probe.state != GitState::NoGit,
        has_remotes: !probe.remotes.is_empty(),
        branch: status.branch.unwrap_or_default(),
        ahead: status.ahead,
        behind: status.behind,
        staged_count: status.staged.len() as u64,
        unstaged_count: status.unstaged.len() as u64,
        untracked_count: status.untracked.len() as u64,
        has_conflicts: !status.conflicted.is_empty(),
        state: probe.state.word().into(),
    }
}

fn items(context: &Context<'_>, entry: &WorkspaceEntry, records: &[SessionRecord], most: usize) -> Vec<HistoryItem> {
    records
        .iter()
        .take(most)
        .map(|record| shape::history_item(context.host, record, KeptBy::Managed, entry.id.as_str()))
        .collect()
}

pub(crate) async fn add(context: &Context<'_>, params: WorkspaceAddParams) -> Result<Workspace, Fault> {
    let new = NewWorkspace {
        name: params.name,
        path: params.path.into(),
        auto_start: params.auto_start.unwrap_or_default(),
        create_if_missing: params.create_if_missing.unwrap_or_default(),
        reach: Reach::for_caller(context.caller),
    };
    let entry = context.host.workspaces.add(new).await?;
    for connection in context.host.presence.live_everywhere() {
        let (host, entry) = (context.host.clone(), entry.clone());
        context.host.daemon.spawn(async move { follow(&host, &connection, &entry).await });
    }
    probed_result(context, &entry).await
}

pub(crate) async fn remove(context: &Context<'_>, params: WorkspaceParams) -> Result<Done, Fault> {
    let entry = context.host.workspaces.find(&params.workspace_id)?;
    let records = history::workspace_sessions(&context.host.sessions, &entry).await?;
    let busy = records.iter().filter(|record| record.open_task.is_some()).count();
    if busy > 0 {
        let why = format_args!("cannot remove workspace with {busy} active session(s); stop them first");
        return Err(Fault::new(FaultCode::InternalError, why).with("workspace_id", &entry.id));
    }
    let removed = context.host.workspaces.remove(&params.workspace_id).await?;
    context.host.presence.unfollow(&params.workspace_id);
    context.host.repositories.live.forget(&params.workspace_id).await;
    Ok(Done { success: true, message: format!("Workspace {} removed", removed.name) })
}

pub(crate) async fn update(context: &Context<'_>, params: WorkspaceUpdateParams) -> Result<Workspace, Fault> {
    let entry = context.host.workspaces.update(&params.workspace_id, params.name, params.auto_start).await?;
    probed_result(context, &entry).await
}

pub(crate) async fn status(context: &Context<'_>, params: WorkspaceParams) -> Result<WorkspaceStatusResult, Fault> {
    let entry = context.host.workspaces.get(&params.workspace_id)?;
    let records = history::workspace_sessions(&context.host.sessions, &entry).await?;
    let live = records.iter().filter(|record| shape::is_live(record)).count() as u64;
    let watched = records.iter().find(|record| !context.host.presence.viewers(record.session_id.as_str()).is_empty());
    let probe = probe(&entry).await;
    let (tracker, is_git_repo) = match &probe {
        Ok(probe) if probe.state == GitState::NoGit => ("not_git", false),
        Ok(_) => ("healthy", true),
        Err(fault) if fault.kind() == Some(FaultCode::DirectoryNotFound) => ("unavailable", false),
        Err(_) => ("unhealthy", true),
    };
    let git_last_error = probe.err().map(|fault| fault.message).unwrap_or_default();
    Ok(WorkspaceStatusResult {
        sessions: items(context, &entry, &records, SESSIONS),
        workspace_id: entry.id.to_string(),
        auto_start: entry.auto_start,
        created_at: entry.created_at,
        active_session_count: live,
        has_active_session: live > 0,
        git_tracker_state: tracker.into(),
        git_repo_name: if is_git_repo { entry.name.clone() } else { String::new() },
        is_git_repo,
        git_last_error,
        is_being_watched: watched.is_some(),
        watched_session_id: watched.map(|record| record.session_id.to_string()).unwrap_or_default(),
        workspace_name: entry.name,
        path: entry.path,
    })
}

pub(crate) async fn subscribe(context: &Context<'_>, params: WorkspaceParams) -> Result<SubscribeResult, Fault> {
    let entry = context.host.workspaces.get(&params.workspace_id)?;
    let id = entry.id.to_string();
    let connection = context.connected()?;
    let subscribed = connection.workspaces(|all| _ = all.insert(id.clone()));
    // The first one makes others silent.
    connection.set_live_everywhere(false);
    connection.live().retain(|followed, _| subscribed.contains(followed));
    follow(context.host, connection, &entry).await;
    Ok(SubscribeResult { success: true, workspace_id: id, subscribed })
}

/// Subscribes a client to the live events of a workspace. If the folder cannot be watched, the client is told so and
/// gets the other events.
pub(super) async fn follow(host: &Arc<Host>, connection: &Arc<Connection>, entry: &WorkspaceEntry) {
    let id = entry.id.to_string();
    connection.live().entry(id.clone()).or_default();
    match host.repositories.live.follow(host, connection, entry).await {
        Ok(feed) => {
            // Whoever changed their mind meanwhile has no place for it any more.
            if let Some(place) = connection.live().get_mut(&id) {
                *place = Some(feed);
            }
        }
        Err(fault) => _ = connection.send(live_workspaces::failed(&id, &fault.message)).await,
    }
}

pub(crate) async fn unsubscribe(context: &Context<'_>, params: WorkspaceParams) -> Result<SubscribeResult, Fault> {
    let connection = context.connected()?;
    let id = params.workspace_id;
    let subscribed = connection.workspaces(|all| _ = all.remove(&id));
    connection.live().remove(&id);
    if connection.focus().is_some_and(|(workspace, _)| workspace == id) {
        watching::clear_focus(context, connection);
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
    watching::clear_focus(context, connection);
    connection.set_live_everywhere(true);
    let all = context.host.workspaces.usable();
    // Each of them looks at all of its files first.
    let follow = |entry| follow(context.host, connection, entry);
    stream::iter(all.iter()).for_each_concurrent(AT_ONCE, follow).await;
    Ok(SubscribeAllResult { success: true, is_filtering: false })
}

pub(crate) async fn activate(context: &Context<'_>, params: WorkspaceSessionParams) -> Result<ActivateResult, Fault> {
    let record = routing::find_or_adopt(context, SessionSelector::from_params(&params), None).await?;
    context.host.workspaces.activate(&params.workspace_id, &record.session_id).await?;
    Ok(ActivateResult {
        success: true,
        workspace_id: params.workspace_id,
        session_id: record.session_id.to_string(),
        message: "Session activated".into(),
    })
}
