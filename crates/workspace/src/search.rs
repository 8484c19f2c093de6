//! Searches files by name: fuzzy, exact, by prefix or by extension.

mod session;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use tokio_util::sync::CancellationToken;

use crate::index::{FileEntry, Index};
use crate::parallel::in_pieces;

pub use session::SearchSession;

/// How many files one thread matches before it takes the next ones.
const PIECE: usize = 4096;

/// The bonus of a match in the file's name over one across its path; only in exact and prefix searches.
const IN_NAME: u32 = 40;

/// The bonus if the query is the whole file name.
const WHOLE_NAME: u32 = 400;

/// The bonus of each word that is a whole folder name, or a file name without its extension: `storage snapshot` means
/// `storage/src/snapshot.rs` rather than `storage_snapshots.rs`.
const WHOLE_PART: u32 = 8;

/// How a query is compared with paths. Without a capital letter in the query, case does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// All letters of each word, in order, anywhere in the path; other letters may lie between.
    #[default]
    Fuzzy,
    /// The query as it is, anywhere in the path.
    Exact,
    /// The query as it is, at the beginning of the name or of the path.
    Prefix,
    /// The extension, with or without its dot.
    Extension,
}

/// Which files a search or a listing considers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only these extensions, in lower case and without dots; all if empty.
    pub extensions: Vec<String>,
    /// Only files of at least so many bytes.
    pub min_size: Option<u64>,
    /// Only files of at most so many bytes.
    pub max_size: Option<u64>,
    /// Only files that git tracks.
    pub tracked_only: bool,
    /// Leaves out binary files.
    pub exclude_binaries: bool,
}

impl Filter {
    /// Sets the extensions from what a client wrote: in any case, with or without a dot.
    pub fn with_extensions(mut self, extensions: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let plain = |extension: &str| extension.trim().trim_start_matches('.').to_ascii_lowercase();
        self.extensions = extensions.into_iter().map(|extension| plain(extension.as_ref())).collect();
        self.extensions.retain(|extension| !extension.is_empty());
        self
    }

    /// Whether a file passes the filter.
    pub fn takes(&self, file: &FileEntry<'_>) -> bool {
        let has_extension = || {
            let own = file.extension();
            self.extensions.iter().any(|extension| own.eq_ignore_ascii_case(extension))
        };
        (self.extensions.is_empty() || has_extension())
            && self.min_size.is_none_or(|least| file.size() >= least)
            && self.max_size.is_none_or(|most| file.size() <= most)
            && (!self.tracked_only || file.is_tracked())
            && (!self.exclude_binaries || !file.is_binary())
    }
}

/// A search by file name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The query, as it was typed.
    pub text: String,
    /// How the text is compared with paths.
    pub mode: Mode,
    /// Which files are compared at all.
    pub filter: Filter,
}

/// A file that matches a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The file's position in the index that was searched.
    pub place: u32,
    /// How well the file matches; comparable only within one query.
    pub score: u32,
}

/// All files that match a query.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// In the order of the index.
    all: Vec<Hit>,
    /// The score of a file whose whole path is the query.
    best: u32,
}

impl Hits {
    /// The number of matching files, before any paging.
    pub fn total(&self) -> usize {
        self.all.len()
    }

    /// A page of the matches, the best first. Equal scores are ordered by the length of the path, then by position, so
    /// pages are stable.
    pub fn page(&self, index: &Index, offset: usize, limit: usize) -> Vec<Hit> {
        let end = offset.saturating_add(limit).min(self.all.len());
        if offset >= end {
            return Vec::new();
        }
        let key = |hit: &Hit| (u32::MAX - hit.score, index.at(hit.place as usize).path().len(), hit.place);
        let mut all: Vec<_> = self.all.iter().map(|hit| (key(hit), *hit)).collect();
        if end < all.len() {
            all.select_nth_unstable_by_key(end - 1, |(key, _)| *key);
            all.truncate(end);
        }
        all.sort_unstable_by_key(|(key, _)| *key);
        all.drain(..offset);
        all.into_iter().map(|(_, hit)| hit).collect()
    }

    /// The score of a hit as a part of the best possible one, from 0 to 1.
    pub fn relative(&self, hit: Hit) -> f64 {
        if self.best == 0 { 1.0 } else { (f64::from(hit.score) / f64::from(self.best)).min(1.0) }
    }
}

/// All files that match a query. When cancelled, it returns early with what was found until then.
pub fn search(index: &Index, query: &Query, cancel: &CancellationToken) -> Hits {
    search_among(index, query, None, cancel)
}

