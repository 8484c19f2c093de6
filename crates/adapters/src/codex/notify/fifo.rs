//! A FIFO that writers come to and leave.

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;
use std::time::Duration;

use tokio::net::unix::pipe::{OpenOptions, Receiver};

use super::pending::Pending;

/// How long nothing may come before the FIFO is opened anew (seed 002).
const PATIENCE: Duration = Duration::from_secs(30);

/// The reading end of a FIFO. It stays open while writers come and go, so that none of them finds nobody.
#[derive(Debug)]
pub(crate) struct Fifo {
    path: PathBuf,
    poll: Duration,
    open: Option<(Receiver, u64)>,
    pending: Pending,
}

impl Fifo {
    /// Opens the FIFO; what is not one is refused, one that is missing may come.
    pub(super) async fn open(path: PathBuf, poll: Duration) -> io::Result<Self> {
        match tokio::fs::metadata(&path).await {
            Ok(metadata) if !metadata.file_type().is_fifo() => {
                let message = format!("{} is not a FIFO; make one with `mkfifo`", path.display());
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            Ok(_) | Err(_) => {}
        }
        let mut fifo = Self { path, poll, open: None, pending: Pending::default() };
        fifo.connect().await;
        Ok(fifo)
    }

    /// The next line; `None` when none came for a while. May be dropped and called again.
    pub(super) async fn line(&mut self) -> Option<Vec<u8>> {
        match tokio::time::timeout(PATIENCE, self.next()).await {
            Ok(line) => Some(line),
            Err(_) => {
                self.open = None;
                None
            }
        }
    }

    async fn next(&mut self) -> Vec<u8> {
        let mut buffer = [0; 4096];
        loop {
            if let Some(line) = self.pending.next() {
                return line;
            }
            if self.open.is_none() {
                self.connect().await;
            }
            let Some((pipe, inode)) = &self.open else {
                tokio::time::sleep(self.poll).await;
                continue;
            };
            match pipe.try_read(&mut buffer) {
                // Nobody writes at the moment; whoever comes next may come to another FIFO of that name.
                Ok(0) => {
                    let is_same = tokio::fs::metadata(&self.path).await.is_ok_and(|now| now.ino() == *inode);
                    self.pending.forget_rest();
                    if !is_same {
                        self.open = None;
                    }
                    tokio::time::sleep(self.poll).await;
                }
                Ok(read) => self.pending.push(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // An error shows up with the next read.
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

    fn make(path: &Path) {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, 0o600.into()).unwrap();
    }

    fn say(path: &Path, text: &str) {
        std::fs::OpenOptions::new().write(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    async fn line(fifo: &mut Fifo) -> String {
        String::from_utf8(fifo.line().await.expect("a line comes")).unwrap()
    }

    #[tokio::test]
    async fn writers_come_and_go() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("fifo");
        make(&path);
        let mut fifo = Fifo::open(path.clone(), POLL).await.unwrap();
        for word in ["one", "two"] {
            say(&path, &format!("{word}\n"));
            assert_eq!(line(&mut fifo).await, word);
        }
    }

    #[tokio::test]
    async fn a_fifo_that_is_made_anew_is_found() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("fifo");
        make(&path);
        let mut fifo = Fifo::open(path.clone(), POLL).await.unwrap();
        say(&path, "before\n");
        assert_eq!(line(&mut fifo).await, "before");
        std::fs::remove_file(&path).unwrap();
        make(&path);
        let other = path.clone();
        let writer = tokio::task::spawn_blocking(move || say(&other, "after\n"));
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
        assert_eq!(fifo.line().await, None);
        assert!(began.elapsed() >= PATIENCE && began.elapsed() < 2 * PATIENCE, "{:?}", began.elapsed());
        make(&path);
        let writer = tokio::task::spawn_blocking(move || say(&path, "late\n"));
        assert_eq!(line(&mut fifo).await, "late");
        writer.await.unwrap();
    }
}
