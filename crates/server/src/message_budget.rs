//! Bounds the memory of messages that have begun to arrive, over WebSockets or in the body of an editor's request, and
//! are not whole yet.
//!
//! Bytes are counted as they are read from a connection, beneath the WebSocket, from the end of one message to the end
//! of the next. What is beyond a small allowance of the connection's own comes out of a budget that all connections
//! share. Whoever finds it used up is closed with 1013 and may try again; whoever holds a part of it must go on sending.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::pace::Pace;
use crate::settings::Limits;

/// Bytes of an unfinished message that every connection may hold besides the budget.
const ALLOWANCE: usize = 64 << 10;
/// Bytes of a control frame besides what it carries: two of header, four of mask.
const CONTROL_HEADER: usize = 6;

/// Why a connection is closed in the middle of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutReason {
    NoRoom,
    TooSlow,
}

impl CutReason {
    pub(crate) const ALL: [Self; 2] = [Self::NoRoom, Self::TooSlow];

    /// The reason in the close frame.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::NoRoom => "unfinished messages of all clients take too much memory; try again",
            Self::TooSlow => "the message came too slowly; try again",
        }
    }
}

impl From<CutReason> for io::Error {
    fn from(cut: CutReason) -> Self {
        Self::other(cut.reason())
    }
}

/// The bytes that unfinished messages of all connections together may hold beyond their allowances.
#[derive(Clone)]
pub(crate) struct MessageBudget {
    free: Arc<Semaphore>,
    pace: Pace,
}

impl MessageBudget {
    pub(crate) fn new(limits: &Limits) -> Self {
        let bytes = match limits.unfinished_bytes {
            0 => Semaphore::MAX_PERMITS,
            // One message of the greatest size must always have room.
            bytes => bytes.max(limits.max_frame_bytes).min(Semaphore::MAX_PERMITS),
        };
        Self { free: Arc::new(Semaphore::new(bytes)), pace: Pace::steady(limits.request_time) }
    }

    /// A meter for a new connection; it counts from [`Meter::start`] on.
    pub(crate) fn meter(&self) -> Arc<Meter> {
        Arc::new(Meter { budget: self.clone(), unfinished: Mutex::default() })
    }
}

/// Counts the bytes of one connection's unfinished message.
pub(crate) struct Meter {
    budget: MessageBudget,
    unfinished: Mutex<Option<UnfinishedMessage>>,
}

/// The bytes of a message that has not arrived completely, and its part of the budget.
#[derive(Default)]
struct UnfinishedMessage {
    bytes: usize,
    of_budget: Option<OwnedSemaphorePermit>,
    /// When it began to take from the budget.
    since: Option<Instant>,
}

impl Meter {
    /// Begins to count: the connection is a WebSocket now, or an editor's message follows.
    pub(crate) fn start(&self) {
        *self.lock() = Some(UnfinishedMessage::default());
    }

    /// Stops counting and frees the connection's part of the budget, because what follows may be any request.
    pub(crate) fn stop(&self) {
        *self.lock() = None;
    }

    /// A complete message was handled, so its part of the budget is free again.
    pub(crate) fn finish_message(&self) {
        if let Some(unfinished) = &mut *self.lock() {
            *unfinished = UnfinishedMessage::default();
        }
    }

    /// A control frame was handled, perhaps in the middle of a message; only its own bytes are free again.
    pub(crate) fn finish_control(&self, payload: usize) {
        if let Some(unfinished) = &mut *self.lock() {
            unfinished.bytes = unfinished.bytes.saturating_sub(payload + CONTROL_HEADER);
        }
    }

    /// Counts bytes that arrived. Returns the deadline for the rest of the message if these bytes came out of the
    /// budget.
    fn count(&self, bytes: usize) -> Result<Option<Instant>, CutReason> {
        let mut unfinished = self.lock();
        let Some(unfinished) = &mut *unfinished else { return Ok(None) };
        unfinished.bytes += bytes;
        let taken = unfinished.of_budget.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let Some(more) = unfinished.bytes.checked_sub(ALLOWANCE + taken).filter(|more| *more > 0) else {
            return Ok(None);
        };
        let more = u32::try_from(more).map_err(|_| CutReason::NoRoom)?;
        let more = self.budget.free.clone().try_acquire_many_owned(more).map_err(|_| CutReason::NoRoom)?;
        match &mut unfinished.of_budget {
            Some(permit) => permit.merge(more),
            none => *none = Some(more),
        }
        let since = *unfinished.since.get_or_insert_with(Instant::now);
        Ok(Some(self.budget.pace.deadline(since, unfinished.bytes - ALLOWANCE)))
    }

    fn is_taking(&self) -> bool {
        self.lock().as_ref().is_some_and(|unfinished| unfinished.of_budget.is_some())
    }

    fn lock(&self) -> MutexGuard<'_, Option<UnfinishedMessage>> {
        // Each change is whole before anything can panic.
        self.unfinished.lock()
    }
}

/// A stream whose incoming bytes are counted by a [`Meter`].
pub(crate) struct MeteredStream<S> {
    stream: S,
    meter: Arc<Meter>,
    /// When an unfinished message is cut; only looked at while it takes from the budget.
    deadline: Pin<Box<Sleep>>,
}

impl<S> MeteredStream<S> {
    pub(crate) fn new(stream: S, meter: Arc<Meter>) -> Self {
        Self { stream, meter, deadline: Box::pin(sleep_until(Instant::now() + Duration::from_secs(1))) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MeteredStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if read.is_pending() && self.meter.is_taking() {
            ready!(self.deadline.as_mut().poll(cx));
            return Poll::Ready(Err(CutReason::TooSlow.into()));
        }
        ready!(read)?;
        let counted = self.meter.count(buffer.filled().len() - before)?;
        if let Some(deadline) = counted {
            self.deadline.as_mut().reset(deadline);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MeteredStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
