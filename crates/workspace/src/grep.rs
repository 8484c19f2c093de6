//! Searches files by content, with ripgrep's libraries.
//!
//! The files come from the index, so nothing is walked. Each is opened beneath the root, so no link is followed out of
//! it. Results come in the order of the paths, whichever thread was faster, so a limit cuts at the same place every
//! time.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use tokio_util::sync::CancellationToken;

use crate::index::{Content, Index};
use crate::parallel::threads;
use crate::search::Filter;
use crate::{Error, RelPath, Root};

/// How many files one thread searches before it takes the next ones.
const PIECE: usize = 32;

/// The most bytes of a line that are shown, and how many of them come before the first match.
const LINE: usize = 1000;
const BEFORE: usize = 200;

/// The most bytes of lines that are shown of one file.
const FILE: usize = 128 << 10;

/// The longest line that is searched, in bytes; a file with a longer one is left out.
const HEAP: usize = 32 << 20;

/// A search by content: the pattern, where it is searched, and how much is returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepQuery {
    /// A regular expression, or plain text.
    pub pattern: String,
    /// Whether the pattern is a regular expression; else it is plain text.
    pub is_regex: bool,
    /// Whether case matters. Absent: it does if the pattern has a capital letter.
    pub case_sensitive: Option<bool>,
    /// Matches must begin and end at word boundaries.
    pub whole_words: bool,
    /// Only files beneath this folder are searched; the root searches all.
    pub folder: RelPath,
    /// Which files are searched. A file with a NUL is left out, whatever the filter says.
    pub filter: Filter,
    /// How many lines of context are shown before and after each match.
    pub context: (usize, usize),
    /// The most matching lines: in all, and in one file.
    pub limit: (usize, usize),
}

impl Default for GrepQuery {
    fn default() -> Self {
        Self {
            pattern: String::new(),
            is_regex: false,
            case_sensitive: None,
            whole_words: false,
            folder: RelPath::root(),
            filter: Filter::default(),
            context: (0, 0),
            limit: (1000, 100),
        }
    }
}

impl GrepQuery {
    /// Checks that the pattern can be compiled.
    pub fn check(&self) -> Result<(), Error> {
        matcher(self).map(|_| ())
    }
}

/// A matching line, or a line of context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLine {
    /// The line's number in its file; the first is 1.
    pub number: u64,
    /// The line without its end; of a long one, the part around its first match.
    pub text: String,
    /// The byte ranges of the matches in `text`; empty for a line of context.
    pub matches: Vec<Range<usize>>,
    /// Whether the line is longer than `text`.
    pub is_cut: bool,
}

/// The matches in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMatches {
    /// Its path from the workspace's folder, with `/` between names.
    pub path: String,
    /// The matching lines and their context, in order.
    pub lines: Vec<FileLine>,
    /// How many of `lines` match.
    pub matched: usize,
    /// Whether the file has more matching lines.
    pub is_cut: bool,
}

impl FileMatches {
    /// Keeps only so many matching lines, with their context.
    fn cut(&mut self, most: usize) {
        if self.matched <= most {
            return;
        }
        let mut left = most;
        let keep = self.lines.iter().take_while(|line| {
            let is_match = !line.matches.is_empty();
            let keeps = left > 0 || !is_match;
            left = left.saturating_sub(usize::from(is_match));
            keeps
        });
        let keep = keep.count();
        self.lines.truncate(keep);
        (self.matched, self.is_cut) = (most, true);
    }
}

/// The totals of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrepSummary {
    /// How many files were searched.
    pub searched: usize,
    /// How many files have a match, up to the limit.
    pub files: usize,
    /// How many lines have a match, up to the limit.
    pub matches: usize,
    /// Whether a limit was reached, that of all files or that of one.
    pub is_limited: bool,
}

