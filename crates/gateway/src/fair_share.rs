//! Which entry of a bounded table makes room for a new one, so that no principal crowds out the others.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::principal::Principal;

/// How many entries a table holds.
pub(crate) struct FairShare {
    /// Of all principals together.
    pub(crate) of_all: usize,
    /// Of one principal.
    pub(crate) of_one: usize,
}

/// An entry that is in the table.
pub(crate) struct Occupant<'a, K, A> {
    /// Names it in its table.
    pub(crate) key: K,
    pub(crate) owner: &'a Principal,
    /// Since when it is there, or was last used; `None` if it cannot go.
    pub(crate) since: Option<A>,
}

/// Whether a table takes a new entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admission<K> {
    /// As it is.
    Free,
    /// When this one has gone.
    Evict(K),
    /// Not now: those that would have to go cannot.
    Full,
}

impl FairShare {
    /// Finds room for an entry of `newcomer`. Who has its share already gives its own oldest entry; in a full table it is
    /// the oldest of whoever has most.
    pub(crate) fn admit<'a, K, A: Ord>(
        &self,
        newcomer: &Principal,
        occupants: impl Iterator<Item = Occupant<'a, K, A>>,
    ) -> Admission<K> {
        let occupants: Vec<_> = occupants.collect();
        let mut counts = HashMap::<&Principal, usize>::new();
        occupants.iter().for_each(|occupant| *counts.entry(occupant.owner).or_default() += 1);
        let has_its_share = counts.get(newcomer).is_some_and(|count| *count >= self.of_one);
        if !has_its_share && occupants.len() < self.of_all {
            return Admission::Free;
        }
        let may_go = occupants.into_iter().filter(|occupant| !has_its_share || occupant.owner == newcomer);
        let going = may_go.filter_map(|Occupant { key, owner, since }| Some((Reverse(counts[owner]), since?, key)));
        going.min_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1))).map_or(Admission::Full, |(.., key)| Admission::Evict(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_its_share_gives_way_to_itself_and_who_has_most_to_the_others() {
        let named = |name: char| Principal::Session(name.to_string().into());
        let table = FairShare { of_all: 5, of_one: 3 };
        // Each entry is its owner; a capital cannot go. The newest is the last.
        let room = |newcomer: char, entries: &str| {
            let owners: Vec<_> = entries.chars().map(|owner| named(owner.to_ascii_lowercase())).collect();
            let occupants = entries.chars().zip(&owners).enumerate();
            let occupants = occupants.map(|(key, (entry, owner))| {
                let since = entry.is_lowercase().then_some(key);
                Occupant { key, owner, since }
            });
            table.admit(&named(newcomer), occupants)
        };
        for (newcomer, entries, expected) in [
            ('a', "", Admission::Free),
            ('a', "baab", Admission::Free),
            ('a', "baaa", Admission::Evict(1)),
            ('a', "bAaa", Admission::Evict(2)),
            ('a', "bAAA", Admission::Full),
            ('c', "baaab", Admission::Evict(1)),
            ('c', "bAAAb", Admission::Evict(0)),
            ('b', "baaab", Admission::Evict(1)),
            ('f', "abcde", Admission::Evict(0)),
            ('f', "ABCDE", Admission::Full),
        ] {
            assert_eq!(room(newcomer, entries), expected, "{newcomer} comes to {entries:?}");
        }
    }
}
