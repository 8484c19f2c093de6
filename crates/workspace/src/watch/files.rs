//! Watches the files of a workspace.
//!
//! Each folder that git does not ignore is watched by itself, so a build that writes into an ignored one costs nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use notify::event::{AccessKind, AccessMode, EventKindMask, ModifyKind, RenameMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

use super::barrier::{Barrier, MarkObserver};
use super::burst::{Burst, Touch, settle};
use super::{Change, Error};
use crate::Root;
use crate::index::{Facts, Index, stat_file, unignored_in, walker};

/// Watches the folders of a workspace. All of it waits for the disk, and for the receiver of `touches`: the notify
/// thread that sends them also adds and removes watches.
pub(super) struct FileWatcher {
    root: Root,
    touches: mpsc::Sender<Touch>,
    /// Absent if the system could not create one.
    watcher: Option<RecommendedWatcher>,
    barrier: Arc<Barrier>,
    /// Why not everything is watched; absent if everything is.
    blind: Option<Error>,
}

/// The changes that a burst made.
pub(super) struct BurstChanges {
    pub(super) changes: Vec<Change>,
    /// The same changes in the form that the index takes.
    pub(super) facts: BTreeMap<String, Option<Facts>>,
    /// Whether a `.gitignore` changed, so that everything must be rescanned.
    pub(super) rules_changed: bool,
}

impl FileWatcher {
    /// Starts to watch all folders, as far as the system can.
    pub(super) fn start(root: Root, barrier: Arc<Barrier>, touches: mpsc::Sender<Touch>) -> Self {
        let mut files = Self { root, touches, watcher: None, barrier, blind: None };
        files.watch_again();
        files
    }

    /// Why not everything is watched, if it is not.
    pub(super) fn blind(&self) -> Option<&Error> {
        self.blind.as_ref()
    }

    /// Watches every folder anew, because it is unknown which were replaced. A new watcher is faster than removing each
    /// folder from the old one.
    pub(super) fn watch_again(&mut self) {
        self.watcher = None;
        self.barrier.begin_files();
        (self.watcher, self.blind) = match self.watcher() {
            Ok(watcher) => (Some(watcher), None),
            Err(error) => (None, Some(error.into())),
        };
        self.watch_beneath("", |_| {});
    }

    fn watcher(&self) -> notify::Result<RecommendedWatcher> {
        let (top, touches) = (self.root.path().to_owned(), self.touches.clone());
        let (marks, seeing) = (self.barrier.marks(&top), self.barrier.clone());
        let marked = marks.clone();
        let handler = move |event: notify::Result<Event>| {
            if seeing.saw_mark(MarkObserver::Files, marked.as_deref(), &event) {
                return;
            }
            seeing.touch_files(|| {
                for touch in touches_from_event(&top, event) {
                    // The receiver is gone when nobody follows any more.
                    let _ = touches.blocking_send(touch);
                }
            });
        };
        // What is written by way of memory is told when the file is closed.
        let kinds = EventKindMask::CORE | EventKindMask::ACCESS_CLOSE;
        let config = notify::Config::default().with_follow_symlinks(false).with_event_kinds(kinds);
        let mut watcher = RecommendedWatcher::new(handler, config)?;
        if marks.is_some_and(|marks| watcher.watch(&marks, RecursiveMode::NonRecursive).is_err()) {
            self.barrier.without_marks();
        }
        Ok(watcher)
    }

    /// Watches every folder that is not watched yet, as far as the system can now.
    pub(super) fn watch_more(&mut self) {
        if self.watcher.is_none() {
            return self.watch_again();
        }
        self.blind = None;
        self.watch_beneath("", |_| {});
    }

    /// Watches a folder and those beneath it, and calls `file` for each file in them. Each folder is watched before it
    /// is read, so nothing is missed in between.
    fn watch_beneath(&mut self, folder: &str, mut file: impl FnMut(String)) {
        let top = self.root.path().to_owned();
        let (walker, depth) = walker(&top, folder);
        for entry in walker.build().flatten().filter(|entry| entry.depth() >= depth) {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let Some(path) = entry.path().strip_prefix(&top).ok().and_then(Path::to_str) else {
                if is_folder {
                    self.barrier.mark_incomplete();
                }
                continue;
            };
            if is_folder {
                self.watch(path, entry.path());
            } else {
                file(path.to_owned());
            }
        }
    }

    fn watch(&mut self, path: &str, full: &Path) {
        if self.blind.is_some() || self.barrier.folders.contains(path) {
            return;
        }
        let Some(watcher) = &mut self.watcher else { return };
        match watcher.watch(full, RecursiveMode::NonRecursive) {
            Ok(()) => self.barrier.folders.insert(path.to_owned()),
            // Gone again already, or not ours to see.
            Err(error) if !matches!(error.kind, notify::ErrorKind::MaxFilesWatch) => {}
            Err(error) => self.blind = Some(error.into()),
        }
    }

