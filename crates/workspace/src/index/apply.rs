//! Applies changes of some files to the index.

use std::collections::BTreeMap;

use super::{Facts, Index};

/// Up to this many changes are applied one by one; more in one pass over the index.
const FEW: usize = 32;

/// Unused bytes of `paths` after which the index is compacted.
const WASTE: usize = 64 << 10;

impl Index {
    /// Applies changes: facts of files that exist, `None` for files that are gone. The content of a file stays known
    /// while its size and time stay the same.
    pub fn apply(&mut self, changes: &BTreeMap<String, Option<Facts>>) {
        if changes.len() <= FEW {
            for (path, facts) in changes {
                self.apply_one(path, *facts);
            }
        } else {
            self.apply_many(changes);
        }
        if self.wasted > WASTE.max(self.paths.len() / 4) {
            self.compact();
        }
    }

    fn apply_one(&mut self, path: &str, facts: Option<Facts>) {
        match (self.find(path), facts) {
            (Ok(place), Some(facts)) => self.update(place, facts),
            (Ok(place), None) => {
                self.wasted += path.len();
                self.records.remove(place);
            }
            (Err(place), Some(facts)) => {
                if let Some(record) = self.store(path, facts) {
                    self.records.insert(place, record);
                }
            }
            (Err(_), None) => {}
        }
    }

    fn update(&mut self, place: usize, mut facts: Facts) {
        let known = self.records[place].facts();
        if facts.content.is_none() && !facts.differs(&known) {
            facts.content = known.content;
        }
        let path = self.records[place].path();
        let name = self.paths[path].rsplit('/').next().unwrap_or_default();
        self.records[place].set(facts, name);
    }

    /// Merges the changes in one pass, because both are sorted by path.
    fn apply_many(&mut self, changes: &BTreeMap<String, Option<Facts>>) {
        let mut records = Vec::with_capacity(self.records.len() + changes.len());
        let mut next = 0;
        for (path, facts) in changes {
            let here = next + self.records[next..].partition_point(|record| self.path(record) < path.as_str());
            records.extend_from_slice(&self.records[next..here]);
            next = here;
            let is_known = self.records.get(here).is_some_and(|record| self.path(record) == path);
            match (is_known, facts) {
                (true, Some(facts)) => {
                    self.update(here, *facts);
                    records.push(self.records[here]);
                }
                (true, None) => self.wasted += path.len(),
                (false, Some(facts)) => records.extend(self.store(path, *facts)),
                (false, None) => {}
            }
            next += usize::from(is_known);
        }
        records.extend_from_slice(&self.records[next..]);
        self.records = records;
    }

    /// Sets for every file whether git tracks it.
    pub fn set_tracked(&mut self, is_tracked: impl Fn(&str) -> bool) {
        for place in 0..self.records.len() {
            let facts = self.records[place].facts();
            let tracked = is_tracked(self.path(&self.records[place]));
            if facts.tracked != tracked {
                self.update(place, Facts { tracked, ..facts });
            }
        }
    }

    /// The changes that lead from this index to a newer one of the same folder.
    pub fn changes_to(&self, newer: &Self) -> BTreeMap<String, Option<Facts>> {
        let mut changes = BTreeMap::new();
        for file in newer.files() {
            let known = self.get(file.path()).map(|known| known.facts());
            let is_same =
                known.is_some_and(|known| !known.differs(&file.facts()) && known.tracked == file.is_tracked());
            if !is_same {
                changes.insert(file.path().to_owned(), Some(file.facts()));
            }
        }
        let gone = self.files().filter(|file| newer.find(file.path()).is_err());
        changes.extend(gone.map(|file| (file.path().to_owned(), None)));
        changes
    }

    fn compact(&mut self) {
        let mut paths = String::with_capacity(self.paths.len() - self.wasted);
        for place in 0..self.records.len() {
            let record = self.records[place];
            // It is shorter than what it is made from, whose places all fit.
            let start = paths.len() as u32;
            paths.push_str(self.path(&record));
            self.records[place] = record.at(start);
        }
        self.paths = paths;
        self.wasted = 0;
        self.shrink();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Content;
    use super::*;

    fn facts(size: u64) -> Facts {
        Facts { size, ..Facts::default() }
    }

    proptest! {
        #[test]
        fn changes_in_any_number_leave_what_a_map_would_hold(
            batches in prop::collection::vec(
                prop::collection::btree_map("[ab]{1,2}(/[ab.]{1,2}){0,2}", prop::option::of(0_u64..9), 0..80), 0..6,
            )
        ) {
            let mut model = BTreeMap::new();
            let mut index = Index::default();
            for batch in batches {
                let batch: BTreeMap<_, _> = batch.into_iter().map(|(path, size)| (path, size.map(facts))).collect();
                index.apply(&batch);
                for (path, facts) in batch {
                    match facts {
                        Some(facts) => model.insert(path, facts),
                        None => model.remove(&path),
                    };
                }
                let held: Vec<_> = index.files().map(|file| (file.path().to_owned(), file.facts())).collect();
                let expected: Vec<_> = model.iter().map(|(path, facts)| (path.clone(), *facts)).collect();
                prop_assert_eq!(held, expected);
            }
        }
    }

    #[test]
    fn removed_paths_do_not_pile_up() {
        let mut index = Index::default();
        for round in 0..200 {
            let name = |n: usize| format!("folder/with/a/long/name/{round}/{n}");
            index.apply(&(0..100).map(|n| (name(n), Some(facts(1)))).collect());
            index.apply(&(0..100).map(|n| (name(n), None)).collect());
        }
        assert!(index.is_empty() && index.bytes() < 512 << 10, "{} bytes", index.bytes());
    }

    #[test]
    fn what_was_read_of_a_file_is_forgotten_when_it_changes() {
        let mut index = Index::default();
        let read = Facts { content: Some(Content::Lines(3)), ..facts(9) };
        index.apply(&BTreeMap::from([("a".into(), Some(read))]));
        index.apply(&BTreeMap::from([("a".into(), Some(facts(9)))]));
        assert_eq!(index.get("a").unwrap().content(), Some(Content::Lines(3)));
        index.apply(&BTreeMap::from([("a".into(), Some(facts(8)))]));
        assert_eq!(index.get("a").unwrap().content(), None);
    }

    #[test]
    fn the_changes_to_another_index_lead_to_it() {
        let mut old = super::super::tests::from_paths(&["a", "b/c", "d"]);
        let new = super::super::tests::from_paths(&["a", "b/e", "d/f"]);
        let changes = old.changes_to(&new);
        assert_eq!(changes.keys().collect::<Vec<_>>(), ["b/c", "b/e", "d", "d/f"]);
        old.apply(&changes);
        assert!(old.changes_to(&new).is_empty());
    }
}
