//! Who is connected, and which sessions they look at.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard};
use roost_model::ids::{ClientId, SessionId};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::connection::Connection;
use crate::host::Host;

/// How many viewers a notification names; their count is sent besides. Each arrival is sent to every viewer, so all
/// names would be a gigabyte for a thousand viewers.
const NAMED: usize = 16;

/// The registry of connections: who is connected, and how many sockets each device has open.
pub(crate) struct Presence {
    connections: Mutex<HashMap<ClientId, Weak<Connection>>>,
    /// The number of connections, for the task that waits until there is none.
    count: watch::Sender<usize>,
    /// The sockets that each device may still open; only of devices with an open one.
    sockets: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Default for Presence {
    fn default() -> Self {
        Self { connections: Mutex::default(), count: watch::Sender::new(0), sockets: Mutex::default() }
    }
}

impl Presence {
    pub(crate) fn join(&self, connection: &Arc<Connection>) {
        let mut all = self.lock();
        all.insert(connection.caller.client_id.clone(), Arc::downgrade(connection));
        self.count.send_replace(all.len());
    }

    /// Removes a connection from the registry; its viewers are notified by `notify_gone`.
    pub(crate) fn leave(&self, connection: &Connection) {
        let mut all = self.lock();
        all.remove(&connection.caller.client_id);
        self.count.send_replace(all.len());
    }

    /// Sends `session_left` to the other viewers of every session that this connection viewed.
    pub(crate) fn notify_gone(&self, host: &Host, connection: &Connection) {
        for session in connection.viewed() {
            self.notify_left(host, connection, &session);
        }
    }

    /// The number of open connections, over every transport.
    pub(crate) fn count(&self) -> usize {
        *self.count.borrow()
    }

    /// A receiver that changes with every connection that comes or goes.
    pub(crate) fn watch_count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    /// Reserves one of the `most` sockets of a device; dropping the permit frees it. Reserved before the upgrade, so
    /// that many at once cannot all succeed.
    pub(crate) fn reserve_socket(&self, device: &str, most: usize) -> Option<OwnedSemaphorePermit> {
        let mut sockets = self.sockets.lock();
        sockets.retain(|_, free| free.available_permits() < most);
        let free = sockets.entry(device.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(most)));
        free.clone().try_acquire_owned().ok()
    }

    /// The number of open connections of one device.
    pub(crate) fn device_connections(&self, device: &str) -> usize {
        let is_its =
            |connection: &Arc<Connection>| connection.caller.device.as_ref().is_some_and(|other| other.id == device);
        self.all().iter().filter(|connection| is_its(connection)).count()
    }

    /// The clients that watch a session or look at it.
    pub(crate) fn viewers(&self, session: &str) -> Vec<String> {
        let mut viewers: Vec<_> = self
            .all()
            .iter()
            .filter(|connection| connection.views(session))
            .map(|connection| connection.caller.client_id.to_string())
            .collect();
        viewers.sort_unstable();
        viewers
    }

    /// Sends `session_joined` to the other viewers of a session.
    pub(crate) fn notify_joined(&self, host: &Host, who: &Connection, session: &str) {
        let viewers = self.viewers(session);
        for other in self.others(who, session) {
            let client = other.caller.client_id.as_str();
            let others: Vec<_> = viewers.iter().filter(|viewer| *viewer != client).take(NAMED).collect();
            let fields = json!({
                "joining_client_id": who.caller.client_id, "other_viewers": others, "viewer_count": viewers.len(),
            });
            other.notify("session_joined", viewer_params(host, session, fields));
        }
    }

    /// Sends `session_left` to the remaining viewers of a session.
    pub(crate) fn notify_left(&self, host: &Host, who: &Connection, session: &str) {
        let leaving = who.caller.client_id.as_str();
        let viewers: Vec<_> = self.viewers(session).into_iter().filter(|viewer| viewer != leaving).collect();
        let named = &viewers[..viewers.len().min(NAMED)];
        for other in self.others(who, session) {
            let fields = json!({
                "leaving_client_id": leaving, "remaining_viewers": named, "viewer_count": viewers.len(),
            });
            other.notify("session_left", viewer_params(host, session, fields));
        }
    }

    /// Sends the panel of an approval, whose selection moved, to the viewers of its session that are shown panels.
    pub(crate) fn notify_panel(&self, session: &str, event: &str, params: &Value) {
        for connection in self.all() {
            if connection.views(session) && connection.feeds().shows_panels() {
                connection.notify(event, params.clone());
            }
        }
    }

    /// Sends a notification that is not in the log to the followers of a workspace.
    pub(crate) fn notify_followers(&self, workspace: &str, event: &str, params: &Value) {
        for connection in self.all() {
            let hears = || !connection.feeds().is_empty() || connection.live().contains_key(workspace);
            if connection.follows(Some(workspace)) && hears() {
                connection.notify(event, params.clone());
            }
        }
    }

    fn others(&self, who: &Connection, session: &str) -> Vec<Arc<Connection>> {
        let mut all = self.all();
        all.retain(|other| other.caller.client_id != who.caller.client_id && other.views(session));
        all
    }

    /// The connections that want the live events of every workspace.
    pub(crate) fn live_everywhere(&self) -> Vec<Arc<Connection>> {
        let mut all = self.all();
        all.retain(|connection| connection.is_live_everywhere());
        all
    }

    /// Ends the subscriptions to a workspace that was removed, with their live feeds.
    pub(crate) fn unfollow(&self, workspace: &str) {
        for connection in self.all() {
            connection.workspaces(|all| _ = all.remove(workspace));
            connection.live().remove(workspace);
        }
    }

    fn all(&self) -> Vec<Arc<Connection>> {
        self.lock().values().filter_map(Weak::upgrade).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClientId, Weak<Connection>>> {
        // The map is whole between any two statements, so a panic elsewhere cannot have left it broken.
        self.connections.lock()
    }
}

/// The parameters of an event about a session's viewers: its fields beside the session's, and again by themselves in
/// `payload`, because one kind of client takes an object with a `session_id` in it for another event.
fn viewer_params(host: &Host, session: &str, fields: Value) -> Value {
    let mut params = fields.clone();
    params["payload"] = fields;
    params["session_id"] = session.into();
    if let Some(constants) = host.delivery.notifications.known_constants(&SessionId::from(session)) {
        params["agent_type"] = constants.agent_type.as_str().into();
        if let Some(workspace) = &constants.workspace_id {
            params["workspace_id"] = workspace.as_str().into();
        }
    }
    params
}