fn search_among(index: &Index, query: &Query, among: Option<&[Hit]>, cancel: &CancellationToken) -> Hits {
    let count = among.map_or(index.len(), <[Hit]>::len);
    let found = in_pieces(count, PIECE, |range| {
        let mut found = Vec::new();
        if cancel.is_cancelled() {
            return found;
        }
        let mut scorer = Scorer::new(query);
        for n in range {
            let place = among.map_or(n, |among| among[n].place as usize);
            let file = index.at(place);
            if !query.filter.takes(&file) {
                continue;
            }
            if let Some(score) = scorer.score(file.path(), file.name()) {
                found.push(Hit { place: place as u32, score });
            }
        }
        found
    });
    let best = Scorer::new(query).score(&query.text, &query.text).unwrap_or_default();
    Hits { all: found.concat(), best }
}

/// Scores paths against one query.
struct Scorer<'a> {
    query: &'a Query,
    text: &'a str,
    /// Whether the query has a capital letter.
    is_case_sensitive: bool,
    fuzzy: Pattern,
    matcher: Matcher,
    letters: Vec<char>,
    small: String,
}

impl<'a> Scorer<'a> {
    fn new(query: &'a Query) -> Self {
        let text = query.text.trim();
        Self {
            query,
            text,
            is_case_sensitive: text.chars().any(char::is_uppercase),
            fuzzy: Pattern::new(text, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy),
            matcher: Matcher::new(Config::DEFAULT.match_paths()),
            letters: Vec::new(),
            small: String::new(),
        }
    }

    fn score(&mut self, path: &str, name: &str) -> Option<u32> {
        let (score, in_name) = match self.query.mode {
            Mode::Fuzzy => (self.fuzzy_score(path)? + WHOLE_PART * self.whole_parts(path), false),
            Mode::Exact | Mode::Prefix => {
                let in_name = self.fits(name);
                (1, (in_name || self.fits(path)).then_some(in_name)?)
            }
            Mode::Extension => {
                let wanted = self.text.trim_start_matches('.');
                (1, crate::index::extension(name).eq_ignore_ascii_case(wanted).then_some(false)?)
            }
        };
        let text = self.text;
        let is_whole = self.query.mode != Mode::Extension && !text.is_empty() && self.cased(name) == text;
        Some(score + if in_name { IN_NAME } else { 0 } + if is_whole { WHOLE_NAME } else { 0 })
    }

    /// How many words of the query are a whole part of the path, with or without what follows the part's first dot.
    fn whole_parts(&self, path: &str) -> u32 {
        let is_same =
            |part: &str, word: &str| part == word || (!self.is_case_sensitive && part.eq_ignore_ascii_case(word));
        let is_part = |word: &&str| {
            path.split('/').any(|part| {
                let stem = part.trim_start_matches('.').split('.').next().unwrap_or_default();
                is_same(part, word) || is_same(stem, word)
            })
        };
        let words = self.text.split([' ', '/']).filter(|word| !word.is_empty());
        words.filter(is_part).count() as u32
    }

    fn fuzzy_score(&mut self, text: &str) -> Option<u32> {
        self.fuzzy.score(Utf32Str::new(text, &mut self.letters), &mut self.matcher)
    }

    fn fits(&mut self, text: &str) -> bool {
        let (wanted, mode) = (self.text, self.query.mode);
        let text = self.cased(text);
        if mode == Mode::Prefix { text.starts_with(wanted) } else { text.contains(wanted) }
    }

