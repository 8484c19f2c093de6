//! The folder of a git repository: branches, the index, and what git is doing. Never the work tree.

use std::path::Path;

use notify::event::{EventKindMask, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::watch;

use super::Error;
use crate::GitDir;

/// Watches a repository; ends when dropped.
pub(super) struct GitWatcher {
    _watcher: RecommendedWatcher,
}

impl GitWatcher {
    /// Begins to watch. What is received changes with every touch. Waits for the disk.
    pub(super) fn start(git: &GitDir) -> Result<(Self, watch::Receiver<u64>), Error> {
        let (touches, received) = watch::channel(0_u64);
        let handler = move |event: notify::Result<Event>| {
            let is_touch = event.map_or(true, |event| event.need_rescan() || is_touch(&event));
            if is_touch {
                touches.send_modify(|count| *count += 1);
            }
        };
        let config = notify::Config::default().with_follow_symlinks(false).with_event_kinds(
            EventKindMask::CREATE | EventKindMask::REMOVE | EventKindMask::MODIFY_DATA | EventKindMask::MODIFY_NAME,
        );
        let mut watcher = RecommendedWatcher::new(handler, config)?;
        watcher.watch(&git.own, RecursiveMode::NonRecursive)?;
        if git.common != git.own {
            watcher.watch(&git.common, RecursiveMode::NonRecursive)?;
        }
        // A repository whose branches are all packed may have none of these.
        for refs in [git.common.join("refs"), git.own.join("refs")] {
            if refs.is_dir() {
                watcher.watch(&refs, RecursiveMode::Recursive)?;
            }
        }
        Ok((Self { _watcher: watcher }, received))
    }
}

/// Git writes beside a file and moves it into place: what is locked is not done yet.
fn is_touch(event: &Event) -> bool {
    let is_kind = match event.kind {
        EventKind::Create(_) | EventKind::Remove(_) => true,
        EventKind::Modify(kind) => !matches!(kind, ModifyKind::Metadata(_)),
        _ => false,
    };
    is_kind && event.paths.iter().any(|path| !is_lock(path))
}

fn is_lock(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "lock")
}