/// Searches, and calls `found` for each file with a match, in the order of the paths. Ends when `found` returns false,
/// at the limit, or when cancelled. Waits for the disk, and for `found`.
pub fn grep(
    root: &Root,
    index: &Index,
    query: &GrepQuery,
    cancel: &CancellationToken,
    mut found: impl FnMut(FileMatches) -> bool,
) -> Result<GrepSummary, Error> {
    let matcher = matcher(query)?;
    let places = index.beneath(query.folder.as_str());
    let pieces = places.len().div_ceil(PIECE);
    let (next, searched, enough) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let mut summary = GrepSummary::default();
    thread::scope(|scope| {
        let (results, arrived) = mpsc::sync_channel(threads() * 4);
        for _ in 0..threads().min(pieces) {
            let (results, places, matcher, next, searched, enough) =
                (results.clone(), &places, &matcher, &next, &searched, &enough);
            scope.spawn(move || {
                let mut searcher = searcher(query);
                while !enough.load(Ordering::Relaxed) && !cancel.is_cancelled() {
                    let piece = next.fetch_add(1, Ordering::Relaxed);
                    if piece >= pieces {
                        return;
                    }
                    let range = places.start + piece * PIECE..places.end.min(places.start + (piece + 1) * PIECE);
                    let mut all = Vec::new();
                    for file in index.range(range).filter(|file| !file.is_link() && query.filter.takes(file)) {
                        if cancel.is_cancelled() {
                            return;
                        }
                        if file.content() == Some(Content::Binary) || file.size() == 0 {
                            continue;
                        }
                        searched.fetch_add(1, Ordering::Relaxed);
                        all.extend(in_file(root, file.path(), matcher, &mut searcher, query));
                    }
                    if results.send((piece, all)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(results);
        // Pieces are begun in order, so those that wait here for an earlier one are few once there is enough.
        let (mut waiting, mut emitted, mut held) = (BTreeMap::new(), 0, 0);
        for (piece, all) in arrived {
            held += all.iter().map(|file: &FileMatches| file.matched).sum::<usize>();
            if held > query.limit.0 {
                enough.store(true, Ordering::Relaxed);
                summary.is_limited = true;
            }
            waiting.insert(piece, all);
            while let Some(all) = waiting.remove(&emitted) {
                emitted += 1;
                for mut file in all {
                    let left = query.limit.0 - summary.matches;
                    if left == 0 {
                        continue;
                    }
                    file.cut(left);
                    summary.is_limited |= file.is_cut;
                    summary.files += 1;
                    summary.matches += file.matched;
                    if !found(file) {
                        enough.store(true, Ordering::Relaxed);
                        return;
                    }
                }
            }
        }
    });
    summary.searched = searched.into_inner();
    Ok(summary)
}

fn matcher(query: &GrepQuery) -> Result<RegexMatcher, Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder.line_terminator(Some(b'\n')).word(query.whole_words).fixed_strings(!query.is_regex);
    match query.case_sensitive {
        Some(is_sensitive) => builder.case_insensitive(!is_sensitive),
        None => builder.case_smart(true),
    };
    builder.build(&query.pattern).map_err(|error| Error::BadPattern { message: error.to_string() })
}

fn searcher(query: &GrepQuery) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .before_context(query.context.0)
        .after_context(query.context.1)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(HEAP))
        .build()
}

/// The matches in one file; `None` if it has none or cannot be read.
fn in_file(
    root: &Root,
    path: &str,
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    query: &GrepQuery,
) -> Option<FileMatches> {
    let (file, _) = root.open_file(&RelPath::parse(path).ok()?).ok()?;
    let mut collector = LineCollector {
        matcher,
        most: query.limit.1,
        lines: Vec::new(),
        matched: 0,
        bytes: 0,
        is_cut: false,
        is_binary: false,
    };
    searcher.search_file(matcher, &file.into_std(), &mut collector).ok()?;
    let LineCollector { lines, matched, is_cut, is_binary, .. } = collector;
    (matched > 0 && !is_binary).then(|| FileMatches { path: path.to_owned(), lines, matched, is_cut })
}

/// Collects the lines of a file.
struct LineCollector<'a> {
    matcher: &'a RegexMatcher,
    most: usize,
    lines: Vec<FileLine>,
    matched: usize,
    bytes: usize,
    is_cut: bool,
    is_binary: bool,
}

impl LineCollector<'_> {
    fn push(&mut self, number: Option<u64>, bytes: &[u8], is_match: bool) {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches(['\n', '\r']);
        let mut matches = Vec::new();
        if is_match {
            // It was understood once, so it is again.
            let _ = self.matcher.find_iter(text.as_bytes(), |found| {
                matches.push(found.start()..found.end());
                matches.len() < LINE
            });
        }
        let is_cut = text.len() > LINE;
        let (mut start, mut end) = (0, text.len());
        if is_cut {
            start = text.floor_char_boundary(matches.first().map_or(0, |first| first.start.saturating_sub(BEFORE)));
            end = text.floor_char_boundary(end.min(start + LINE));
        }
        matches.retain(|range| range.start < end);
        for range in &mut matches {
            *range = range.start - start..range.end.min(end) - start;
        }
        self.bytes += end - start;
        self.lines.push(FileLine {
            number: number.unwrap_or_default(),
            text: text[start..end].to_owned(),
            matches,
            is_cut,
        });
    }
}

impl Sink for LineCollector<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        if self.matched >= self.most || self.bytes > FILE {
            self.is_cut = true;
            return Ok(false);
        }
        self.matched += 1;
        self.push(found.line_number(), found.bytes(), true);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, Self::Error> {
        self.push(around.line_number(), around.bytes(), false);
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, Self::Error> {
        self.is_binary = true;
        Ok(false)
    }
}
