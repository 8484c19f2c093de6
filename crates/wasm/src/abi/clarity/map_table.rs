//! The maps of a call. A change makes a new map and leaves the old one as it was.
//!
//! Versions that differ in one key share one tree: the newest holds it, and an older one holds how to undo the change. So
//! a program that builds a map step by step pays for each step once, and a program that goes back to an older version
//! pays for the way.

use std::collections::BTreeMap;

/// A key: a string or a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MapKey {
    Text(String),
    Int(i64),
}

/// A value: the bits of a number or pointer.
pub(crate) type MapValue = i64;

/// The bytes that the host needs for one version besides its key.
const VERSION_BYTES: usize = 128;

/// All maps of a call, by handle; the handle of the first is 1.
#[derive(Debug, Default)]
pub(crate) struct MapTable {
    versions: Vec<Version>,
    /// Counts up, so that keys can be listed in the order in which they were added.
    next_order: u64,
    /// About what the host needs for all of them.
    bytes: usize,
}

#[derive(Debug)]
enum Version {
    /// Holds the tree.
    Tree(Tree),
    /// Differs from a newer version in one key.
    Undo { key: MapKey, entry: Option<Entry>, newer: usize },
}

type Tree = BTreeMap<MapKey, Entry>;

#[derive(Clone, Copy, Debug)]
struct Entry {
    order: u64,
    value: MapValue,
}

impl MapTable {
    /// An empty map.
    pub(crate) fn create(&mut self) -> i32 {
        self.push(Version::Tree(Tree::new()))
    }

    /// A map of these entries, of which the last with a key counts.
    pub(crate) fn create_from(&mut self, entries: impl IntoIterator<Item = (MapKey, MapValue)>) -> i32 {
        let mut tree = Tree::new();
        for (key, value) in entries {
            self.bytes += VERSION_BYTES + key_bytes(&key);
            self.next_order += 1;
            let order = tree.get(&key).map_or(self.next_order, |entry| entry.order);
            tree.insert(key, Entry { order, value });
        }
        self.push(Version::Tree(tree))
    }

    /// The map with one entry set or, without a value, taken away.
    pub(crate) fn change(&mut self, handle: i32, key: MapKey, value: Option<MapValue>) -> i32 {
        let Some(at) = self.reroot(handle) else {
            return self.create_from(value.map(|value| (key, value)));
        };
        self.next_order += 1;
        let Version::Tree(tree) = &mut self.versions[at] else { return self.create() };
        let mut tree = std::mem::take(tree);
        let before = tree.get(&key).copied();
        match value {
            Some(value) => {
                let order = before.map_or(self.next_order, |entry| entry.order);
                tree.insert(key.clone(), Entry { order, value });
            }
            None => _ = tree.remove(&key),
        }
        self.bytes += 2 * key_bytes(&key);
        let changed = self.push(Version::Tree(tree));
        self.versions[at] = Version::Undo { key, entry: before, newer: self.versions.len() - 1 };
        changed
    }

    /// The value of a key.
    pub(crate) fn get(&mut self, handle: i32, key: &MapKey) -> Option<MapValue> {
        self.tree(handle)?.get(key).map(|entry| entry.value)
    }

    /// How many entries a map has.
    pub(crate) fn len(&mut self, handle: i32) -> usize {
        self.tree(handle).map_or(0, Tree::len)
    }

    /// The entries in the order in which they were added.
    pub(crate) fn entries(&mut self, handle: i32) -> Vec<(MapKey, MapValue)> {
        let Some(tree) = self.tree(handle) else { return Vec::new() };
        let mut entries: Vec<_> = tree.iter().collect();
        entries.sort_by_key(|(_, entry)| entry.order);
        entries.into_iter().map(|(key, entry)| (key.clone(), entry.value)).collect()
    }

