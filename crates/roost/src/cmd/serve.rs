//! `roost serve`: the daemon, from its first breath to its last.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use roost_log::StateLock;
use roost_process::Process;
use roost_server::{Limits, Parts, Server, Settings, Tcp, UploadLimits};

use crate::background::{self, Started};
use crate::cli::Context;
use crate::compose::{self, Roost, blocking};
use crate::config::{self, Tls};
use crate::connect;
use crate::daemon_file::DaemonFile;
use crate::diagnostics;
use crate::error::Error;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::pairing;
use crate::paths;
use crate::screen;
use crate::style::Style;
use crate::upkeep;

/// What the daemon calls itself where it holds something.
pub(crate) const NAME: &str = "roost serve";
/// How long another process may hold the state directory before this is given up.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a state directory that is held is looked at.
const POLL: Duration = Duration::from_millis(10);
/// How long everything may take to end.
const FAREWELL: Duration = Duration::from_secs(5);

const EXAMPLES: &str = "\
Examples:
  roost serve                                            on 127.0.0.1:8766, until Ctrl-C
  roost serve --port 0 --repo ~/src/app                  on any free port
  roost serve --host 0.0.0.0 --tls self-signed           for other machines, encrypted
  roost serve --host 0.0.0.0 --tls cert.pem,key.pem      with a certificate of yours

`roost` alone does the same and shows how to connect a device; `roost up` does it in the background.";

/// Serve clients until Ctrl-C
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    listen: Listen,
    /// Started by a command that needs a daemon: the socket only, and gone when nobody needs it any more
    #[arg(long, hide = true)]
    auto: bool,
    /// Started by `roost up`
    #[arg(long, hide = true)]
    background: bool,
    /// Show how to connect a device
    #[arg(skip)]
    pairs: bool,
}

impl Args {
    /// As if nothing was said: serve, and show how to connect.
    pub(crate) fn plain() -> Self {
        Self { listen: Listen::default(), auto: false, background: false, pairs: true }
    }
}

/// Where and how to listen; what is not said is as configured.
#[derive(Clone, Default, clap::Args)]
pub(crate) struct Listen {
    /// The address to listen on [default: server.host in roost.toml, else 127.0.0.1]
    #[arg(long, value_name = "IP")]
    pub(crate) host: Option<std::net::IpAddr>,
    /// The port; 0 means any free one [default: server.port in roost.toml, else 8766]
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// The folder that clients find without asking for it [default: server.repo in roost.toml, else here]
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
    /// Encryption: self-signed, or two files
    #[arg(long, value_name = "self-signed|CERT,KEY")]
    pub(crate) tls: Option<Tls>,
    /// Listen beyond this machine without encryption
    #[arg(long)]
    pub(crate) allow_insecure: bool,
}

impl Listen {
    /// The TCP side, unless it would be open to everybody on the network.
    fn tcp(&self, config: &config::Config) -> Result<Tcp, Error> {
        let server = &config.server;
        let host = self.host.unwrap_or(server.host);
        let tls = self.tls.clone().or_else(|| server.tls.clone());
        if !host.is_loopback() && tls.is_none() && !self.allow_insecure && !server.allow_insecure {
            return Err(Error::Insecure(host));
        }
        let port = self.port.unwrap_or(server.port);
        Ok(Tcp { address: (host, port).into(), tls: tls.map(Into::into), external_url: server.external_url.clone() })
    }

    /// The folder that clients find without asking for it.
    pub(crate) fn repo(&self, config: &config::Config) -> Result<PathBuf, Error> {
        compose::working_directory(self.repo.as_deref().or(config.server.repo.as_deref()))
    }
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    if !args.auto && !args.background {
        return serve(&args, context).await;
    }
    background::detach();
    match serve(&args, context).await {
        // Whoever started this waits to hear why it failed.
        Err(error) => {
            background::say_failed(&error).map_err(Error::Output)?;
            Ok(error.exit())
        }
        served => served,
    }
}

