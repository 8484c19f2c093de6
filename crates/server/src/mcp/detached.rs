//! Work that outlives the connection it was begun for.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use roost_gateway::endpoint::Endpoint;

/// Work that is polled in place, which saves most requests a task of their own. Dropped before its end, it goes on as a
/// task of the endpoint.
pub(super) struct DetachOnDrop {
    endpoint: Arc<Endpoint>,
    /// `None` once it has ended.
    work: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl DetachOnDrop {
    pub(super) fn new(endpoint: Arc<Endpoint>, work: impl Future<Output = ()> + Send + 'static) -> Self {
        let work: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(endpoint.tracked(work));
        Self { endpoint, work: Some(work) }
    }
}

impl Future for DetachOnDrop {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if let Some(work) = &mut self.work {
            ready!(work.as_mut().poll(context));
            self.work = None;
        }
        Poll::Ready(())
    }
}

impl Drop for DetachOnDrop {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            self.endpoint.spawn(work);
        }
    }
}
