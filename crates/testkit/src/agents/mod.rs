//! The real agents that tests run: the commands that `cargo xtask fixtures` installs, and homes in which they talk to a
//! scripted model and to nobody else. With `ROOST_TEST_AGENTS=newest` in the environment they are the newest releases
//! (`cargo xtask fixtures --newest`), otherwise the pinned ones.

#[path = "../../../../xtask/src/fixtures/locked_packages.rs"]
mod locked_packages;
mod sandbox;

use std::env;
use std::path::PathBuf;

use locked_packages::{AgentSet, SET_VARIABLE};

pub use sandbox::{Sandbox, opencode_config, variables, write_settings};

/// A coding agent that tests run.
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

    /// The version that is installed, as its `package.json` says.
    pub fn version(self) -> String {
        let package = agent_set().package(self.command()).expect("every agent is locked");
        package.dependency().expect("its manifest pins a version").1
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

/// The path of an installed command: an agent, or `node`.
///
/// # Panics
///
/// If it is not installed.
pub fn program(command: &str) -> PathBuf {
    let program = bin().join(command);
    assert!(program.is_file(), "{} is missing: run `cargo xtask fixtures`", program.display());
    program
}

/// The folder of all installed commands, for a `PATH`. It is found from `XDG_CACHE_HOME` and `HOME`, as by xtask.
pub fn bin() -> PathBuf {
    agent_set().folder(&cache()).join("bin")
}

/// The project's cache, which is xtask's too.
fn cache() -> PathBuf {
    let cache = locked_packages::cache_dir(env::var_os("XDG_CACHE_HOME").map(PathBuf::from), env::home_dir());
    cache.expect("HOME or XDG_CACHE_HOME is set to an absolute path")
}

/// The folder of the installed ACP clients: `node_modules` with `acpx` and the TypeScript SDK, `python/bin/python` with
/// the Python SDK.
///
/// # Panics
///
/// If they are not installed.
pub fn acp_clients() -> PathBuf {
    let folder = locked_packages::acp_clients_folder(&cache());
    assert!(folder.join("python").is_dir(), "{} is missing: run `cargo xtask fixtures`", folder.display());
    folder
}

/// The folder of the installed MCP tools: `node_modules` with the conformance suite, the inspector and
/// `server-everything`. They run with [`program`]`("node")`.
///
/// # Panics
///
/// If they are not installed.
pub fn mcp_tools() -> PathBuf {
    let folder = locked_packages::mcp_tools_folder(&cache());
    assert!(folder.is_dir(), "{} is missing: run `cargo xtask fixtures`", folder.display());
    folder
}

/// The set of agents that the environment chooses.
fn agent_set() -> AgentSet {
    match env::var(SET_VARIABLE).as_deref() {
        Ok("newest") => AgentSet::Newest,
        Ok(other) => panic!("{SET_VARIABLE}={other}: only `newest` is known"),
        Err(_) => AgentSet::Pinned,
    }
}
