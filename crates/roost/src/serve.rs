//! `roost serve`: starts the daemon, waits for a reason to end, and shuts it down.

use std::time::{Duration, Instant};

use roost_cli::{
    DAEMON_NAME, Exit, Interrupt, Launch, Listen, ServeArgs, StartResult, StateDir, Tls, blocking, config_file, detach,
    find_with_status, lock, say_code_ended, say_failed, say_listening, stop_daemon,
};
use roost_log::StateLock;
use roost_process::Process;
use roost_server::{Limits, Parts, Server, Settings, Tcp, UploadLimits};

use crate::compose::{self, Roost};
use crate::config::{self, Config};
use crate::daemon_file::DaemonFile;
use crate::daemon_log;
use crate::error::Error;
use crate::folders;
use crate::gateway::Gateway;
use crate::upkeep;

/// How long to wait for another process that holds the state directory.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a held state directory is tried again.
const POLL: Duration = Duration::from_millis(10);
/// How long the shutdown may take before the process exits anyway.
const FAREWELL: Duration = Duration::from_secs(5);

/// Carries out `roost serve`. In the background, errors go to the command that started this process.
pub(crate) async fn run(args: &ServeArgs, launch: &Launch, config: &Config) -> Result<Exit, roost_cli::Error> {
    let served = async { serve(args, launch, config).await.map_err(roost_cli::Error::from) };
    if !args.auto && !args.background {
        return served.await;
    }
    detach();
    match served.await {
        // Whoever started this waits to hear why it failed.
        Err(error) => {
            say_failed(&error).map_err(roost_cli::Error::Output)?;
            Ok(error.exit())
        }
        served => served,
    }
}

async fn serve(args: &ServeArgs, launch: &Launch, config: &Config) -> Result<Exit, Error> {
    if roost_process::is_inside_a_run() {
        return Err(roost_cli::Error::InsideAgent.into());
    }
    let interrupt = Interrupt::listen()?;
    let settings = settings(args, launch, config)?;
    let is_background = args.auto || args.background;
    let Some(lock) = claim(launch, args.auto).await? else {
        StartResult::NotNeeded.say().map_err(roost_cli::Error::Output)?;
        return Ok(Exit::Completed);
    };
    let _log = daemon_log::begin(launch, &config.daemon, is_background)?;
    match roost_process::raise_open_files() {
        Ok(files) => tracing::debug!(files, "The limit of open files is raised."),
        Err(error) => tracing::warn!(%error, "The limit of open files stays as it is; `ulimit -n` shows it."),
    }
    let roost = Roost::start(lock, &launch.state, config).await?;
    let (roost, gateway, server, url) = start(launch, settings, roost, config).await?;
    let announced = match is_background {
        true => StartResult::Started.say().map(|()| None).map_err(|error| roost_cli::Error::Output(error).into()),
        false => announce(args, &server, url).await,
    };
    let shown_code = announced.unwrap_or_else(|error| {
        tracing::warn!(%error, "Nobody was told that the daemon listens.");
        None
    });
    tokio::select! {
        () = interrupt.stop_requested() => tracing::info!("A signal ends the daemon."),
        () = server.asked_to_stop() => tracing::info!("The daemon was asked to end, or is no longer needed."),
        () = watch_code(&server, shown_code) => {}
        () = upkeep::keep(&roost.store, &roost.engine, compose::retention(config)) => {}
    }
    shut_down(launch, server, gateway, roost).await;
    Ok(Exit::Completed)
}

async fn shut_down(launch: &Launch, server: Server, gateway: Gateway, roost: Roost) {
    let file = launch.state.daemon_file();
    let farewell = async {
        gateway.end_timers().await;
        server.stop().await;
        // While the state directory is still ours: afterwards it may be a successor's file.
        let _ = tokio::fs::remove_file(file).await;
        // Side by side: an agent may wait for a service, and a service for an agent's answer.
        tokio::join!(gateway.close(), roost.end_sessions());
        // Last, so that every call that ended with a session or a service is recorded.
        roost.close().await;
    };
    if tokio::time::timeout(FAREWELL, farewell).await.is_err() {
        tracing::error!("Not everything ended in time; holders end what is left.");
    }
}