async fn serve(args: &Args, context: &Context) -> Result<Exit, Error> {
    if roost_process::is_inside_a_run() {
        return Err(Error::InsideAgent);
    }
    let interrupt = Interrupt::listen()?;
    let settings = settings(args, context)?;
    let is_background = args.auto || args.background;
    let Some(lock) = claim(context, args.auto).await? else {
        Started::Anothers.say().map_err(Error::Output)?;
        return Ok(Exit::Completed);
    };
    let _log = diagnostics::of_daemon(context, is_background)?;
    match roost_process::raise_open_files() {
        Ok(files) => tracing::debug!(files, "The limit of open files is raised."),
        Err(error) => tracing::warn!(%error, "The limit of open files stays as it is; `ulimit -n` shows it."),
    }
    let roost = Roost::start(lock, &context.state, &context.config).await?;
    let (server, url) = match listen(context, settings, &roost).await {
        Ok(listening) => listening,
        Err(error) => {
            roost.close().await;
            return Err(error);
        }
    };
    let told = if is_background { Started::Ours.say().map_err(Error::Output) } else { tell(args, &server, url).await };
    if let Err(error) = told {
        tracing::warn!(%error, "Nobody was told that the daemon listens.");
    }
    tokio::select! {
        () = interrupt.asked() => tracing::info!("A signal ends the daemon."),
        () = server.asked_to_stop() => tracing::info!("The daemon was asked to end, or is no longer needed."),
        () = upkeep::keep(&roost.store, &roost.engine, compose::retention(&context.config)) => {}
    }
    let file = context.state.daemon_file();
    let farewell = async {
        server.stop().await;
        // While the state directory is still ours: afterwards it may be a successor's file.
        let _ = tokio::fs::remove_file(file).await;
        roost.close().await;
    };
    if tokio::time::timeout(FAREWELL, farewell).await.is_err() {
        tracing::error!("Not everything ended in time; holders end what is left.");
    }
    Ok(Exit::Completed)
}

/// The state directory; `None` if another daemon serves it, where that is as good.
async fn claim(context: &Context, any_will_do: bool) -> Result<Option<StateLock>, Error> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match compose::lock(&context.state, NAME).await {
            Err(Error::Held { .. }) if Instant::now() < deadline => {}
            answer => return answer.map(Some),
        }
        match connect::look(&context.state).await? {
            Some(_) if any_will_do => return Ok(None),
            // It serves commands only, and this one will serve them too.
            Some((other, status)) if status.auto_started && status.running_tasks == 0 => {
                connect::dismiss(&other).await?
            }
            Some((_, status)) => {
                let at = status.address.unwrap_or_else(|| "its socket only".into());
                return Err(Error::AlreadyRuns { pid: status.pid, at });
            }
            // Somebody reads, is just starting or is just ending.
            None => {}
        }
        tokio::time::sleep(POLL).await;
    }
}

fn settings(args: &Args, context: &Context) -> Result<Settings, Error> {
    let config = &context.config;
    let (tcp, repo) = match args.auto {
        true => (None, None),
        false => (Some(args.listen.tcp(config)?), Some(args.listen.repo(config)?)),
    };
    Ok(Settings {
        tcp,
        socket: context.state.socket()?,
        repo,
        discover_in: paths::projects(config.server.discover_in.as_deref()),
        workspace_roots: paths::roots(config.workspaces.roots.as_deref()),
        config_dir: paths::config_file()?.parent().map(ToOwned::to_owned),
        require_auth: config.security.require_auth,
        require_pairing_approval: config.security.require_pairing_approval,
        pairing_token_secs: config.security.pairing_token_expiry_secs,
        allowed_origins: config.security.allowed_origins.clone(),
        allowed_hosts: config.security.allowed_hosts.clone(),
        allow_yolo: config.policy.allow_yolo,
        limits: (&config.limits).into(),
        auto_started: args.auto,
        idle_exit: config.daemon.idle_exit().filter(|_| args.auto),
    })
}

