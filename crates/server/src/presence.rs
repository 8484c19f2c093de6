//! Who is connected, and which sessions they look at.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard};
use roost_model::ids::ClientId;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::connection::Connection;

/// Viewers that are named to the others at most; how many there are is told besides. Each who comes or goes is told to
/// each other, and with all names in each that would be a gigabyte for a thousand.
const NAMED: usize = 16;

/// Everyone who is connected.
pub(crate) struct Presence {
    connections: Mutex<HashMap<ClientId, Weak<Connection>>>,
    /// How many there are, for whoever waits until nobody is.
    count: watch::Sender<usize>,
    /// The sockets that each device may still open, of those that have any open.
    seats: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Default for Presence {
    fn default() -> Self {
        Self { connections: Mutex::default(), count: watch::Sender::new(0), seats: Mutex::default() }
    }
}

impl Presence {
    pub(crate) fn join(&self, connection: &Arc<Connection>) {
        let mut all = self.lock();
        all.insert(connection.caller.client_id.clone(), Arc::downgrade(connection));
        self.count.send_replace(all.len());
    }

    /// Takes a connection off the list.
    pub(crate) fn leave(&self, connection: &Connection) {
        let mut all = self.lock();
        all.remove(&connection.caller.client_id);
        self.count.send_replace(all.len());
    }

    /// Tells those who looked at the same sessions as this connection that it is gone.
    pub(crate) fn tell_gone(&self, connection: &Connection) {
        for session in connection.viewed() {
            self.left(connection, &session);
        }
    }

    /// How many are connected.
    pub(crate) fn count(&self) -> usize {
        *self.count.borrow()
    }

    /// Changes with every connection that comes or goes.
    pub(crate) fn counts(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    /// Room for one more socket of a device that may have this many; given back when dropped. Taken before the
    /// connection is there, so that many at once cannot all find room.
    pub(crate) fn seat(&self, device: &str, most: usize) -> Option<OwnedSemaphorePermit> {
        let mut seats = self.seats.lock();
        seats.retain(|_, free| free.available_permits() < most);
        let free = seats.entry(device.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(most)));
        free.clone().try_acquire_owned().ok()
    }

    /// Open connections of one device.
    pub(crate) fn of_device(&self, device: &str) -> usize {
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

    /// Tells the others on a session that somebody joined them.
    pub(crate) fn joined(&self, who: &Connection, session: &str) {
        let viewers = self.viewers(session);
        for other in self.others(who, session) {
            let client = other.caller.client_id.as_str();
            let others: Vec<_> = viewers.iter().filter(|viewer| *viewer != client).take(NAMED).collect();
            // Without the session's id: with it, one kind of client takes the event for another.
            let params = json!({
                "joining_client_id": who.caller.client_id, "other_viewers": others, "viewer_count": viewers.len(),
            });
            other.tell("session_joined", params);
        }
    }

    /// Tells those who stay on a session that somebody left them.
    pub(crate) fn left(&self, who: &Connection, session: &str) {
        let leaving = who.caller.client_id.as_str();
        let viewers: Vec<_> = self.viewers(session).into_iter().filter(|viewer| viewer != leaving).collect();
        let named = &viewers[..viewers.len().min(NAMED)];
        for other in self.others(who, session) {
            let params = json!({
                "leaving_client_id": leaving, "remaining_viewers": named, "viewer_count": viewers.len(),
            });
            other.tell("session_left", params);
        }
    }

    /// Tells those who follow a workspace something that is true only now.
    pub(crate) fn tell_followers(&self, workspace: &str, event: &str, params: &Value) {
        for connection in self.all() {
            let hears = || !connection.feeds().is_empty() || connection.live().contains_key(workspace);
            if connection.follows(Some(workspace)) && hears() {
                connection.tell(event, params.clone());
            }
        }
    }

    fn others(&self, who: &Connection, session: &str) -> Vec<Arc<Connection>> {
        let mut all = self.all();
        all.retain(|other| other.caller.client_id != who.caller.client_id && other.views(session));
        all
    }

    /// Those who want to be told what happens in every workspace.
    pub(crate) fn live_everywhere(&self) -> Vec<Arc<Connection>> {
        let mut all = self.all();
        all.retain(|connection| connection.is_live_everywhere());
        all
    }

    /// Nobody follows a workspace any more that is gone.
    pub(crate) fn unfollow(&self, workspace: &str) {
        for connection in self.all() {
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
