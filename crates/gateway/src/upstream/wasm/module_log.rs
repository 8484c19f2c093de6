//! What a module prints, in the log of its service.

use std::sync::Arc;

use roost_wasm::{LogLine, LogSink};

use crate::upstream::service_log::{LogSource, ServiceLog};

/// Passes the lines of a module on to the log of its service.
pub(super) struct ModuleLog(pub(super) Arc<dyn ServiceLog>);

impl LogSink for ModuleLog {
    fn write(&self, line: LogLine) {
        self.0.line(LogSource::Module, &line.text);
    }
}