/// Runs the daemon's parts in this process while `work` runs, in a state directory of its own. Only its local socket is
/// served, and everything that it started ends with it.
pub(crate) async fn standalone(state: &StateDir, config: &Config, work: impl Future<Output = ()>) -> Result<(), Error> {
    if roost_process::is_inside_a_run() {
        return Err(roost_cli::Error::InsideAgent.into());
    }
    let launch = Launch { state: state.clone(), config_file: None, verbose: 0 };
    let alone = ServeArgs { listen: Listen::default(), auto: true, background: false, pairs: false, start_token: None };
    let settings = Settings { idle_exit: None, ..settings(&alone, &launch, config)? };
    let roost = Roost::start(lock(state, "roost acp --standalone").await?, state, config).await?;
    let (roost, gateway, server, _) = start(&launch, settings, roost, config).await?;
    tokio::select! {
        () = work => {}
        () = upkeep::keep(&roost.store, &roost.engine, compose::retention(config)) => {}
    }
    shut_down(&launch, server, gateway, roost).await;
    Ok(())
}

/// Takes the lock of the state directory. `None` if another daemon holds it and `any_will_do`. A daemon that only serves
/// commands and has nothing to do is stopped.
async fn claim(launch: &Launch, any_will_do: bool) -> Result<Option<StateLock>, Error> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match lock(&launch.state, DAEMON_NAME).await {
            Err(roost_cli::Error::Held { .. }) if Instant::now() < deadline => {}
            answer => return Ok(Some(answer?)),
        }
        match find_with_status(&launch.state).await? {
            Some(_) if any_will_do => return Ok(None),
            // It serves commands only, and this one will serve them too.
            Some((other, status)) if status.auto_started && status.running_tasks == 0 => stop_daemon(&other).await?,
            Some((_, status)) if status.auto_started => return Err(Error::Busy { pid: status.pid }),
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

/// The TCP settings; an error if they would serve the network without encryption and nobody allowed that.
fn tcp(listen: &Listen, config: &Config) -> Result<Tcp, Error> {
    let server = &config.server;
    let host = listen.host.unwrap_or(server.host);
    let tls = listen.tls.clone().or_else(|| server.tls.clone());
    if !host.is_loopback() && tls.is_none() && !listen.allow_insecure && !server.allow_insecure {
        return Err(Error::Insecure(host));
    }
    let port = listen.port.unwrap_or(server.port);
    Ok(Tcp { address: (host, port).into(), tls: tls.map(certificate), external_url: server.external_url.clone() })
}

fn settings(args: &ServeArgs, launch: &Launch, config: &Config) -> Result<Settings, Error> {
    let (tcp, repo) = match args.auto {
        true => (None, None),
        false => (Some(tcp(&args.listen, config)?), Some(args.listen.repo(config.server.repo.as_deref())?)),
    };
    Ok(Settings {
        tcp,
        socket: launch.state.socket()?,
        repo,
        discover_in: folders::projects(config.server.discover_in.as_deref()),
        workspace_roots: folders::roots(config.workspaces.roots.as_deref()),
        config_dir: config_file()?.parent().map(ToOwned::to_owned),
        require_auth: config.security.require_auth,
        start_token: args.start_token.clone(),
        require_pairing_approval: config.security.require_pairing_approval,
        pairing_token_secs: config.security.pairing_token_expiry_secs,
        allowed_origins: config.security.allowed_origins.clone(),
        allowed_hosts: config.security.allowed_hosts.clone(),
        allow_yolo: config.policy.allow_yolo,
        acp_protocol_v2: config.server.acp_protocol_v2,
        limits: (&config.limits).into(),
        auto_started: args.auto,
        idle_exit: config.daemon.idle_exit().filter(|_| args.auto),
    })
}

/// Starts the gateway and the server. Also returns the server's URL, if it listens on TCP. What was started before an error
/// is ended.
async fn start(
    launch: &Launch,
    settings: Settings,
    roost: Roost,
    config: &Config,
) -> Result<(Roost, Gateway, Server, Option<String>), Error> {
    let gateway = match Gateway::start(&launch.state, config, &roost).await {
        Ok(gateway) => gateway,
        Err(error) => {
            roost.close().await;
            return Err(error);
        }
    };
    match listen(launch, settings, &roost, &gateway, config).await {
        Ok((server, url)) => Ok((roost, gateway, server, url)),
        Err(error) => {
            gateway.close().await;
            roost.close().await;
            Err(error)
        }
    }
}

/// Starts the server and writes `daemon.json`. Also returns its URL, if it listens on TCP.
async fn listen(
    launch: &Launch,
    settings: Settings,
    roost: &Roost,
    gateway: &Gateway,
    config: &Config,
) -> Result<(Server, Option<String>), Error> {
    let scheme = if settings.tcp.as_ref().is_some_and(|tcp| tcp.tls.is_some()) { "https" } else { "http" };
    let auto_started = settings.auto_started;
    let version = env!("CARGO_PKG_VERSION");
    let control = gateway.control(&launch.state, config, settings.repo.clone())?;
    let parts = Parts {
        engine: roost.engine.clone(),
        clients: roost.clients.clone(),
        log: roost.log.clone(),
        services: gateway.services.clone(),
        state: launch.state.dir().into(),
        version: version.into(),
        gateway: Some(gateway.endpoint.clone()),
        runs: gateway.runs.clone(),
        run_messages: gateway.run_messages.clone(),
        secrets: gateway.secrets.clone(),
        bootstrap: folders::bootstrap(&launch.state, settings.repo.clone()),
        control,
    };
    if let Some(folder) = settings.socket.parent().map(ToOwned::to_owned) {
        blocking(move || Ok(roost_log::secure(&folder)?)).await?;
    }
    let server = Server::start(parts, settings).await?;
    // A certificate that was made here is none that agents trust.
    if let Some(address) = server.address().filter(|_| scheme == "http") {
        roost.attachment.listen_at(address);
    }
    let address = server.address().map(|address| address.to_string());
    let pid = std::process::id();
    let url = address.as_ref().map(|address| format!("{scheme}://{address}"));
    let file = DaemonFile {
        process: Process::from_pid(pid).unwrap_or(Process { pid, start_time: 0 }),
        address,
        http: url.clone(),
        socket: server.socket().into(),
        auto_started,
        version: version.into(),
    };
    tracing::info!(pid, address = file.address, socket = %file.socket.display(), version, "The daemon listens.");
    let path = launch.state.daemon_file();
    blocking(move || file.write(&path).map_err(|source| roost_cli::Error::State { path, source })).await?;
    Ok((server, url))
}

/// Prints in the foreground where the daemon listens, and how to connect if that was asked for. Returns the pairing code
/// that is then on the screen.
async fn announce(args: &ServeArgs, server: &Server, url: Option<String>) -> Result<Option<String>, Error> {
    let pair = match args.pairs {
        true => Some(server.pair_info().await?),
        false => None,
    };
    let url = url.unwrap_or_else(|| server.socket().display().to_string());
    say_listening(&url, pair.as_ref())?;
    Ok(pair.map(|pair| pair.code))
}

/// Prints when the pairing code on the screen is no longer valid. Never returns.
async fn watch_code(server: &Server, code: Option<String>) {
    if let Some(code) = code {
        let why = server.pairing_code_end(&code).await;
        if let Err(error) = say_code_ended(&code, why) {
            tracing::warn!(%error, "Nobody was told that the pairing code is no longer valid.");
        }
    }
    std::future::pending().await
}

fn certificate(tls: Tls) -> roost_server::Tls {
    match tls {
        Tls::SelfSigned => roost_server::Tls::SelfSigned,
        Tls::Files { cert, key } => roost_server::Tls::Files { cert, key },
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
            tcp(&listen, &Config::default()).map(|tcp| tcp.address.to_string())
        };
        assert_eq!(listen("127.0.0.1", None, false).unwrap(), "127.0.0.1:8766");
        assert_eq!(listen("::1", None, false).unwrap(), "[::1]:8766");
        assert!(matches!(listen("0.0.0.0", None, false), Err(Error::Insecure(_))));
        assert!(matches!(listen("192.0.2.1", None, false), Err(Error::Insecure(_))));
        assert!(listen("0.0.0.0", Some(Tls::SelfSigned), false).is_ok());
        assert!(listen("0.0.0.0", None, true).is_ok());
    }
}
