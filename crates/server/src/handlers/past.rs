//! Past sessions, which only their runtimes keep: finds them, lists them beside the hosted ones, and adopts them.

use std::collections::BTreeSet;
use std::path::Path;

use roost_engine::{Adoption, HistoryEntry, NativeSession, namespaces};
use roost_model::mode::Mode;
use roost_model::session::SessionRecord;
use roost_rpc::conversation::Message;
use roost_rpc::{Fault, KeptBy, Scope};

use super::routing;
use crate::dispatch::Context;
use crate::fault;
use crate::tail;
use crate::workspaces::WorkspaceEntry;

/// The session that a call means.
pub(crate) enum FoundSession {
    /// Roost hosts it, so the log has its events.
    Hosted(Box<SessionRecord>),
    /// Only its runtime keeps it, so the log knows nothing of it.
    Past(Box<HistoryEntry>),
}

impl FoundSession {
    /// Its record; that of a past session is derived from what the runtime lists.
    pub(crate) fn record(&self) -> SessionRecord {
        match self {
            Self::Hosted(record) => (**record).clone(),
            Self::Past(kept) => kept.record(),
        }
    }
}

/// One row of a session list.
pub(super) struct SessionRow {
    pub(super) record: SessionRecord,
    pub(super) source: KeptBy,
}

/// Which sessions are listed or searched; an absent part excludes nothing.
#[derive(Clone, Copy, Default)]
pub(super) struct SessionFilter<'a> {
    /// Only sessions of this workspace, including those in other folders that belong to it.
    pub(super) entry: Option<&'a WorkspaceEntry>,
    /// Only sessions whose working directory is exactly this one.
    pub(super) cwd: Option<&'a str>,
    /// Only sessions of this runtime.
    pub(super) agent_type: Option<&'a str>,
}

impl SessionFilter<'_> {
    fn holds(&self, record: &SessionRecord) -> bool {
        routing::runs_on(record, self.agent_type)
            && self.entry.is_none_or(|entry| routing::belongs_to(record, entry))
            && self.cwd.is_none_or(|cwd| record.cwd == cwd)
    }

    /// The folders whose past sessions are listed: `cwd`, else those of the workspace, else those of all workspaces.
    async fn folders(&self, context: &Context<'_>, hosted: &[SessionRecord]) -> BTreeSet<String> {
        let entry_folders = |entry: &WorkspaceEntry| {
            let used =
                hosted.iter().filter(|record| routing::belongs_to(record, entry)).map(|record| record.cwd.clone());
            used.chain([entry.path.clone()]).collect::<BTreeSet<_>>()
        };
        match (self.cwd, self.entry) {
            (None, Some(entry)) => entry_folders(entry),
            (None, None) => context.host.workspaces.usable().iter().flat_map(entry_folders).collect(),
            (Some(cwd), entry) => {
                // Runtimes know a folder by where its path leads.
                let real = tokio::fs::canonicalize(cwd).await;
                let real = real.map_or_else(|_| cwd.to_owned(), |real| real.to_string_lossy().into_owned());
                let is_right = entry.is_none_or(|entry| Path::new(&real).starts_with(&entry.path));
                Some(real).filter(|real| is_right && is_open(context, real)).into_iter().collect()
            }
        }
    }
}

/// Whether this client may list the sessions of a folder.
fn is_open(context: &Context<'_>, cwd: &str) -> bool {
    context.caller.scope >= Scope::Admin || context.host.workspaces.containing(cwd.as_ref()).is_some()
}

