//! Repositories on the machine that could become workspaces.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use roost_proto::rpc::{
    DiscoveredRepository, Done, Fault, FaultCode, Scope, WorkspaceCacheParams, WorkspaceDiscoverParams,
    WorkspaceDiscoverResult,
};
use roost_proto::time::Timestamp;
use roost_workspace::discover::FoundRepository;

use crate::dispatch::Context;

pub(crate) async fn discover(
    context: &Context<'_>,
    params: WorkspaceDiscoverParams,
) -> Result<WorkspaceDiscoverResult, Fault> {
    let began = Instant::now();
    let host = context.host;
    let roots = match params.paths.filter(|paths| !paths.is_empty()) {
        Some(paths) => paths.into_iter().map(|path| allowed(context, path)).collect::<Result<_, _>>()?,
        None => host.settings.discover_in.clone(),
    };
    let fresh = params.fresh.unwrap_or_default();
    let known = host.discoveries.of(roots, fresh, &host.tasks, &host.closing).await;
    let known = known.ok_or_else(|| Fault::new(FaultCode::ShuttingDown, "Roost is shutting down"))?;
    let found = &known.searched.found;
    let repositories: Vec<_> = found.repositories.iter().map(|repository| shaped(context, repository)).collect();
    Ok(WorkspaceDiscoverResult {
        count: repositories.len() as u64,
        repositories,
        cached: known.cached,
        cache_age_seconds: if known.cached { known.searched.at.elapsed().as_secs() } else { 0 },
        refresh_in_progress: known.refreshing,
        elapsed_ms: if known.cached { began.elapsed() } else { known.searched.took }.as_millis() as u64,
        scanned_paths: found.scanned,
        skipped_paths: found.skipped,
    })
}

pub(crate) async fn forget(context: &Context<'_>, params: WorkspaceCacheParams) -> Result<Done, Fault> {
    if let Some(id) = &params.workspace_id {
        context.host.workspaces.get(id)?;
    }
    context.host.discoveries.forget();
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
