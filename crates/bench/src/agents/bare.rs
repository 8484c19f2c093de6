//! The bare CLIs, each driven over its own protocol without anything in between.

mod lines;
mod served;

use testkit::agents::{Agent, Sandbox};

use crate::Outcome;

/// A CLI with an open session.
pub(super) trait Bare {
    /// Prompts, and returns when the first piece of the answer is there.
    fn first_delta(&mut self, prompt: &str) -> Outcome;

    /// Reads the turn to its end.
    fn rest(&mut self) -> Outcome;
}

/// Starts a CLI in a home of its own, with the model at this address.
pub(super) fn start(agent: Agent, model: &str) -> Outcome<Box<dyn Bare>> {
    let sandbox = Sandbox::new(model);
    Ok(match agent {
        Agent::OpenCode => Box::new(served::OpenCode::start(sandbox)?),
        Agent::Claude | Agent::ClaudeAcp => Box::new(lines::claude(sandbox)?),
        Agent::Codex => Box::new(lines::codex(sandbox)?),
        Agent::Gemini | Agent::CodexAcp => Box::new(lines::gemini(sandbox)?),
    })
}
