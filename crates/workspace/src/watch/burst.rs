//! Collects the file events of a short time and turns them into one set of changes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use crate::index::Facts;

/// How long events are collected after the first of them.
pub(super) const BURST: Duration = Duration::from_millis(100);

/// Touched paths after which a rescan is cheaper.
const MANY: usize = 2000;

/// A file event, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// Something was created or removed at the path, or its metadata changed.
    Seen(String),
    /// The content of the file at this path was written.
    Written(String),
    /// A file or a folder was moved from the first path to the second.
    Moved(String, String),
    /// The system dropped events, so everything has to be looked at again.
    Lost,
}

/// The events of a short time.
#[derive(Debug, Default)]
pub(super) struct Burst {
    /// The touched paths, and whether each was written to.
    pub(super) touched: BTreeMap<String, bool>,
    pub(super) moved: Vec<(String, String)>,
    pub(super) is_lost: bool,
    due: Option<Instant>,
}

impl Burst {
    /// A burst of which nothing is known, so that everything is rescanned.
    pub(super) fn lost() -> Self {
        Self { is_lost: true, ..Self::default() }
    }

    pub(super) fn add(&mut self, touch: Touch, now: Instant) {
        self.due.get_or_insert(now + BURST);
        match touch {
            Touch::Seen(path) => _ = self.touched.entry(path).or_default(),
            Touch::Written(path) => _ = self.touched.insert(path, true),
            Touch::Moved(from, to) => {
                // What was moved twice was moved once, from the first place to the last.
                match self.moved.iter_mut().find(|(_, place)| *place == from) {
                    Some((_, place)) => place.clone_from(&to),
                    None => self.moved.push((from.clone(), to.clone())),
                }
                let is_written = self.touched.insert(from, false).unwrap_or_default();
                *self.touched.entry(to).or_default() |= is_written;
            }
            Touch::Lost => self.is_lost = true,
        }
        if self.is_lost || self.touched.len() > MANY {
            // Everything will be looked at, so nothing need be remembered.
            *self = Self { is_lost: true, due: self.due, ..Self::default() };
        }
    }

    /// When the collected events are to be processed; `None` if there are none.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }
}

/// What a burst did to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The file was not there before the burst.
    Created,
    /// The content changed, or may have: it was written to.
    Modified,
    /// The file was there before the burst and is not any more.
    Deleted,
    /// The file was at another path.
    Renamed {
        /// The path that it had before.
        from: String,
    },
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path from the workspace's folder, with `/` between names.
    pub path: String,
    /// What the whole burst did to it.
    pub kind: ChangeKind,
    /// Its size in bytes; absent if it is gone.
    pub size: Option<u64>,
}

