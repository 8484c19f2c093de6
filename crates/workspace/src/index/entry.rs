//! One file of the index.

use std::ops::Range;

use crate::binary;
use crate::sensitive::is_sensitive;

/// What the index knows of a file besides its path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its size in bytes.
    pub size: u64,
    /// The modification time, in milliseconds since 1970.
    pub modified_ms: i64,
    /// Whether git's index has the file.
    pub tracked: bool,
    /// Whether it is a symbolic link; links are never followed.
    pub link: bool,
    /// What its content is; absent until the file was read.
    pub content: Option<Content>,
}

impl Facts {
    /// Whether size, time or kind differ, so that the content must be read again.
    pub(crate) fn differs(&self, other: &Self) -> bool {
        (self.size, self.modified_ms, self.link) != (other.size, other.modified_ms, other.link)
    }
}

/// The content of a file, as far as reading it has told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// It is text, with this many lines.
    Lines(u32),
    /// It is binary, or too big to be read for its lines.
    Binary,
}

const TRACKED: u8 = 1;
const LINK: u8 = 1 << 1;
const READ: u8 = 1 << 2;
const BINARY: u8 = 1 << 3;
const SENSITIVE: u8 = 1 << 4;

/// A file as the index stores it, in 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    size: u64,
    modified_ms: i64,
    start: u32,
    lines: u32,
    length: u16,
    /// Where its name begins in the path.
    name: u16,
    flags: u8,
}

impl Record {
    /// A record; `None` if the path is too long to be stored.
    pub(super) fn new(start: u32, path: &str, facts: Facts) -> Option<Self> {
        let length = u16::try_from(path.len()).ok()?;
        start.checked_add(u32::from(length))?;
        let name = u16::try_from(path.rfind('/').map_or(0, |slash| slash + 1)).ok()?;
        let mut record = Self { size: 0, modified_ms: 0, start, lines: 0, length, name, flags: 0 };
        let name = &path[usize::from(name)..];
        if is_sensitive(path) {
            record.flags |= SENSITIVE;
        }
        record.set(facts, name);
        Some(record)
    }

    /// Replaces the facts. Whether a file is binary is guessed by its name until it was read.
    pub(super) fn set(&mut self, facts: Facts, name: &str) {
        self.size = facts.size;
        self.modified_ms = facts.modified_ms;
        self.lines = match facts.content {
            Some(Content::Lines(lines)) => lines,
            _ => 0,
        };
        let is_binary = match facts.content {
            Some(content) => content == Content::Binary,
            None => !facts.link && binary::by_name(name),
        };
        self.flags = (self.flags & SENSITIVE)
            | if facts.tracked { TRACKED } else { 0 }
            | if facts.link { LINK } else { 0 }
            | if facts.content.is_some() { READ } else { 0 }
            | if is_binary { BINARY } else { 0 };
    }

    pub(super) fn path(&self) -> Range<usize> {
        let start = self.start as usize;
        start..start + usize::from(self.length)
    }

    pub(super) fn at(mut self, start: u32) -> Self {
        self.start = start;
        self
    }

    pub(super) fn facts(&self) -> Facts {
        let content = match self.flags & (READ | BINARY) {
            READ => Some(Content::Lines(self.lines)),
            flags if flags & READ != 0 => Some(Content::Binary),
            _ => None,
        };
        Facts {
            size: self.size,
            modified_ms: self.modified_ms,
            tracked: self.flags & TRACKED != 0,
            link: self.flags & LINK != 0,
            content,
        }
    }
}

/// A file of the index.
#[derive(Clone, Copy, Debug)]
pub struct FileEntry<'a> {
    path: &'a str,
    record: &'a Record,
}

impl<'a> FileEntry<'a> {
    pub(super) fn new(path: &'a str, record: &'a Record) -> Self {
        Self { path, record }
    }

    /// Its path from the workspace's folder.
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// Its last name, without the folders above it.
    pub fn name(&self) -> &'a str {
        &self.path[usize::from(self.record.name)..]
    }

    /// The folder it is in; empty for the workspace's own.
    pub fn directory(&self) -> &'a str {
        &self.path[..usize::from(self.record.name).saturating_sub(1)]
    }

    /// The extension of its name without the dot; empty if there is none. A dot that begins the name does not count.
    pub fn extension(&self) -> &'a str {
        extension(self.name())
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        self.record.size
    }

    /// The modification time, in milliseconds since 1970.
    pub fn modified_ms(&self) -> i64 {
        self.record.modified_ms
    }

    /// Whether git's index has the file.
    pub fn is_tracked(&self) -> bool {
        self.record.flags & TRACKED != 0
    }

    /// Whether it is a symbolic link.
    pub fn is_link(&self) -> bool {
        self.record.flags & LINK != 0
    }

    /// Whether it is binary; guessed by its name until it was read.
    pub fn is_binary(&self) -> bool {
        self.record.flags & BINARY != 0
    }

    /// Whether it likely holds a secret, by its path.
    pub fn is_sensitive(&self) -> bool {
        self.record.flags & SENSITIVE != 0
    }

    /// Whether its name, or that of a folder above it, begins with a dot.
    pub fn is_hidden(&self) -> bool {
        self.path.starts_with('.') || self.path.contains("/.")
    }

    /// What its content is; `None` until the file was read.
    pub fn content(&self) -> Option<Content> {
        self.record.facts().content
    }

    /// All facts of the file.
    pub fn facts(&self) -> Facts {
        self.record.facts()
    }
}

/// The extension of a name without the dot; empty if there is none. A dot that begins the name does not count.
pub(crate) fn extension(name: &str) -> &str {
    match name.rfind('.') {
        None | Some(0) => "",
        Some(dot) => &name[dot + 1..],
    }
}
