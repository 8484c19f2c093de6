//! `workspace/discover*`: finds repositories on the machine that could become workspaces.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use roost_model::time::Timestamp;
use roost_rpc::{
    DiscoveredRepository, Done, Fault, FaultCode, Scope, Success, WorkspaceCacheParams, WorkspaceDiscoverCancelParams,
    WorkspaceDiscoverParams, WorkspaceDiscoverResult,
};
use roost_workspace::discover::FoundRepository;
use serde_json::json;

use crate::discoveries::{FinishedSearch, Lookup, SearchHandle};
use crate::dispatch::Context;
use crate::folder_policy::Reach;

pub(crate) async fn discover(
    context: &Context<'_>,
    params: WorkspaceDiscoverParams,
) -> Result<WorkspaceDiscoverResult, Fault> {
    let host = context.host;
    let roots: Vec<PathBuf> = match params.paths.filter(|paths| !paths.is_empty()) {
        Some(paths) => paths.into_iter().map(|path| checked_root(context, path)).collect::<Result<_, _>>()?,
        None => default_roots(context).await,
    };
    let known = host.repositories.discoveries.search(
        &roots,
        params.fresh.unwrap_or_default(),
        &host.daemon.tasks,
        &host.daemon.closing,
    );
    let (searched, origin) = match known {
        Lookup::Cached(searched, refreshing) => (searched, SearchOrigin { cached: true, refreshing, cancelled: false }),
        Lookup::Running(search) => {
            let (searched, cancelled) = wait_and_report(context, &roots, search).await?;
            (searched, SearchOrigin { cached: false, refreshing: false, cancelled })
        }
    };
    let found = &searched.found;
    let repositories: Vec<_> = found.repositories.iter().map(|repository| shaped(context, repository)).collect();
    Ok(WorkspaceDiscoverResult {
        count: repositories.len() as u64,
        repositories,
        cached: origin.cached,
        cache_age_seconds: if origin.cached { searched.at.elapsed().as_secs() } else { 0 },
        refresh_in_progress: origin.refreshing,
        elapsed_ms: if origin.cached { 0 } else { searched.took.as_millis() as u64 },
        scanned_paths: found.scanned,
        skipped_paths: found.skipped,
        cancelled: origin.cancelled,
    })
}

/// Whether repositories come from the cache, and whether the search for them was cut short.
struct SearchOrigin {
    cached: bool,
    refreshing: bool,
    cancelled: bool,
}

/// Waits for a search and reports its progress to the client. Returns the result, and whether the client cancelled it.
async fn wait_and_report(
    context: &Context<'_>,
    roots: &[PathBuf],
    mut search: SearchHandle,
) -> Result<(FinishedSearch, bool), Fault> {
    let Some(connection) = context.connection else {
        loop {
            if let Some(searched) = search.next().await.map_err(|_| ending())? {
                return Ok((searched, false));
            }
        }
    };
    let id = uuid::Uuid::new_v4().to_string();
    let cancel = connection.searches().begin(id.clone())?;
    let notify = |search: &SearchHandle| {
        let (scanned, found) = search.so_far();
        let params = json!({
            "discover_id": id, "paths": roots, "scanned_paths": scanned, "found_count": found,
            "elapsed_ms": search.elapsed().as_millis() as u64,
        });
        connection.notify("workspace_discover_progress", params);
    };
    notify(&search);
    let searched = loop {
        tokio::select! {
            next = search.next() => {
                let next = next.map_err(|_| ending());
                notify(&search);
                if let Some(searched) = next.transpose() {
                    break searched.map(|searched| (searched, false));
                }
            }
            () = cancel.cancelled() => break Ok((search.cut(), true)),
        }
    };
    connection.searches().end(&id);
    searched
}

fn ending() -> Fault {
    Fault::new(FaultCode::ShuttingDown, "Roost is shutting down")
}

pub(crate) async fn cancel(context: &Context<'_>, params: WorkspaceDiscoverCancelParams) -> Result<Success, Fault> {
    context.connected()?.searches().end(&params.discover_id);
    Ok(Success::DONE)
}

pub(crate) async fn forget(context: &Context<'_>, params: WorkspaceCacheParams) -> Result<Done, Fault> {
    if let Some(id) = &params.workspace_id {
        context.host.workspaces.get(id)?;
    }
    context.host.repositories.discoveries.forget();
    Ok(Done { success: true, message: "What was known of the repositories on this machine is forgotten.".into() })
}

/// Checks a root that the client names: a remote client may search only the default roots and workspaces.
fn checked_root(context: &Context<'_>, path: String) -> Result<PathBuf, Fault> {
    let path = PathBuf::from(path);
    let usual = &context.host.settings.discover_in;
    let inside = |root: &PathBuf| path.starts_with(root) && !path.components().any(|part| part.as_os_str() == "..");
    let known = context.host.workspaces.containing(&path).is_some();
    if path.is_absolute() && (context.caller.scope >= Scope::Admin || known || usual.iter().any(inside)) {
        return Ok(path);
    }
    let searched = match usual.as_slice() {
        [] => "no folder is; set `server.discover_in` in roost.toml".to_owned(),
        folders => joined(folders),
    };
    let why = format_args!("{} is not among the folders that are searched: {searched}", path.display());
    Err(Fault::params(why).with("path", path.display().to_string()))
}

/// The roots where the client names none: those of the settings in which this client may add workspaces.
async fn default_roots(context: &Context<'_>) -> Vec<PathBuf> {
    let (folder_policy, reach) = (context.host.workspaces.folder_policy(), Reach::for_caller(context.caller));
    let mut usual = Vec::new();
    for folder in &context.host.settings.discover_in {
        if reach == Reach::Anywhere || folder_policy.admit(folder, reach).await.is_ok() {
            usual.push(folder.clone());
        }
    }
    usual
}

fn joined(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn shaped(context: &Context<'_>, found: &FoundRepository) -> DiscoveredRepository {
    let millis = found.modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    let is_configured = context.host.workspaces.all().iter().any(|entry| Path::new(&entry.path) == found.path);
    DiscoveredRepository {
        path: found.path.display().to_string(),
        name: found.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        remote_url: found.remote_url.clone(),
        last_modified: Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX)),
        is_configured,
    }
}
