//! The holders that this process started or took over, so that whoever descends from one is known.

use std::collections::HashMap;

use parking_lot::{Mutex, MutexGuard};

use crate::Process;

/// Process-wide, as holders are children of the whole process, whichever part of it started them.
static HOSTED: Mutex<Option<HashMap<Process, String>>> = Mutex::new(None);

/// A holder that is known as long as this lives.
#[derive(Debug)]
pub(crate) struct Hosted(Process);

impl Hosted {
    /// From now on the holder's descendants belong to a launch with this label.
    pub(crate) fn register(holder: Process, label: &str) -> Self {
        lock().get_or_insert_default().insert(holder, label.to_owned());
        Self(holder)
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        lock().as_mut().map(|hosted| hosted.remove(&self.0));
    }
}

/// The label of the launch that this process holds, if it is a holder of ours.
pub(crate) fn label_of(process: &Process) -> Option<String> {
    lock().as_ref()?.get(process).cloned()
}

fn lock() -> MutexGuard<'static, Option<HashMap<Process, String>>> {
    HOSTED.lock()
}
