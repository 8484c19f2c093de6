//! The real agents that tests run: the pinned commands that `cargo xtask fixtures` installs, and homes in which they
//! talk to a scripted model and to nobody else.

#[path = "../../../../xtask/src/fixtures/locked_packages.rs"]
mod locked_packages;
mod sandbox;

use std::env;
use std::path::PathBuf;

use serde_json::Value;

pub use sandbox::{Sandbox, opencode_config, variables, write_settings};

/// A coding agent whose pinned version tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code, over its own JSON lines.
    Claude,
    /// Codex, over its app server or `codex exec`.
    Codex,
    /// The Gemini CLI, over ACP.
    Gemini,
    /// OpenCode, over its HTTP server.
    OpenCode,
    /// Claude Code behind the `claude-agent-acp` bridge.
    ClaudeAcp,
    /// Codex behind the `codex-acp` bridge.
    CodexAcp,
}

impl Agent {
    /// Every agent, in the order of the variants.
    pub const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::OpenCode, Self::ClaudeAcp, Self::CodexAcp];

    /// The name of its command, as `cargo xtask fixtures` installs it.
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

    /// The pinned version, as its `package.json` says.
    pub fn version(self) -> String {
        let locked =
            locked_packages::LOCKED.iter().find(|locked| locked.name == self.command()).expect("every agent is locked");
        let manifest: Value = serde_json::from_str(locked.manifest).unwrap();
        let mut pinned = manifest["dependencies"].as_object().into_iter().flat_map(|pinned| pinned.values());
        pinned.next().and_then(Value::as_str).expect("its manifest pins a version").to_owned()
    }

    /// The path of its installed program.
    ///
    /// # Panics
    ///
    /// If it is not installed.
    pub fn program(self) -> PathBuf {
        program(self.command())
    }
}

/// The path of a pinned command: an agent, or `node`.
///
/// # Panics
///
/// If it is not installed.
pub fn program(command: &str) -> PathBuf {
    let program = bin().join(command);
    assert!(program.is_file(), "{} is missing: run `cargo xtask fixtures`", program.display());
    program
}

/// The folder of all pinned commands, for a `PATH`. It is found from `XDG_CACHE_HOME` and `HOME`, as by xtask.
pub fn bin() -> PathBuf {
    let cache = locked_packages::cache_dir(env::var_os("XDG_CACHE_HOME").map(PathBuf::from), env::home_dir());
    locked_packages::agents_dir(&cache.expect("HOME or XDG_CACHE_HOME is set to an absolute path")).join("bin")
}
