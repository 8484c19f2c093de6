//! How a runtime went, for whoever still waits for it.

use roost_engine::adapter::AdapterError;
use roost_model::failure::{FailureCode, TaskError};
use roost_process::{Exit, StderrTail};

use super::Connection;

/// How a runtime went.
#[derive(Clone, Debug)]
pub(crate) struct ExitReport {
    /// A sentence without its end: who, and how.
    what: String,
    /// The end of what it printed to stderr, if it printed anything.
    stderr_tail: Option<String>,
}

impl ExitReport {
    /// The report about a runtime whose process ended like this; without an exit it only stopped talking.
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

    /// The error for a request that is not answered any more; `when` ends the sentence.
    pub(crate) fn error(&self, when: &str) -> AdapterError {
        AdapterError::Exited { message: format!("{} {when}", self.what), stderr_tail: self.stderr_tail.clone() }
    }

    /// The failure of the turn that ran.
    pub(crate) fn failure(&self) -> TaskError {
        let message = format!("{} in the middle of the task", self.what);
        let mut error = TaskError::new(FailureCode::RuntimeExited, message);
        error.stderr_tail.clone_from(&self.stderr_tail);
        error
    }
}
