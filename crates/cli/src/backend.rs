//! What commands need of the daemon's own parts, for the composition root to give.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
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

/// The daemon's own parts, as far as commands need them in their own process.
#[async_trait(?Send)]
pub trait Backend {
    /// What `roost.toml` and the environment say, as far as commands look at it.
    fn settings(&self) -> CommandSettings;

    /// Carries out `roost serve`; returns when the daemon has ended.
    async fn serve(&self, args: &serve::Args) -> Result<Exit, Error>;

    /// The log for a command that only reads. Whoever comes first after a crash puts in order what it left; while
    /// another process holds the state directory, the log is as that one has written it.
    async fn read_log(&self, command: &str) -> Result<Arc<dyn Log>, Error>;

    /// Every runtime, each looked at where its sessions live.
    async fn survey(&self) -> Result<RuntimeRegistry, Error>;

    /// Every runtime and whether it can be started from here; quicker than [`Backend::survey`], as no login is looked
    /// for.
    async fn installations(&self) -> Result<Vec<Installation>, Error>;

    /// What is known of one runtime here; `None` if it is not configured any more.
    async fn report(&self, runtime: &RuntimeName) -> Result<Option<RuntimeReport>, Error>;

    /// The sessions that runtimes keep of a directory by themselves, without those that are hosted already.
    async fn native_sessions(&self, cwd: &Path, hosted: &[SessionRecord]) -> Result<NativeSessions, Error>;

    /// How to log in to a runtime, where its sessions of this namespace live.
    async fn login(&self, runtime: String, namespace: Option<&str>) -> Result<Login, Error>;

    /// The bytes of an artifact.
    async fn artifact(&self, id: &ArtifactId) -> Result<Vec<u8>, ArtifactLoss>;

    /// Starts this very binary under a holder, with the state directory hidden like this, and waits until nothing of it
    /// is left.
    async fn try_holder(&self, hide_state: Option<Raise>) -> Result<roost_process::Exit, String>;
}

/// The part of the configuration that commands look at.
pub struct CommandSettings {
    /// Where the daemon listens unless it is told otherwise.
    pub listen: SocketAddr,
    /// The folder that clients find without asking for it, if it is configured.
    pub repo: Option<PathBuf>,
    /// Clients other than the command line may use the mode `yolo`.
    pub allow_yolo: bool,
    /// When agents are kept from the state directory; never if absent.
    pub hide_state: Option<Raise>,
    /// How far single runtimes are kept apart, by their ids.
    pub isolation: BTreeMap<String, Isolation>,
}

/// A runtime and whether it can be started.
pub struct Installation {
    /// Its id.
    pub id: String,
    /// Whether it may be used.
    pub status: RuntimeStatus,
    /// Its version, when it tells; or why it cannot be started, and what to do.
    pub version: Result<Option<String>, String>,
}

/// What a support bundle says of a runtime.
pub struct RuntimeReport {
    /// Its version, when it tells; or why it cannot be started, and what to do.
    pub version: Result<Option<String>, String>,
    /// Whether somebody is logged in.
    pub auth: AuthStatus,
    /// What it can do.
    pub capabilities: RuntimeCapabilities,
}

/// What runtimes keep of a directory by themselves.
pub struct NativeSessions {
    /// The sessions, as records.
    pub sessions: Vec<SessionRecord>,
    /// Which runtimes do not tell, and why.
    pub notices: Vec<String>,
}

/// How to log in to a runtime.
pub struct Login {
    /// Whether somebody is logged in.
    pub status: AuthStatus,
    /// What the runtime says about logging in.
    pub hint: Option<String>,
    /// Its own command for it, where it has one.
    pub command: Option<LoginCommand>,
    /// How far its sessions are kept apart.
    pub isolation: Isolation,
}

/// A command by which a person logs in.
pub struct LoginCommand {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: BTreeMap<String, String>,
}

/// Why an artifact cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactLoss {
    /// The bytes on disk are not those that were stored.
    Changed,
    /// It is not here, or cannot be read.
    Missing,
}
