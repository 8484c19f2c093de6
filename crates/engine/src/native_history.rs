//! Conversations that runtimes store by themselves, whether they began in a terminal or under Roost.

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
use roost_model::runtime::{RuntimeEnv, RuntimeName, SlashCommand};
use roost_model::session::{SessionRecord, SessionStatus, SessionUsage};
use roost_model::time::Timestamp;
use roost_process::Isolation;

use crate::adapter::RuntimeAdapter;
use crate::environment::{Environments, NAMESPACE};
use crate::error::Error;
use crate::registry::{RegisteredRuntime, Runtimes};

/// The most conversations that are listed of one runtime, directory and namespace; the last changed ones count.
const MOST: usize = 1000;
/// The size of the cache by which listed conversations are found by their id alone.
const REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(16 * 1024 - 1);
/// How long a runtime may take to list or read its conversations.
const PATIENCE: Duration = Duration::from_secs(10);

/// A conversation as its runtime lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeSession {
    /// The runtime's own id, by which it resumes the conversation.
    pub id: RuntimeSessionId,
    /// The name that a person gave it, or the beginning of its first prompt.
    pub title: Option<String>,
    /// When its last message was stored, as far as the runtime tells.
    pub updated_at: Timestamp,
}

/// One message of a conversation that a runtime stores.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeMessage {
    /// `None` if the runtime stores no time with its messages.
    pub at: Option<Timestamp>,
    /// Its role and its content, in Roost's form.
    pub message: TranscriptMessage,
}

/// A stored conversation, and where it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// The runtime that stores it.
    pub runtime: RuntimeName,
    /// The working directory that it belongs to; absolute.
    pub cwd: String,
    /// The namespace in whose folders the runtime stores it.
    pub credential_namespace: String,
    /// The conversation as its runtime lists it.
    pub session: NativeSession,
}

impl HistoryEntry {
    /// The id that it has, or would have, as a session of Roost. Derived from the runtime and its id, so always the
    /// same.
    pub fn session_id(&self) -> SessionId {
        SessionId::for_native(&self.runtime, &self.session.id)
    }

    /// The record that lists show, as if it were a closed session. Runtimes do not tell when it began or how many
    /// messages it has, so `created_at` is `updated_at` and the counts are 0.
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
            failure: None,
            usage: SessionUsage::default(),
            tasks: 0,
            messages: 0,
            unknown_messages: 0,
            hidden: false,
            queue: Vec::new(),
            workspace_id: None,
            isolation: None,
            env: Vec::new(),
            mcp_servers: Vec::new(),
            runtime_config: None,
            runtime_config_hash: None,
            adopted: None,
            forked: None,
        }
    }
}

/// The stored conversations of a working directory.
#[derive(Clone, Debug, Default)]
pub struct HistoryListing {
    /// The last changed first.
    pub sessions: Vec<HistoryEntry>,
    /// For people: which runtimes could not list theirs, and why.
    pub notices: Vec<String>,
}

impl HistoryListing {
    /// Removes the conversations of these sessions: they are listed as sessions, or were deleted on purpose.
    pub fn leave_out(&mut self, hosted: &[SessionRecord]) {
        let native = |record: &SessionRecord| record.runtime_session_id.as_ref().map(ToString::to_string);
        let natives = hosted.iter().filter_map(native);
        let known: HashSet<_> = hosted.iter().map(|record| record.session_id.to_string()).chain(natives).collect();
        self.sessions
            .retain(|kept| !known.contains(kept.session_id().as_str()) && !known.contains(kept.session.id.as_str()));
    }
}

/// The namespaces that may hold conversations: [`NAMESPACE`], and those that these sessions use.
pub fn namespaces(hosted: &[SessionRecord]) -> BTreeSet<String> {
    hosted.iter().map(|record| record.credential_namespace.clone()).chain([NAMESPACE.to_owned()]).collect()
}

/// Reads the conversations that the registered runtimes store, in the environments that their sessions have.
pub struct NativeHistory {
    runtimes: Runtimes,
    environments: Environments,
    isolation: BTreeMap<String, Isolation>,
    /// A cache of listed conversations by their session ids.
    listed_sessions: Mutex<LruCache<SessionId, HistoryEntry>>,
}

impl NativeHistory {
    /// Reads the history of these runtimes; `isolation` has those that differ from the general one of `environments`.
    pub fn new(runtimes: Runtimes, environments: Environments, isolation: BTreeMap<String, Isolation>) -> Self {
        // Resized afterwards, because a cache that is created with its capacity allocates all of it at once.
        let mut listed_sessions = LruCache::unbounded();
        listed_sessions.resize(REMEMBERED);
        Self { runtimes, environments, isolation, listed_sessions: Mutex::new(listed_sessions) }
    }

