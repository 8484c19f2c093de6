//! An incremental search, for a query that is being typed.

use std::sync::{Arc, Weak};

use tokio_util::sync::CancellationToken;

use super::{Hits, Query, search, search_among};
use crate::index::Index;

/// An incremental search: a longer query is searched only among the matches of the shorter one.
#[derive(Debug, Default)]
pub struct SearchSession {
    last: Option<LastSearch>,
}

#[derive(Debug)]
struct LastSearch {
    /// The index that was searched. Weak, so that it can change in place while nobody searches.
    index: Weak<Index>,
    query: Query,
    hits: Hits,
}

impl SearchSession {
    /// The files that match the query; `None` if cancelled, which leaves the session as it was.
    pub fn update(&mut self, index: &Arc<Index>, query: Query, cancel: &CancellationToken) -> Option<&Hits> {
        let hits = match self.last.as_ref().filter(|last| last.narrows_to(index, &query)) {
            Some(last) => search_among(index, &query, Some(&last.hits.all), cancel),
            None => search(index, &query, cancel),
        };
        if cancel.is_cancelled() {
            return None;
        }
        let last = self.last.insert(LastSearch { index: Arc::downgrade(index), query, hits });
        Some(&last.hits)
    }
}

impl LastSearch {
    fn narrows_to(&self, index: &Arc<Index>, query: &Query) -> bool {
        let (old, new) = (&self.query.text, &query.text);
        std::ptr::eq(self.index.as_ptr(), Arc::as_ptr(index))
            && (self.query.mode, &self.query.filter) == (query.mode, &query.filter)
            && query.mode != super::Mode::Extension
            && new.starts_with(old.as_str())
            // A blank behind a backslash joins two words, which may then fit more.
            && !old.ends_with('\\')
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Filter, Mode};
    use super::*;
    use crate::index::tests::from_paths;

    proptest! {
        #[test]
        fn a_query_that_grows_finds_what_it_finds_at_once(
            paths in prop::collection::btree_set("[abA/]{1,8}", 1..60),
            typed in "[abA/ \\\\]{1,6}",
            mode in prop::sample::select(vec![Mode::Fuzzy, Mode::Exact, Mode::Prefix]),
        ) {
            let index = Arc::new(from_paths(&paths.iter().map(String::as_str).collect::<Vec<_>>()));
            let cancel = CancellationToken::new();
            let mut session = SearchSession::default();
            for end in 1..=typed.len() {
                let query = Query { text: typed[..end].into(), mode, filter: Filter::default() };
                let at_once = search(&index, &query, &cancel).all;
                let grown = session.update(&index, query, &cancel).unwrap();
                prop_assert_eq!(&grown.all, &at_once, "{:?}", &typed[..end]);
            }
        }
    }

    #[test]
    fn a_changed_index_is_searched_whole() {
        let cancel = CancellationToken::new();
        let mut session = SearchSession::default();
        let query = |text: &str| Query { text: text.into(), ..Query::default() };
        let total = |session: &mut SearchSession, paths: &[&str], text| {
            session.update(&Arc::new(from_paths(paths)), query(text), &cancel).unwrap().total()
        };
        assert_eq!(total(&mut session, &["ab"], "a"), 1);
        assert_eq!(total(&mut session, &["ab", "abc"], "ab"), 2);
    }
}
