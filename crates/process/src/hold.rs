//! The holder: a small synchronous process between the daemon and one runtime.
//!
//! It passes its own stdin, stdout and stderr to the runtime, so no byte goes through it. When its
//! control socket closes (a stop, or the daemon died), or the runtime exits, it ends the whole process
//! tree of the runtime and verifies that nothing is left.
#![allow(unsafe_code)]

mod command_line;
pub(crate) mod descriptors;
mod image;
mod link;
mod signals;

use std::{
    ffi::OsString,
    fs::OpenOptions,
    io,
    os::unix::{net::UnixStream, process::CommandExt},
    process::{Command, ExitCode},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{WaitOptions, WaitStatus, wait},
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout},
};

pub(crate) use self::command_line::CommandLine;
use self::{image::ExecImage, link::Link, signals::Signals};
use crate::{
    Exit, Process, Raise,
    cgroup::Cgroup,
    control::Report,
    descent::{Descent, Step},
    process::{Stat, boot_id},
    records::Record,
    run::RUN_VARIABLE,
    tree::Target,
};

/// Runs a holder to its end. `args` are those after `roost hold`, as [`crate::Holder`] passes them.
pub fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let held = CommandLine::parse(args).and_then(|(line, control)| hold(&line, control));
    match held {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("roost hold: {error}; this command is for roost itself, use `roost run` instead");
            ExitCode::from(2)
        }
    }
}

fn hold(line: &CommandLine, control: UnixStream) -> io::Result<()> {
    let signals = Signals::install()?;
    let mut link = Link::new(control, line);
    // Orphans of the runtime become our children, wherever they hide.
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;

    let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    let cgroup = Cgroup::create(&line.run);
    let mut command = Command::new(&line.program);
    command
        .args(&line.args)
        .current_dir(&line.cwd)
        .env(RUN_VARIABLE, line.run.as_str())
        // So that a runtime which signals its own group does not hit its holder.
        .process_group(0);
    if let Some(wall) = line.wall.clone() {
        let (cwd, image) = (line.cwd.clone(), ExecImage::from_command_line(line)?);
        // SAFETY: this process has a single thread, so no lock can be held by another one between fork and exec, and
        // the child may do there whatever its parent could.
        unsafe { command.pre_exec(move || wall.raise(&cwd).and_then(|()| Err(image.exec()))) };
    }
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            if let Some(cgroup) = cgroup {
                cgroup.remove();
            }
            let asked_for = line.wall.as_ref().is_some_and(|wall| wall.raise == Raise::Always);
            let hint = if asked_for { " (perhaps because of security.hide_state; see `roost doctor`)" } else { "" };
            return link.report(&Report::Failed { message: format!("{error}{hint}") });
        }
    };
    // Our copies must go, so that both sides of the runtime's pipes see the other's end of file.
    let _ = dup2_stdin(&null).and_then(|()| dup2_stdout(&null)).and_then(|()| dup2_stderr(&null));

    // Nobody has waited for the child yet, so even if it has exited its start time can be read.
    let start_time = Stat::read(child.id()).map_or(0, |stat| stat.process.start_time);
    let runtime = Process { pid: child.id(), start_time };
    let holder = Process::current();
    let record = Record {
        run: line.run.clone(),
        label: line.label.clone(),
        boot: boot_id(),
        holder,
        runtime,
        cgroup: cgroup.as_ref().map(|cgroup| cgroup.path().to_owned()),
    };
    let written = record.write(&line.records);
    // A daemon that has died cannot read reports, but its runtime must still be ended.
    let _ = link.report(&Report::Started {
        runtime,
        cgroup: record.cgroup.clone(),
        record_error: written.err().map(|error| error.to_string()),
    });
    // Entering a cgroup takes the kernel up to 10 ms, so it happens while the runtime starts up;
    // what the runtime forks before that is still its descendant.
    if let Some(cgroup) = &cgroup {
        let _ = cgroup.adopt(runtime.pid);
    }

    let target =
        Target { run: line.run.clone(), roots: vec![holder, runtime], cgroup, records: Some(line.records.clone()) };
    let left = Watch { line, link: &mut link, signals, record: &record, exit: None }.until_gone(target);
    record.remove(&line.records);
    #[cfg(target_os = "linux")]
    crate::scan::clean_up(&line.records);
    let _ = link.report(&Report::Gone { left });
    Ok(())
}

/// Waits for a reason to end the process tree, then ends it step by step.
struct Watch<'a> {
    line: &'a CommandLine,
    link: &'a mut Link,
    signals: Signals,
    record: &'a Record,
    exit: Option<Exit>,
}

enum Phase {
    Running,
    Grace { until: Instant },
    Descending(Descent),
}

impl Watch<'_> {
    fn until_gone(mut self, target: Target) -> Vec<u32> {
        let ladder = self.line.ladder;
        let mut target = Some(target);
        let mut phase = Phase::Running;
        let mut stop = false;
        loop {
            let exited_before = self.exit.is_some();
            self.reap();
            stop |= self.signals.terminated();
            let now = Instant::now();
            stop |= self.link.deadline().is_some_and(|deadline| now >= deadline);
            if stop && matches!(phase, Phase::Running) {
                phase = Phase::Grace { until: now + ladder.grace };
            }
            let term = match &phase {
                Phase::Running | Phase::Grace { .. } if self.exit.is_some() => Some(ladder.leftover),
                Phase::Grace { until } if now >= *until => Some(ladder.term),
                _ => None,
            };
            if let Some(term) = term
                && let Some(target) = target.take()
            {
                phase = Phase::Descending(Descent::new(target, term));
            }
            let pause = match &mut phase {
                Phase::Running => None,
                Phase::Grace { until } => Some(until.saturating_duration_since(now)),
                Phase::Descending(descent) => {
                    if self.exit.is_some() && !exited_before {
                        descent.hurry(ladder.leftover);
                    }
                    match descent.step() {
                        Step::Again(pause) => Some(pause),
                        Step::Gone { left } => return left,
                    }
                }
            };
            stop |= self.sleep(pause, !stop);
        }
    }

    /// Reaps every child that has ended, also orphans of the runtime, and reports the exit of the runtime itself.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if Some(pid) == self.record.runtime.rustix_pid() {
                let exit = exit_of(status);
                self.exit = Some(exit);
                let _ = self.link.report(&Report::Exited { exit });
            }
        }
    }

    /// Sleeps until a signal, a message of the daemon or the end of the pause. Returns whether to stop.
    fn sleep(&mut self, pause: Option<Duration>, listen: bool) -> bool {
        let lonely = self.link.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let pause = [pause, lonely].into_iter().flatten().min();
        let timeout =
            pause.map(|pause| Timespec { tv_sec: pause.as_secs() as i64, tv_nsec: pause.subsec_nanos().into() });
        let (signals, link) = (self.signals.as_fd(), self.link.as_fd());
        let mut fds = [PollFd::from_borrowed_fd(signals, PollFlags::IN), PollFd::from_borrowed_fd(link, PollFlags::IN)];
        // A closed socket is always ready: once it has said stop, it must not be asked again.
        let asked = if listen { &mut fds[..] } else { &mut fds[..1] };
        if poll(asked, timeout.as_ref()).is_err() {
            // Interrupted, or the machine is out of memory: in both cases look again, but do not spin.
            thread::sleep(Duration::from_millis(1));
        }
        let spoke = listen && !fds[1].revents().is_empty();
        self.signals.clear();
        spoke && self.link.on_readable(self.record)
    }
}

fn exit_of(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}
