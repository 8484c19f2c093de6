//! Which services there are, who looks after each, and the catalog that follows from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use roost_log::Log;
use roost_model::event::NewEvent;
use roost_model::ids::ServiceId;
use roost_model::payload::ServiceManifestAppliedPayload;
use roost_model::service::manifest::Manifest;
use roost_model::time::Timestamp;
use tokio::sync::{broadcast, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connect::Connect;
use super::handle::ServiceHandle;
use super::logins::WaitingLogins;
use super::pool::Pool;
use super::service_log::{ServiceLog, forget_log};
use super::stored::StoredService;
use super::supervisor::Supervisor;
use super::view::ServiceView;
use super::{ServiceError, ServiceOptions};
use crate::catalog::Catalog;
use crate::client_profile::ClientProfile;
use crate::endpoint::UnaskedMessage;
use crate::manifest::InvalidManifest;
use crate::namespace::Namespace;

/// Commands that may wait for one service.
const COMMANDS: usize = 32;
/// What servers said unasked and a slow reader has not read yet.
const UNASKED: usize = 1024;

/// What all supervisors share.
pub(super) struct Shared {
    pub(super) log: Arc<dyn Log>,
    pub(super) connect: Arc<dyn Connect>,
    pub(super) options: ServiceOptions,
    /// What servers are told about Roost where it acts by itself.
    pub(super) client: ClientProfile,
    pub(super) handles: RwLock<BTreeMap<ServiceId, Arc<ServiceHandle>>>,
    pub(super) catalog: watch::Sender<Arc<Catalog>>,
    pub(super) generation: watch::Sender<u64>,
    pub(super) unasked: broadcast::Sender<Arc<UnaskedMessage>>,
    /// Cancelled when the daemon ends.
    pub(super) closing: CancellationToken,
    pub(super) tasks: TaskTracker,
    pub(super) logins: WaitingLogins,
    /// One service is declared at a time, so that two cannot take the same name.
    declaring: tokio::sync::Mutex<()>,
    /// One catalog is made at a time, so that an older one never replaces a newer one.
    rebuilding: Mutex<()>,
}

impl Shared {
    pub(super) fn new(
        log: Arc<dyn Log>,
        connect: Arc<dyn Connect>,
        options: ServiceOptions,
        client: ClientProfile,
    ) -> Arc<Self> {
        Arc::new(Self {
            log,
            connect,
            options,
            client,
            handles: RwLock::default(),
            catalog: watch::Sender::default(),
            generation: watch::Sender::new(0),
            unasked: broadcast::channel(UNASKED).0,
            closing: CancellationToken::new(),
            tasks: TaskTracker::new(),
            logins: WaitingLogins::default(),
            declaring: tokio::sync::Mutex::default(),
            rebuilding: Mutex::default(),
        })
    }

    /// Declares a service that is new; one that is declared already is returned.
    pub(super) async fn declare(
        self: &Arc<Self>,
        id: &ServiceId,
        manifest: &Manifest,
    ) -> Result<Option<Arc<ServiceHandle>>, ServiceError> {
        let _one_at_a_time = self.declaring.lock().await;
        let now = Timestamp::now();
        let mut manifest = manifest.clone();
        (manifest.metadata.created_at, manifest.metadata.updated_at) = (Some(now.to_string()), Some(now.to_string()));
        let stored =
            StoredService { version: 1, manifest, pins: Default::default(), approved: Some(false), quarantine: None };
        let namespace = stored.namespace();
        if namespace.is_reserved() {
            return Err(ServiceError::Invalid(Arc::new(InvalidManifest {
                pointer: "/spec/toolNamespace".into(),
                reason: format!("the namespace \"{}\" is reserved for the gateway's own tools", namespace.as_str()),
            })));
        }
        self.check_names(id, &namespace)?;
        let declared = self.handles.read().get(id).cloned();
        if let Some(declared) = declared {
            return match declared.view().stored.manifest.derived_id() == stored.manifest.derived_id() {
                true => Ok(Some(declared)),
                false => Err(ServiceError::Conflict(format!(
                    "{id} is another service, with another source, module or origin; remove it first, or leave \
                     `metadata.serviceId` out"
                ))),
            };
        }
        let applied = ServiceManifestAppliedPayload {
            service_id: id.clone(),
            version: stored.version,
            namespace: namespace.as_str().to_owned(),
            enabled: stored.manifest.spec.enabled,
        };
        let row = stored.to_row(id).map_err(|error| ServiceError::Log(error.to_string()))?;
        self.log.keep(vec![row], vec![NewEvent::for_host(now, applied)]).await?;
        self.supervise(id.clone(), stored, false);
        self.rebuild_catalog();
        Ok(None)
    }

    /// Refuses a namespace with which a tool of two services could have the same name.
    fn check_names(&self, id: &ServiceId, namespace: &Namespace) -> Result<(), ServiceError> {
        let overlap =
            |one: &str, other: &str| one == other || one.strip_prefix(other).is_some_and(|rest| rest.starts_with("__"));
        let is_taken = |view: &Arc<ServiceView>| {
            let taken = view.stored.namespace();
            view.id != *id
                && (overlap(namespace.as_str(), taken.as_str()) || overlap(taken.as_str(), namespace.as_str()))
        };
        match self.views().iter().find(|view| is_taken(view)) {
            None => Ok(()),
            Some(other) => Err(ServiceError::Conflict(format!(
                "the namespace \"{}\" collides with \"{}\" of the service {}; give another one in `spec.toolNamespace`",
                namespace.as_str(),
                other.stored.namespace().as_str(),
                other.id
            ))),
        }
    }

    pub(super) fn supervise(self: &Arc<Self>, id: ServiceId, stored: StoredService, autostart: bool) {
        let log = match &self.options.logs {
            Some(folder) => ServiceLog::kept(folder, &id),
            None => ServiceLog::default(),
        };
        let pool = Pool::new(id.clone(), self.connect.clone(), log.clone(), self.unasked.clone());
        let (commands, queue) = mpsc::channel(COMMANDS);
        let view = ServiceView::new(id.clone(), Arc::new(stored));
        let handle = Arc::new(ServiceHandle::new(view, pool, log, commands, self.options.breaker));
        self.handles.write().insert(id, handle.clone());
        let supervisor = Supervisor::new(self.clone(), handle);
        self.tasks.spawn(supervisor.run(queue, autostart));
    }

    pub(super) fn remove(&self, id: &ServiceId) {
        if let Some(folder) = &self.options.logs {
            forget_log(folder, id);
        }
        self.handles.write().remove(id);
        self.rebuild_catalog();
    }

    /// All services, ordered by namespace.
    pub(super) fn views(&self) -> Vec<Arc<ServiceView>> {
        let mut views: Vec<_> = self.handles.read().values().map(|handle| handle.view()).collect();
        views.sort_by_cached_key(|view| view.stored.namespace());
        views
    }

    /// Makes a new catalog, unless nothing in it would be new.
    pub(super) fn rebuild_catalog(&self) {
        let _one_at_a_time = self.rebuilding.lock();
        let views = self.views();
        let services: Vec<_> = views.iter().filter_map(|view| view.offered.clone()).collect();
        let missing: Vec<_> = views.iter().filter_map(|view| view.missing()).collect();
        let before = self.catalog.borrow().clone();
        let is_same = before.services.len() == services.len()
            && before.services.iter().zip(&services).all(|(one, other)| Arc::ptr_eq(one, other));
        if is_same && before.missing == missing {
            return;
        }
        let generation = before.generation + 1;
        self.catalog.send_replace(Arc::new(Catalog { generation, services, missing }));
        self.generation.send_replace(generation);
    }
}