/// Opens the door and says so in `daemon.json`; gives its URL too, if it has one.
async fn listen(context: &Context, settings: Settings, roost: &Roost) -> Result<(Server, Option<String>), Error> {
    let scheme = if settings.tcp.as_ref().is_some_and(|tcp| tcp.tls.is_some()) { "https" } else { "http" };
    let auto_started = settings.auto_started;
    let version = env!("CARGO_PKG_VERSION");
    let parts = Parts {
        engine: roost.engine.clone(),
        log: roost.log.clone(),
        state: context.state.dir().into(),
        version: version.into(),
    };
    if let Some(folder) = settings.socket.parent().map(ToOwned::to_owned) {
        blocking(move || Ok(roost_log::secure(&folder)?)).await?;
    }
    let server = Server::start(parts, settings).await?;
    let address = server.address().map(|address| address.to_string());
    let pid = std::process::id();
    let url = address.as_ref().map(|address| format!("{scheme}://{address}"));
    let file = DaemonFile {
        process: Process::of(pid).unwrap_or(Process { pid, start_time: 0 }),
        address,
        http: url.clone(),
        socket: server.socket().into(),
        auto_started,
        version: version.into(),
    };
    tracing::info!(pid, address = file.address, socket = %file.socket.display(), version, "The daemon listens.");
    let path = context.state.daemon_file();
    blocking(move || file.write(&path).map_err(|source| Error::State { path, source })).await?;
    Ok((server, url))
}

/// Says in the foreground where it listens, and how to connect if that is asked for.
async fn tell(args: &Args, server: &Server, url: Option<String>) -> Result<(), Error> {
    let style = Style::of_stdout();
    let how = match args.pairs {
        true => pairing::shown(style, &server.pair_info().await?),
        false => String::new(),
    };
    let url = url.unwrap_or_else(|| server.socket().display().to_string());
    screen::print(&format!("{how}Roost listens on {}; Ctrl-C ends it.", style.bold(url)))
}

impl From<Tls> for roost_server::Tls {
    fn from(tls: Tls) -> Self {
        match tls {
            Tls::SelfSigned => Self::SelfSigned,
            Tls::Files { cert, key } => Self::Files { cert, key },
        }
    }
}

impl From<&config::Limits> for Limits {
    fn from(limits: &config::Limits) -> Self {
        Self {
            changes_per_minute: limits.changes_per_minute,
            starts_per_minute: limits.starts_per_minute,
            uploads_per_minute: limits.uploads_per_minute,
            uploads: UploadLimits {
                one: u64::from(limits.upload_mb.get()) << 20,
                count: limits.uploads_kept.get() as usize,
                all: u64::from(limits.uploads_total_mb.get()) << 20,
                keep: Duration::from_mins(limits.upload_minutes.get().into()),
            },
            reads_per_minute: limits.reads_per_minute,
            sockets_per_token: limits.sockets_per_token,
            max_body_bytes: limits.max_body_bytes,
            max_frame_bytes: limits.max_frame_bytes,
            unfinished_bytes: limits.unfinished_bytes,
            connections: limits.connections,
            connections_per_address: limits.connections_per_address,
            request_time: Duration::from_secs(limits.request_seconds.get().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_are_not_configured_are_those_of_the_door() {
        assert_eq!(Limits::from(&config::Limits::default()), Limits::default());
    }

    #[test]
    fn only_this_machine_is_listened_to_without_encryption_or_a_clear_word() {
        let listen = |host: &str, tls, allow_insecure| {
            let listen = Listen { host: Some(host.parse().unwrap()), tls, allow_insecure, ..Listen::default() };
            listen.tcp(&config::Config::default()).map(|tcp| tcp.address.to_string())
        };
        assert_eq!(listen("127.0.0.1", None, false).unwrap(), "127.0.0.1:8766");
        assert_eq!(listen("::1", None, false).unwrap(), "[::1]:8766");
        assert!(matches!(listen("0.0.0.0", None, false), Err(Error::Insecure(_))));
        assert!(matches!(listen("192.0.2.1", None, false), Err(Error::Insecure(_))));
        assert!(listen("0.0.0.0", Some(Tls::SelfSigned), false).is_ok());
        assert!(listen("0.0.0.0", None, true).is_ok());
    }
}
