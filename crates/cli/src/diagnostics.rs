//! Diagnostics (`tracing`) of commands: to stderr, for people.

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::screen;
use crate::style::Style;

/// Sends the diagnostics of a command to stderr. `roost serve` has a log of its own instead.
pub(crate) fn init_for_command(verbose: u8) {
    // An error about stderr would go to stderr, and panic there; the first one who listens is the only one.
    let _ = tracing_subscriber::registry().with(for_people(verbose)).try_init();
}

/// The layer that tells people on stderr; `verbose` is how often `--verbose` was said.
pub fn for_people<S>(verbose: u8) -> impl Layer<S>
where
    S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
{
    // Whoever waits for the log is told by its health, once and in plain words.
    let level = ["warn,roost_log=error", "info", "debug"][usize::from(verbose.min(2))];
    let colours = Style::for_stderr().colours();
    let layer = tracing_subscriber::fmt::layer().with_target(false).with_ansi(colours).with_writer(screen::stderr);
    layer.log_internal_errors(false).with_filter(filter(level))
}

/// The filter that `RUST_LOG` names, else this level and above.
pub fn filter(level: &str) -> EnvFilter {
    EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level))
}
