//! Pairing, tokens and devices on a real log, with a clock that only moves when told.

mod approving;
mod local_secret;
mod pairing;
mod programs;
mod refreshing;
mod revoking;
mod routes;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use roost_log::{Log, LogOptions, RowKind, SqliteLog, StateLock, StreamId};
use roost_model::scope::Scope;
use roost_model::time::Timestamp;
use roost_server::auth::{Clock, DeviceFacts, Devices, ExchangeOutcome, Settings, TokenPair};
use tempfile::TempDir;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// A host on which time stands still.
struct Host {
    dir: TempDir,
    log: SqliteLog,
    time: Arc<AtomicI64>,
    devices: Devices,
}

impl Host {
    async fn new() -> Self {
        Self::with(Settings::default()).await
    }

    async fn with(settings: Settings) -> Self {
        Self::on(LogOptions::default(), settings).await
    }

    async fn on(options: LogOptions, settings: Settings) -> Self {
        let dir = TempDir::new().unwrap();
        let time = Arc::new(AtomicI64::new(1_790_000_000_000));
        let log = open(dir.path(), options);
        let devices = Devices::load(Arc::new(log.clone()), clock(&time), settings).await.unwrap();
        Self { dir, log, time, devices }
    }

    /// The same host after a restart.
    async fn restarted(self) -> Self {
        let Self { dir, log, time, devices } = self;
        let settings = devices.settings();
        log.close().await;
        drop((log, devices));
        let log = open(dir.path(), LogOptions::default());
        let devices = Devices::load(Arc::new(log.clone()), clock(&time), settings).await.unwrap();
        Self { dir, log, time, devices }
    }

    fn pass(&self, time: Duration) {
        self.time.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::Relaxed);
    }

    fn now(&self) -> Timestamp {
        clock(&self.time)()
    }

    /// A pairing token as text.
    async fn token(&self) -> String {
        self.devices.pairing_token(Scope::Operate).await.unwrap().token.reveal().to_owned()
    }

    /// A device that was paired just now.
    async fn pair(&self) -> TokenPair {
        granted(self.devices.exchange(&self.token().await, phone()).await.unwrap())
    }

    fn knows(&self, pair: &TokenPair) -> bool {
        self.devices.authenticate(pair.access.reveal()).is_ok()
    }

    /// Every event of the host, as text.
    async fn events(&self) -> String {
        let page = self.log.read(&StreamId::host(), 0, 1000).await.unwrap();
        page.batch.iter().map(|entry| entry.json().to_owned() + "\n").collect()
    }

    /// The types of the host's events.
    async fn types(&self) -> Vec<String> {
        let page = self.log.read(&StreamId::host(), 0, 1000).await.unwrap();
        page.batch.iter().map(|entry| entry.event().unwrap().body.name().to_owned()).collect()
    }

    /// Every row, as text.
    async fn rows(&self) -> String {
        let mut rows = self.log.rows(RowKind::Device).await.unwrap();
        rows.extend(self.log.rows(RowKind::Secret).await.unwrap());
        format!("{rows:?}")
    }
}

fn open(dir: &Path, options: LogOptions) -> SqliteLog {
    SqliteLog::open(&StateLock::acquire(dir, "test").unwrap(), options).unwrap()
}

fn clock(time: &Arc<AtomicI64>) -> Clock {
    let time = time.clone();
    Arc::new(move || Timestamp::from_millis(time.load(Ordering::Relaxed)))
}

fn phone() -> DeviceFacts {
    let fact = |text: &str| Some(text.to_owned());
    DeviceFacts { name: None, user_agent: fact("cdev-ios/1.4 (iPhone)"), remote_addr: fact("192.168.1.7") }
}

fn granted(exchanged: ExchangeOutcome) -> TokenPair {
    match exchanged {
        ExchangeOutcome::Granted(pair) => pair,
        pending @ ExchangeOutcome::Pending { .. } => panic!("{pending:?}"),
    }
}
