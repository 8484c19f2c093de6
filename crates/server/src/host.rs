//! What every call and every connection shares.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use roost_engine::Engine;
use roost_log::Log;
use roost_model::session::SessionRecord;
use roost_rpc::Fault;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agents::Refusals;
use crate::auth::Auth;
use crate::background_runtime::BackgroundRuntime;
use crate::call_order::CallOrder;
use crate::discoveries::Discoveries;
use crate::fault;
use crate::limits::RateLimits;
use crate::live::Live;
use crate::long_work::LongWork;
use crate::metrics::Tally;
use crate::notification_cache::NotificationCache;
use crate::presence::Presence;
use crate::settings::Settings;
use crate::tail::Tails;
use crate::workspaces::Workspaces;

/// What the composition root gives to the door.
pub struct Parts {
    /// Takes commands.
    pub engine: Arc<Engine>,
    /// Tells what happens.
    pub log: Arc<dyn Log>,
    /// The state directory.
    pub state: PathBuf,
    /// Roost's version.
    pub version: String,
}

/// What every call and every connection shares.
pub(crate) struct Host {
    pub(crate) engine: Arc<Engine>,
    pub(crate) log: Arc<dyn Log>,
    pub(crate) settings: Settings,
    pub(crate) version: String,
    /// This run of the daemon, as clients know it.
    pub(crate) instance: String,
    pub(crate) started: Instant,
    pub(crate) workspaces: Workspaces,
    pub(crate) discoveries: Arc<Discoveries>,
    /// Whose turn it is to change each workspace's repository.
    pub(crate) repositories: CallOrder,
    /// What git does now.
    pub(crate) long_work: LongWork,
    pub(crate) presence: Presence,
    pub(crate) projections: NotificationCache,
    /// The workspaces that somebody follows or searches.
    pub(crate) live: Live,
    /// The past sessions that are watched.
    pub(crate) tails: Tails,
    /// Sends what watchers get.
    pub(crate) quiet: BackgroundRuntime,
    pub(crate) auth: Arc<Auth>,
    pub(crate) tally: Tally,
    pub(crate) rates: RateLimits,
    /// What processes of agents were refused.
    pub(crate) refusals: Refusals,
    /// Heartbeats so far, over all connections.
    pub(crate) heartbeats: AtomicU64,
    /// Somebody asked the daemon to stop.
    pub(crate) stop_asked: CancellationToken,
    /// The door closes.
    pub(crate) closing: CancellationToken,
    /// Every connection and every accepted call.
    pub(crate) tasks: TaskTracker,
}

impl Host {
    pub(crate) fn new(
        parts: Parts,
        settings: Settings,
        workspaces: Workspaces,
        auth: Arc<Auth>,
        quiet: BackgroundRuntime,
    ) -> Self {
        let closing = CancellationToken::new();
        Self {
            rates: RateLimits::new(&settings.limits),
            refusals: Refusals::default(),
            engine: parts.engine,
            log: parts.log,
            version: parts.version,
            settings,
            instance: auth.place.session.clone(),
            started: Instant::now(),
            workspaces,
            discoveries: Arc::default(),
            repositories: CallOrder::default(),
            presence: Presence::default(),
            live: Live::new(parts.state),
            tails: Tails::default(),
            projections: NotificationCache::default(),
            quiet,
            auth,
            tally: Tally::default(),
            heartbeats: AtomicU64::new(0),
            stop_asked: CancellationToken::new(),
            long_work: LongWork::new(closing.clone()),
            closing,
            tasks: TaskTracker::new(),
        }
    }

    pub(crate) fn uptime_seconds(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    pub(crate) fn next_heartbeat(&self) -> u64 {
        self.heartbeats.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The session of this id, or of this id that its runtime gave it.
    pub(crate) async fn session(&self, id: &str) -> Result<SessionRecord, Fault> {
        self.log.session(id).await.map_err(fault::log)?.ok_or_else(|| Fault::no_session(id))
    }
}
