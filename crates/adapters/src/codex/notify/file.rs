//! A file that grows, read from where it ended when the turn began.

use std::io::{self, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::pending::Pending;

/// The most that is read at once.
const CHUNK: u64 = 1 << 20;

/// A file that is looked at again and again.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    poll: Duration,
    /// Which file it was, and how much of it has been read.
    inode: Option<u64>,
    place: u64,
    pending: Pending,
}

impl Tail {
    /// Begins at the end of the file, so that what was said before is not heard; one that is missing may come.
    pub(super) async fn open(path: PathBuf, poll: Duration) -> io::Result<Self> {
        let (inode, place) = match tokio::fs::metadata(&path).await {
            Ok(metadata) => (Some(metadata.ino()), metadata.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (None, 0),
            Err(error) => return Err(error),
        };
        Ok(Self { path, poll, inode, place, pending: Pending::default() })
    }

    /// The next line, however long that takes. May be dropped and called again.
    pub(super) async fn line(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some(line) = self.pending.next() {
                return Ok(line);
            }
            if !self.read().await? {
                tokio::time::sleep(self.poll).await;
            }
        }
    }

    /// Reads what was added; false if nothing was.
    async fn read(&mut self) -> io::Result<bool> {
        let mut file = match File::open(&self.path).await {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata().await?;
        // Another file of that name, or the same one cut: it is read from its beginning.
        let is_new = self.inode != Some(metadata.ino()) || metadata.len() < self.place;
        let place = if is_new { 0 } else { self.place };
        let mut added = Vec::new();
        file.seek(SeekFrom::Start(place)).await?;
        file.take(CHUNK).read_to_end(&mut added).await?;
        if is_new {
            self.pending.forget_rest();
        }
        (self.inode, self.place) = (Some(metadata.ino()), place + added.len() as u64);
        self.pending.push(&added);
        Ok(!added.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write;
    use tempfile::TempDir;

    struct Place(TempDir);

    impl Place {
        fn path(&self) -> PathBuf {
            self.0.path().join("notify.jsonl")
        }

        fn append(&self, text: &str) {
            let mut file = OpenOptions::new().create(true).append(true).open(self.path()).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        async fn tail(&self) -> Tail {
            Tail::open(self.path(), Duration::from_millis(1)).await.unwrap()
        }
    }

    async fn line(tail: &mut Tail) -> String {
        let line = tokio::time::timeout(Duration::from_secs(30), tail.line()).await;
        String::from_utf8(line.expect("a line comes").unwrap()).unwrap()
    }

    #[tokio::test]
    async fn what_was_there_before_is_not_heard() {
        let place = Place(TempDir::new().unwrap());
        place.append("old\n");
        let mut tail = place.tail().await;
        place.append("new\n");
        assert_eq!(line(&mut tail).await, "new");
    }

    #[tokio::test]
    async fn a_file_that_is_missing_may_come() {
        let place = Place(TempDir::new().unwrap());
        let mut tail = place.tail().await;
        assert!(!tail.read().await.unwrap());
        place.append("first\nsecond\n");
        assert_eq!((line(&mut tail).await, line(&mut tail).await), ("first".into(), "second".into()));
    }

    #[tokio::test]
    async fn half_a_line_waits_for_its_other_half() {
        let place = Place(TempDir::new().unwrap());
        let mut tail = place.tail().await;
        place.append("ha");
        assert!(tail.read().await.unwrap());
        assert_eq!(tail.pending.next(), None);
        place.append("lf\n");
        assert_eq!(line(&mut tail).await, "half");
    }

    #[tokio::test]
    async fn a_file_that_was_cut_is_read_from_its_beginning() {
        let place = Place(TempDir::new().unwrap());
        place.append("a long line that is old\n");
        let mut tail = place.tail().await;
        place.append("half a line");
        assert!(tail.read().await.unwrap());
        std::fs::write(place.path(), "new\n").unwrap();
        assert_eq!(line(&mut tail).await, "new");
    }

    #[tokio::test]
    async fn another_file_of_the_same_name_is_read_from_its_beginning() {
        let place = Place(TempDir::new().unwrap());
        place.append("old\n");
        let mut tail = place.tail().await;
        let other = place.0.path().join("other");
        std::fs::write(&other, "a line of another file\n").unwrap();
        std::fs::rename(other, place.path()).unwrap();
        assert_eq!(line(&mut tail).await, "a line of another file");
    }
}
