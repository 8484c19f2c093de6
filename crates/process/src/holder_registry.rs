//! The registry of holders that this process started or took over. By it a process that connects to the local socket is
//! recognised as a descendant of one of them.

use std::collections::HashMap;

use parking_lot::{Mutex, MutexGuard};

use crate::Process;

/// The labels of all holders. One per process, because holders are children of the process, whichever part started
/// them.
static HOLDERS: Mutex<Option<HashMap<Process, String>>> = Mutex::new(None);

/// Keeps a holder in the registry until it is dropped.
#[derive(Debug)]
pub(crate) struct HolderRegistration(Process);

impl HolderRegistration {
    /// Registers a holder with the label of its launch, such as a session id.
    pub(crate) fn register(holder: Process, label: &str) -> Self {
        lock().get_or_insert_default().insert(holder, label.to_owned());
        Self(holder)
    }
}

impl Drop for HolderRegistration {
    fn drop(&mut self) {
        lock().as_mut().map(|holders| holders.remove(&self.0));
    }
}

/// The label of a process, if it is a registered holder.
pub(crate) fn label_of(process: &Process) -> Option<String> {
    lock().as_ref()?.get(process).cloned()
}

fn lock() -> MutexGuard<'static, Option<HashMap<Process, String>>> {
    HOLDERS.lock()
}
