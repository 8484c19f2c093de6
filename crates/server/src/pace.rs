//! How fast something must arrive: within a time, or within that time and a bit more for every byte that has come.

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

/// How fast something must arrive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    time: Duration,
    /// More time for what has arrived.
    per_byte: Duration,
}

impl Pace {
    /// All of it within this time.
    pub(crate) fn within(time: Duration) -> Self {
        Self { time, per_byte: Duration::ZERO }
    }

    /// Within this time, or later if it keeps coming.
    pub(crate) fn steady(time: Duration) -> Self {
        Self { time, per_byte: Duration::from_secs(1) / BYTES_PER_SECOND }
    }

    /// When the rest has to be there of something that began then and of which so many bytes have come.
    pub(crate) fn deadline(&self, since: Instant, bytes: usize) -> Instant {
        since + self.time + self.per_byte.saturating_mul(u32::try_from(bytes).unwrap_or(u32::MAX))
    }
}

/// Whether a body was cut because it came too slowly.
#[derive(Clone, Default)]
pub(crate) struct WasCut(Arc<AtomicBool>);

impl WasCut {
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
    was_cut: WasCut,
}

impl PacedBody {
    pub(crate) fn new(body: Body, pace: Pace) -> (Self, WasCut) {
        let (since, was_cut) = (Instant::now(), WasCut::default());
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
