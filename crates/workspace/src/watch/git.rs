//! Watches the git directory of a repository: branches, the index, and the state of merges. Never the working copy.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use notify::event::{EventKindMask, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::watch;

use super::Error;
use super::barrier::{Barrier, MarkObserver};
use crate::GitDir;

/// Watches a git directory until it is dropped.
pub(super) struct GitWatcher {
    _watcher: RecommendedWatcher,
}

impl GitWatcher {
    /// Starts to watch. The received number changes with every event. Waits for the disk.
    pub(super) fn start(
        git: &GitDir,
        root: &Path,
        barrier: &Arc<Barrier>,
    ) -> Result<(Self, watch::Receiver<u64>), Error> {
        let (touches, received) = watch::channel(0_u64);
        let (marks, seeing) = (barrier.marks(root), barrier.clone());
        let marked = marks.clone();
        let handler = move |event: notify::Result<Event>| {
            if seeing.saw_mark(MarkObserver::Git, marked.as_deref(), &event) {
                return;
            }
            let is_touch = event.map_or(true, |event| event.need_rescan() || is_touch(&event));
            if is_touch {
                seeing.touch_git();
                touches.send_modify(|count| *count += 1);
            }
        };
        let config = notify::Config::default().with_follow_symlinks(false).with_event_kinds(
            EventKindMask::CREATE | EventKindMask::REMOVE | EventKindMask::MODIFY_DATA | EventKindMask::MODIFY_NAME,
        );
        let mut watcher = RecommendedWatcher::new(handler, config)?;
        let beneath = |folder: &Path| ["refs", "info", "reftable"].map(|name| folder.join(name));
        let parts: BTreeSet<_> = [&git.common, &git.own].into_iter().flat_map(|folder| beneath(folder)).collect();
        barrier.begin_git([git.own.clone(), git.common.clone()].into_iter().chain(parts.clone()).collect());
        watcher.watch(&git.own, RecursiveMode::NonRecursive)?;
        if git.common != git.own {
            watcher.watch(&git.common, RecursiveMode::NonRecursive)?;
        }
        // A repository whose branches are all packed may have none of these.
        for part in parts.iter().filter(|part| part.is_dir()) {
            watcher.watch(part, RecursiveMode::Recursive)?;
        }
        if marks.is_some_and(|marks| watcher.watch(&marks, RecursiveMode::NonRecursive).is_err()) {
            barrier.without_marks();
        }
        Ok((Self { _watcher: watcher }, received))
    }
}

/// Whether an event matters. Git writes a `.lock` file and renames it, so a lock means that the change is not done yet.
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
