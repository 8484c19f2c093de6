//! Conversations that runtimes keep by themselves, begun in a terminal or here.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use lru::LruCache;
use parking_lot::Mutex;
use roost_model::content::TranscriptMessage;
use roost_model::ids::{RuntimeSessionId, SessionId};
use roost_model::mode::Mode;
use roost_model::registry::RuntimeStatus;
use roost_model::runtime::{RuntimeEnv, RuntimeName};
use roost_model::session::{SessionRecord, SessionStatus};
use roost_model::time::Timestamp;
use roost_process::Isolation;

use crate::adapter::RuntimeAdapter;
use crate::environment::{Environments, NAMESPACE};
use crate::error::Error;
use crate::registry::{Registered, Runtimes};

/// Conversations of one runtime and directory that are listed at most, the last changed.
const MOST: usize = 1000;
/// Conversations whose place is remembered, so that they are found by their id alone; the last used.
const REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(16 * 1024 - 1);
/// How long a runtime may take to tell what it keeps.
const PATIENCE: Duration = Duration::from_secs(10);

/// A conversation that a runtime keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeSession {
    /// The runtime's id for it.
    pub id: RuntimeSessionId,
    /// A name for people: the one it was given, or how it began.
    pub title: Option<String>,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Something that was said in such a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeMessage {
    /// When, where the runtime wrote it down.
    pub at: Option<Timestamp>,
    /// By whom, and what.
    pub message: TranscriptMessage,
}

/// A conversation and where it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// By which runtime.
    pub runtime: RuntimeName,
    /// For which working directory.
    pub cwd: String,
    /// In whose state of the runtime.
    pub credential_namespace: String,
    /// What its runtime tells of it.
    pub session: NativeSession,
}

impl Kept {
    /// The id that it has here, hosted or not.
    pub fn session_id(&self) -> SessionId {
        SessionId::of_native(&self.runtime, &self.session.id)
    }

    /// What would be known of it if it had been hosted here; when it began and how much was said nobody tells.
    pub fn record(&self) -> SessionRecord {
        SessionRecord {
            session_id: self.session_id(),
            runtime: self.runtime.clone(),
            status: SessionStatus::Closed,
            cwd: self.cwd.clone(),
            credential_namespace: self.credential_namespace.clone(),
            mode: Mode::default(),
            title: self.session.title.clone(),
            model: None,
            runtime_session_id: Some(self.session.id.clone()),
            created_at: self.session.updated_at,
            updated_at: self.session.updated_at,
            open_task: None,
            last_outcome: None,
            tasks: 0,
            messages: 0,
            unknown_messages: 0,
            hidden: false,
            queue: Vec::new(),
            workspace_id: None,
            isolation: None,
            env: Vec::new(),
            runtime_config: None,
            runtime_config_hash: None,
            adopted: None,
            forked: None,
        }
    }
}

/// What runtimes keep for a working directory.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The conversations, the last changed first.
    pub sessions: Vec<Kept>,
    /// Which runtimes could not be looked at, and why.
    pub notices: Vec<String>,
}

impl Listing {
    /// Leaves out what these sessions are: one that was ever hosted is listed as that, or was taken off the lists.
    pub fn leave_out(&mut self, hosted: &[SessionRecord]) {
        let native = |record: &SessionRecord| record.runtime_session_id.as_ref().map(ToString::to_string);
        let natives = hosted.iter().filter_map(native);
        let known: HashSet<_> = hosted.iter().map(|record| record.session_id.to_string()).chain(natives).collect();
        self.sessions
            .retain(|kept| !known.contains(kept.session_id().as_str()) && !known.contains(kept.session.id.as_str()));
    }
}

/// The namespaces that may hold conversations: the usual one, and those that these sessions use.
pub fn namespaces(hosted: &[SessionRecord]) -> BTreeSet<String> {
    hosted.iter().map(|record| record.credential_namespace.clone()).chain([NAMESPACE.to_owned()]).collect()
}

/// What the registered runtimes keep, in the environments that their sessions would have.
pub struct NativeHistory {
    runtimes: Runtimes,
    environments: Environments,
    isolation: BTreeMap<String, Isolation>,
    /// Where conversations that were listed are.
    places: Mutex<LruCache<SessionId, Kept>>,
}

impl NativeHistory {
    /// What these runtimes keep, some of which are kept apart in another way than all.
    pub fn new(runtimes: Runtimes, environments: Environments, isolation: BTreeMap<String, Isolation>) -> Self {
        // Made small: a cache that is made with its capacity takes the memory for all of it at once.
        let mut places = LruCache::unbounded();
        places.resize(REMEMBERED);
        Self { runtimes, environments, isolation, places: Mutex::new(places) }
    }

