//! Where diagnostics go: to stderr for people, and from a daemon to its log as well.

use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::cli::Context;
use crate::config::Daemon;
use crate::daemon_log;
use crate::error::Error;
use crate::screen;
use crate::style::Style;

/// Diagnostics of a command.
pub(crate) fn of_command(verbose: u8) {
    // An error about stderr would go to stderr, and panic there; the first one who listens is the only one.
    let _ = tracing_subscriber::registry().with(for_people(verbose)).try_init();
}

/// Diagnostics of a daemon; what is noted last is written when the guard goes.
pub(crate) fn of_daemon(context: &Context, is_background: bool) -> Result<WorkerGuard, Error> {
    let Daemon { log_max_mb, log_files, .. } = context.config.daemon;
    let path = context.state.daemon_log();
    let (log, guard) = daemon_log::open(&path, log_max_mb, log_files, is_background)
        .map_err(|source| Error::State { path: path.clone(), source })?;
    let log = tracing_subscriber::fmt::layer().json().flatten_event(true).with_writer(log).log_internal_errors(false);
    let log = log.with_filter(filter("info"));
    // In the background stderr is the log itself.
    let people = (!is_background).then(|| for_people(context.verbose));
    let _ = tracing_subscriber::registry().with(log).with(people).try_init();
    Ok(guard)
}

fn for_people<S>(verbose: u8) -> impl Layer<S>
where
    S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
{
    // Whoever waits for the log is told by its health, once and in plain words.
    let level = ["warn,roost_log=error", "info", "debug"][usize::from(verbose.min(2))];
    let colours = Style::of_stderr().colours();
    let layer = tracing_subscriber::fmt::layer().with_target(false).with_ansi(colours).with_writer(screen::stderr);
    layer.log_internal_errors(false).with_filter(filter(level))
}

fn filter(level: &str) -> EnvFilter {
    EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level))
}
