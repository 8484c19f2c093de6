//! How a call ended.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};
use wasmtime::{Trap, WasmBacktrace};

use crate::grants::Denied;
use crate::limits::LimitReached;

/// What a call cost and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct CallReport {
    /// The result, or why there is none.
    pub outcome: Result<ToolSuccess, ToolFailure>,
    /// The fuel that it used.
    pub fuel_used: u64,
    /// From the call to its end, waiting included.
    pub duration: Duration,
}

/// The result of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSuccess {
    /// The result as the tool's output schema describes it.
    pub structured: Map<String, Value>,
    /// The result as text.
    pub text: String,
}

/// An error of a tool, for the agent that called it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// The exported function that was called.
    pub function: String,
    /// The kind of failure.
    pub kind: FailureKind,
    /// What happened, and what to do about it.
    pub message: String,
    /// The fuel that it used until then, at least: what ran between its last call and a trap is not counted.
    pub fuel_used: u64,
}

impl fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {} (fuel used: {})", self.function, self.message, self.fuel_used)
    }
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The module did something that wasm does not allow, or gave up.
    Trap,
    /// Its fuel is used up.
    OutOfFuel,
    /// Its time is up.
    Timeout,
    /// It wanted more memory or a larger table than it may have.
    OutOfMemory,
    /// It called itself too deeply.
    StackOverflow,
    /// Its result is too large.
    OutputTooLarge,
    /// It did something that it was not granted.
    Denied,
    /// It ended itself with a code that is no success.
    Exited,
    /// It ran to its end and returned an error: nothing is wrong with the module.
    Returned,
}

impl FailureKind {
    /// Whether the service is at fault; an error that it returned on purpose says nothing against it.
    pub fn is_fault(self) -> bool {
        !matches!(self, Self::Returned | Self::Denied)
    }
}

/// Why a call was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The service has no such tool.
    #[error("the service has no tool \"{0}\"; tools/list names those it has")]
    UnknownTool(String),
    /// The arguments do not fit the tool's schema.
    #[error("invalid arguments for {tool}: {reason}")]
    InvalidArguments {
        /// The tool's name.
        tool: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// Too many calls wait already.
    #[error("{0} calls of the service are waiting already; try again later")]
    Busy(usize),
    /// Its turn did not come.
    #[error(
        "no instance was free for {0:?}: other calls of this service, or of all modules, have them; try again later"
    )]
    NoTurn(Duration),
}

/// What a host function ends a call with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HostTrap {
    /// The module passed something that cannot be used, or said that it is broken.
    #[error("{0}")]
    Fault(String),
    /// The module ended itself.
    #[error("it exited with code {0}")]
    Exit(i64),
    /// The module returned an error that its signature has.
    #[error("{0}")]
    Returned(String),
}

impl HostTrap {
    /// An error for the module to end with.
    pub(crate) fn fault(message: impl Into<String>) -> wasmtime::Error {
        Self::Fault(message.into()).into()
    }
}

/// What an error of the engine means, for people.
pub(crate) fn classify(error: &wasmtime::Error) -> (FailureKind, String) {
    if let Some(limit) = error.downcast_ref::<LimitReached>() {
        let kind = match limit {
            LimitReached::Memory { .. } | LimitReached::Table { .. } => FailureKind::OutOfMemory,
            LimitReached::Output { .. } => FailureKind::OutputTooLarge,
            LimitReached::Time(_) => FailureKind::Timeout,
        };
        return (kind, limit.to_string());
    }
    if let Some(denied) = error.downcast_ref::<Denied>() {
        return (FailureKind::Denied, denied.to_string());
    }
    if let Some(exit) = error.downcast_ref::<wasmtime_wasi::I32Exit>() {
        return (FailureKind::Exited, format!("it exited with code {}", exit.0));
    }
    let place = innermost_function(error).map(|name| format!(" in {name}")).unwrap_or_default();
    if let Some(trap) = error.downcast_ref::<HostTrap>() {
        let kind = match trap {
            HostTrap::Fault(_) => FailureKind::Trap,
            HostTrap::Exit(_) => FailureKind::Exited,
            HostTrap::Returned(_) => return (FailureKind::Returned, trap.to_string()),
        };
        return (kind, format!("{trap}{place}"));
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => {
            let advice = "it used up its fuel; raise limits.fuel in its manifest";
            (FailureKind::OutOfFuel, format!("{advice}{place}"))
        }
        Some(Trap::Interrupt) => (FailureKind::Timeout, format!("it was interrupted{place}")),
        Some(Trap::StackOverflow) => (FailureKind::StackOverflow, format!("it called itself too deeply{place}")),
        Some(trap) => (FailureKind::Trap, format!("{trap}{place}")),
        // The engine has no public type for it.
        None if error.root_cause().to_string().starts_with("too much data is being copied") => {
            let advice = "it passes more to the host than a result may have; raise limits.outputBytes in its manifest";
            (FailureKind::OutputTooLarge, advice.into())
        }
        None => (FailureKind::Trap, format!("{}{place}", error.root_cause())),
    }
}

fn innermost_function(error: &wasmtime::Error) -> Option<String> {
    let frame = error.downcast_ref::<WasmBacktrace>()?.frames().first()?;
    Some(frame.func_name().map_or_else(|| format!("function {}", frame.func_index()), str::to_owned))
}