    /// What is kept for a working directory in these namespaces, by this runtime or by any. One that fails does not hide
    /// the others.
    pub async fn list(&self, cwd: &str, namespaces: &BTreeSet<String>, runtime: Option<&str>) -> Listing {
        let wanted = |one: &&Registered| {
            let is_named = runtime.is_none_or(|id| one.adapter.name().id() == id);
            is_named && one.status != RuntimeStatus::Disabled
        };
        let looks = self.runtimes.iter().filter(wanted).map(|one| self.look(&*one.adapter, cwd, namespaces));
        let mut listing = Listing::default();
        for found in join_all(looks).await {
            match found {
                Ok(sessions) => listing.sessions.extend(sessions),
                Err(notice) => listing.notices.push(notice),
            }
        }
        listing.sessions.sort_by(|a, b| latest_first(&a.session, &b.session));
        self.remember(&listing.sessions);
        listing
    }

    async fn look(
        &self,
        adapter: &dyn RuntimeAdapter,
        cwd: &str,
        namespaces: &BTreeSet<String>,
    ) -> Result<Vec<Kept>, String> {
        let failed = |error: String| format!("{} does not tell what it keeps: {error}", adapter.display_name());
        let own = BTreeSet::from([NAMESPACE.to_owned()]);
        let namespaces = match self.isolation(adapter) {
            Isolation::Namespaced => namespaces,
            // Those who share a home keep everything in it, whoever they are.
            Isolation::Shared => &own,
            // What each session has for itself goes with it.
            Isolation::Ephemeral => return Ok(Vec::new()),
        };
        let mut all = Vec::new();
        for namespace in namespaces {
            let env = self.environment(adapter, cwd, namespace).await.map_err(|error| failed(error.to_string()))?;
            let look = tokio::time::timeout(PATIENCE, adapter.past_sessions(&env)).await;
            let mut sessions =
                look.unwrap_or_else(|late| Err(late.into())).map_err(|error| failed(error.to_string()))?;
            sessions.sort_by(latest_first);
            sessions.truncate(MOST);
            all.extend(sessions.into_iter().map(|session| Kept {
                runtime: adapter.name(),
                cwd: cwd.into(),
                credential_namespace: namespace.clone(),
                session,
            }));
        }
        Ok(all)
    }

    fn isolation(&self, adapter: &dyn RuntimeAdapter) -> Isolation {
        self.isolation.get(adapter.name().id()).copied().unwrap_or(self.environments.isolation)
    }

    /// The environment that a runtime keeps things in.
    async fn environment(&self, adapter: &dyn RuntimeAdapter, cwd: &str, namespace: &str) -> Result<RuntimeEnv, Error> {
        let nobody = SessionId::host();
        Ok(self.environments.of(self.isolation(adapter), &nobody, namespace, cwd).await?.0)
    }

    /// A conversation that was listed, by its id here or its runtime's.
    pub fn listed(&self, id: &str) -> Option<Kept> {
        let mut places = self.places.lock();
        if let Some(kept) = places.get(&SessionId::from(id)) {
            return Some(kept.clone());
        }
        places.iter().map(|(_, kept)| kept).find(|kept| kept.session.id.as_str() == id).cloned()
    }

    /// What was said in a conversation; `None` if its runtime keeps it no more.
    pub async fn messages(&self, kept: &Kept) -> Result<Option<Vec<NativeMessage>>, Error> {
        let adapter = self.runtimes.usable_by_name(&kept.runtime)?;
        let env = self.environment(&*adapter, &kept.cwd, &kept.credential_namespace).await?;
        let unreadable = |source: io::Error| Error::Unreadable { id: kept.session.id.clone(), source };
        let read = tokio::time::timeout(PATIENCE, adapter.past_messages(&env, &kept.session.id)).await;
        read.unwrap_or_else(|late| Err(late.into())).map_err(unreadable)
    }

    /// Changes when the conversation does; `None` if its runtime cannot tell that without reading it.
    pub async fn stamp(&self, kept: &Kept) -> Option<u64> {
        let adapter = self.runtimes.usable_by_name(&kept.runtime).ok()?;
        let env = self.environment(&*adapter, &kept.cwd, &kept.credential_namespace).await.ok()?;
        adapter.past_stamp(&env, &kept.session.id).await
    }

    /// The adapter of the runtime that keeps a conversation, if it may be used.
    pub(crate) fn adapter(&self, kept: &Kept) -> Result<Arc<dyn RuntimeAdapter>, Error> {
        self.runtimes.usable_by_name(&kept.runtime)
    }

    fn remember(&self, sessions: &[Kept]) {
        let mut places = self.places.lock();
        // The last changed is the last to be forgotten.
        for kept in sessions.iter().rev() {
            places.put(kept.session_id(), kept.clone());
        }
    }
}

fn latest_first(a: &NativeSession, b: &NativeSession) -> std::cmp::Ordering {
    (b.updated_at, &b.id).cmp(&(a.updated_at, &a.id))
}
