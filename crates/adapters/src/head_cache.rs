//! Caches what was read from the beginning of files, so that listing many files costs one `stat` for each.

use std::collections::hash_map::DefaultHasher;
use std::fs::Metadata;
use std::hash::{Hash, Hasher};
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use lru::LruCache;
use parking_lot::Mutex;
use roost_model::time::Timestamp;

/// How many files are cached; the least recently used is evicted first.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(16 * 1024).unwrap();

/// Identifies a version of a file: it changes when the file is written to or replaced.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    inode: u64,
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    /// Reads the file's current stamp. Blocks on the disk.
    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        Ok(Self::from(&file.metadata()?))
    }

    /// A hash of the stamp, for callers that only compare.
    pub(crate) fn number(self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// The file's modification time.
    pub(crate) fn time(self) -> Timestamp {
        Timestamp::from_millis(self.seconds.saturating_mul(1000).saturating_add(self.nanoseconds / 1_000_000))
    }
}

impl From<&Metadata> for Stamp {
    fn from(of: &Metadata) -> Self {
        Self { inode: of.ino(), size: of.size(), seconds: of.mtime(), nanoseconds: of.mtime_nsec() }
    }
}

/// A least-recently-used cache of parsed file heads, keyed by path and valid while the file's [`Stamp`] is unchanged.
pub(crate) struct HeadCache<T>(Mutex<LruCache<PathBuf, (Stamp, T)>>);

impl<T> Default for HeadCache<T> {
    fn default() -> Self {
        // `LruCache::new` would allocate for the full capacity; most homes have few files.
        let mut cache = LruCache::unbounded();
        cache.resize(CAPACITY);
        Self(Mutex::new(cache))
    }
}

impl<T: Clone> HeadCache<T> {
    /// The file's head and its modification time. `read` is called only if the file is new or has changed.
    pub(crate) fn get_or_read(
        &self,
        file: &Path,
        read: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<(T, Timestamp)> {
        let stamp = Stamp::read(file)?;
        let known = self.0.lock().get(file).filter(|(then, _)| *then == stamp).map(|(_, head)| head.clone());
        if let Some(head) = known {
            return Ok((head, stamp.time()));
        }
        let head = read(file)?;
        self.0.lock().put(file.to_owned(), (stamp, head.clone()));
        Ok((head, stamp.time()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_again_only_when_it_has_changed() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("f");
        let heads = HeadCache::default();
        let look = |fresh: &str| heads.get_or_read(&file, |_| Ok(fresh.to_owned())).unwrap().0;
        std::fs::write(&file, "a").unwrap();
        assert_eq!([look("first"), look("second")], ["first", "first"]);
        std::fs::write(&file, "ab").unwrap();
        assert_eq!(look("third"), "third");
        std::fs::write(folder.path().join("g"), "ab").unwrap();
        std::fs::rename(folder.path().join("g"), &file).unwrap();
        assert_eq!(look("fourth"), "fourth", "another file of the same size took its place");
        std::fs::remove_file(&file).unwrap();
        assert!(heads.get_or_read(&file, |_| Ok(String::new())).is_err());
    }
}
