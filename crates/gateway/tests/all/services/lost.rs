//! Remote services that go away and come back as another version, over real HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use roost_gateway::endpoint::Backend;
use roost_gateway::services::{ServiceOptions, ServiceView, Services};
use roost_log::{Log, StreamId};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::{ServiceId, SessionId};
use roost_model::service::Lifecycle::{Crashed, Running};
use roost_model::service::{Health, Lifecycle};
use serde_json::json;
use tempfile::TempDir;
use testkit::mcp_fixture::{FixtureEra, McpFixture, http};
use testkit::soon;
use tokio::sync::oneshot;

use super::kit::{manifest, open_log};
use crate::support;

/// A server in a thread and a runtime of its own, so that all of it ends at once.
struct Remote {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Remote {
    fn start(fixture: McpFixture, address: SocketAddr) -> Self {
        let (listening, address_known) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let fixture = Arc::new(fixture);
            runtime.block_on(async {
                tokio::select! {
                    served = http::serve(fixture, address, |at| listening.send(at).unwrap()) => panic!("{served:?}"),
                    _ = stopped => {}
                }
            });
        });
        Self { address: address_known.recv().unwrap(), stop, thread }
    }

    fn stop(self) -> SocketAddr {
        self.stop.send(()).unwrap();
        self.thread.join().unwrap();
        self.address
    }
}

struct Fixture {
    services: Services,
    log: Arc<dyn Log>,
    id: ServiceId,
    _connector: support::Gateway,
    _folder: TempDir,
}

impl Fixture {
    /// A gateway with this one service, which runs.
    async fn start(remote: &Remote, probe_interval: Duration) -> Self {
        let folder = TempDir::new().unwrap();
        let log: Arc<dyn Log> = Arc::new(open_log(folder.path()));
        let connector = support::Gateway::new();
        let options = ServiceOptions { probe_interval, ..ServiceOptions::default() };
        let services = Services::start(log.clone(), connector.connector.clone(), options, "1.2.3").await.unwrap();
        let endpoint = format!("http://{}/mcp", remote.address);
        let change = json!({
            "metadata": { "sourceFile": endpoint },
            "spec": { "origin": { "endpoint": endpoint }, "restartPolicy": { "maxRestarts": 100 } },
        });
        let id = services.apply(&manifest("docs", change)).await.unwrap().id.clone();
        let running = soon("it runs", services.start_service(&id)).await.unwrap();
        assert_eq!((running.life.lifecycle, running.tools.len()), (Running, TOOLS));
        Self { services, log, id, _connector: connector, _folder: folder }
    }

    async fn until(&self, what: &str, wanted: impl FnMut(&Arc<ServiceView>) -> bool) -> Arc<ServiceView> {
        soon(what, self.services.follow(&self.id).unwrap().wait_for(wanted)).await.unwrap().clone()
    }

    async fn states(&self) -> Vec<(Lifecycle, Health)> {
        let page = self.log.read(&StreamId::from(&SessionId::host()), 0, 10_000).await.unwrap();
        let events = page.batch.iter().map(|entry| entry.event().unwrap().clone());
        let state = |event: NormalizedEvent| match event.body {
            EventBody::ServiceStateChanged(changed) => Some((changed.lifecycle, changed.health)),
            _ => None,
        };
        events.filter_map(state).collect()
    }
}

/// The tools of the fixture.
const TOOLS: usize = 28;
const ANY_PORT: ([u8; 4], u16) = ([127, 0, 0, 1], 0);

#[tokio::test]
async fn a_remote_service_that_is_gone_counts_as_crashed_and_is_listed_again_when_it_is_back() {
    for fixture in [|| McpFixture::new(FixtureEra::Modern), || McpFixture::new(FixtureEra::Legacy).without_stream()] {
        let remote = Remote::start(fixture(), ANY_PORT.into());
        let gateway = Fixture::start(&remote, Duration::from_millis(300)).await;
        let address = remote.stop();
        let ill = gateway.until("a probe finds nobody", |view| view.life.health == Health::Unreachable).await;
        assert_eq!(ill.life.lifecycle, Running);
        let missing = &gateway.services.catalog().missing[0];
        assert_eq!((&missing.id, missing.lifecycle, missing.health), (&gateway.id, Running, Health::Unreachable));
        assert!(missing.reason.starts_with("it cannot be reached: no connection can be made"), "{}", missing.reason);
        let lost = gateway.until("it is lost", |view| view.life.lifecycle == Crashed).await;
        assert!(lost.life.next_attempt.is_some() && lost.offered.is_none());
        let remote = Remote::start(fixture().with_extra_tool(), address);
        let back = gateway.until("it is back", |view| view.life.lifecycle == Running).await;
        assert_eq!((back.tools.len(), back.life.health), (TOOLS + 1, Health::Healthy));
        assert!(gateway.services.catalog().missing.is_empty());
        gateway.services.shut_down().await;
        remote.stop();
    }
}

#[tokio::test]
async fn a_remote_service_that_is_back_before_it_counts_as_lost_is_listed_again() {
    let fixture = || McpFixture::new(FixtureEra::Legacy).without_stream();
    let remote = Remote::start(fixture(), ANY_PORT.into());
    let gateway = Fixture::start(&remote, Duration::from_millis(500)).await;
    let address = remote.stop();
    gateway.until("a probe finds nobody", |view| view.life.health == Health::Unreachable).await;
    let remote = Remote::start(fixture().with_extra_tool(), address);
    let back = gateway.until("it is listed again", |view| view.tools.len() == TOOLS + 1).await;
    assert_eq!((back.life.lifecycle, back.life.restart_count), (Running, 0));
    gateway.until("it is well", |view| view.life.health == Health::Healthy).await;
    assert!(gateway.states().await.iter().all(|(lifecycle, _)| *lifecycle != Crashed));
    gateway.services.shut_down().await;
    remote.stop();
}

#[tokio::test]
async fn a_modern_service_that_is_restarted_between_two_probes_is_listed_again() {
    let fixture = || McpFixture::new(FixtureEra::Modern);
    let remote = Remote::start(fixture(), ANY_PORT.into());
    let gateway = Fixture::start(&remote, Duration::from_mins(10)).await;
    let remote = Remote::start(fixture().with_extra_tool(), remote.stop());
    gateway.until("it is listed again", |view| view.tools.len() == TOOLS + 1).await;
    gateway.services.shut_down().await;
    remote.stop();
}
