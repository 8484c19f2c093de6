//! Maintenance of the record, every hour ([`EVERY`]): removes events beyond the retention, removes artifacts that no event
//! refers to any more, and compresses events that are older than [`COLD`].

use std::time::Duration;

use roost_engine::Engine;
use roost_log::{Retention, SqliteLog};
use roost_model::time::Timestamp;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// The first run is delayed, because whoever starts a daemon waits for something else.
const FIRST: Duration = Duration::from_mins(1);
const EVERY: Duration = Duration::from_hours(1);
/// Events of this age are compressed; younger ones are read often.
const COLD: Duration = Duration::from_hours(1);

/// Runs the maintenance for as long as the future is polled; an error is logged and tried again an hour later.
pub(crate) async fn keep(store: &SqliteLog, engine: &Engine, retention: Retention) {
    let mut due = interval_at(Instant::now() + FIRST, EVERY);
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        due.tick().await;
        if let Err(error) = once(store, engine, retention).await {
            tracing::warn!(%error, "The record could not be kept in shape; it is tried again in an hour.");
        }
    }
}

async fn once(store: &SqliteLog, engine: &Engine, retention: Retention) -> Result<(), roost_engine::Error> {
    let now = Timestamp::now();
    let removed = store.retain(retention, now).await?;
    if removed.blocks > 0 {
        let artifacts = engine.collect_artifacts().await?;
        tracing::info!(blocks = removed.blocks, artifacts, "Old events were removed.");
    }
    let cold = i64::try_from(COLD.as_millis()).unwrap_or(i64::MAX);
    store.compact(Timestamp::from_millis(now.as_millis().saturating_sub(cold))).await?;
    Ok(())
}
