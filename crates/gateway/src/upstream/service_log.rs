//! Where a service's own words go: what its program prints, and what the gateway notices about it.

/// Who wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSource {
    /// The program, to stderr.
    Stderr,
    /// The program, to stdout, where only messages of the protocol belong.
    Stdout,
    /// A module that runs in the daemon.
    Module,
    /// The gateway, about what the service does.
    Gateway,
}

/// Takes the lines of one service. Must not block.
pub trait ServiceLog: Send + Sync + 'static {
    /// Takes one line.
    fn line(&self, source: LogSource, text: &str);

    /// Takes what is being done to start the service, where that takes its time.
    fn progress(&self, text: &str) {
        self.line(LogSource::Gateway, text);
    }
}
