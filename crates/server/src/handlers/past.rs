//! Sessions that only their runtimes keep: found, listed beside the hosted ones, and taken over.

use std::collections::BTreeSet;
use std::path::Path;

use roost_engine::{Adoption, Kept, NativeSession, namespaces};
use roost_model::mode::Mode;
use roost_model::session::SessionRecord;
use roost_rpc::conversation::Message;
use roost_rpc::{Fault, KeptBy, Scope};

use super::routing;
use crate::dispatch::Context;
use crate::fault;
use crate::tail;
use crate::workspaces::Entry;

/// A session that a call is about.
pub(crate) enum Found {
    /// Roost hosts it.
    Hosted(Box<SessionRecord>),
    /// Only its runtime keeps it.
    Past(Box<Kept>),
}

impl Found {
    /// What is known of it.
    pub(crate) fn record(&self) -> SessionRecord {
        match self {
            Self::Hosted(record) => (**record).clone(),
            Self::Past(kept) => kept.record(),
        }
    }
}

/// One session of a list.
pub(super) struct Row {
    pub(super) record: SessionRecord,
    pub(super) source: KeptBy,
}

/// The sessions of a list, or where one is looked for: all that no part excludes.
#[derive(Clone, Copy, Default)]
pub(super) struct Within<'a> {
    /// In a workspace and whatever folders of it sessions work in.
    pub(super) entry: Option<&'a Entry>,
    /// In one folder.
    pub(super) cwd: Option<&'a str>,
    /// Of one runtime.
    pub(super) agent_type: Option<&'a str>,
}

impl Within<'_> {
    fn holds(&self, record: &SessionRecord) -> bool {
        routing::runs_on(record, self.agent_type)
            && self.entry.is_none_or(|entry| routing::belongs(record, entry))
            && self.cwd.is_none_or(|cwd| record.cwd == cwd)
    }

    /// The folders that runtimes are asked about: the one, else those of the workspace, else those of all workspaces.
    async fn folders(&self, context: &Context<'_>, hosted: &[SessionRecord]) -> BTreeSet<String> {
        let of_entry = |entry: &Entry| {
            let used = hosted.iter().filter(|record| routing::belongs(record, entry)).map(|record| record.cwd.clone());
            used.chain([entry.path.clone()]).collect::<BTreeSet<_>>()
        };
        match (self.cwd, self.entry) {
            (None, Some(entry)) => of_entry(entry),
            (None, None) => context.host.workspaces.usable().iter().flat_map(of_entry).collect(),
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

/// Whether this client may look into a folder.
fn is_open(context: &Context<'_>, cwd: &str) -> bool {
    context.caller.scope >= Scope::Admin || context.host.workspaces.containing(cwd.as_ref()).is_some()
}

/// Hosted sessions and past ones beside them, the latest first, and what could not be looked at.
pub(super) async fn list(
    context: &Context<'_>,
    within: Within<'_>,
    source: Option<KeptBy>,
) -> Result<(Vec<Row>, Vec<String>), Fault> {
    let all = context.host.sessions.log.sessions(usize::MAX).await.map_err(fault::log)?;
    let (mut rows, mut notices) = (Vec::new(), BTreeSet::new());
    if source != Some(KeptBy::Managed) {
        let (namespaces, runtime) = (namespaces(&all), within.agent_type.map(routing::normal));
        for folder in within.folders(context, &all).await {
            let mut listing =
                context.host.sessions.engine.native_history().list(&folder, &namespaces, runtime.as_deref()).await;
            listing.leave_out(&all);
            notices.extend(listing.notices);
            let row = |kept: Kept| Row { record: kept.record(), source: KeptBy::History };
            rows.extend(listing.sessions.into_iter().map(row));
        }
    }
    if source != Some(KeptBy::History) {
        let listed = all.into_iter().filter(|record| !record.hidden && within.holds(record));
        rows.extend(listed.map(|record| Row { record, source: KeptBy::Managed }));
    }
    rows.sort_by_cached_key(|row| std::cmp::Reverse((row.record.updated_at, row.record.session_id.clone())));
    Ok((rows, notices.into_iter().collect()))
}

/// The past session of this id, or of this id that its runtime gave it.
pub(super) async fn find(context: &Context<'_>, within: Within<'_>, id: &str) -> Result<Kept, Fault> {
    let native_history = context.host.sessions.engine.native_history();
    let is_it = |kept: &Kept| kept.session_id().as_str() == id || kept.session.id.as_str() == id;
    let known = native_history.listed(id).filter(|kept| is_open(context, &kept.cwd));
    let (folders, namespaces, runtime) = match &known {
        Some(kept) => {
            let only = |one: &String| BTreeSet::from([one.clone()]);
            (only(&kept.cwd), only(&kept.credential_namespace), Some(kept.runtime.id()))
        }
        None => {
            let hosted = context.host.sessions.log.sessions(usize::MAX).await.map_err(fault::log)?;
            (within.folders(context, &hosted).await, namespaces(&hosted), None)
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

/// Makes a past session a hosted one.
pub(super) async fn adopt(context: &Context<'_>, kept: &Kept, mode: Option<Mode>) -> Result<SessionRecord, Fault> {
    let workspace_id = context.host.workspaces.containing(kept.cwd.as_ref()).map(|entry| entry.id);
    let adoption = Adoption { mode: mode.unwrap_or_default(), workspace_id };
    let id = context.host.sessions.engine.adopt(kept, adoption).await.map_err(fault::engine)?;
    context.host.sessions.get(id.as_str()).await
}

/// The messages of a past session.
pub(super) async fn messages(context: &Context<'_>, kept: &Kept) -> Result<Vec<Message>, Fault> {
    let messages = tail::messages(&context.host.sessions.engine, kept).await?;
    messages.ok_or_else(|| Fault::no_session(kept.session.id.as_str()))
}

/// What was said in a session before it was hosted; its runtime keeps that as long as it likes.
pub(super) async fn before(context: &Context<'_>, record: &SessionRecord) -> Vec<Message> {
    let Some(adopted) = &record.adopted else { return Vec::new() };
    let (id, title, updated_at) = (adopted.runtime_session_id.clone(), record.title.clone(), record.created_at);
    let kept = Kept {
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
