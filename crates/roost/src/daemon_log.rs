//! The daemon's log: one line of JSON for each entry, in files that rotate. At a terminal, entries go to stderr as well.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use roost_cli::{Error, Launch, filter, for_people};
use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::Daemon;

/// Installs the daemon's log. Dropping the guard writes what is still queued.
pub(crate) fn begin(launch: &Launch, config: &Daemon, is_background: bool) -> Result<WorkerGuard, Error> {
    let path = launch.state.daemon_log();
    let (log, guard) = open(&path, config.log_max_mb, config.log_files, is_background)
        .map_err(|source| Error::State { path: path.clone(), source })?;
    let log = tracing_subscriber::fmt::layer().json().flatten_event(true).with_writer(log).log_internal_errors(false);
    let log = log.with_filter(filter("info"));
    // In the background stderr is the log itself.
    let people = (!is_background).then(|| for_people(launch.verbose));
    let _ = tracing_subscriber::registry().with(log).with(people).try_init();
    Ok(guard)
}

/// Opens the log file behind a queue. Dropping the guard writes what is still queued.
fn open(path: &Path, max_mb: u32, max_old_files: u32, takes_stderr: bool) -> io::Result<(NonBlocking, WorkerGuard)> {
    let max = u64::from(max_mb.max(1)) * 1_000_000;
    // A disk that is slow or full must not hold up what is logged about.
    Ok(tracing_appender::non_blocking(RotatingFile::open(path, max, max_old_files, takes_stderr)?))
}

/// A file that is renamed to `NAME.1` and begun anew before it would grow beyond `max` bytes.
struct RotatingFile {
    path: PathBuf,
    max: u64,
    /// How many rotated files are kept; 0 keeps none.
    max_old_files: u32,
    /// Redirect stderr to the file, so that a panic is in the log too.
    takes_stderr: bool,
    file: File,
    size: u64,
}

impl RotatingFile {
    fn open(path: &Path, max: u64, max_old_files: u32, takes_stderr: bool) -> io::Result<Self> {
        let file = append(path)?;
        let size = file.metadata()?.len();
        Ok(Self { path: path.into(), max, max_old_files, takes_stderr, file, size })
    }

    fn rotate(&mut self) -> io::Result<()> {
        let aside = |number: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        for number in (1..self.max_old_files).rev() {
            // The first files that are put aside have no older ones to push on.
            let _ = fs::rename(aside(number), aside(number + 1));
        }
        match self.max_old_files {
            0 => fs::remove_file(&self.path)?,
            _ => fs::rename(&self.path, aside(1))?,
        }
        self.file = append(&self.path)?;
        self.size = 0;
        if self.takes_stderr {
            rustix::stdio::dup2_stderr(&self.file)?;
        }
        Ok(())
    }
}

impl Write for RotatingFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.size > 0 && self.size + line.len() as u64 > self.max {
            self.rotate()?;
        }
        let written = self.file.write(line)?;
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn append(path: &Path) -> io::Result<File> {
    roost_log::private_file().create(true).append(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_put_aside_when_it_is_full_and_the_oldest_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        let text = |name: &str| fs::read_to_string(folder.path().join(name)).ok();
        let mut log = RotatingFile::open(&path, 10, 2, false).unwrap();
        for line in ["first\n", "second\n", "third\n", "4\n", "fourth, which is longer\n"] {
            log.write_all(line.as_bytes()).unwrap();
        }
        assert_eq!(text("daemon.log").as_deref(), Some("fourth, which is longer\n"));
        assert_eq!(text("daemon.log.1").as_deref(), Some("third\n4\n"));
        assert_eq!(text("daemon.log.2").as_deref(), Some("second\n"));
        assert_eq!(text("daemon.log.3"), None);
    }

    #[test]
    fn a_log_that_is_there_is_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        for line in ["one\n", "two\n", "three\n"] {
            RotatingFile::open(&path, 8, 0, false).unwrap().write_all(line.as_bytes()).unwrap();
        }
        assert_eq!(fs::read_to_string(path).unwrap(), "three\n");
    }
}