/// The changes that lead from the state before the burst to the one after it, whatever happened in between.
pub(super) fn settle(
    touched: &BTreeMap<String, bool>,
    moved: &[(String, String)],
    before: impl Fn(&str) -> Option<Facts>,
    now: impl Fn(&str) -> Option<Facts>,
) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut told = BTreeSet::new();
    for (from, to) in moved {
        let is_gone = before(from).is_some() && now(from).is_none();
        let Some(facts) = now(to).filter(|_| is_gone && before(to).is_none()) else { continue };
        if !told.contains(from) && !told.contains(to) {
            told.extend([from, to]);
            let kind = ChangeKind::Renamed { from: from.clone() };
            changes.push(Change { path: to.clone(), kind, size: Some(facts.size) });
        }
    }
    for (path, is_written) in touched {
        if told.contains(path) {
            continue;
        }
        let (before, now) = (before(path), now(path));
        let kind = match (before, now) {
            (None, Some(_)) => ChangeKind::Created,
            (Some(_), None) => ChangeKind::Deleted,
            // The clock of a file system is coarse: two writes may leave the same time and size.
            (Some(before), Some(now)) if *is_written || before.differs(&now) => ChangeKind::Modified,
            _ => continue,
        };
        changes.push(Change { path: path.clone(), kind, size: now.map(|now| now.size) });
    }
    changes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    changes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What happens to files in a short while.
    #[derive(Clone, Debug)]
    enum Act {
        Write(String),
        Remove(String),
        Move(String, String),
    }

    fn act() -> impl Strategy<Value = Act> {
        let path = || "[abcd]";
        prop_oneof![
            path().prop_map(Act::Write),
            path().prop_map(Act::Remove),
            (path(), path()).prop_map(|(from, to)| Act::Move(from, to)),
        ]
    }

    /// Files by path: a number that is new with every write, as their time.
    type Files = BTreeMap<String, u64>;

    fn play(files: &mut Files, burst: &mut Burst, acts: &[Act], now: Instant) {
        for (n, act) in acts.iter().enumerate() {
            match act {
                Act::Write(path) => {
                    files.insert(path.clone(), 100 + n as u64);
                    burst.add(Touch::Written(path.clone()), now);
                }
                Act::Remove(path) => {
                    if files.remove(path).is_some() {
                        burst.add(Touch::Seen(path.clone()), now);
                    }
                }
                Act::Move(from, to) if from != to => {
                    if let Some(content) = files.remove(from) {
                        files.insert(to.clone(), content);
                        burst.add(Touch::Moved(from.clone(), to.clone()), now);
                    }
                }
                Act::Move(..) => {}
            }
        }
    }

    fn facts(files: &Files, path: &str) -> Option<Facts> {
        files.get(path).map(|&size| Facts { size, ..Facts::default() })
    }

    fn settled(before: &Files, acts: &[Act]) -> (Files, Vec<Change>) {
        let (mut files, mut burst) = (before.clone(), Burst::default());
        play(&mut files, &mut burst, acts, Instant::now());
        let changes = settle(&burst.touched, &burst.moved, |path| facts(before, path), |path| facts(&files, path));
        (files, changes)
    }

    proptest! {
        #[test]
        fn the_changes_lead_from_what_was_to_what_is(
            before in prop::collection::btree_map("[abcd]", 0_u64..9, 0..4),
            acts in prop::collection::vec(act(), 0..8),
        ) {
            let (after, changes) = settled(&before, &acts);
            let mut replayed = before.clone();
            for change in &changes {
                let content = after.get(&change.path).copied();
                prop_assert_eq!(change.size, content);
                match &change.kind {
                    ChangeKind::Created => prop_assert!(replayed.insert(change.path.clone(), content.unwrap()).is_none()),
                    ChangeKind::Modified => prop_assert!(replayed.insert(change.path.clone(), content.unwrap()).is_some()),
                    ChangeKind::Deleted => prop_assert!(replayed.remove(&change.path).is_some()),
                    ChangeKind::Renamed { from } => {
                        prop_assert!(replayed.remove(from).is_some());
                        prop_assert!(replayed.insert(change.path.clone(), content.unwrap()).is_none());
                    }
                }
            }
            prop_assert_eq!(replayed, after);
        }
    }

    #[test]
    fn what_editors_do_is_told_as_what_was_meant() {
        let files: Files = [("a".into(), 1), ("b".into(), 2)].into();
        let write = |path: &str| Act::Write(path.into());
        let remove = |path: &str| Act::Remove(path.into());
        let go = |from: &str, to: &str| Act::Move(from.into(), to.into());
        let cases: [(&str, Vec<Act>, &[&str]); 8] = [
            ("written many times", vec![write("a"), write("a"), write("a")], &["modified a"]),
            ("saved by way of another file", vec![write("t"), go("t", "a")], &["modified a"]),
            ("saved with a backup", vec![go("a", "k"), write("a"), remove("k")], &["modified a"]),
            ("made and removed", vec![write("t"), remove("t")], &[]),
            ("removed and made again", vec![remove("a"), write("a")], &["modified a"]),
            ("renamed", vec![go("a", "c")], &["renamed a to c"]),
            ("renamed twice", vec![go("a", "t"), go("t", "c")], &["renamed a to c"]),
            ("renamed over another", vec![go("a", "b")], &["deleted a", "modified b"]),
        ];
        for (name, acts, expected) in cases {
            let (_, changes) = settled(&files, &acts);
            let told: Vec<_> = changes
                .iter()
                .map(|Change { path, kind, .. }| match kind {
                    ChangeKind::Created => format!("created {path}"),
                    ChangeKind::Modified => format!("modified {path}"),
                    ChangeKind::Deleted => format!("deleted {path}"),
                    ChangeKind::Renamed { from } => format!("renamed {from} to {path}"),
                })
                .collect();
            assert_eq!(told, expected, "{name}");
        }
    }

    #[test]
    fn a_burst_ends_100_ms_after_it_began_however_long_it_goes_on() {
        let start = Instant::now();
        let mut burst = Burst::default();
        assert_eq!(burst.due(), None);
        for n in 0..50 {
            burst.add(Touch::Written("a".into()), start + n * BURST / 10);
        }
        assert_eq!(burst.due(), Some(start + BURST));
    }

    #[test]
    fn too_many_touches_are_remembered_as_that() {
        let mut burst = Burst::default();
        for n in 0..=MANY {
            burst.add(Touch::Seen(n.to_string()), Instant::now());
        }
        assert!(burst.is_lost && burst.touched.is_empty() && burst.due().is_some());
    }
}
