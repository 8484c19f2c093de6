//! What the process ends with.

use std::process::ExitCode;

use roost_model::session::TaskOutcome;

/// How a command ended; the numbers are documented in `docs/cli.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// It did what was asked.
    Completed = 0,
    /// It did not.
    Failed = 1,
    /// It was asked in a way that cannot work.
    Usage = 2,
    /// Somebody stopped it.
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
