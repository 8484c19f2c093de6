//! Queues of calls: those about the same session or workspace run one at a time, in the order in which they came.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

/// A call's place at the head of its queue. `Context::give_way` empties it before the call is done.
pub(crate) type QueueTurn = Mutex<Option<OwnedMutexGuard<()>>>;

/// The queues, by session or workspace. An empty queue is forgotten.
#[derive(Default)]
pub(crate) struct CallQueues(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

impl CallQueues {
    /// Joins a queue: the place is taken when this returns, and the turn awaited by what it returns.
    pub(crate) async fn join(
        &self,
        queue: String,
    ) -> impl Future<Output = OwnedMutexGuard<()>> + Send + 'static + use<> {
        let queue = {
            let mut queues = self.0.lock();
            queues.retain(|_, queue| Arc::strong_count(queue) > 1);
            queues.entry(queue).or_default().clone()
        };
        let mut waiting = Box::pin(queue.lock_owned());
        // The first poll takes the place in the queue.
        let taken = futures::poll!(&mut waiting);
        async move {
            match taken {
                std::task::Poll::Ready(guard) => guard,
                std::task::Poll::Pending => waiting.await,
            }
        }
    }

    /// Whether no call has its turn or waits for it.
    pub(crate) fn is_idle(&self) -> bool {
        self.0.lock().values().all(|queue| Arc::strong_count(queue) == 1)
    }
}
