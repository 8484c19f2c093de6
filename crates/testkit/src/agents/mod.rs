//! The real agents that tests run: the pinned commands that `cargo xtask fixtures` installs, and homes in which they
//! talk to a scripted model and to nobody else.

#[path = "../../../../xtask/src/fixtures/place.rs"]
mod place;
mod sandbox;

use std::env;
use std::path::PathBuf;

use serde_json::Value;

pub use sandbox::{Sandbox, furnish, opencode_config, variables};

/// A real agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// The Gemini CLI.
    Gemini,
    /// OpenCode.
    OpenCode,
    /// Claude Code as an ACP agent.
    ClaudeAcp,
    /// Codex as an ACP agent.
    CodexAcp,
}

impl Agent {
    /// Every agent there is.
    pub const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::OpenCode, Self::ClaudeAcp, Self::CodexAcp];

    /// Its command.
    pub fn command(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::ClaudeAcp => "claude-agent-acp",
            Self::CodexAcp => "codex-acp",
        }
    }

    /// The version that is pinned.
    pub fn version(self) -> String {
        let locked = place::LOCKED.iter().find(|locked| locked.name == self.command()).expect("every agent is locked");
        let manifest: Value = serde_json::from_str(locked.manifest).unwrap();
        let mut pinned = manifest["dependencies"].as_object().into_iter().flat_map(|pinned| pinned.values());
        pinned.next().and_then(Value::as_str).expect("its manifest pins a version").to_owned()
    }

    /// Where it is installed.
    ///
    /// # Panics
    ///
    /// If it is not installed.
    pub fn program(self) -> PathBuf {
        program(self.command())
    }
}

/// Where a pinned command is installed: an agent, or `node`.
///
/// # Panics
///
/// If it is not installed.
pub fn program(command: &str) -> PathBuf {
    let program = bin().join(command);
    assert!(program.is_file(), "{} is missing: run `cargo xtask fixtures`", program.display());
    program
}

/// The folder of all pinned commands, for a `PATH`.
pub fn bin() -> PathBuf {
    let cache = place::cache(env::var_os("XDG_CACHE_HOME").map(PathBuf::from), env::home_dir());
    place::agents(&cache.expect("HOME or XDG_CACHE_HOME is set to an absolute path")).join("bin")
}
