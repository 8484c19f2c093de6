//! Repositories on the machine that could become workspaces.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use roost_model::time::Timestamp;
use roost_rpc::{
    DiscoveredRepository, Done, Fault, FaultCode, Scope, Success, WorkspaceCacheParams, WorkspaceDiscoverCancelParams,
    WorkspaceDiscoverParams, WorkspaceDiscoverResult,
};
use roost_workspace::discover::FoundRepository;
use serde_json::json;

use crate::discoveries::{Known, Search, Searched};
use crate::dispatch::Context;
use crate::places::Reach;

pub(crate) async fn discover(
    context: &Context<'_>,
    params: WorkspaceDiscoverParams,
) -> Result<WorkspaceDiscoverResult, Fault> {
    let host = context.host;
    let roots: Vec<PathBuf> = match params.paths.filter(|paths| !paths.is_empty()) {
        Some(paths) => paths.into_iter().map(|path| allowed(context, path)).collect::<Result<_, _>>()?,
        None => usual(context).await,
    };
    let known = host.repositories.discoveries.search(
        &roots,
        params.fresh.unwrap_or_default(),
        &host.daemon.tasks,
        &host.daemon.closing,
    );
    let (searched, told) = match known {
        Known::Before(searched, refreshing) => (searched, Origin { cached: true, refreshing, cancelled: false }),
        Known::Soon(search) => {
            let (searched, cancelled) = followed(context, &roots, search).await?;
            (searched, Origin { cached: false, refreshing: false, cancelled })
        }
    };
    let found = &searched.found;
    let repositories: Vec<_> = found.repositories.iter().map(|repository| shaped(context, repository)).collect();
    Ok(WorkspaceDiscoverResult {
        count: repositories.len() as u64,
        repositories,
        cached: told.cached,
        cache_age_seconds: if told.cached { searched.at.elapsed().as_secs() } else { 0 },
        refresh_in_progress: told.refreshing,
        elapsed_ms: if told.cached { 0 } else { searched.took.as_millis() as u64 },
        scanned_paths: found.scanned,
        skipped_paths: found.skipped,
        cancelled: told.cancelled,
    })
}

/// Whether repositories come from the cache, and whether the search for them was cut short.
struct Origin {
    cached: bool,
    refreshing: bool,
    cancelled: bool,
}

/// Waits for a search and tells its client how far it is; with whether that client cancelled it.
async fn followed(context: &Context<'_>, roots: &[PathBuf], mut search: Search) -> Result<(Searched, bool), Fault> {
    let Some(connection) = context.connection else {
        loop {
            if let Some(searched) = search.next().await.map_err(|_| ending())? {
                return Ok((searched, false));
            }
        }
    };
    let id = uuid::Uuid::new_v4().to_string();
    let cancel = connection.searches().begin(id.clone())?;
    let tell = |search: &Search| {
        let (scanned, found) = search.so_far();
        let params = json!({
            "discover_id": id, "paths": roots, "scanned_paths": scanned, "found_count": found,
            "elapsed_ms": search.elapsed().as_millis() as u64,
        });
        connection.tell("workspace_discover_progress", params);
    };
    tell(&search);
    let searched = loop {
        tokio::select! {
            next = search.next() => {
                let next = next.map_err(|_| ending());
                tell(&search);
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

/// A folder that this client may have searched: whoever is not at the machine sees no more than its usual folders.
fn allowed(context: &Context<'_>, path: String) -> Result<PathBuf, Fault> {
    let path = PathBuf::from(path);
    let usual = &context.host.settings.discover_in;
    let inside = |root: &PathBuf| path.starts_with(root) && !path.components().any(|part| part.as_os_str() == "..");
    let known = context.host.workspaces.containing(&path).is_some();
    if path.is_absolute() && (context.caller.scope >= Scope::Admin || known || usual.iter().any(inside)) {
        return Ok(path);
    }
    let why = format_args!("{} is not among the folders that are searched: {}", path.display(), named(usual));
    Err(Fault::params(why).with("path", path.display().to_string()))
}

/// The folders that are searched where none is named: of the usual ones, those that this client may add folders of.
async fn usual(context: &Context<'_>) -> Vec<PathBuf> {
    let (places, reach) = (context.host.workspaces.places(), Reach::for_caller(context.caller));
    let mut usual = Vec::new();
    for folder in &context.host.settings.discover_in {
        if reach == Reach::Anywhere || places.admit(folder, reach).await.is_ok() {
            usual.push(folder.clone());
        }
    }
    usual
}

fn named(folders: &[PathBuf]) -> String {
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
