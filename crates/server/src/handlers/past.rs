//! Sessions that only their runtimes keep: found, listed beside the hosted ones, and taken over.

use std::collections::{BTreeSet, HashSet};

use roost_engine::{Adoption, Kept, PastSession};
use roost_proto::cdev::message::Message;
use roost_proto::mode::Mode;
use roost_proto::rpc::{Fault, KeptBy, Scope};
use roost_proto::session::SessionRecord;

use super::{routing, session::NAMESPACE};
use crate::dispatch::Context;
use crate::fault;
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

/// Where past sessions are looked for.
pub(super) enum Within<'a> {
    /// In a workspace and whatever folders of it sessions work in.
    Workspace(&'a Entry),
    /// In one folder.
    Folder(&'a str),
    /// In every workspace.
    Everywhere,
}

impl Within<'_> {
    /// The folders that runtimes are asked about; from afar only those of workspaces.
    async fn folders(&self, context: &Context<'_>, hosted: &[SessionRecord]) -> BTreeSet<String> {
        let of_entry = |entry: &Entry| {
            let used = hosted.iter().filter(|record| routing::belongs(record, entry)).map(|record| record.cwd.clone());
            used.chain([entry.path.clone()]).collect::<BTreeSet<_>>()
        };
        match self {
            Self::Workspace(entry) => of_entry(entry),
            Self::Everywhere => context.host.workspaces.all().iter().flat_map(of_entry).collect(),
            Self::Folder(cwd) => {
                // Runtimes know a folder by where its path leads.
                let real = tokio::fs::canonicalize(cwd).await;
                let real = real.map_or_else(|_| (*cwd).to_owned(), |real| real.to_string_lossy().into_owned());
                BTreeSet::from([real]).into_iter().filter(|cwd| is_open(context, cwd)).collect()
            }
        }
    }
}

/// Whether this client may look into a folder.
fn is_open(context: &Context<'_>, cwd: &str) -> bool {
    context.caller.scope >= Scope::Admin || context.host.workspaces.containing(cwd.as_ref()).is_some()
}

/// These hosted sessions and the past ones beside them, the latest first, and what could not be looked at. A session is
/// in it once: what was ever hosted is listed as that, or was taken off the lists.
pub(super) async fn beside(
    context: &Context<'_>,
    hosted: Vec<SessionRecord>,
    within: Within<'_>,
    agent_type: Option<&str>,
    source: Option<KeptBy>,
) -> Result<(Vec<Row>, Vec<String>), Fault> {
    let all = context.host.log.sessions(usize::MAX).await.map_err(fault::log)?;
    let (mut rows, mut notices) = (Vec::new(), BTreeSet::new());
    if source != Some(KeptBy::Managed) {
        let ids = |record: &SessionRecord| {
            [Some(record.session_id.to_string()), record.runtime_session_id.as_ref().map(ToString::to_string)]
        };
        let known: HashSet<String> = all.iter().flat_map(ids).flatten().collect();
        let is_new =
            |kept: &Kept| !known.contains(kept.session_id().as_str()) && !known.contains(kept.session.id.as_str());
        for folder in within.folders(context, &all).await {
            let runtime = agent_type.map(routing::normal);
            let listing = context.host.engine.shelves().list(&folder, NAMESPACE, runtime.as_deref()).await;
            notices.extend(listing.notices);
            let past = listing.sessions.into_iter().filter(is_new);
            rows.extend(past.map(|kept| Row { record: kept.record(), source: KeptBy::History }));
        }
    }
    if source != Some(KeptBy::History) {
        rows.extend(hosted.into_iter().map(|record| Row { record, source: KeptBy::Managed }));
    }
    let place = |row: &Row| (row.record.updated_at, row.record.session_id.clone());
    rows.sort_by_cached_key(|row| std::cmp::Reverse(place(row)));
    Ok((rows, notices.into_iter().collect()))
}

/// The past session of this id, or of this id that its runtime gave it.
pub(super) async fn find(context: &Context<'_>, within: Within<'_>, id: &str) -> Result<Kept, Fault> {
    let shelves = context.host.engine.shelves();
    let is_it = |kept: &Kept| kept.session_id().as_str() == id || kept.session.id.as_str() == id;
    let known = shelves.listed(id).filter(|kept| is_open(context, &kept.cwd));
    let (folders, runtime) = match &known {
        Some(kept) => (BTreeSet::from([kept.cwd.clone()]), Some(kept.runtime.id())),
        None => {
            let hosted = context.host.log.sessions(usize::MAX).await.map_err(fault::log)?;
            (within.folders(context, &hosted).await, None)
        }
    };
    for folder in folders {
        // It may have changed since it was listed, or be gone.
        let listing = shelves.list(&folder, NAMESPACE, runtime).await;
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
    let id = context.host.engine.adopt(kept, adoption).await.map_err(fault::engine)?;
    context.host.session(id.as_str()).await
}

/// The messages of a past session.
pub(super) async fn messages(context: &Context<'_>, kept: &Kept) -> Result<Vec<Message>, Fault> {
    let messages = context.host.engine.shelves().messages(kept).await.map_err(fault::engine)?;
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
        session: PastSession { id, title, updated_at },
    };
    let mut messages = messages(context, &kept).await.unwrap_or_else(|error| {
        tracing::debug!(session = %record.session_id, error = error.message, "What was said before cannot be read.");
        Vec::new()
    });
    messages.truncate(usize::try_from(adopted.messages).unwrap_or(usize::MAX));
    messages
}