    /// About what the host needs for all maps.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many versions lie between a map and the one that holds its tree: what it costs to use it.
    pub(crate) fn distance(&self, handle: i32) -> usize {
        let mut at = index(handle);
        let mut steps = 0;
        while let Some(Version::Undo { newer, .. }) = at.and_then(|at| self.versions.get(at)) {
            at = Some(*newer);
            steps += 1;
        }
        steps
    }

    fn tree(&mut self, handle: i32) -> Option<&Tree> {
        let at = self.reroot(handle)?;
        match &self.versions[at] {
            Version::Tree(tree) => Some(tree),
            Version::Undo { .. } => None,
        }
    }

    fn push(&mut self, version: Version) -> i32 {
        self.bytes += VERSION_BYTES;
        self.versions.push(version);
        i32::try_from(self.versions.len()).unwrap_or(i32::MAX)
    }

    /// Moves the tree to a version, and says where it is; `None` if there is no such map.
    fn reroot(&mut self, handle: i32) -> Option<usize> {
        let wanted = index(handle).filter(|at| *at < self.versions.len())?;
        let mut path = vec![wanted];
        while let Version::Undo { newer, .. } = &self.versions[*path.last()?] {
            path.push(*newer);
        }
        // From the tree back to the wanted version, each step is undone and can be redone.
        for step in path.windows(2).rev() {
            let [older, newer] = [step[0], step[1]];
            let Version::Tree(tree) = &mut self.versions[newer] else { return None };
            let mut tree = std::mem::take(tree);
            let Version::Undo { key, entry, .. } =
                std::mem::replace(&mut self.versions[older], Version::Tree(Tree::new()))
            else {
                return None;
            };
            let redo = match entry {
                Some(entry) => tree.insert(key.clone(), entry),
                None => tree.remove(&key),
            };
            self.versions[newer] = Version::Undo { key, entry: redo, newer: older };
            self.versions[older] = Version::Tree(tree);
        }
        Some(wanted)
    }
}

fn index(handle: i32) -> Option<usize> {
    usize::try_from(handle).ok()?.checked_sub(1)
}

fn key_bytes(key: &MapKey) -> usize {
    match key {
        MapKey::Text(text) => text.len(),
        MapKey::Int(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A map as one would write it without sharing anything.
    type Plain = Vec<(MapKey, MapValue)>;

    fn changed(map: &Plain, key: &MapKey, value: Option<MapValue>) -> Plain {
        let mut map = map.clone();
        match (map.iter().position(|(other, _)| other == key), value) {
            (Some(at), Some(value)) => map[at].1 = value,
            (Some(at), None) => _ = map.remove(at),
            (None, Some(value)) => map.push((key.clone(), value)),
            (None, None) => {}
        }
        map
    }

    proptest! {
        #[test]
        fn every_version_stays_as_it_was(
            changes in prop::collection::vec((0_usize..40, 0_i64..6, prop::option::of(0_i64..100)), 1..40),
        ) {
            let mut table = MapTable::default();
            let mut versions = vec![(table.create(), Plain::new())];
            for (base, key, value) in changes {
                let (handle, plain) = versions[base % versions.len()].clone();
                let key = MapKey::Int(key);
                let plain = changed(&plain, &key, value);
                versions.push((table.change(handle, key, value), plain));
            }
            for (handle, plain) in versions.iter().chain(versions.iter().rev()) {
                prop_assert_eq!(&table.entries(*handle), plain);
                prop_assert_eq!(table.len(*handle), plain.len());
            }
        }
    }

    #[test]
    fn a_handle_that_is_none_is_an_empty_map() {
        let mut table = MapTable::default();
        for handle in [0, -1, 7, i32::MAX] {
            assert_eq!(table.get(handle, &MapKey::Int(1)), None);
            assert_eq!(table.entries(handle), []);
        }
        let made = table.change(99, MapKey::Int(1), Some(2));
        assert_eq!(table.get(made, &MapKey::Int(1)), Some(2));
    }
}