/// Hosted and past sessions, the latest first, and notices about what could not be listed.
pub(super) async fn list(
    context: &Context<'_>,
    filter: SessionFilter<'_>,
    source: Option<KeptBy>,
) -> Result<(Vec<SessionRow>, Vec<String>), Fault> {
    let all = context.host.sessions.log.sessions(usize::MAX).await.map_err(fault::log)?;
    let (mut rows, mut notices) = (Vec::new(), BTreeSet::new());
    if source != Some(KeptBy::Managed) {
        let (namespaces, runtime) = (namespaces(&all), filter.agent_type.map(routing::normalize_agent_type));
        for folder in filter.folders(context, &all).await {
            let mut listing =
                context.host.sessions.engine.native_history().list(&folder, &namespaces, runtime.as_deref()).await;
            listing.leave_out(&all);
            notices.extend(listing.notices);
            let row = |kept: HistoryEntry| SessionRow { record: kept.record(), source: KeptBy::History };
            rows.extend(listing.sessions.into_iter().map(row));
        }
    }
    if source != Some(KeptBy::History) {
        let listed = all.into_iter().filter(|record| !record.hidden && filter.holds(record));
        rows.extend(listed.map(|record| SessionRow { record, source: KeptBy::Managed }));
    }
    rows.sort_by_cached_key(|row| std::cmp::Reverse((row.record.updated_at, row.record.session_id.clone())));
    Ok((rows, notices.into_iter().collect()))
}

/// The past session of this id, which may be Roost's or the runtime's own.
pub(super) async fn find(context: &Context<'_>, filter: SessionFilter<'_>, id: &str) -> Result<HistoryEntry, Fault> {
    let native_history = context.host.sessions.engine.native_history();
    let is_it = |kept: &HistoryEntry| kept.session_id().as_str() == id || kept.session.id.as_str() == id;
    let known = native_history.listed(id).filter(|kept| is_open(context, &kept.cwd));
    let (folders, namespaces, runtime) = match &known {
        Some(kept) => {
            let only = |one: &String| BTreeSet::from([one.clone()]);
            (only(&kept.cwd), only(&kept.credential_namespace), Some(kept.runtime.id()))
        }
        None => {
            let hosted = context.host.sessions.log.sessions(usize::MAX).await.map_err(fault::log)?;
            (filter.folders(context, &hosted).await, namespaces(&hosted), None)
        }
    };
    for folder in folders {
        // It may have changed since it was listed, or be gone.
        let listing = native_history.list(&folder, &namespaces, runtime).await;
        if let Some(kept) = listing.sessions.into_iter().find(is_it) {
            return Ok(kept);
        }
    }
    Err(Fault::no_session(id))
}

/// Adopts a past session, so that Roost hosts it from now on.
pub(super) async fn adopt(
    context: &Context<'_>,
    kept: &HistoryEntry,
    mode: Option<Mode>,
) -> Result<SessionRecord, Fault> {
    let workspace_id = context.host.workspaces.containing(kept.cwd.as_ref()).map(|entry| entry.id);
    let adoption = Adoption { mode: mode.unwrap_or_default(), workspace_id };
    let id = context.host.sessions.engine.adopt(kept, adoption).await.map_err(fault::engine)?;
    context.host.sessions.get(id.as_str()).await
}

/// The messages of a past session; an error if its runtime no longer has it.
pub(super) async fn messages(context: &Context<'_>, kept: &HistoryEntry) -> Result<Vec<Message>, Fault> {
    let messages = tail::messages(&context.host.sessions.engine, kept).await?;
    messages.ok_or_else(|| Fault::no_session(kept.session.id.as_str()))
}

/// The messages of a session from before it was adopted; empty once its runtime has removed them.
pub(super) async fn messages_before_adoption(context: &Context<'_>, record: &SessionRecord) -> Vec<Message> {
    let Some(adopted) = &record.adopted else { return Vec::new() };
    let (id, title, updated_at) = (adopted.runtime_session_id.clone(), record.title.clone(), record.created_at);
    let kept = HistoryEntry {
        runtime: record.runtime.clone(),
        cwd: record.cwd.clone(),
        credential_namespace: record.credential_namespace.clone(),
        session: NativeSession { id, title, updated_at },
    };
    let mut messages = messages(context, &kept).await.unwrap_or_else(|error| {
        tracing::debug!(session = %record.session_id, error = error.message, "What was said before cannot be read.");
        Vec::new()
    });
    messages.truncate(usize::try_from(adopted.messages).unwrap_or(usize::MAX));
    messages
}
