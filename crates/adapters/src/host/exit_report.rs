//! Describes how a runtime ended, for the requests and the turn that still wait for it.

use roost_engine::adapter::AdapterError;
use roost_model::failure::{FailureCode, TaskError};
use roost_process::{Exit, StderrTail};

use super::Connection;

/// How a runtime ended.
#[derive(Clone, Debug)]
pub(crate) struct ExitReport {
    /// The beginning of a sentence, such as "the agent exited with code 1"; callers add when it happened.
    what: String,
    /// The last lines of stderr; `None` if it printed nothing there or the process is not ours.
    stderr_tail: Option<String>,
}

impl ExitReport {
    /// Builds the report. Without an `exit` the process has only closed its output or its connection and may still run.
    pub(crate) fn new<C: Connection>(exit: Option<Exit>, stderr: Option<&StderrTail>) -> Self {
        let how = match exit {
            Some(Exit::Code(code)) => format!("exited with code {code}"),
            Some(Exit::Signal(signal)) => format!("was killed by signal {signal}"),
            Some(Exit::Unknown) => "ended".to_owned(),
            None if C::STDIO => "closed its output".to_owned(),
            None => "hung up".to_owned(),
        };
        let stderr_tail = stderr.map(StderrTail::text).filter(|text| !text.is_empty());
        Self { what: format!("{} {how}", C::NAME), stderr_tail }
    }

    /// The error for a request that will not be answered; `when` ends the sentence, as in "before it answered".
    pub(crate) fn error(&self, when: &str) -> AdapterError {
        AdapterError::Exited { message: format!("{} {when}", self.what), stderr_tail: self.stderr_tail.clone() }
    }

    /// The failure of the turn that was running.
    pub(crate) fn failure(&self) -> TaskError {
        let message = format!("{} in the middle of the task", self.what);
        let mut error = TaskError::new(FailureCode::RuntimeExited, message);
        error.stderr_tail.clone_from(&self.stderr_tail);
        error
    }
}
