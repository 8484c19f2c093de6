//! The last two steps of the ladder, SIGTERM and SIGKILL, until nothing of the run is left.
//!
//! A state machine that does not sleep by itself: the holder drives it between polls, the daemon
//! between async sleeps.

use std::time::{Duration, Instant};

use rustix::{io::Errno, process::Signal};

use crate::{Error, Process, process, tree::Target};

/// How many scans in a row must find nothing, because a process that forks can hide from one of them.
const EMPTY_SCANS: u32 = 2;
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Descent {
    target: Target,
    stage: DescentStage,
    pause: Duration,
    empty_scans: u32,
    /// Processes of another user, which cannot be signalled, only reported.
    untouchable: Vec<Process>,
}

#[derive(Clone, Copy, Debug)]
enum DescentStage {
    Begin { term: Duration },
    Terminating { until: Instant },
    Killing,
}

pub(crate) enum Step {
    /// Step again after this time, or earlier when a child has ended.
    Again(Duration),
    /// Nothing is left but what may not be signalled.
    Gone { left: Vec<u32> },
}

impl Descent {
    pub(crate) fn new(target: Target, term: Duration) -> Self {
        Self {
            target,
            stage: DescentStage::Begin { term },
            pause: FIRST_PAUSE,
            empty_scans: 0,
            untouchable: Vec::new(),
        }
    }

    /// Shortens the time until SIGKILL to at most this.
    pub(crate) fn hurry(&mut self, term: Duration) {
        match &mut self.stage {
            DescentStage::Begin { term: planned } => *planned = term.min(*planned),
            DescentStage::Terminating { until } => *until = (*until).min(Instant::now() + term),
            DescentStage::Killing => {}
        }
    }

    /// Scans for processes that are left, and signals them when it is time. Blocks a little, because it reads `/proc`.
    pub(crate) fn step(&mut self) -> Step {
        let mut members = self.target.members();
        members.retain(|process| !self.untouchable.contains(process));
        if members.is_empty() {
            self.empty_scans += 1;
            if self.empty_scans < EMPTY_SCANS {
                return Step::Again(Duration::ZERO);
            }
            if let Some(cgroup) = &self.target.cgroup {
                cgroup.remove();
            }
            return Step::Gone { left: self.untouchable.iter().map(|process| process.pid).collect() };
        }
        self.empty_scans = 0;
        match self.stage {
            DescentStage::Begin { term } => {
                self.signal(&members, Signal::TERM);
                self.stage = DescentStage::Terminating { until: Instant::now() + term };
            }
            DescentStage::Terminating { until } if Instant::now() < until => {}
            DescentStage::Terminating { .. } | DescentStage::Killing => {
                if !matches!(self.stage, DescentStage::Killing) {
                    self.pause = FIRST_PAUSE;
                }
                self.stage = DescentStage::Killing;
                if let Some(cgroup) = &self.target.cgroup {
                    cgroup.kill();
                }
                self.signal(&members, Signal::KILL);
            }
        }
        Step::Again(self.next_pause())
    }

    fn signal(&mut self, members: &[Process], signal: Signal) {
        for member in members {
            if process::signal(member, signal) == Err(Errno::PERM) {
                self.untouchable.push(*member);
            }
        }
    }

    fn next_pause(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        match self.stage {
            DescentStage::Terminating { until } => pause.min(until.saturating_duration_since(Instant::now())),
            _ => pause,
        }
    }

    /// Runs all steps from async code. Returns the pids that could not be ended.
    pub(crate) async fn run(mut self) -> Result<Vec<u32>, Error> {
        loop {
            let stepped = tokio::task::spawn_blocking(move || {
                let step = self.step();
                (self, step)
            });
            let step;
            (self, step) = stepped.await.map_err(|_| Error::ShuttingDown)?;
            match step {
                Step::Again(pause) => tokio::time::sleep(pause).await,
                Step::Gone { left } => return Ok(left),
            }
        }
    }
}