    /// The text as it is compared: in lower case unless the query has a capital letter.
    fn cased<'t>(&'t mut self, text: &'t str) -> &'t str {
        if self.is_case_sensitive {
            return text;
        }
        self.small.clear();
        self.small.extend(text.chars().flat_map(char::to_lowercase));
        &self.small
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::tests::from_paths;
    use crate::index::{Content, Facts};

    fn found(index: &Index, query: &Query) -> Vec<String> {
        let hits = search(index, query, &CancellationToken::new());
        let page = hits.page(index, 0, 100);
        assert_eq!(page.len(), hits.total());
        page.iter().map(|hit| index.at(hit.place as usize).path().to_owned()).collect()
    }

    fn query(mode: Mode, text: &str) -> Query {
        Query { text: text.into(), mode, ..Query::default() }
    }

    #[test]
    fn each_mode_finds_what_it_says_and_the_best_first() {
        let index = from_paths(&[
            "README.md",
            "docs/readme-old.txt",
            "src/kafka/sink.rs",
            "src/lib.rs",
            "src/sinks/kafka/config.rs",
            "src/sources/kafka.rs",
            "tests/Lib.rs",
        ]);
        let cases: [(Mode, &str, &[&str]); 12] = [
            (Mode::Fuzzy, "kafka sink", &["src/kafka/sink.rs", "src/sinks/kafka/config.rs"]),
            (Mode::Fuzzy, "srckafka", &["src/kafka/sink.rs", "src/sources/kafka.rs", "src/sinks/kafka/config.rs"]),
            (Mode::Fuzzy, "kafka.rs", &["src/sources/kafka.rs", "src/kafka/sink.rs", "src/sinks/kafka/config.rs"]),
            (Mode::Fuzzy, "conf kafka", &["src/sinks/kafka/config.rs"]),
            (Mode::Fuzzy, "lib", &["src/lib.rs", "tests/Lib.rs"]),
            (Mode::Fuzzy, "Lib", &["tests/Lib.rs"]),
            (Mode::Fuzzy, "nothing", &[]),
            (Mode::Exact, "readme", &["README.md", "docs/readme-old.txt"]),
            (Mode::Exact, "s/kafka", &["src/sinks/kafka/config.rs", "src/sources/kafka.rs"]),
            (Mode::Prefix, "read", &["README.md", "docs/readme-old.txt"]),
            (Mode::Prefix, "src/k", &["src/kafka/sink.rs"]),
            (Mode::Extension, ".MD", &["README.md"]),
        ];
        for (mode, text, expected) in cases {
            let found = found(&index, &query(mode, text));
            if mode == Mode::Fuzzy && expected.len() > 1 {
                assert_eq!(found[0], expected[0], "{text}: {found:?}");
            } else {
                let sorted = |mut all: Vec<String>| {
                    all.sort_unstable();
                    all
                };
                let expected = expected.iter().map(|path| (*path).to_owned()).collect();
                assert_eq!(sorted(found), sorted(expected), "{mode:?} {text}");
            }
        }
    }

    #[test]
    fn every_filter_works_in_every_mode() {
        let mut index = from_paths(&["a/one.rs", "a/two.RS", "a/three.md", "a/four.png"]);
        let big = Facts { size: 5000, ..Facts::default() };
        let odd = Facts { size: 9, content: Some(Content::Binary), tracked: true, ..Facts::default() };
        index.apply(&[("a/five.rs".to_owned(), Some(big)), ("a/six.rs".to_owned(), Some(odd))].into());
        let none = Filter::default;
        let cases = [
            (none(), 6),
            (none().with_extensions([".Rs"]), 4),
            (none().with_extensions(["rs", "md"]), 5),
            (Filter { min_size: Some(1000), ..none() }, 1),
            (Filter { max_size: Some(1000), ..none() }, 5),
            (Filter { tracked_only: true, ..none() }, 5),
            (Filter { exclude_binaries: true, ..none() }, 4),
            (Filter { exclude_binaries: true, tracked_only: true, ..none() }.with_extensions(["rs"]), 2),
        ];
        for (filter, expected) in cases {
            for mode in [Mode::Fuzzy, Mode::Exact, Mode::Prefix] {
                let query = Query { text: "a/".into(), mode, filter: filter.clone() };
                assert_eq!(found(&index, &query).len(), expected, "{query:?}");
            }
        }
        let query = Query { filter: Filter { tracked_only: true, ..none() }, ..query(Mode::Extension, "rs") };
        assert_eq!(found(&index, &query).len(), 3);
    }

    #[test]
    fn pages_follow_each_other_without_gap_or_repetition() {
        let paths: Vec<_> = (0..1000).map(|n| format!("folder{}/file{n}.rs", n % 7)).collect();
        let index = from_paths(&paths.iter().map(String::as_str).collect::<Vec<_>>());
        let hits = search(&index, &query(Mode::Fuzzy, "file"), &CancellationToken::new());
        let whole = hits.page(&index, 0, 1000);
        let paged: Vec<_> = (0..20).flat_map(|page| hits.page(&index, page * 50, 50)).collect();
        assert_eq!(whole, paged);
        assert!(hits.page(&index, 1000, 10).is_empty());
        assert!(hits.page(&index, usize::MAX, usize::MAX).is_empty());
    }

    #[test]
    fn what_fits_wholly_is_one_and_nothing_is_more() {
        let index = from_paths(&["lib.rs", "src/lib.rs", "long/im-bright.s"]);
        let hits = search(&index, &query(Mode::Fuzzy, "lib.rs"), &CancellationToken::new());
        let relative: Vec<_> = hits.page(&index, 0, 9).into_iter().map(|hit| hits.relative(hit)).collect();
        assert!(relative[0] == 1.0 && relative.is_sorted_by(|a, b| a >= b) && *relative.last().unwrap() > 0.0);
    }
}
