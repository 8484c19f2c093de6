//! What calls and connections share, by subject. A handler that needs one subject takes just that: see `subjects!`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures::future::BoxFuture;
use roost_engine::Engine;
use roost_log::Log;
use roost_model::session::SessionRecord;
use roost_rpc::Fault;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agents::Refusals;
use crate::auth::Auth;
use crate::background_runtime::BackgroundRuntime;
use crate::call_order::CallQueues;
use crate::discoveries::Discoveries;
use crate::dispatch::Context;
use crate::fault;
use crate::limits::RateLimits;
use crate::live::Live;
use crate::long_work::LongWork;
use crate::metrics::RunningTasks;
use crate::notification_cache::NotificationCache;
use crate::presence::Presence;
use crate::settings::Settings;
use crate::tail::Tails;
use crate::workspaces::Workspaces;

/// What the composition root gives to the door.
pub struct Parts {
    /// Runs the sessions; handlers send their commands to it.
    pub engine: Arc<Engine>,
    /// Tells what happens.
    pub log: Arc<dyn Log>,
    /// The state directory.
    pub state: PathBuf,
    /// Roost's version, which clients are told when they connect.
    pub version: String,
}

/// What calls and connections share.
pub(crate) struct Host {
    pub(crate) settings: Settings,
    pub(crate) sessions: Sessions,
    pub(crate) workspaces: Workspaces,
    pub(crate) repositories: Repositories,
    pub(crate) presence: Presence,
    pub(crate) delivery: Delivery,
    pub(crate) auth: Arc<Auth>,
    pub(crate) throttles: Throttles,
    pub(crate) daemon: Daemon,
}

/// Sessions: who runs them, what happened in them, and those that only their runtimes keep.
pub(crate) struct Sessions {
    pub(crate) engine: Arc<Engine>,
    pub(crate) log: Arc<dyn Log>,
    /// The past sessions that are watched.
    pub(crate) tails: Tails,
}

impl Sessions {
    /// The session of this id, or of this id that its runtime gave it.
    pub(crate) async fn get(&self, name: &str) -> Result<SessionRecord, Fault> {
        self.log.session(name).await.map_err(fault::log)?.ok_or_else(|| Fault::no_session(name))
    }
}

/// The folders of workspaces: what git does in them, what changes in them, and where more of them are.
pub(crate) struct Repositories {
    /// Whose turn it is to change each workspace's repository, whichever client asked for it.
    pub(crate) queues: CallQueues,
    /// What git does now, and how it is ended.
    pub(crate) long_work: LongWork,
    /// The workspaces that somebody follows or searches.
    pub(crate) live: Live,
    pub(crate) discoveries: Arc<Discoveries>,
}

/// What feeds send to watchers, and the threads that they run on.
pub(crate) struct Delivery {
    pub(crate) notifications: NotificationCache,
    pub(crate) background: BackgroundRuntime,
}

/// How often clients may call, and how often an agent's refusals are told.
pub(crate) struct Throttles {
    pub(crate) rates: RateLimits,
    pub(crate) refusals: Refusals,
}

/// This run of the daemon, from its start to its end.
pub(crate) struct Daemon {
    pub(crate) version: String,
    /// This run's id, as clients know it.
    pub(crate) instance: String,
    started: Instant,
    pub(crate) running_tasks: RunningTasks,
    /// Heartbeats so far, over all connections.
    heartbeats: AtomicU64,
    /// Cancelled when somebody asked the daemon to stop.
    pub(crate) stop_asked: CancellationToken,
    /// Cancelled when the door closes.
    pub(crate) closing: CancellationToken,
    /// Every connection and every accepted call.
    pub(crate) tasks: TaskTracker,
}

impl Daemon {
    /// Runs something that the door waits for when it closes. Every such task is of one kind, a boxed future, because
    /// tokio compiles a thousand lines per kind.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let work: BoxFuture<'static, ()> = Box::pin(work);
        self.tasks.spawn(work);
    }

    pub(crate) fn uptime_seconds(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    pub(crate) fn next_heartbeat(&self) -> u64 {
        self.heartbeats.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Host {
    pub(crate) fn new(
        parts: Parts,
        settings: Settings,
        workspaces: Workspaces,
        auth: Arc<Auth>,
        background: BackgroundRuntime,
    ) -> Self {
        let closing = CancellationToken::new();
        Self {
            throttles: Throttles { rates: RateLimits::new(&settings.limits), refusals: Refusals::default() },
            settings,
            sessions: Sessions { engine: parts.engine, log: parts.log, tails: Tails::default() },
            workspaces,
            repositories: Repositories {
                queues: CallQueues::default(),
                long_work: LongWork::new(closing.clone()),
                live: Live::new(parts.state),
                discoveries: Arc::default(),
            },
            presence: Presence::default(),
            delivery: Delivery { notifications: NotificationCache::default(), background },
            daemon: Daemon {
                version: parts.version,
                instance: auth.endpoint.session.clone(),
                started: Instant::now(),
                running_tasks: RunningTasks::default(),
                heartbeats: AtomicU64::new(0),
                stop_asked: CancellationToken::new(),
                closing,
                tasks: TaskTracker::new(),
            },
            auth,
        }
    }
}

/// Lets a handler take one subject instead of the whole context.
macro_rules! subjects {
    ($($field:ident: $subject:ty,)*) => {
        $(impl<'a> From<&'a Context<'a>> for &'a $subject {
            fn from(context: &'a Context<'a>) -> Self {
                &context.host.$field
            }
        })*
    };
}

subjects! {
    sessions: Sessions,
    workspaces: Workspaces,
    auth: Auth,
    daemon: Daemon,
}
