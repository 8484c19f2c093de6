//! Deadlines for incoming data: a fixed time, or a fixed time plus some for every byte that has arrived.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};

/// The slowest that a paired device may send something big: 16 KiB/s. A picture of 10 MiB then has eleven minutes.
const BYTES_PER_SECOND: u32 = 16 << 10;

/// A deadline that may move with the bytes that have arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    time: Duration,
    /// The time by which each byte extends the deadline.
    per_byte: Duration,
}

impl Pace {
    /// A fixed deadline: everything must arrive within this time.
    pub(crate) fn within(time: Duration) -> Self {
        Self { time, per_byte: Duration::ZERO }
    }

    /// Within this time, extended by 1 s for every 16 KiB that arrived.
    pub(crate) fn steady(time: Duration) -> Self {
        Self { time, per_byte: Duration::from_secs(1) / BYTES_PER_SECOND }
    }

    /// The deadline of a transfer that began at `since` and of which so many bytes have arrived.
    pub(crate) fn deadline(&self, since: Instant, bytes: usize) -> Instant {
        since + self.time + self.per_byte.saturating_mul(u32::try_from(bytes).unwrap_or(u32::MAX))
    }
}

/// Tells whether a [`PacedBody`] was cut because it came too slowly.
#[derive(Clone, Default)]
pub(crate) struct CutFlag(Arc<AtomicBool>);

impl CutFlag {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A request's body that is cut when it comes too slowly.
pub(crate) struct PacedBody {
    body: Body,
    pace: Pace,
    since: Instant,
    bytes: usize,
    deadline: Pin<Box<Sleep>>,
    was_cut: CutFlag,
}

impl PacedBody {
    pub(crate) fn new(body: Body, pace: Pace) -> (Self, CutFlag) {
        let (since, was_cut) = (Instant::now(), CutFlag::default());
        let deadline = Box::pin(sleep_until(pace.deadline(since, 0)));
        (Self { body, pace, since, bytes: 0, deadline, was_cut: was_cut.clone() }, was_cut)
    }
}

impl HttpBody for PacedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            self.bytes += frame.data_ref().map_or(0, Bytes::len);
            let deadline = self.pace.deadline(self.since, self.bytes);
            self.deadline.as_mut().reset(deadline);
        } else if frame.is_pending() && self.deadline.as_mut().poll(cx).is_ready() {
            self.was_cut.0.store(true, Ordering::Relaxed);
            return Poll::Ready(Some(Err(axum::Error::new("the body came too slowly"))));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
