//! The exit codes of the process.

use std::process::ExitCode;

use roost_model::session::TaskOutcome;

/// How a command ended; the numbers are documented in `docs/cli.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The command did what it was asked to do.
    Completed = 0,
    /// The command or its task failed, or a check found a problem.
    Failed = 1,
    /// The arguments or the configuration are wrong.
    Usage = 2,
    /// A signal stopped the command, or its task was stopped.
    Stopped = 130,
}

impl From<TaskOutcome> for Exit {
    fn from(outcome: TaskOutcome) -> Self {
        match outcome {
            TaskOutcome::Completed => Self::Completed,
            TaskOutcome::Failed => Self::Failed,
            TaskOutcome::Stopped => Self::Stopped,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
