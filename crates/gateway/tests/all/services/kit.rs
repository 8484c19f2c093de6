//! Services on a real log in a directory of its own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use roost_gateway::catalog::Catalog;
use roost_gateway::client_profile::ClientProfile;
use roost_gateway::endpoint::Backend;
use roost_gateway::era::Era;
use roost_gateway::services::{ServiceOptions, ServiceView, Services};
use roost_log::{Log, LogOptions, SqliteLog, StateLock, StreamId};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::{ServiceId, SessionId};
use roost_model::service::Lifecycle;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use testkit::mcp_servers::{FakeServer, FakeServers};
use testkit::soon;

/// Services, their servers and their log.
pub(crate) struct Gateway {
    pub(crate) services: Arc<Services>,
    pub(crate) servers: FakeServers,
    pub(crate) log: Arc<dyn Log>,
    store: SqliteLog,
    folder: TempDir,
}

/// The manifest of a remote service with this name, changed by `change`.
pub(crate) fn manifest(module: &str, change: Value) -> Value {
    let endpoint = endpoint(module);
    let mut manifest = json!({
        "apiVersion": "clarity.runtime/v1",
        "kind": "MCPService",
        "metadata": { "sourceFile": endpoint, "module": module, "serviceType": "mcp" },
        "spec": {
            "origin": { "type": "remote_mcp", "endpoint": endpoint, "transport": "streamable_http" },
            "enabled": true, "autostart": true, "restartPolicy": { "mode": "on-failure" }, "policyRef": "default",
        },
    });
    merge(&mut manifest, change);
    manifest
}

fn merge(to: &mut Value, change: Value) {
    match (to, change) {
        (Value::Object(to), Value::Object(change)) => {
            change.into_iter().for_each(|(key, value)| merge(to.entry(key).or_insert(Value::Null), value));
        }
        (to, change) => *to = change,
    }
}

fn endpoint(module: &str) -> String {
    format!("http://127.0.0.1:1/{module}")
}

pub(crate) fn client(capabilities: Value) -> ClientProfile {
    let Value::Object(capabilities) = capabilities else { panic!("capabilities are an object") };
    ClientProfile { era: Era::Modern, capabilities, info: None }
}

impl Gateway {
    pub(crate) async fn start() -> Self {
        Self::start_with(ServiceOptions::default()).await
    }

    pub(crate) async fn start_with(options: ServiceOptions) -> Self {
        Self::open(TempDir::new().unwrap(), FakeServers::default(), options).await
    }

    /// A gateway whose services are probed all the time.
    pub(crate) async fn probing() -> Self {
        let probe_interval = Duration::from_millis(5);
        Self::start_with(ServiceOptions { probe_interval, ..ServiceOptions::default() }).await
    }

    async fn open(folder: TempDir, servers: FakeServers, options: ServiceOptions) -> Self {
        let store = open_log(folder.path());
        let log: Arc<dyn Log> = Arc::new(store.clone());
        let services = Services::start(log.clone(), Arc::new(servers.clone()), options, "1.2.3").await.unwrap();
        let services = Arc::new(services);
        Self { services, servers, log, store, folder }
    }

    /// Ends the daemon without any farewell of its services, and starts the next one.
    pub(crate) async fn restart(self) -> Self {
        let Self { services, servers, log, store, folder } = self;
        soon("the services end", services.shut_down()).await;
        drop((services, log));
        store.close().await;
        drop(store);
        Self::open(folder, servers, ServiceOptions::default()).await
    }

    pub(crate) fn server(&self, module: &str) -> FakeServer {
        self.servers.at(&endpoint(module))
    }

    /// Declares a service and starts it.
    pub(crate) async fn run(&self, module: &str, change: Value) -> Arc<ServiceView> {
        let id = self.services.apply(&manifest(module, change)).await.unwrap().id.clone();
        soon("the service settles", self.services.start_service(&id)).await.unwrap()
    }

    /// Waits until the service is as wanted.
    pub(crate) async fn until(
        &self,
        id: &ServiceId,
        wanted: impl FnMut(&Arc<ServiceView>) -> bool,
    ) -> Arc<ServiceView> {
        let mut view = self.services.follow(id).unwrap();
        soon("the service gets there", view.wait_for(wanted)).await.unwrap().clone()
    }

    pub(crate) async fn until_state(&self, id: &ServiceId, wanted: Lifecycle) -> Arc<ServiceView> {
        self.until(id, |view| view.life.lifecycle == wanted).await
    }

    /// Closes the log, so that nothing can be stored any more.
    pub(crate) async fn close_log(&self) {
        self.store.close().await;
    }

    /// The prompts that clients see, of all services.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let catalog = self.services.catalog();
        let services = catalog.services.iter();
        services.flat_map(|service| service.prompts.iter().map(|prompt| prompt.key.clone())).collect()
    }

    /// The tools that clients see, by service.
    pub(crate) fn offered(&self) -> Vec<(String, Vec<String>)> {
        tools(&self.services.catalog())
    }

    pub(crate) async fn events(&self) -> Vec<NormalizedEvent> {
        let page = self.log.read(&StreamId::from(&SessionId::host()), 0, 10_000).await.unwrap();
        page.batch.iter().map(|entry| entry.event().unwrap().clone()).collect()
    }

    /// The states that a service was in, as the log has them.
    pub(crate) async fn states(&self, id: &ServiceId) -> Vec<Lifecycle> {
        let state = |event: NormalizedEvent| match event.body {
            EventBody::ServiceStateChanged(changed) if changed.service_id == *id => Some(changed.lifecycle),
            _ => None,
        };
        self.events().await.into_iter().filter_map(state).collect()
    }
}

pub(crate) fn tools(catalog: &Catalog) -> Vec<(String, Vec<String>)> {
    let of_service = |service: &Arc<roost_gateway::catalog::OfferedService>| {
        let tools = service.tools.iter().map(|tool| tool.key.clone()).collect();
        (service.namespace.as_str().to_owned(), tools)
    };
    catalog.services.iter().map(of_service).collect()
}

pub(crate) fn no_capabilities() -> ClientProfile {
    ClientProfile { era: Era::Modern, capabilities: Map::new(), info: None }
}

pub(crate) fn open_log(folder: &Path) -> SqliteLog {
    let lock = StateLock::acquire(folder, "test").unwrap();
    SqliteLog::open(&lock, LogOptions::default()).unwrap()
}
