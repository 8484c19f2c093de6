//! A runtime without a process: the test is the agent.
//!
//! Every step that the engine wants waits until the test takes it, so a runtime that is slow, deaf or stuck is one whose
//! step the test leaves alone.

mod adapter;
mod past;
mod session;
mod task;

pub use adapter::{FakeAdapter, FakeRuntimes, How, Opening};
pub use past::FakePast;
pub use session::{FakeSession, SlowToClose};
pub use task::{EngineMessage, FakeTask};

/// Steps that may wait for the test; no test leaves more alone.
const STEPS: usize = 1024;
