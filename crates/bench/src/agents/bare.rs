//! The bare CLIs, each driven over its own protocol without anything in between.

mod json_lines;
mod opencode;

use testkit::agents::{Agent, Sandbox};

use crate::Outcome;

/// A CLI with an open session, driven without Roost.
pub(super) trait Bare {
    /// Prompts, and returns when the first piece of the answer is there.
    fn first_delta(&mut self, prompt: &str) -> Outcome;

    /// Reads the rest of the turn, which [`Bare::first_delta`] began.
    fn finish_turn(&mut self) -> Outcome;
}

/// Starts a CLI in a sandbox of its own that asks the model at this URL.
pub(super) fn start(agent: Agent, model: &str) -> Outcome<Box<dyn Bare>> {
    let sandbox = Sandbox::new(model);
    Ok(match agent {
        Agent::OpenCode => Box::new(opencode::OpenCode::start(sandbox)?),
        Agent::Claude | Agent::ClaudeAcp => Box::new(json_lines::claude(sandbox)?),
        Agent::Codex => Box::new(json_lines::codex(sandbox)?),
        Agent::Gemini | Agent::CodexAcp => Box::new(json_lines::gemini(sandbox)?),
    })
}
