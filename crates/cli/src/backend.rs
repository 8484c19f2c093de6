//! The interface through which commands use the daemon's own parts; the composition root implements it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use roost_log::Log;
use roost_model::ids::ArtifactId;
use roost_model::registry::{RuntimeRegistry, RuntimeStatus};
use roost_model::runtime::{AuthStatus, RuntimeCapabilities, RuntimeName};
use roost_model::session::SessionRecord;
use roost_process::{Isolation, Raise};

use crate::cmd::serve;
use crate::error::Error;
use crate::exit::Exit;
use crate::paths::StateDir;

/// What a command does while the daemon's parts run in its process.
pub type Work<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// The daemon's own parts, as far as commands need them in their own process.
#[async_trait(?Send)]
pub trait Backend {
    /// The part of `roost.toml` and the environment that commands use.
    fn settings(&self) -> CommandSettings;

    /// Carries out `roost serve`; returns when the daemon has ended.
    async fn serve(&self, args: &serve::Args) -> Result<Exit, Error>;

    /// Runs the daemon's parts in this process while `work` runs, in this state directory, and ends everything that they
    /// started. `codex` is the program to use for Codex, if it is not the configured one.
    async fn standalone(&self, state: &StateDir, codex: Option<String>, work: Work<'_>) -> Result<(), Error>;

    /// Opens the log for a command that only reads. After a crash, the first command recovers the log; while another
    /// process holds the state directory, or an agent waits for the next daemon, the log is read as it is.
    async fn read_log(&self, command: &str) -> Result<Arc<dyn Log>, Error>;

    /// Every runtime, each looked at where its sessions live.
    async fn survey(&self) -> Result<RuntimeRegistry, Error>;

    /// Every runtime and whether it can be started from here. Quicker than [`Backend::survey`], because no login is
    /// checked.
    async fn installations(&self) -> Result<Vec<Installation>, Error>;

    /// The version, login and capabilities of one runtime; `None` if it is not configured any more.
    async fn report(&self, runtime: &RuntimeName) -> Result<Option<RuntimeReport>, Error>;

    /// The sessions that runtimes keep of a directory by themselves, without those that are hosted already.
    async fn native_sessions(&self, cwd: &Path, hosted: &[SessionRecord]) -> Result<NativeSessions, Error>;

    /// Checks a runtime's login in the home of this namespace's sessions, and returns how to log in.
    async fn login(&self, runtime: String, namespace: Option<&str>) -> Result<Login, Error>;

    /// The bytes of an artifact.
    async fn artifact(&self, id: &ArtifactId) -> Result<Vec<u8>, ArtifactLoss>;

    /// Starts this very binary under a holder, with the state directory hidden like this, and waits until nothing of it
    /// is left.
    async fn try_holder(&self, hide_state: Option<Raise>) -> Result<roost_process::Exit, String>;
}

/// The part of the configuration that commands look at.
pub struct CommandSettings {
    /// The configured TCP address of the daemon.
    pub listen: SocketAddr,
    /// The runtime of sessions that name none, if it is configured.
    pub default_runtime: Option<String>,
    /// The folder that clients find without asking for it, if it is configured.
    pub repo: Option<PathBuf>,
    /// Clients other than the command line may use the mode `yolo`.
    pub allow_yolo: bool,
    /// When agents are kept from the state directory; never if absent.
    pub hide_state: Option<Raise>,
    /// The configured isolation by runtime id; runtimes without one use the default.
    pub isolation: BTreeMap<String, Isolation>,
}

/// A runtime and whether it can be started.
pub struct Installation {
    /// The id by which `roost.toml` and commands name it.
    pub id: String,
    /// Whether it may be used.
    pub status: RuntimeStatus,
    /// Its version, when it tells; or why it cannot be started, and what to do.
    pub version: Result<Option<String>, String>,
    /// What to know about its version, if it is one that Roost was not tested with.
    pub note: Option<String>,
}

/// The facts about a runtime in a support bundle.
pub struct RuntimeReport {
    /// Its version, when it tells; or why it cannot be started, and what to do.
    pub version: Result<Option<String>, String>,
    /// Whether somebody is logged in.
    pub auth: AuthStatus,
    /// The capabilities that its adapter declares.
    pub capabilities: RuntimeCapabilities,
}

/// The sessions of a directory that runtimes keep in their own history.
pub struct NativeSessions {
    /// Sessions that Roost does not host, in the form of its own records.
    pub sessions: Vec<SessionRecord>,
    /// Messages about runtimes whose sessions could not be listed.
    pub notices: Vec<String>,
}

/// The login state of a runtime, and how to change it.
pub struct Login {
    /// Whether somebody is logged in.
    pub status: AuthStatus,
    /// The adapter's advice on logging in; `None` if it has none.
    pub hint: Option<String>,
    /// Its own command for it, where it has one.
    pub command: Option<LoginCommand>,
    /// The isolation of the sessions that this login is for.
    pub isolation: Isolation,
}

/// A command by which a person logs in.
pub struct LoginCommand {
    /// The runtime's own program, by path or name.
    pub program: OsString,
    /// The arguments that make it log in.
    pub args: Vec<OsString>,
    /// The complete environment of its sessions; nothing else is passed on but what finds a browser.
    pub env: BTreeMap<String, String>,
}

/// Why an artifact cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactLoss {
    /// The bytes on disk are not those that were stored.
    Changed,
    /// The file does not exist or cannot be read.
    Missing,
}
