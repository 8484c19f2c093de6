//! A whole Roost in a folder of its own: log, holder, engine and the demo agent, as the CLI puts them together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use roost_adapters::demo;
use roost_engine::{Accepted, Config, Engine, Environments, NewSession, Prompt, Runtimes};
use roost_log::{Log, LogOptions, SqliteLog, StateLock};
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::registry::RuntimeStatus;
use roost_process::{Environment, Holder, Isolation, Ladder};
use tempfile::TempDir;

use crate::Outcome;

/// The `dist` build of Roost that is measured.
pub(crate) fn roost() -> Outcome<PathBuf> {
    from_env("ROOST_BIN")
}

/// A path that `cargo xtask bench` passes in the environment.
pub(crate) fn from_env(name: &str) -> Outcome<PathBuf> {
    Ok(std::env::var_os(name).ok_or_else(|| format!("{name} is not set; run `cargo xtask bench`"))?.into())
}

/// An engine with its log and the demo agent, in a temporary folder.
pub(crate) struct Stage {
    pub(crate) engine: Engine,
    pub(crate) log: Arc<dyn Log>,
    pub(crate) cwd: PathBuf,
    _lock: StateLock,
    _folder: TempDir,
}

impl Stage {
    /// Starts Roost in a new folder, with room for this many runtimes.
    pub(crate) async fn start(max_sessions: usize) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let state = folder.path().join("state");
        let cwd = folder.path().join("work");
        std::fs::create_dir_all(&cwd)?;
        let lock = StateLock::acquire(&state, "roost-bench")?;
        let log: Arc<dyn Log> = Arc::new(SqliteLog::open(&lock, LogOptions::default())?);
        let roost = roost()?;
        let holder = holder(&roost, &state);
        let mut runtimes = Runtimes::default();
        runtimes.register(Arc::new(demo::adapter(&roost, holder.clone())), RuntimeStatus::Active);
        let environments = Environments {
            base: Environment::allowed_from(std::env::vars_os()),
            namespaces: state.join("namespaces"),
            isolation: Isolation::Shared,
        };
        let mut config = Config::new(environments, holder.records.clone(), state.join("artifacts"));
        config.max_sessions = max_sessions;
        let engine = Engine::start(log.clone(), runtimes, config).await?;
        Ok(Self { engine, log, cwd, _lock: lock, _folder: folder })
    }

    /// Makes a session of the demo agent that asks nobody.
    pub(crate) async fn session(&self) -> Outcome<SessionId> {
        self.session_in(Mode::Yolo).await
    }

    /// Makes a session of the demo agent.
    pub(crate) async fn session_in(&self, mode: Mode) -> Outcome<SessionId> {
        let new = NewSession { runtime: Some("demo".into()), mode, ..NewSession::within(self.cwd.clone()) };
        Ok(self.engine.create_session(new).await?)
    }

    /// Says something to a session that has nothing else to do.
    pub(crate) async fn prompt(&self, session: &SessionId, text: &str) -> Outcome {
        match self.engine.prompt(session.as_str(), Prompt::text(text)).await? {
            Accepted::Started(_) => Ok(()),
            Accepted::Queued(_) | Accepted::Steered(_) => Err("the session was busy".into()),
        }
    }
}

fn holder(roost: &Path, state: &Path) -> Arc<Holder> {
    Arc::new(Holder {
        program: roost.into(),
        args: vec!["hold".into()],
        records: state.join("run"),
        ladder: Ladder::default(),
        wall: None,
    })
}
