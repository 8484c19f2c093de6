//! A second tokio runtime at low priority. Watchers are served from it, so that the agents' own work goes first.
//!
//! A hundred watchers of a flood want more than a small machine can give. They lose nothing by waiting, because a
//! watcher is a position in the log; an agent that waits is slower for everyone.

use std::io;

use tokio::runtime::{Builder, Handle, Runtime};

/// Worker threads of this runtime.
const THREADS: usize = 2;
/// Their niceness: the scheduler gives them time that no other thread of ours wants.
const NICE: i32 = 10;

/// The runtime; its threads end when this is dropped.
pub(crate) struct BackgroundRuntime(Option<Runtime>);

impl BackgroundRuntime {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("roost-watchers")
            .on_thread_start(lower_priority)
            .enable_all()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    /// The handle that work for watchers is spawned on.
    pub(crate) fn handle(&self) -> &Handle {
        match &self.0 {
            Some(runtime) => runtime.handle(),
            // It is only taken in `drop`, after which nobody can ask.
            None => unreachable!("the threads are there until this is dropped"),
        }
    }
}

impl Drop for BackgroundRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// On Linux this concerns the calling thread alone; elsewhere it would be the whole process, so nothing is done.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!(%error, "Threads for watchers run at the usual priority.");
    }
}
