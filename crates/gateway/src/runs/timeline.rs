//! Reads the events of runs, the latest ones: reported ones from the host's stream, those of hosted sessions from theirs.

use roost_log::{Error, Log, Seq, StreamId};
use roost_model::event::NormalizedEvent;
use roost_model::ids::RunId;
use roost_model::run::{AgentEvent, RunSummary};
use roost_model::time::Timestamp;

use super::RunsError;

/// Events that are read at once.
const PAGE: u64 = 512;
/// Events of one stream that are looked at for one answer, so that no question reads a whole log.
const MAX_SCANNED: u64 = 100_000;
/// Sessions whose events are in the timeline of all runs: those that changed last.
const SESSIONS: usize = 32;
/// How far the times of neighbouring events may be out of order: writers stamp an event before they queue it.
const DISORDER_MS: i64 = 10_000;

/// An event of a run, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineEvent {
    /// Its number in its stream: the host's for what was reported, else the session's.
    pub seq: Seq,
    /// When it was recorded.
    pub time: Timestamp,
    /// The event as it was reported, or as the session shows it.
    pub event: AgentEvent,
}

/// The last events of all runs.
pub(super) async fn newest_of_all_runs(log: &dyn Log, limit: usize) -> Result<Vec<TimelineEvent>, RunsError> {
    let mut events = read_newest_from_stream(log, &StreamId::host(), None, limit, |_| false, reported_event).await?;
    for record in log.sessions(SESSIONS).await?.iter().filter(|record| !record.hidden) {
        events.extend(
            read_newest_from_stream(
                log,
                &StreamId::from(&record.session_id),
                None,
                limit,
                |_| false,
                AgentEvent::from_session,
            )
            .await?,
        );
    }
    Ok(keep_newest(events, limit))
}

/// The last events of one run.
pub(super) async fn of_run(
    log: &dyn Log,
    run: &RunId,
    reported: Option<&RunSummary>,
    is_session: bool,
    limit: usize,
) -> Result<Vec<TimelineEvent>, RunsError> {
    let mut events = Vec::new();
    if let Some(reported) = reported {
        let host = StreamId::host();
        let end = first_after(log, &host, reported.updated_at.as_millis() + DISORDER_MS).await?;
        let begin = reported.started_at.as_millis() - DISORDER_MS;
        let is_before = |event: &NormalizedEvent| event.time.as_millis() < begin;
        let of_run =
            |event: &NormalizedEvent| reported_event(event).filter(|event| event.run_id().as_ref() == Some(run));
        events.extend(read_newest_from_stream(log, &host, end, limit, is_before, of_run).await?);
    }
    if is_session {
        let stream = StreamId::from(run.as_str());
        events.extend(read_newest_from_stream(log, &stream, None, limit, |_| false, AgentEvent::from_session).await?);
    }
    Ok(keep_newest(events, limit))
}

fn reported_event(event: &NormalizedEvent) -> Option<AgentEvent> {
    AgentEvent::from_body(&event.body)
}

fn keep_newest(mut events: Vec<TimelineEvent>, limit: usize) -> Vec<TimelineEvent> {
    events.sort_by_key(|event| (event.time, event.seq));
    events.drain(..events.len().saturating_sub(limit));
    events
}

/// The last `limit` events before `end` that `wanted` makes something of, found by reading pages backwards until one
/// event `is_before` everything that could be wanted.
async fn read_newest_from_stream(
    log: &dyn Log,
    stream: &StreamId,
    end: Option<Seq>,
    limit: usize,
    is_before: impl Fn(&NormalizedEvent) -> bool,
    wanted: impl Fn(&NormalizedEvent) -> Option<AgentEvent>,
) -> Result<Vec<TimelineEvent>, RunsError> {
    let last_seq = last_seq(log, stream).await?;
    let mut to = end.map_or(last_seq, |end| end.saturating_sub(1).min(last_seq));
    let oldest = to.saturating_sub(MAX_SCANNED);
    let mut found = Vec::new();
    while to > oldest && found.len() < limit {
        let mut after = to.saturating_sub(PAGE).max(oldest);
        let (begin, mut page_events, mut is_over) = (after, Vec::new(), false);
        while after < to {
            let page = match log.read(stream, after, (to - after) as usize).await {
                // Retention removed what came before.
                Err(Error::Truncated { resume_at, .. }) if resume_at > after + 1 => {
                    (after, is_over) = (resume_at - 1, true);
                    continue;
                }
                page => page?,
            };
            for entry in page.batch.iter().take_while(|entry| entry.seq() <= to) {
                after = entry.seq();
                let event = entry.event()?;
                is_over |= is_before(event);
                page_events.extend(wanted(event).map(|made| TimelineEvent {
                    seq: event.seq,
                    time: event.time,
                    event: made,
                }));
            }
            if page.batch.is_empty() {
                break;
            }
        }
        page_events.append(&mut found);
        found = page_events;
        if is_over {
            break;
        }
        to = begin;
    }
    found.drain(..found.len().saturating_sub(limit));
    Ok(found)
}

async fn last_seq(log: &dyn Log, stream: &StreamId) -> Result<Seq, RunsError> {
    match log.read(stream, 0, 1).await {
        Ok(page) => Ok(page.last_seq),
        Err(Error::Truncated { resume_at, .. }) => Ok(log.read(stream, resume_at - 1, 1).await?.last_seq),
        Err(error) => Err(error.into()),
    }
}

/// The first event later than this, by bisection; `None` if there is none.
async fn first_after(log: &dyn Log, stream: &StreamId, millis: i64) -> Result<Option<Seq>, RunsError> {
    let last = last_seq(log, stream).await?;
    let (mut low, mut high) = (0, last);
    while low < high {
        let middle = low + (high - low) / 2;
        let time = match log.read(stream, middle, 1).await {
            // What was removed is older than what is wanted, or is not there in any case.
            Err(Error::Truncated { resume_at, .. }) => {
                low = resume_at - 1;
                if low >= high {
                    break;
                }
                continue;
            }
            page => match page?.batch.iter().next() {
                Some(entry) => entry.event()?.time.as_millis(),
                None => break,
            },
        };
        if time > millis { high = middle } else { low = middle + 1 }
    }
    Ok(Some(low + 1).filter(|seq| *seq <= last))
}
