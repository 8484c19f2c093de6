//! A FIFO as a notify source.

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;
use std::time::Duration;

use tokio::net::unix::pipe::{OpenOptions, Receiver};

use super::line_buffer::LineBuffer;

/// After this long without a line the FIFO is opened again (seed 002).
const REOPEN_AFTER: Duration = Duration::from_secs(30);

/// The reading end of a FIFO. It stays open between writers, because a writer fails if nobody reads.
#[derive(Debug)]
pub(crate) struct Fifo {
    path: PathBuf,
    poll: Duration,
    /// The open pipe and its inode, by which a FIFO that was replaced is noticed.
    open: Option<(Receiver, u64)>,
    buffer: LineBuffer,
}

impl Fifo {
    /// Opens the FIFO. An error if the path is something else; a missing FIFO may be created later.
    pub(super) async fn open(path: PathBuf, poll: Duration) -> io::Result<Self> {
        match tokio::fs::metadata(&path).await {
            Ok(metadata) if !metadata.file_type().is_fifo() => {
                let message = format!("{} is not a FIFO; make one with `mkfifo`", path.display());
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            Ok(_) | Err(_) => {}
        }
        let mut fifo = Self { path, poll, open: None, buffer: LineBuffer::default() };
        fifo.connect().await;
        Ok(fifo)
    }

    /// The next line; `None` when none came for [`REOPEN_AFTER`]. Cancel safe.
    pub(super) async fn next_line(&mut self) -> Option<Vec<u8>> {
        match tokio::time::timeout(REOPEN_AFTER, self.read_line()).await {
            Ok(line) => Some(line),
            Err(_) => {
                self.open = None;
                None
            }
        }
    }

    async fn read_line(&mut self) -> Vec<u8> {
        let mut bytes = [0; 4096];
        loop {
            if let Some(line) = self.buffer.next() {
                return line;
            }
            if self.open.is_none() {
                self.connect().await;
            }
            let Some((pipe, inode)) = &self.open else {
                tokio::time::sleep(self.poll).await;
                continue;
            };
            match pipe.try_read(&mut bytes) {
                // The last writer has left; the next may open another FIFO at the same path.
                Ok(0) => {
                    let is_same = tokio::fs::metadata(&self.path).await.is_ok_and(|now| now.ino() == *inode);
                    self.buffer.discard_partial();
                    if !is_same {
                        self.open = None;
                    }
                    tokio::time::sleep(self.poll).await;
                }
                Ok(read) => self.buffer.push(&bytes[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // The next read reports an error.
                    let _ = pipe.readable().await;
                }
                Err(_) => self.open = None,
            }
        }
    }

    async fn connect(&mut self) {
        let inode = tokio::fs::metadata(&self.path).await.map(|metadata| metadata.ino());
        self.open = match (OpenOptions::new().open_receiver(&self.path), inode) {
            (Ok(pipe), Ok(inode)) => Some((pipe, inode)),
            _ => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::path::Path;
    use tempfile::TempDir;

    const POLL: Duration = Duration::from_millis(1);

    fn make_fifo(path: &Path) {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, 0o600.into()).unwrap();
    }

    fn write_to(path: &Path, text: &str) {
        std::fs::OpenOptions::new().write(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    async fn line(fifo: &mut Fifo) -> String {
        String::from_utf8(fifo.next_line().await.expect("a line comes")).unwrap()
    }

    #[tokio::test]
    async fn writers_come_and_go() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("fifo");
        make_fifo(&path);
        let mut fifo = Fifo::open(path.clone(), POLL).await.unwrap();
        for word in ["one", "two"] {
            write_to(&path, &format!("{word}\n"));
            assert_eq!(line(&mut fifo).await, word);
        }
    }

    #[tokio::test]
    async fn a_fifo_that_is_made_anew_is_found() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("fifo");
        make_fifo(&path);
        let mut fifo = Fifo::open(path.clone(), POLL).await.unwrap();
        write_to(&path, "before\n");
        assert_eq!(line(&mut fifo).await, "before");
        std::fs::remove_file(&path).unwrap();
        make_fifo(&path);
        let other = path.clone();
        let writer = tokio::task::spawn_blocking(move || write_to(&other, "after\n"));
        assert_eq!(line(&mut fifo).await, "after");
        writer.await.unwrap();
    }

    #[tokio::test]
    async fn a_file_that_is_no_fifo_is_refused() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "").unwrap();
        assert!(Fifo::open(path, POLL).await.unwrap_err().to_string().contains("mkfifo"));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_waited_for_longer_than_half_a_minute_and_then_again() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("fifo");
        let began = tokio::time::Instant::now();
        let mut fifo = Fifo::open(path.clone(), Duration::from_millis(100)).await.unwrap();
        assert_eq!(fifo.next_line().await, None);
        assert!(began.elapsed() >= REOPEN_AFTER && began.elapsed() < 2 * REOPEN_AFTER, "{:?}", began.elapsed());
        make_fifo(&path);
        let writer = tokio::task::spawn_blocking(move || write_to(&path, "late\n"));
        assert_eq!(line(&mut fifo).await, "late");
        writer.await.unwrap();
    }
}
