//! A scan of all processes, shared by all holders that need one at the same time.
//!
//! A scan reads `/proc` of every process, its environment included. A thousand holders that end together would each
//! read the processes of all others, so the cost would grow with the square of their number. Therefore a scan is
//! written to a file beside the records, and a holder that wanted one before that scan began uses it: a scan of its own
//! would have found the same.
//!
//! No holder depends on another: one that does not get a shared scan in time makes its own.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{FlockOperation, flock},
    time::{ClockId, clock_gettime},
};

use crate::{
    Process,
    process::{Stat, boot_id},
    run::RUN_VARIABLE,
};

/// How long a holder waits for the scan of another one.
const PATIENCE: Duration = Duration::from_secs(2);
/// The first pause between two checks for it. Pauses grow, because a thousand frequent checks would slow the scan down.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(80);

/// A running process as a scan found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessEntry {
    pub(crate) process: Process,
    pub(crate) parent: u32,
    /// The run id in its environment, if any.
    pub(crate) run: Option<String>,
}

/// Scans all processes that run now.
pub(crate) fn scan() -> Vec<ProcessEntry> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let seen = pids.filter_map(Stat::read).filter(Stat::runs).map(|stat| ProcessEntry {
        process: stat.process,
        parent: stat.parent,
        run: run_of(stat.process.pid),
    });
    seen.collect()
}

/// A scan that began after this call: another holder's with the same records, or an own one.
pub(crate) fn shared(records: &Path) -> Vec<ProcessEntry> {
    shared_since(records, now(), PATIENCE, scan)
}

/// Removes the shared scan if no record is left, because then no holder needs it.
pub(crate) fn clean_up(records: &Path) {
    let is_record = |path: &Path| path.extension().is_some_and(|extension| extension == "json");
    let mut left = fs::read_dir(records).into_iter().flatten().flatten();
    if !left.any(|entry| is_record(&entry.path())) {
        let _ = fs::remove_file(path(records));
    }
}

fn shared_since(
    records: &Path,
    asked: u64,
    patience: Duration,
    scan: impl Fn() -> Vec<ProcessEntry>,
) -> Vec<ProcessEntry> {
    let (boot, deadline, mut pause) = (boot_id(), Instant::now() + patience, FIRST_PAUSE);
    let Ok(lock) = File::open(records) else { return scan() };
    while Instant::now() < deadline {
        if let Some(seen) = read(records, &boot, asked) {
            return seen;
        }
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // It may have been written just before the lock was given back.
            return read(records, &boot, asked).unwrap_or_else(|| {
                let began = now();
                let seen = scan();
                // Whoever cannot read it makes an own one.
                let _ = write(records, &boot, began, &seen);
                seen
            });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    scan()
}

fn path(records: &Path) -> PathBuf {
    records.join("scan")
}

/// The monotonic clock in nanoseconds, which all processes share within one boot.
fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The shared scan, if it was made in this boot and began at this time or later.
fn read(records: &Path, boot: &str, asked: u64) -> Option<Vec<ProcessEntry>> {
    let mut lines = BufReader::new(File::open(path(records)).ok()?).lines();
    let head = lines.next()?.ok()?;
    let (began, written_in) = head.split_once(' ')?;
    if written_in != boot || began.parse::<u64>().ok()? < asked {
        return None;
    }
    lines.map(|line| parse(&line.ok()?)).collect()
}

fn parse(line: &str) -> Option<ProcessEntry> {
    let mut fields = line.split(' ');
    let process = Process { pid: fields.next()?.parse().ok()?, start_time: fields.next()?.parse().ok()? };
    let parent = fields.next()?.parse().ok()?;
    Some(ProcessEntry { process, parent, run: fields.next().map(str::to_owned) })
}

/// Writes a scan so that a reader sees all of it or nothing; the lock keeps other writers away.
fn write(records: &Path, boot: &str, began: u64, seen: &[ProcessEntry]) -> io::Result<()> {
    let mut text = format!("{began} {boot}\n").into_bytes();
    for ProcessEntry { process, parent, run } in seen {
        write!(text, "{} {} {parent}", process.pid, process.start_time)?;
        match run {
            Some(run) => writeln!(text, " {run}")?,
            None => writeln!(text)?,
        }
    }
    let unfinished = path(records).with_extension("tmp");
    fs::write(&unfinished, text)?;
    fs::rename(unfinished, path(records))
}

/// The run in a process's environment; what cannot be one of ours counts as none.
fn run_of(pid: u32) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = |entry: &[u8]| {
        let value = entry.strip_prefix(RUN_VARIABLE.as_bytes())?.strip_prefix(b"=")?;
        let run = crate::RunId::try_from(String::from_utf8(value.to_vec()).ok()?).ok()?;
        Some(run.into())
    };
    environment.split(|byte| *byte == 0).find_map(value)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn entry(pid: u32, run: Option<&str>) -> ProcessEntry {
        ProcessEntry { process: Process { pid, start_time: 7 }, parent: 1, run: run.map(str::to_owned) }
    }

    #[test]
    fn holders_that_end_together_look_once() {
        let folder = tempfile::tempdir().unwrap();
        let (all, scans) = (Barrier::new(16), AtomicU32::new(0));
        let expected = vec![entry(2, None), entry(3, Some("a-run"))];
        thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let asked = now();
                    all.wait();
                    let found = shared_since(folder.path(), asked, PATIENCE, || {
                        scans.fetch_add(1, Ordering::Relaxed);
                        expected.clone()
                    });
                    assert_eq!(found, expected);
                });
            }
        });
        assert_eq!(scans.into_inner(), 1);
    }

    #[test]
    fn a_scan_from_before_or_from_another_boot_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let own = || vec![entry(9, None)];
        let asked = now();
        write(folder.path(), &boot_id(), asked - 1, &[entry(2, None)]).unwrap();
        assert_eq!(shared_since(folder.path(), asked, PATIENCE, own), own());
        write(folder.path(), "another", now(), &[entry(2, None)]).unwrap();
        assert_eq!(shared_since(folder.path(), asked, PATIENCE, own), own());
        fs::write(path(folder.path()), format!("{} {}\nno numbers\n", now(), boot_id())).unwrap();
        assert_eq!(shared_since(folder.path(), asked, PATIENCE, own), own());
    }

    #[test]
    fn who_gets_no_scan_makes_one_alone() {
        let own = || vec![entry(9, None)];
        assert_eq!(shared_since(Path::new("/nowhere"), now(), PATIENCE, own), own());
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(shared_since(folder.path(), now(), Duration::ZERO, own), own());
    }

    #[test]
    fn the_scan_goes_with_the_last_record() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &boot_id(), now(), &[]).unwrap();
        let record = folder.path().join("a-run.json");
        fs::write(&record, "{}").unwrap();
        clean_up(folder.path());
        assert!(path(folder.path()).exists());
        fs::remove_file(record).unwrap();
        clean_up(folder.path());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
