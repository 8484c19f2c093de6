//! Brings the facts of indexed files up to date: their sizes, times and line counts.

use std::collections::BTreeMap;
use std::io::Read;

use tokio_util::sync::CancellationToken;

use super::scan::stat_file;
use super::{Content, Facts, Index};
use crate::parallel::in_pieces;
use crate::{RelPath, Root, binary};

/// How many files one thread handles before it takes the next ones.
const PIECE: usize = 256;

/// Files larger than this, in bytes, are not read for their lines and count as binary.
const READ_AT_MOST: u64 = 16 << 20;

impl Index {
    /// The tracked files whose size or time differs from what git remembers. Waits for the disk.
    pub fn outdated(&self, root: &Root) -> BTreeMap<String, Option<Facts>> {
        let changed = in_pieces(self.len(), PIECE, |range| {
            let changed = self.range(range).filter(|file| file.is_tracked()).filter_map(|file| {
                let now = stat_file(root, file.path()).map(|now| Facts { tracked: true, ..now });
                let is_same = now.is_some_and(|now| !now.differs(&file.facts()));
                (!is_same).then(|| (file.path().to_owned(), now))
            });
            changed.collect::<Vec<_>>()
        });
        changed.into_iter().flatten().collect()
    }

    /// Reads the files that were not read yet. Returns the content of each, with the facts that it belongs to. Waits
    /// for the disk; returns early when cancelled.
    pub fn unread(&self, root: &Root, cancel: &CancellationToken) -> BTreeMap<String, Option<Facts>> {
        let read = in_pieces(self.len(), PIECE, |range| {
            let mut buffer = vec![0; 64 << 10];
            let mut read = Vec::new();
            for file in self.range(range).filter(|file| file.content().is_none() && !file.is_link()) {
                if cancel.is_cancelled() {
                    break;
                }
                // What is gone by now is taken out when the watcher tells of it.
                let Some(content) = content(root, file.path(), file.size(), &mut buffer) else { continue };
                read.push((file.path().to_owned(), Some(Facts { content: Some(content), ..file.facts() })));
            }
            read
        });
        read.into_iter().flatten().collect()
    }
}

fn content(root: &Root, path: &str, size: u64, buffer: &mut [u8]) -> Option<Content> {
    if size == 0 {
        return Some(Content::Lines(0));
    }
    if size > READ_AT_MOST {
        return Some(Content::Binary);
    }
    let (mut file, _) = root.open_file(&RelPath::parse(path).ok()?).ok()?;
    let (mut lines, mut last, mut is_first) = (0_usize, b'\n', true);
    loop {
        let read = file.read(buffer).ok()?;
        let piece = &buffer[..read];
        if is_first && binary::by_content(piece) {
            return Some(Content::Binary);
        }
        is_first = false;
        let Some(&end) = piece.last() else { break };
        last = end;
        lines += memchr::memchr_iter(b'\n', piece).count();
    }
    // A last line without an end is a line too.
    lines += usize::from(last != b'\n');
    Some(Content::Lines(u32::try_from(lines).unwrap_or(u32::MAX)))
}
