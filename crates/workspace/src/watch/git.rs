//! The folder of a git repository: branches, the index, and what git is doing. Never the work tree.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use notify::event::{EventKindMask, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::watch;

use super::Error;
use super::barrier::{Barrier, Whose};
use crate::GitDir;

/// Watches a repository; ends when dropped.
pub(super) struct GitWatcher {
    _watcher: RecommendedWatcher,
}

impl GitWatcher {
    /// Begins to watch. What is received changes with every touch. Waits for the disk.
    pub(super) fn start(
        git: &GitDir,
        root: &Path,
        barrier: &Arc<Barrier>,
    ) -> Result<(Self, watch::Receiver<u64>), Error> {
        let (touches, received) = watch::channel(0_u64);
        let (marks, seeing) = (barrier.marks(root), barrier.clone());
        let marked = marks.clone();
        let handler = move |event: notify::Result<Event>| {
            if seeing.saw_mark(Whose::Git, marked.as_deref(), &event) {
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
