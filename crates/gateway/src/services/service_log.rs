//! What a service said beside the protocol, and what happened to it: a bounded log in memory, one per service. Its end is
//! also in files, so that it is there after the daemon was restarted or killed.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use roost_model::ids::ServiceId;
use roost_model::time::Timestamp;
use tokio::sync::watch;

use crate::upstream::{self, LogSource};

/// The lines that are kept; older ones are dropped.
const MAX_LINES: usize = 2000;
/// A longer line is cut.
const MAX_LINE_BYTES: usize = 4096;
/// A file of this size is set aside, in place of the one that was set aside before it. Both are read at the start.
const MAX_FILE_BYTES: u64 = 256 * 1024;

/// The log of one service; clones share it.
#[derive(Clone, Debug)]
pub struct ServiceLog(Arc<LogState>);

#[derive(Debug)]
struct LogState {
    lines: Mutex<VecDeque<String>>,
    /// Changed together with the lines. `None` if they are kept in memory only, or the files cannot be written.
    files: Mutex<Option<LogFiles>>,
    /// How many lines were ever written. Changed after the line is there.
    written: watch::Sender<u64>,
    /// What was last being done to start the service.
    progress: watch::Sender<String>,
}

/// Some lines of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLines {
    /// The lines as `[time] text`, the oldest first.
    pub lines: Vec<String>,
    /// The number of the last line that was ever written, to go on after it.
    pub last: u64,
}

/// The files of a log: the one that is written, and beside it the one that was full before.
#[derive(Debug)]
struct LogFiles {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl LogFiles {
    fn open(path: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path, file, bytes })
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        if self.bytes >= MAX_FILE_BYTES {
            fs::rename(&self.path, full(&self.path))?;
            *self = Self::open(self.path.clone())?;
        }
        let line = format!("{line}\n");
        self.bytes += line.len() as u64;
        self.file.write_all(line.as_bytes())
    }
}

/// The file that was full before this one.
fn full(path: &Path) -> PathBuf {
    path.with_extension("log.1")
}

/// Where the log of a service is in this folder.
fn file_in(folder: &Path, service: &ServiceId) -> PathBuf {
    folder.join(format!("{service}.log"))
}

/// Forgets what was kept of a service's log.
pub(super) fn forget_log(folder: &Path, service: &ServiceId) {
    let path = file_in(folder, service);
    for file in [full(&path), path] {
        // Most logs are in one file, and some in none.
        let _ = fs::remove_file(file);
    }
}

impl Default for ServiceLog {
    fn default() -> Self {
        Self::new(VecDeque::new(), None)
    }
}

impl ServiceLog {
    fn new(lines: VecDeque<String>, files: Option<LogFiles>) -> Self {
        let written = watch::Sender::new(lines.len() as u64);
        let (lines, files) = (Mutex::new(lines), Mutex::new(files));
        Self(Arc::new(LogState { lines, files, written, progress: watch::Sender::default() }))
    }

    /// The log of a service that is kept in a folder, with what earlier daemons wrote. Reads two small files.
    pub(super) fn kept(folder: &Path, service: &ServiceId) -> Self {
        let path = file_in(folder, service);
        let texts = [full(&path), path.clone()].map(|file| fs::read(file).unwrap_or_default());
        let texts = texts.each_ref().map(|bytes| String::from_utf8_lossy(bytes));
        let mut lines: VecDeque<_> = texts.iter().flat_map(|text| text.lines()).map(ToOwned::to_owned).collect();
        lines.drain(..lines.len().saturating_sub(MAX_LINES));
        let opened = fs::create_dir_all(folder).and_then(|()| LogFiles::open(path));
        let unkept =
            |error: &io::Error| tracing::warn!(%service, %error, "The log of a service is kept in memory only.");
        Self::new(lines, opened.inspect_err(unkept).ok())
    }

