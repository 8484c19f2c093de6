//! Runs work that waits for the disk, or takes long, on tokio's blocking threads.

use std::any::Any;

use roost_rpc::{Fault, FaultCode};

use crate::fault;

type Work = Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>;

/// Does the work on a thread that may wait. One kind of task for all callers: tokio compiles a thousand lines per kind.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
    let done = run(Box::new(move || -> Box<dyn Any + Send> { Box::new(work()) })).await?;
    // What the closure above has put into the box is a `T`.
    let done = done.downcast::<T>().map_err(|_| Fault::new(FaultCode::InternalError, "the work was lost"))?;
    Ok(*done)
}

async fn run(work: Work) -> Result<Box<dyn Any + Send>, Fault> {
    tokio::task::spawn_blocking(work).await.map_err(fault::panicked)
}
