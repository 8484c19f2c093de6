//! Gives commands the daemon's own parts, composed from the configuration in the command's process.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use roost_cli::{
    ArtifactLoss, Backend, CommandSettings, Exit, Installation, Launch, Login, NativeSessions, RuntimeReport,
    ServeArgs, StateDir, Work, config_file, working_directory,
};
use roost_engine::adapter::Availability;
use roost_engine::{ArtifactError, Artifacts, HistoryEntry, Homes, namespaces, version_note};
use roost_log::Log;
use roost_model::ids::ArtifactId;
use roost_model::registry::RuntimeRegistry;
use roost_model::runtime::{RuntimeEnv, RuntimeName};
use roost_model::session::SessionRecord;
use roost_process::{Raise, RunId};

use crate::compose;
use crate::config::Config;
use crate::error::Error;
use crate::{login, serve};

/// The [`Backend`] of one command; parts are composed when a command asks for them.
struct Composition {
    launch: Launch,
    config: Config,
}

/// Reads the configuration and returns the backend of a command.
pub(crate) fn open(launch: Launch) -> Result<Box<dyn Backend>, roost_cli::Error> {
    let config = match &launch.config_file {
        Some(named) => Config::read(named, std::env::vars_os()),
        None => Config::read_if_there(&config_file()?, std::env::vars_os()),
    };
    Ok(Box::new(Composition { launch, config: config.map_err(Error::from)? }))
}

#[async_trait(?Send)]
impl Backend for Composition {
    fn settings(&self) -> CommandSettings {
        let config = &self.config;
        CommandSettings {
            default_runtime: config.default_runtime.clone(),
            listen: (config.server.host, config.server.port).into(),
            repo: config.server.repo.clone(),
            allow_yolo: config.policy.allow_yolo,
            hide_state: config.security.hide_state.raise(),
            isolation: compose::isolation(config),
        }
    }

    async fn serve(&self, args: &ServeArgs) -> Result<Exit, roost_cli::Error> {
        serve::run(args, &self.launch, &self.config).await
    }

    async fn standalone(
        &self,
        state: &StateDir,
        codex: Option<String>,
        work: Work<'_>,
    ) -> Result<(), roost_cli::Error> {
        let mut config = self.config.clone();
        if let Some(program) = codex {
            config.runtimes.entry("codex".into()).or_default().command = Some(program);
        }
        Ok(serve::standalone(state, &config, work).await?)
    }

    async fn read_log(&self, command: &str) -> Result<Arc<dyn Log>, roost_cli::Error> {
        Ok(compose::reader(&self.launch.state, &self.config, command).await?)
    }

    async fn survey(&self) -> Result<RuntimeRegistry, roost_cli::Error> {
        let (state, config) = (&self.launch.state, &self.config);
        let (environments, isolation) = (compose::environments(state), compose::isolation(config));
        let homes = Homes { environments: &environments, isolation: &isolation };
        Ok(compose::runtimes(state, config)?.surveyed(&homes).await)
    }

    async fn installations(&self) -> Result<Vec<Installation>, roost_cli::Error> {
        let env = environment()?;
        let mut installations = Vec::new();
        for entry in compose::runtimes(&self.launch.state, &self.config)?.iter() {
            let id = entry.adapter.name().id().to_owned();
            let version = version(entry.adapter.availability(&env).await);
            let installed = version.as_ref().ok().and_then(Option::as_deref);
            let note = installed.and_then(|version| version_note(&*entry.adapter, version));
            installations.push(Installation { id, status: entry.status, version, note });
        }
        Ok(installations)
    }

    async fn report(&self, runtime: &RuntimeName) -> Result<Option<RuntimeReport>, roost_cli::Error> {
        let runtimes = compose::runtimes(&self.launch.state, &self.config)?;
        let Some(entry) = runtimes.iter().find(|entry| entry.adapter.name() == *runtime) else { return Ok(None) };
        let env = environment()?;
        Ok(Some(RuntimeReport {
            version: version(entry.adapter.availability(&env).await),
            auth: entry.adapter.auth_status(&env).await,
            capabilities: entry.adapter.capabilities(),
        }))
    }

    async fn native_sessions(&self, cwd: &Path, hosted: &[SessionRecord]) -> Result<NativeSessions, roost_cli::Error> {
        let native_history = compose::native_history(&self.launch.state, &self.config)?;
        let mut listing = native_history.list(&cwd.to_string_lossy(), &namespaces(hosted), None).await;
        listing.leave_out(hosted);
        Ok(NativeSessions {
            sessions: listing.sessions.iter().map(HistoryEntry::record).collect(),
            notices: listing.notices,
        })
    }

    async fn login(&self, runtime: String, namespace: Option<&str>) -> Result<Login, roost_cli::Error> {
        Ok(login::prepare(&self.launch.state, &self.config, runtime, namespace).await?)
    }

    async fn artifact(&self, id: &ArtifactId) -> Result<Vec<u8>, ArtifactLoss> {
        Artifacts::new(self.launch.state.artifacts()).get(id).await.map_err(|error| match error {
            ArtifactError::Changed { .. } => ArtifactLoss::Changed,
            ArtifactError::BadId(_) | ArtifactError::NotFound(_) | ArtifactError::Io { .. } => ArtifactLoss::Missing,
        })
    }

    async fn try_holder(&self, hide_state: Option<Raise>) -> Result<roost_process::Exit, String> {
        let roost = std::env::current_exe().map_err(|error| error.to_string())?;
        let launch = roost_process::Launch {
            run: RunId::fresh(),
            label: "doctor".into(),
            program: roost.clone().into(),
            args: vec!["--version".into()],
            cwd: "/".into(),
            env: compose::environment(),
            stderr_lines: None,
        };
        let wall = compose::wall(&self.launch.state, hide_state).map_err(|error| error.to_string())?;
        let holder = compose::holder(&roost, &self.launch.state, wall);
        let running = holder.spawn(launch).await.map_err(|error| error.to_string())?;
        Ok(running.control.gone().await)
    }
}

/// The environment that a runtime would be started with here.
fn environment() -> Result<RuntimeEnv, roost_cli::Error> {
    let text = |(name, value): (&std::ffi::OsStr, &std::ffi::OsStr)| {
        Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
    };
    Ok(RuntimeEnv {
        cwd: working_directory(None)?.display().to_string(),
        env: compose::environment().iter().filter_map(text).collect(),
        credential_namespace: String::new(),
        isolation: None,
    })
}

fn version(availability: Availability) -> Result<Option<String>, String> {
    match availability {
        Availability::Installed { version } => Ok(version),
        Availability::Missing { reason } => Err(reason),
    }
}
