//! Takes over a runtime whose daemon died, by connecting to its holder.

use std::{
    fs::File,
    os::fd::RawFd,
    time::{Duration, SystemTime},
};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::{UnixStream, unix::pipe},
    sync::mpsc,
    time::timeout,
};

use crate::{
    Control, Error, Holder, Lines, StderrTail,
    control::Report,
    holder_registry::HolderRegistration,
    process::boot_id,
    records::{self, Record},
    running::{HeldRun, supervise},
};

/// How long a holder has to answer. A holder that still has a daemon does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// A runtime that outlived its daemon. Its stdin has ended.
#[derive(Debug)]
pub struct Adopted {
    /// Its output in batches of lines, from where the earlier daemon stopped reading.
    pub stdout: Lines,
    /// The tail of what it wrote to stderr since it was taken over.
    pub stderr: StderrTail,
    /// Ends it; when the last clone is dropped, the runtime's whole tree is ended too.
    pub control: Control,
    /// When the holder lost the earlier daemon.
    pub alone_since: SystemTime,
}

impl Holder {
    /// Takes over a runtime that was started by [`Self::spawn_lasting`] of an earlier daemon.
    pub async fn adopt(&self, record: &Record, stderr_lines: Option<mpsc::Sender<String>>) -> Result<Adopted, Error> {
        let refuse = |why: String| Error::NotAdopted { run: record.run.clone(), why };
        if record.boot != boot_id() || !record.holder.is_alive() {
            return Err(refuse("its holder is gone".into()));
        }
        let folder = File::open(self.folder(&record.run)).map_err(|error| refuse(error.to_string()))?;
        let control =
            UnixStream::connect(records::adoption_socket(&folder)).await.map_err(|error| refuse(error.to_string()))?;
        let (reports, stop) = control.into_split();
        let mut reports = BufReader::new(reports).lines();
        let first = timeout(PATIENCE, reports.next_line()).await;
        let report = first.ok().and_then(Result::ok).flatten().and_then(|line| serde_json::from_str(&line).ok());
        let Some(Report::Adopted { runtime, cgroup, pipes, alone_since }) = report else {
            return Err(refuse("its holder does not answer".into()));
        };
        let output = |fd: RawFd| {
            let place = format!("/proc/{}/fd/{fd}", record.holder.pid);
            pipe::OpenOptions::new().open_receiver(place).map_err(|error| refuse(error.to_string()))
        };
        let (stdout, stderr) = (output(pipes.stdout)?, output(pipes.stderr)?);
        let (run, records) = (record.run.clone(), self.records.clone());
        let registration = HolderRegistration::register(record.holder, &record.label);
        let held =
            HeldRun { run, runtime, cgroup, records, child: None, _registration: Some(registration), reports, stop };
        let (control, stderr) = supervise(held, stderr, stderr_lines);
        let alone_since = SystemTime::UNIX_EPOCH + Duration::from_millis(alone_since);
        Ok(Adopted { stdout: Lines::new(stdout), stderr, control, alone_since })
    }
}