    /// Writes one line; line breaks in it become blanks.
    pub fn write(&self, text: &str) {
        let mut end = text.len().min(MAX_LINE_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text: String = text[..end].chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
        let line = format!("[{}] {}", Timestamp::now(), text.trim_end());
        let mut lines = self.0.lines.lock();
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        let mut files = self.0.files.lock();
        if let Some(Err(error)) = files.as_mut().map(|files| files.write(&line)) {
            tracing::warn!(%error, "The log of a service cannot be written; from now on it is kept in memory only.");
            *files = None;
        }
        lines.push_back(line);
        self.0.written.send_modify(|written| *written += 1);
    }

    /// The last lines, at most `limit`, and only those after the line of this number.
    pub fn read(&self, after: u64, limit: usize) -> LogLines {
        let lines = self.0.lines.lock();
        let last = *self.0.written.borrow();
        let newer = usize::try_from(last.saturating_sub(after)).unwrap_or(usize::MAX);
        let count = lines.len().min(limit).min(newer);
        LogLines { lines: lines.iter().skip(lines.len() - count).cloned().collect(), last }
    }

    /// Follows what is being done to start the service.
    pub(super) fn follow_progress(&self) -> watch::Receiver<String> {
        self.0.progress.subscribe()
    }

    /// Returns when there is a line after this one.
    pub async fn wait_after(&self, after: u64) {
        // The sender lives as long as this log.
        let _ = self.0.written.subscribe().wait_for(|written| *written > after).await;
    }
}

impl upstream::ServiceLog for ServiceLog {
    fn line(&self, source: LogSource, text: &str) {
        match source {
            LogSource::Stderr | LogSource::Module | LogSource::Gateway => self.write(text),
            LogSource::Stdout => self.write(&format!("stdout: {text}")),
        }
    }

    fn progress(&self, text: &str) {
        self.write(text);
        self.0.progress.send_replace(text.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_lines_are_kept_and_each_is_one_line() {
        let log = ServiceLog::default();
        (0..MAX_LINES + 5).for_each(|n| log.write(&format!("line\n{n}\n")));
        let read = log.read(0, usize::MAX);
        assert_eq!((read.lines.len(), read.last), (MAX_LINES, 2005));
        assert!(read.lines[0].ends_with("] line 5"), "{}", read.lines[0]);
        assert_eq!(log.read(2003, 10).lines.len(), 2);
        assert_eq!(log.read(0, 3).lines.len(), 3);
        log.write(&"ü".repeat(MAX_LINE_BYTES));
        assert!(log.read(2005, 1).lines[0].len() < MAX_LINE_BYTES + 40);
    }

    #[test]
    fn the_end_of_a_log_is_there_again_and_its_files_stay_small_and_private() {
        let folder = tempfile::TempDir::new().unwrap();
        let (folder, service) = (folder.path().join("logs"), ServiceId::from("svc_000000000000"));
        let log = ServiceLog::kept(&folder, &service);
        (0..4000).for_each(|n| log.write(&format!("{n} {}", "x".repeat(200))));
        log.write("the last one");
        let before = log.read(0, usize::MAX).lines;
        drop(log);
        let again = ServiceLog::kept(&folder, &service);
        again.write("after it");
        let read = again.read(0, usize::MAX);
        assert_eq!(read.last as usize, read.lines.len());
        let kept = &read.lines[..read.lines.len() - 1];
        assert!(kept.len() > 1000 && before.ends_with(kept), "{}", kept.len());
        let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().metadata().unwrap()).collect();
        assert_eq!(files.len(), 2);
        for file in files {
            use std::os::unix::fs::PermissionsExt;
            assert!(file.len() < MAX_FILE_BYTES + 1024 && file.permissions().mode() & 0o777 == 0o600, "{file:?}");
        }
        forget_log(&folder, &service);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        assert_eq!(ServiceLog::kept(&folder, &service).read(0, 10).lines, Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_reader_waits_for_the_next_line() {
        let log = ServiceLog::default();
        log.write("first");
        let reader = tokio::spawn({
            let log = log.clone();
            async move {
                log.wait_after(1).await;
                log.read(1, 10).lines
            }
        });
        tokio::task::yield_now().await;
        log.write("second");
        assert_eq!(reader.await.unwrap().len(), 1);
    }
}
