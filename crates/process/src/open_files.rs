//! The limit of open files. The daemon raises its own, because every client and every agent needs some. Its children
//! get the original limit back, because programs that use `select()` break with descriptors above 1024.

use std::{io, sync::OnceLock};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The highest limit that is set, because some systems report no hard limit but refuse very high values.
const MOST: u64 = 1 << 20;

/// The limit that this process was started with.
static INHERITED: OnceLock<Rlimit> = OnceLock::new();

/// Raises the soft limit of this process to its hard limit. Returns the new soft limit.
pub fn raise_open_files() -> io::Result<u64> {
    let inherited = INHERITED.get_or_init(|| getrlimit(Resource::Nofile));
    let most = inherited.maximum.map_or(MOST, |hard| hard.min(MOST));
    let soft = inherited.current.unwrap_or(MOST).max(most);
    setrlimit(Resource::Nofile, Rlimit { current: Some(soft), maximum: inherited.maximum })?;
    Ok(soft)
}

/// The original limit for children; `None` if ours was not raised.
pub(crate) fn inherited() -> Option<Rlimit> {
    INHERITED.get().cloned()
}

/// Sets the original limit for a child that was just started. The child itself may have read the raised limit already,
/// so this is for children whose own children matter. Does nothing outside of Linux.
pub fn restore_open_files(child: u32) {
    #[cfg(target_os = "linux")]
    if let Some(limit) = inherited()
        && let Some(pid) = i32::try_from(child).ok().and_then(rustix::process::Pid::from_raw)
    {
        // One that has ended already opens nothing any more.
        let _ = rustix::process::prlimit(Some(pid), Resource::Nofile, limit);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = child;
}
