//! The limit of open files. The daemon raises its own, because every client and every agent takes some; what it starts
//! gets the old limit back, because programs that use `select()` break with descriptors above 1024.

use std::{io, sync::OnceLock};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The most that is asked for: some systems have no hard limit, and refuse to be taken at their word.
const MOST: u64 = 1 << 20;

/// The limit that this process was started with.
static INHERITED: OnceLock<Rlimit> = OnceLock::new();

/// Raises the soft limit of this process to its hard limit; how many files it may open now.
pub fn raise_open_files() -> io::Result<u64> {
    let inherited = INHERITED.get_or_init(|| getrlimit(Resource::Nofile));
    let most = inherited.maximum.map_or(MOST, |hard| hard.min(MOST));
    let soft = inherited.current.unwrap_or(MOST).max(most);
    setrlimit(Resource::Nofile, Rlimit { current: Some(soft), maximum: inherited.maximum })?;
    Ok(soft)
}

/// The limit that a child must get, if ours has been raised.
pub(crate) fn inherited() -> Option<Rlimit> {
    INHERITED.get().cloned()
}

/// Gives a child that has just been started the limit that this process was started with. For children whose own
/// children matter, and not they themselves, as they may already have read their limit.
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