    /// Lists the conversations of a working directory in these namespaces, of one runtime or of all. A runtime that
    /// fails becomes a notice and does not hide the others.
    pub async fn list(&self, cwd: &str, namespaces: &BTreeSet<String>, runtime: Option<&str>) -> HistoryListing {
        let wanted = |one: &&RegisteredRuntime| {
            let is_named = runtime.is_none_or(|id| one.adapter.name().id() == id);
            is_named && one.status != RuntimeStatus::Disabled
        };
        let looks = self.runtimes.iter().filter(wanted).map(|one| self.list_runtime(&*one.adapter, cwd, namespaces));
        let mut listing = HistoryListing::default();
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

    async fn list_runtime(
        &self,
        adapter: &dyn RuntimeAdapter,
        cwd: &str,
        namespaces: &BTreeSet<String>,
    ) -> Result<Vec<HistoryEntry>, String> {
        let failed = |error: String| format!("{} does not tell what it keeps: {error}", adapter.display_name());
        let own = BTreeSet::from([NAMESPACE.to_owned()]);
        let namespaces = match self.isolation(adapter) {
            Isolation::Namespaced => namespaces,
            // Sessions that share the user's home share one store, whatever their namespace.
            Isolation::Shared => &own,
            // The store of an ephemeral session is removed with it.
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
            all.extend(sessions.into_iter().map(|session| HistoryEntry {
                runtime: adapter.name(),
                cwd: cwd.into(),
                credential_namespace: namespace.clone(),
                session,
            }));
        }
        Ok(all)
    }

    /// The commands that a prompt to a runtime may begin with in a working directory; they are files like the
    /// conversations, in the same environment.
    pub async fn slash_commands(&self, runtime: &str, cwd: &str) -> Result<Vec<SlashCommand>, Error> {
        let adapter = self.runtimes.usable(runtime)?;
        let env = self.environment(&*adapter, cwd, NAMESPACE).await?;
        Ok(adapter.slash_commands(&env).await)
    }

    fn isolation(&self, adapter: &dyn RuntimeAdapter) -> Isolation {
        self.isolation.get(adapter.name().id()).copied().unwrap_or(self.environments.isolation)
    }

    /// The environment in which a runtime finds its stored conversations.
    async fn environment(&self, adapter: &dyn RuntimeAdapter, cwd: &str, namespace: &str) -> Result<RuntimeEnv, Error> {
        let nobody = SessionId::host();
        Ok(self.environments.for_session(self.isolation(adapter), &nobody, namespace, cwd).await?.0)
    }

    /// A conversation that was listed before, by its session id or by its runtime's id. Does not ask the runtime.
    pub fn listed(&self, id: &str) -> Option<HistoryEntry> {
        let mut listed_sessions = self.listed_sessions.lock();
        if let Some(kept) = listed_sessions.get(&SessionId::from(id)) {
            return Some(kept.clone());
        }
        listed_sessions.iter().map(|(_, kept)| kept).find(|kept| kept.session.id.as_str() == id).cloned()
    }

    /// The messages of a conversation; `None` if its runtime no longer stores it.
    pub async fn messages(&self, kept: &HistoryEntry) -> Result<Option<Vec<NativeMessage>>, Error> {
        let adapter = self.runtimes.usable_by_name(&kept.runtime)?;
        let env = self.environment(&*adapter, &kept.cwd, &kept.credential_namespace).await?;
        let unreadable = |source: io::Error| Error::Unreadable { id: kept.session.id.clone(), source };
        let read = tokio::time::timeout(PATIENCE, adapter.past_messages(&env, &kept.session.id)).await;
        read.unwrap_or_else(|late| Err(late.into())).map_err(unreadable)
    }

    /// A number that changes whenever the conversation does, so that it is read again only then; `None` if its runtime
    /// offers none.
    pub async fn stamp(&self, kept: &HistoryEntry) -> Option<u64> {
        let adapter = self.runtimes.usable_by_name(&kept.runtime).ok()?;
        let env = self.environment(&*adapter, &kept.cwd, &kept.credential_namespace).await.ok()?;
        adapter.past_stamp(&env, &kept.session.id).await
    }

    /// The adapter of the runtime that stores a conversation, if the runtime is not disabled.
    pub(crate) fn adapter(&self, kept: &HistoryEntry) -> Result<Arc<dyn RuntimeAdapter>, Error> {
        self.runtimes.usable_by_name(&kept.runtime)
    }

    fn remember(&self, sessions: &[HistoryEntry]) {
        let mut listed_sessions = self.listed_sessions.lock();
        // The last changed is put last, so it is evicted last.
        for kept in sessions.iter().rev() {
            listed_sessions.put(kept.session_id(), kept.clone());
        }
    }
}

fn latest_first(a: &NativeSession, b: &NativeSession) -> std::cmp::Ordering {
    (b.updated_at, &b.id).cmp(&(a.updated_at, &a.id))
}
