//! Statistics of a workspace's files.

use std::collections::HashMap;

use crate::index::{Content, FileEntry, Index};
use crate::language;

/// Statistics of a workspace's files. Lines are counted only of files that were read: see [`Index::unread`].
#[derive(Clone, Debug, Default)]
pub struct Stats<'a> {
    /// The number of files.
    pub files: usize,
    /// How many folders have files beneath them.
    pub folders: usize,
    /// The size of all files together, in bytes.
    pub bytes: u64,
    /// The lines of all text files that were read.
    pub lines: u64,
    /// How many files git tracks.
    pub tracked: usize,
    /// How many files are binary.
    pub binary: usize,
    /// How many files likely hold a secret.
    pub sensitive: usize,
    /// How many files each extension has, the most frequent first; files without one are left out.
    pub extensions: Vec<(String, usize)>,
    /// The languages, the one with the most bytes first.
    pub languages: Vec<Language>,
    /// The largest files, the largest first; as many as were asked for.
    pub largest: Vec<FileEntry<'a>>,
    /// The files that were modified last, the latest first; as many as were asked for.
    pub recent: Vec<FileEntry<'a>>,
}

/// The totals of one language.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Language {
    /// The language's name, as people write it.
    pub name: &'static str,
    /// The number of files.
    pub files: usize,
    /// The lines of its files that were read.
    pub lines: u64,
    /// The size of its files together, in bytes.
    pub bytes: u64,
    /// Its share of the bytes of all languages, in percent.
    pub percentage: f64,
}

/// Computes the statistics, with the `top` largest and the `top` latest files.
pub fn stats(index: &Index, top: usize) -> Stats<'_> {
    let mut stats = Stats { files: index.len(), folders: folders(index), ..Stats::default() };
    let (mut extensions, mut languages) = (HashMap::<String, usize>::new(), HashMap::<_, Language>::new());
    for file in index.files() {
        let lines = match file.content() {
            Some(Content::Lines(lines)) => u64::from(lines),
            _ => 0,
        };
        stats.bytes += file.size();
        stats.lines += lines;
        stats.tracked += usize::from(file.is_tracked());
        stats.binary += usize::from(file.is_binary());
        stats.sensitive += usize::from(file.is_sensitive());
        match extensions.get_mut(file.extension()) {
            Some(count) => *count += 1,
            None => _ = extensions.insert(file.extension().to_owned(), 1),
        }
        if let Some(name) = language::from_file_name(file.name()).filter(|_| !file.is_binary()) {
            let language = languages.entry(name).or_insert_with(|| Language { name, ..Language::default() });
            language.files += 1;
            language.lines += lines;
            language.bytes += file.size();
        }
    }
    extensions.remove("");
    stats.extensions = extensions.into_iter().collect();
    stats.extensions.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let all: u64 = languages.values().map(|language| language.bytes).sum();
    stats.languages = languages.into_values().collect();
    for language in &mut stats.languages {
        language.percentage = language.bytes as f64 * 100.0 / all.max(1) as f64;
    }
    stats.languages.sort_unstable_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(b.name)));
    stats.largest = highest(index, top, |file| i128::from(file.size()));
    stats.recent = highest(index, top, |file| i128::from(file.modified_ms()));
    stats
}

fn highest(index: &Index, top: usize, key: impl Fn(&FileEntry<'_>) -> i128) -> Vec<FileEntry<'_>> {
    let mut all: Vec<_> = index.files().enumerate().map(|(place, file)| (-key(&file), place)).collect();
    if top < all.len() {
        all.select_nth_unstable(top);
        all.truncate(top);
    }
    all.sort_unstable();
    all.into_iter().map(|(_, place)| index.at(place)).collect()
}

/// Counts the folders. They are ranges of the sorted paths, so each begins where the path before is not in it.
fn folders(index: &Index) -> usize {
    let mut last = "";
    let mut count = 0;
    for file in index.files() {
        let folder = file.directory();
        if folder != last {
            let parts = folder.split('/').filter(|part| !part.is_empty());
            let shared = parts.clone().zip(last.split('/')).take_while(|(a, b)| a == b).count();
            count += parts.count() - shared;
            last = folder;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Facts;
    use crate::index::tests::from_paths;

    #[test]
    fn everything_is_counted_once() {
        let mut index =
            from_paths(&["a-b/x.rs", "a/b/c/d.rs", "a/b/e.rs", "a/z.rs", "b.png", "Makefile", ".env", "a/b.c/n"]);
        let read = Facts { size: 100, modified_ms: 9, content: Some(Content::Lines(7)), ..Facts::default() };
        index.apply(&[("a/f.py".to_owned(), Some(read))].into());
        let stats = stats(&index, 2);
        assert_eq!((stats.files, stats.folders, stats.tracked, stats.binary, stats.sensitive), (9, 5, 8, 1, 1));
        assert_eq!((stats.lines, stats.languages[0].name, stats.languages[0].lines), (7, "Python", 7));
        assert_eq!(stats.extensions[0], ("rs".to_owned(), 4));
        assert_eq!(stats.largest[0].path(), "a/f.py");
        assert_eq!((stats.recent[0].path(), stats.recent.len()), ("a/f.py", 2));
        assert!((stats.languages.iter().map(|language| language.percentage).sum::<f64>() - 100.0).abs() < 1e-9);
    }
}
