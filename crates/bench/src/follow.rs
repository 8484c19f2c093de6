//! A follower on a thread of its own that looks at every event.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use roost_log::{Filter, Log, Start, StreamId};
use roost_model::event::EventBody;
use roost_model::ids::SessionId;

use crate::Outcome;

/// What a follower received of one task.
#[derive(Debug)]
pub(crate) struct FollowerReport {
    /// Streamed pieces of the answer that it received.
    pub(crate) deltas: u64,
    /// Sequence numbers that were skipped.
    pub(crate) lost: u64,
    /// When it received the task's end.
    pub(crate) end: Instant,
}

/// Follows a session after this event until its task ends, on a new thread. With a `pause`, it sleeps once for that long
/// after that many deltas.
pub(crate) fn until_end(
    log: Arc<dyn Log>,
    session: &SessionId,
    after: u64,
    pause: Option<(u64, Duration)>,
) -> JoinHandle<Outcome<FollowerReport>> {
    let stream = StreamId::from(session);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async move {
            let mut pause = pause;
            let mut follower = log.follow(Filter::stream(stream.clone()), Start::AfterSeq(stream, after)).await?;
            let (mut deltas, mut lost, mut next) = (0, 0, after + 1);
            loop {
                for entry in &follower.next().await? {
                    lost += entry.seq() - next;
                    next = entry.seq() + 1;
                    match &entry.event()?.body {
                        EventBody::ModelOutputDelta(_) => deltas += 1,
                        EventBody::TaskCompleted(_) => return Ok(FollowerReport { deltas, lost, end: Instant::now() }),
                        body if body.ends_task() => return Err(format!("the task ended badly: {body:?}").into()),
                        _ => {}
                    }
                }
                if let Some((_, length)) = pause.take_if(|(at, _)| deltas >= *at) {
                    // A reader that does not read, which is what this bench is about.
                    std::thread::sleep(length);
                }
            }
        })
    })
}

/// Joins a follower's thread and returns its result.
pub(crate) fn join<T>(thread: JoinHandle<Outcome<T>>) -> Outcome<T> {
    thread.join().map_err(|_| "a follower panicked")?
}
