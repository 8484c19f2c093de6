//! One look at all processes, shared by every holder that needs one at the same time.
//!
//! To look means to read `/proc` of every process, its environment included. A thousand holders that end together would
//! each read mostly each other's processes, which grows with the square of their number. So a scan is written beside the
//! records, and whoever asked before it began takes it for its own: it has seen whatever an own one would have.
//!
//! Nobody depends on another: who does not get a scan in time, for whatever reason, makes one alone.

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

/// How long another one's scan is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks for it; longer each time, as a thousand who look often keep the one from its work.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(80);

/// A running process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) process: Process,
    pub(crate) parent: u32,
    /// The run that it says it belongs to, in its environment.
    pub(crate) run: Option<String>,
}

/// Looks at all processes.
pub(crate) fn scan() -> Vec<Seen> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let seen = pids.filter_map(Stat::of).filter(Stat::runs).map(|stat| Seen {
        process: stat.process,
        parent: stat.parent,
        run: run_of(stat.process.pid),
    });
    seen.collect()
}

/// A scan that began after this call: another holder's with the same records, or an own one.
pub(crate) fn shared(records: &Path) -> Vec<Seen> {
    shared_since(records, now(), PATIENCE, scan)
}

/// Removes the scan when nobody is left to use it, which is when no record is.
pub(crate) fn clean_up(records: &Path) {
    let is_record = |path: &Path| path.extension().is_some_and(|extension| extension == "json");
    let mut left = fs::read_dir(records).into_iter().flatten().flatten();
    if !left.any(|entry| is_record(&entry.path())) {
        let _ = fs::remove_file(path(records));
    }
}

fn shared_since(records: &Path, asked: u64, patience: Duration, scan: impl Fn() -> Vec<Seen>) -> Vec<Seen> {
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

/// Nanoseconds on the clock that all processes share until the machine is started again.
fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The written scan, if it began in this boot and not before this time.
fn read(records: &Path, boot: &str, asked: u64) -> Option<Vec<Seen>> {
    let mut lines = BufReader::new(File::open(path(records)).ok()?).lines();
    let head = lines.next()?.ok()?;
    let (began, written_in) = head.split_once(' ')?;
    if written_in != boot || began.parse::<u64>().ok()? < asked {
        return None;
    }
    lines.map(|line| parse(&line.ok()?)).collect()
}

fn parse(line: &str) -> Option<Seen> {
    let mut fields = line.split(' ');
    let process = Process { pid: fields.next()?.parse().ok()?, start_time: fields.next()?.parse().ok()? };
    let parent = fields.next()?.parse().ok()?;
    Some(Seen { process, parent, run: fields.next().map(str::to_owned) })
}

/// Writes a scan so that a reader sees all of it or nothing; the lock keeps other writers away.
fn write(records: &Path, boot: &str, began: u64, seen: &[Seen]) -> io::Result<()> {
    let mut text = format!("{began} {boot}\n").into_bytes();
    for Seen { process, parent, run } in seen {
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

    fn seen(pid: u32, run: Option<&str>) -> Seen {
        Seen { process: Process { pid, start_time: 7 }, parent: 1, run: run.map(str::to_owned) }
    }

    #[test]
    fn holders_that_end_together_look_once() {
        let folder = tempfile::tempdir().unwrap();
        let (all, scans) = (Barrier::new(16), AtomicU32::new(0));
        let expected = vec![seen(2, None), seen(3, Some("a-run"))];
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
        let own = || vec![seen(9, None)];
        let asked = now();
        write(folder.path(), &boot_id(), asked - 1, &[seen(2, None)]).unwrap();
        assert_eq!(shared_since(folder.path(), asked, PATIENCE, own), own());
        write(folder.path(), "another", now(), &[seen(2, None)]).unwrap();
        assert_eq!(shared_since(folder.path(), asked, PATIENCE, own), own());
        fs::write(path(folder.path()), format!("{} {}\nno numbers\n", now(), boot_id())).unwrap();
        assert_eq!(shared_since(folder.path(), asked, PATIENCE, own), own());
    }

    #[test]
    fn who_gets_no_scan_makes_one_alone() {
        let own = || vec![seen(9, None)];
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
