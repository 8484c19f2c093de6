//! The endpoint that clients of the gateway use: one MCP server for both eras, whatever the transport.
//!
//! Decisions:
//! * A modern request stands alone: its `_meta` says who asks. A legacy client has a [`Session`] from `initialize` on.
//! * What a client sees is a [`View`] of the catalog, encoded once per generation (`surface`).
//! * A request is one future; what is said before its answer goes through its [`Outlet`]. Dropping the future cancels the
//!   request at its service.
//! * Names, addresses and what the eras differ in are rewritten member by member; all else passes as the bytes that came.

mod backend;
mod content;
mod door;
mod forward;
mod headers;
mod internal_calls;
mod judging;
mod known_tasks;
mod lazy_tools;
mod line_door;
mod listen;
mod log_level;
mod methods;
mod outlet;
mod parked_calls;
mod read_lists;
mod refusal;
mod request;
mod request_state;
mod result_uris;
mod running_call;
mod session;
mod sessions;
mod subscriptions;
mod surface;
mod suspended_tickets;
mod task_ids;
mod tasks;
mod updates;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use backend::{Backend, DEFAULT_PATIENCE, UnaskedMessage};
pub use door::{IncomingRequest, response};
pub use outlet::{Outlet, ReplayBuffer, StreamBeginning};
pub use refusal::McpRefusal;
pub use request::{ClientContext, names_revision};
pub use session::Session;
pub use surface::View;

use self::known_tasks::KnownTasks;
use self::parked_calls::ParkedCalls;
use self::read_lists::ReadLists;
use self::request_state::StateKey;
use self::sessions::Sessions;
use self::subscriptions::ResourceSubscriptions;
use self::surface::Surface;
use self::suspended_tickets::SuspendedTickets;
use crate::catalog::Viewer;
use crate::governor::Governor;
use crate::namespace::MAX_NAME;

/// How long a client may take to answer what a service asks it, or to take its call up again.
const ANSWER_LIMIT: Duration = Duration::from_mins(10);
/// How often what nobody uses any more is looked for.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);
/// Messages of services that may wait for a slow client; beyond it the client misses some.
const UNASKED: usize = 256;
/// Views whose lists are kept; beyond it all are made anew.
const MAX_SURFACES: usize = 256;

/// How the endpoint presents itself.
#[derive(Clone, Debug)]
pub struct EndpointSettings {
    /// The server's name.
    pub name: String,
    /// The version that clients see, which is that of Roost.
    pub version: String,
    /// The longest name of a tool or prompt, in bytes.
    pub max_name: usize,
}

impl EndpointSettings {
    /// The usual settings, with Roost's version.
    pub fn new(version: impl Into<String>) -> Self {
        Self { name: "roost".into(), version: version.into(), max_name: MAX_NAME }
    }
}

/// The one MCP server of the gateway.
pub struct Endpoint {
    backend: Arc<dyn Backend>,
    governor: Arc<dyn Governor>,
    settings: EndpointSettings,
    surfaces: Mutex<HashMap<(View, Viewer), Arc<Surface>>>,
    sessions: Arc<Sessions>,
    read_lists: ReadLists,
    parked: ParkedCalls,
    suspended: Arc<SuspendedTickets>,
    known_tasks: Arc<KnownTasks>,
    subscriptions: ResourceSubscriptions,
    /// What the endpoint itself says of services: that a resource may have changed unheard.
    said: broadcast::Sender<Arc<UnaskedMessage>>,
    /// Everything that runs for clients.
    tasks: TaskTracker,
    closing: CancellationToken,
}

impl Endpoint {
    /// An endpoint over these services. Fails only if the system has no random numbers.
    pub fn new(
        backend: Arc<dyn Backend>,
        governor: Arc<dyn Governor>,
        settings: EndpointSettings,
    ) -> Result<Arc<Self>, getrandom::Error> {
        let (tasks, closing) = (TaskTracker::new(), CancellationToken::new());
        let (said, _) = broadcast::channel(UNASKED);
        let (sessions, suspended) = (Arc::<Sessions>::default(), Arc::<SuspendedTickets>::default());
        let known_tasks = Arc::<KnownTasks>::default();
        tasks.spawn(sweep(sessions.clone(), suspended.clone(), known_tasks.clone(), closing.clone()));
        Ok(Arc::new(Self {
            parked: ParkedCalls::new(StateKey::new()?, tasks.clone(), closing.clone()),
            subscriptions: ResourceSubscriptions::new(backend.clone(), said.clone(), tasks.clone()),
            backend,
            governor,
            settings,
            surfaces: Mutex::default(),
            sessions,
            read_lists: ReadLists::default(),
            suspended,
            known_tasks,
            said,
            tasks,
            closing,
        }))
    }

    /// Ends every session and stream.
    pub fn begin_closing(&self) {
        self.closing.cancel();
    }

    /// Ends every session and stream, and waits for what runs.
    pub async fn close(&self) {
        self.begin_closing();
        // Their permits are given back, which is recorded.
        self.known_tasks.clear();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Whether a service of this view is known, usable or not.
    pub fn knows(&self, view: &View) -> bool {
        let View::One(namespace) = view else { return true };
        let catalog = self.backend.catalog();
        catalog.services.iter().any(|service| service.namespace == *namespace)
            || catalog.missing.iter().any(|service| service.namespace == *namespace)
    }

    /// What this client sees now.
    fn surface_of(&self, context: &ClientContext) -> Arc<Surface> {
        self.surface(&context.view, Viewer::from(&context.principal))
    }

    /// What the clients of a view see now.
    fn surface(&self, view: &View, viewer: Viewer) -> Arc<Surface> {
        let catalog = self.backend.catalog();
        let key = (view.clone(), viewer);
        if let Some(surface) = self.surfaces.lock().get(&key)
            && surface.generation == catalog.generation
        {
            return surface.clone();
        }
        // Made without the lock: two at once make the same.
        let surface = Arc::new(Surface::new(&catalog, view.clone(), viewer, self.settings.max_name));
        let mut surfaces = self.surfaces.lock();
        if surfaces.len() >= MAX_SURFACES {
            surfaces.clear();
        }
        surfaces.insert(key, surface.clone());
        surface
    }
}

/// Ends what nobody uses any more, until the endpoint closes.
async fn sweep(
    sessions: Arc<Sessions>,
    suspended: Arc<SuspendedTickets>,
    known_tasks: Arc<KnownTasks>,
    closing: CancellationToken,
) {
    let mut ticks = tokio::time::interval(SWEEP_INTERVAL);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = closing.cancelled() => return,
        }
        sessions.end_unused();
        suspended.forget_expired();
        known_tasks.forget_expired();
    }
}
