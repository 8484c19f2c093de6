//! A growing file as a notify source, read from where it ended when the turn began.

use std::io::{self, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::line_buffer::LineBuffer;

/// The most bytes that are read at once.
const CHUNK: u64 = 1 << 20;

/// A file that is polled for new lines.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    poll: Duration,
    /// The file that was read last; `None` if there was none. Another inode at the same path is a new file.
    inode: Option<u64>,
    /// Bytes of the file that have been read.
    offset: u64,
    buffer: LineBuffer,
}

impl Tail {
    /// Begins at the current end of the file, so that ends of earlier turns are skipped; a missing file may be created
    /// later.
    pub(super) async fn open(path: PathBuf, poll: Duration) -> io::Result<Self> {
        let (inode, offset) = match tokio::fs::metadata(&path).await {
            Ok(metadata) => (Some(metadata.ino()), metadata.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (None, 0),
            Err(error) => return Err(error),
        };
        Ok(Self { path, poll, inode, offset, buffer: LineBuffer::default() })
    }

    /// Waits for the next line. Cancel safe.
    pub(super) async fn next_line(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some(line) = self.buffer.next() {
                return Ok(line);
            }
            if !self.read_added().await? {
                tokio::time::sleep(self.poll).await;
            }
        }
    }

    /// Reads what was added; false if nothing was. A file that was replaced or truncated is read from its beginning.
    async fn read_added(&mut self) -> io::Result<bool> {
        let mut file = match File::open(&self.path).await {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata().await?;
        let is_new = self.inode != Some(metadata.ino()) || metadata.len() < self.offset;
        let offset = if is_new { 0 } else { self.offset };
        let mut added = Vec::new();
        file.seek(SeekFrom::Start(offset)).await?;
        file.take(CHUNK).read_to_end(&mut added).await?;
        if is_new {
            self.buffer.discard_partial();
        }
        (self.inode, self.offset) = (Some(metadata.ino()), offset + added.len() as u64);
        self.buffer.push(&added);
        Ok(!added.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write;
    use tempfile::TempDir;

    struct NotifyFile(TempDir);

    impl NotifyFile {
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
        let line = tokio::time::timeout(Duration::from_secs(30), tail.next_line()).await;
        String::from_utf8(line.expect("a line comes").unwrap()).unwrap()
    }

    #[tokio::test]
    async fn what_was_there_before_is_not_heard() {
        let file = NotifyFile(TempDir::new().unwrap());
        file.append("old\n");
        let mut tail = file.tail().await;
        file.append("new\n");
        assert_eq!(line(&mut tail).await, "new");
    }

    #[tokio::test]
    async fn a_file_that_is_missing_may_come() {
        let file = NotifyFile(TempDir::new().unwrap());
        let mut tail = file.tail().await;
        assert!(!tail.read_added().await.unwrap());
        file.append("first\nsecond\n");
        assert_eq!((line(&mut tail).await, line(&mut tail).await), ("first".into(), "second".into()));
    }

    #[tokio::test]
    async fn half_a_line_waits_for_its_other_half() {
        let file = NotifyFile(TempDir::new().unwrap());
        let mut tail = file.tail().await;
        file.append("ha");
        assert!(tail.read_added().await.unwrap());
        assert_eq!(tail.buffer.next(), None);
        file.append("lf\n");
        assert_eq!(line(&mut tail).await, "half");
    }

    #[tokio::test]
    async fn a_file_that_was_cut_is_read_from_its_beginning() {
        let file = NotifyFile(TempDir::new().unwrap());
        file.append("a long line that is old\n");
        let mut tail = file.tail().await;
        file.append("half a line");
        assert!(tail.read_added().await.unwrap());
        std::fs::write(file.path(), "new\n").unwrap();
        assert_eq!(line(&mut tail).await, "new");
    }

    #[tokio::test]
    async fn another_file_of_the_same_name_is_read_from_its_beginning() {
        let file = NotifyFile(TempDir::new().unwrap());
        file.append("old\n");
        let mut tail = file.tail().await;
        let other = file.0.path().join("other");
        std::fs::write(&other, "a line of another file\n").unwrap();
        std::fs::rename(other, file.path()).unwrap();
        assert_eq!(line(&mut tail).await, "a line of another file");
    }
}