    /// Stops watching a folder and those beneath it, because it is gone or was moved.
    fn unwatch_beneath(&mut self, folder: &str) {
        for path in self.barrier.folders.take_beneath(folder) {
            // The system has forgotten it if it is gone.
            let _ = self.watcher.as_mut().map(|watcher| watcher.unwatch(&self.root.path().join(&path)));
        }
    }

    /// The changes that a burst made.
    pub(super) fn settle(&mut self, burst: Burst, index: &Index) -> BurstChanges {
        let Burst { mut touched, moved, .. } = burst;
        let mut pairs = Vec::new();
        for (from, to) in moved {
            let beneath = index.beneath(&from);
            if beneath.is_empty() {
                pairs.push((from, to));
                continue;
            }
            // A folder was moved, and with it every file that was in it.
            for file in index.range(beneath) {
                let target = format!("{to}{}", &file.path()[from.len()..]);
                touched.entry(file.path().to_owned()).or_default();
                touched.entry(target.clone()).or_default();
                pairs.push((file.path().to_owned(), target));
            }
        }
        let mut unignored = UnignoredPaths::default();
        for path in touched.keys().cloned().collect::<Vec<_>>() {
            self.expand(&path, index, &mut touched, &mut unignored);
        }
        // What the index has is not ignored.
        touched.retain(|path, _| index.get(path).is_some() || unignored.has(self.root.path(), path));
        let rules_changed = touched.keys().any(|path| path.rsplit('/').next() == Some(".gitignore"));
        let now: BTreeMap<_, _> = touched.keys().map(|path| (path.clone(), stat_file(&self.root, path))).collect();
        let before = |path: &str| index.get(path).map(|file| file.facts());
        let changes = settle(&touched, &pairs, before, |path| now.get(path).copied().flatten());
        let mut facts = now;
        for (path, facts) in &mut facts {
            if let (Some(facts), Some(before)) = (facts, before(path)) {
                facts.tracked = before.tracked;
            }
        }
        BurstChanges { changes, facts, rules_changed }
    }

    /// Adds the files in a touched folder to the touched paths: those that are in it and those that were.
    fn expand(
        &mut self,
        path: &str,
        index: &Index,
        touched: &mut BTreeMap<String, bool>,
        unignored: &mut UnignoredPaths,
    ) {
        let full = self.root.path().join(path);
        let is_folder = full.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        let beneath = index.beneath(path);
        if !is_folder && beneath.is_empty() && !self.barrier.folders.contains(path) {
            return;
        }
        for file in index.range(beneath) {
            touched.entry(file.path().to_owned()).or_default();
        }
        // What was watched there may be another folder by now.
        self.unwatch_beneath(path);
        if is_folder && unignored.has(self.root.path(), path) {
            self.watch_beneath(path, |file| _ = touched.entry(file).or_default());
        }
    }
}

/// Caches which paths directly in a folder are not ignored; each folder is walked once.
#[derive(Default)]
struct UnignoredPaths(BTreeMap<String, BTreeSet<String>>);

impl UnignoredPaths {
    /// Whether git does not ignore this path.
    fn has(&mut self, top: &Path, path: &str) -> bool {
        let (folder, _) = path.rsplit_once('/').unwrap_or_default();
        self.0.entry(folder.to_owned()).or_insert_with(|| unignored_in(top, folder).collect()).contains(path)
    }
}

/// The touches that an event means, of paths in the workspace.
fn touches_from_event(top: &Path, event: notify::Result<Event>) -> Vec<Touch> {
    let Ok(event) = event else { return vec![Touch::Lost] };
    if event.need_rescan() {
        return vec![Touch::Lost];
    }
    // A name that is no text is not in the index either.
    let mut paths = event.paths.iter().filter_map(|path| Some(path.strip_prefix(top).ok()?.to_str()?.to_owned()));
    match event.kind {
        EventKind::Modify(ModifyKind::Name(RenameMode::Both)) => match (paths.next(), paths.next()) {
            (Some(from), Some(to)) => vec![Touch::Moved(from, to)],
            (path, other) => path.into_iter().chain(other).map(Touch::Seen).collect(),
        },
        EventKind::Create(_)
        | EventKind::Remove(_)
        | EventKind::Modify(ModifyKind::Name(_) | ModifyKind::Metadata(_))
        | EventKind::Access(AccessKind::Close(AccessMode::Write)) => paths.map(Touch::Seen).collect(),
        EventKind::Modify(_) => paths.map(Touch::Written).collect(),
        _ => Vec::new(),
    }
}
