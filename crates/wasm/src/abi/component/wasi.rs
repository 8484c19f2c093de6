//! The system as a component sees it: no files, no network, no stdin; variables and arguments as its manifest has them.
//!
//! A clock or a generator of random numbers that is not granted is there, because runtimes of languages ask for them when
//! they start, but it stands still and gives the same bytes every time.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::random::Deterministic;
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder};

use crate::service_log::{CallLog, LogLevel};
use crate::store::ServiceContext;

/// What a component gets instead of random bytes, over and over.
const NOT_RANDOM: &[u8] = &[4];
/// The random bytes that a component may get at once.
const MAX_RANDOM_BYTES: u64 = 64 * 1024;

/// The system for one call.
pub(crate) fn context(service: &ServiceContext, log: &CallLog) -> WasiCtx {
    let mut builder = WasiCtxBuilder::new();
    builder
        .args(&service.args)
        .envs(&service.env)
        .stdout(LogStream { log: log.clone(), level: LogLevel::Info })
        .stderr(LogStream { log: log.clone(), level: LogLevel::Warn })
        .max_random_size(MAX_RANDOM_BYTES)
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false);
    if service.grants.clock().is_err() {
        builder.wall_clock(StoppedClock).monotonic_clock(StoppedClock);
    }
    if service.grants.random().is_err() {
        builder
            .secure_random(Deterministic::new(NOT_RANDOM.to_vec()))
            .insecure_random(Deterministic::new(NOT_RANDOM.to_vec()))
            .insecure_random_seed(NOT_RANDOM[0].into());
    }
    builder.build()
}

/// A clock that always shows its beginning.
struct StoppedClock;

impl HostWallClock for StoppedClock {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl HostMonotonicClock for StoppedClock {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        0
    }
}

/// Writes what a component prints to the log of its service.
#[derive(Clone)]
struct LogStream {
    log: CallLog,
    level: LogLevel,
}

impl IsTerminal for LogStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for LogStream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

impl AsyncWrite for LogStream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.log.stream(self.level, &String::from_utf8_lossy(bytes));
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
