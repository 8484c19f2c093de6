//! Lines that calls stand in: one after the other, in the order in which they came.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// A place at the front of a line, which may be given up before the work is done.
pub(crate) type Front = Mutex<Option<OwnedMutexGuard<()>>>;

/// Lines by name; one that nobody stands in is forgotten.
#[derive(Default)]
pub(crate) struct CallOrder(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

impl CallOrder {
    /// Stands in a line: the place is taken when this returns, and awaited by what it returns.
    pub(crate) async fn place(
        &self,
        line: String,
    ) -> impl Future<Output = OwnedMutexGuard<()>> + Send + 'static + use<> {
        let line = {
            let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            lines.retain(|_, line| Arc::strong_count(line) > 1);
            lines.entry(line).or_default().clone()
        };
        let mut waiting = Box::pin(line.lock_owned());
        // The first poll takes the place in the line.
        let taken = futures::poll!(&mut waiting);
        async move {
            match taken {
                std::task::Poll::Ready(guard) => guard,
                std::task::Poll::Pending => waiting.await,
            }
        }
    }
}
