//! The state that calls and connections share, by subject. A handler that needs one subject takes just that: see
//! `subjects!`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures::future::BoxFuture;
use roost_engine::Engine;
use roost_gateway::bootstrap::Bootstrap;
use roost_gateway::endpoint::Endpoint;
use roost_gateway::runs::{RunMessages, Runs};
use roost_gateway::secrets::Secrets;
use roost_gateway::services::Services;
use roost_log::Log;
use roost_model::session::SessionRecord;
use roost_rpc::Fault;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::acp::HttpConnections;
use crate::agents::RefusalThrottle;
use crate::approval_panels::ApprovalPanels;
use crate::auth::Auth;
use crate::background_runtime::BackgroundRuntime;
use crate::call_order::CallQueues;
use crate::control::{CompilerVersion, ControlParts};
use crate::discoveries::Discoveries;
use crate::dispatch::Context;
use crate::fault;
use crate::limits::RateLimits;
use crate::live_workspaces::LiveWorkspaces;
use crate::metrics::RunningTasks;
use crate::notification_cache::NotificationCache;
use crate::presence::Presence;
use crate::running_operations::RunningOperations;
use crate::session_clients::SessionClients;
use crate::settings::Settings;
use crate::tail::Tails;
use crate::upload_parts::UploadParts;
use crate::workspaces::Workspaces;

/// What the composition root passes to the server.
pub struct Parts {
    /// Runs the sessions; handlers send their commands to it.
    pub engine: Arc<Engine>,
    /// What clients do for the agents of sessions; the same that the adapters have.
    pub clients: Arc<SessionClients>,
    /// The event log, which feeds follow and handlers read.
    pub log: Arc<dyn Log>,
    /// The state directory: the local secret, the certificate and the index snapshots are kept there.
    pub state: PathBuf,
    /// The services of the MCP gateway.
    pub services: Arc<Services>,
    /// Roost's version, which clients get from `initialize`.
    pub version: String,
    /// The MCP gateway; without it there is nothing at `/mcp`.
    pub gateway: Option<Arc<Endpoint>>,
    /// Agent runs, those that are reported and those that are hosted.
    pub runs: Arc<Runs>,
    /// Passes messages to reported runs.
    pub run_messages: Arc<RunMessages>,
    /// The secrets of services.
    pub secrets: Arc<Secrets>,
    /// What the gateway's own tools need.
    pub control: ControlParts,
    /// The settings of other programs, in which the gateway can be registered.
    pub bootstrap: Bootstrap,
}

/// The state that all calls and connections share.
pub(crate) struct Host {
    pub(crate) settings: Settings,
    pub(crate) sessions: Sessions,
    pub(crate) workspaces: Workspaces,
    pub(crate) repositories: Repositories,
    /// The services of the MCP gateway.
    pub(crate) services: Arc<Services>,
    pub(crate) presence: Presence,
    /// What clients do for the agents of sessions.
    pub(crate) clients: Arc<SessionClients>,
    /// Editors that are connected over HTTP.
    pub(crate) http_editors: HttpConnections,
    pub(crate) upload_parts: UploadParts,
    pub(crate) delivery: Delivery,
    pub(crate) auth: Arc<Auth>,
    pub(crate) gateway: Option<Arc<Endpoint>>,
    pub(crate) runs: Arc<Runs>,
    pub(crate) run_messages: Arc<RunMessages>,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) control: ControlParts,
    pub(crate) compiler_version: CompilerVersion,
    pub(crate) bootstrap: Bootstrap,
    pub(crate) throttles: Throttles,
    pub(crate) daemon: Daemon,
}

/// Sessions: who runs them, what happened in them, and those that only their runtimes keep.
pub(crate) struct Sessions {
    pub(crate) engine: Arc<Engine>,
    pub(crate) log: Arc<dyn Log>,
    /// Tails of past sessions that somebody watches.
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
    /// One queue for each workspace: changes to its repository run one at a time, whichever client asked.
    pub(crate) queues: CallQueues,
    /// The git operations that run, so that `git/cancel` can end them.
    pub(crate) running_operations: RunningOperations,
    /// Indexes and live events of the workspaces that somebody follows or searches.
    pub(crate) live: LiveWorkspaces,
    pub(crate) discoveries: Arc<Discoveries>,
}

/// What feeds need: the shared notification cache, how approvals are shown, and the runtime that they run on.
pub(crate) struct Delivery {
    pub(crate) notifications: NotificationCache,
    pub(crate) panels: ApprovalPanels,
    pub(crate) background: BackgroundRuntime,
}

/// The rate limits of clients, and of reports about refused agents.
pub(crate) struct Throttles {
    pub(crate) rates: RateLimits,
    pub(crate) refusals: RefusalThrottle,
}

/// This run of the daemon, from its start to its end.
pub(crate) struct Daemon {
    pub(crate) version: String,
    /// The id of this run, random at each start; clients get it as a `session_id`.
    pub(crate) instance: String,
    started: Instant,
    pub(crate) running_tasks: RunningTasks,
    /// Counts the heartbeats over all connections.
    heartbeats: AtomicU64,
    /// Cancelled when somebody asked the daemon to stop.
    pub(crate) stop_asked: CancellationToken,
    /// Cancelled when the server stops; every connection's token is a child of it.
    pub(crate) closing: CancellationToken,
    /// Every connection and every accepted call, which the server waits for when it stops.
    pub(crate) tasks: TaskTracker,
}

impl Daemon {
    /// Spawns a task that the server waits for when it stops. Every such task is a boxed future, because tokio compiles
    /// a thousand lines for each kind.
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
            throttles: Throttles { rates: RateLimits::new(&settings.limits), refusals: RefusalThrottle::default() },
            settings,
            secrets: parts.secrets,
            control: parts.control,
            compiler_version: CompilerVersion::default(),
            bootstrap: parts.bootstrap,
            runs: parts.runs,
            run_messages: parts.run_messages,
            sessions: Sessions { engine: parts.engine, log: parts.log, tails: Tails::default() },
            workspaces,
            services: parts.services,
            repositories: Repositories {
                queues: CallQueues::default(),
                running_operations: RunningOperations::new(closing.clone()),
                live: LiveWorkspaces::new(parts.state),
                discoveries: Arc::default(),
            },
            presence: Presence::default(),
            clients: parts.clients,
            http_editors: HttpConnections::default(),
            upload_parts: UploadParts::default(),
            delivery: Delivery {
                notifications: NotificationCache::default(),
                panels: ApprovalPanels::default(),
                background,
            },
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
            gateway: parts.gateway,
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
