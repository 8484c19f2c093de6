//! Starts the server, accepts connections, and stops it.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use roost_model::time::Timestamp;
use roost_rpc::{PairResult, Scope};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tower::ServiceExt;

use crate::auth::{self, Auth, Clock, CodeEnd, Devices, LocalSecret};
use crate::background_runtime::BackgroundRuntime;
use crate::connection_limit::{ConnectionLimiter, ConnectionSlot};
use crate::error::Error;
use crate::folder_policy::{FolderPolicy, Reach};
use crate::host::{Host, Parts};
use crate::message_budget::{MessageBudget, Meter, MeteredStream};
use crate::settings::Settings;
use crate::tls::{self, Identity};
use crate::workspaces::{NewWorkspace, Workspaces};
use crate::{control, handlers, http, local, metrics, uploads};

/// The read buffer of an HTTP connection, in bytes.
const HTTP_BUFFER: usize = 16 << 10;
/// The pause after a failed accept, such as when file descriptors run out.
const ACCEPT_REST: Duration = Duration::from_millis(50);
/// The most that [`Server::stop`] waits for connections and calls.
const GOODBYES: Duration = Duration::from_secs(2);

/// A running server: it listens until [`Server::stop`].
pub struct Server {
    host: Arc<Host>,
    address: Option<SocketAddr>,
}

impl Server {
    /// Starts the server; clients are served when this returns.
    pub async fn start(parts: Parts, mut settings: Settings) -> Result<Self, Error> {
        let clock: Clock = Arc::new(Timestamp::now);
        let mut own = vec![(parts.state.clone(), "Roost's state directory")];
        own.extend(settings.config_dir.clone().map(|folder| (folder, "Roost's configuration directory")));
        own.extend(settings.socket.parent().map(|folder| (folder.into(), "the folder of Roost's socket")));
        let folder_policy = FolderPolicy::new(settings.workspace_roots.clone(), own).await;
        if let Some(repo) = &mut settings.repo {
            let real = tokio::fs::canonicalize(&repo).await;
            *repo = real.map_err(|error| Error::Repo { path: repo.clone(), reason: error.to_string() })?;
        }
        let workspaces = Workspaces::load(parts.log.clone(), folder_policy, settings.repo.clone()).await?;
        let (state, secret_clock) = (parts.state.clone(), clock.clone());
        let local = tokio::task::spawn_blocking(move || LocalSecret::create(&state, secret_clock));
        let local = local.await.map_err(|error| Error::Secret(error.into()))?.map_err(Error::Secret)?;
        let how = auth::Settings {
            pairing_ttl: Duration::from_secs(settings.pairing_token_secs),
            require_approval: settings.require_pairing_approval,
        };
        let devices = Devices::load(parts.log.clone(), clock, how).await?;
        if let Some(repo) = &settings.repo {
            home_workspace(&workspaces, repo).await;
        }
        let repo = workspaces.default().map(|entry| entry.name);
        let (listener, identity) = match &settings.tcp {
            Some(tcp) => {
                let identity = match &tcp.tls {
                    Some(tls) => {
                        let (tls, state, ip) = (tls.clone(), parts.state.clone(), tcp.address.ip());
                        let read = tokio::task::spawn_blocking(move || tls::identity(&tls, &state, ip)).await;
                        Some(read.map_err(|error| Error::Tls(error.into()))?.map_err(Error::Tls)?)
                    }
                    None => None,
                };
                (Some(listen(tcp.address).await?), identity)
            }
            None => (None, None),
        };
        let address = listener.as_ref().map(|listener| local_address(listener, &settings)).transpose()?;
        let socket = bind(&settings.socket)?;
        let background = BackgroundRuntime::start().map_err(Error::Threads)?;
        let endpoint = auth::Endpoint {
            address,
            tls: identity.is_some(),
            external_url: settings.tcp.as_ref().and_then(|tcp| tcp.external_url.clone()),
            session: uuid::Uuid::new_v4().to_string(),
            repo: repo.unwrap_or_default(),
            require_auth: settings.require_auth,
            fingerprint: identity.as_ref().and_then(|identity| identity.fingerprint.clone()),
        };
        let host =
            Arc::new(Host::new(parts, settings, workspaces, Arc::new(Auth { devices, local, endpoint }), background));
        control::bind(&host);
        host.repositories.live.remove_marks().await;
        host.daemon.spawn(metrics::count(host.clone()));
        host.daemon.spawn(accept_local(host.clone(), socket));
        if let Some(listener) = listener {
            host.daemon.spawn(accept_tcp(host.clone(), listener, identity.map(Arc::new)));
        }
        host.daemon.spawn(leave_when_idle(host.clone()));
        host.daemon.spawn(begin_sessions(host.clone()));
        host.daemon.spawn(uploads::sweep(host.clone()));
        Ok(Self { host, address })
    }

    /// The TCP address that is listened on; absent if only the local socket is.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// The path of the local socket.
    pub fn socket(&self) -> &Path {
        &self.host.settings.socket
    }

    /// Creates what a new device needs to be paired: URLs, a token and a code.
    pub async fn pair_info(&self) -> Result<PairResult, Error> {
        Ok(self.host.auth.offer(Scope::default(), None).await?)
    }

    /// Waits until a pairing code that was shown is no longer valid; returns why.
    pub async fn pairing_code_end(&self, digits: &str) -> CodeEnd {
        self.host.auth.devices.code_end(digits).await
    }

    /// Returns when a client asked the daemon to stop, or nobody needed it for long enough.
    pub async fn asked_to_stop(&self) {
        self.host.daemon.stop_asked.cancelled().await;
    }

    /// Stops the server: notifies the clients, stops listening, and waits up to 2 s (`GOODBYES`) for running calls.
    pub async fn stop(&self) {
        self.host.daemon.closing.cancel();
        if let Some(gateway) = &self.host.gateway {
            gateway.begin_closing();
        }
        self.host.daemon.tasks.close();
        if tokio::time::timeout(GOODBYES, self.host.daemon.tasks.wait()).await.is_err() {
            tracing::warn!("Some calls did not end in time; they end with the daemon.");
        }
        self.host.runs.close().await;
        self.host.repositories.live.remove_marks().await;
        // Whoever finds the file gone knows that nobody listens; the state lock keeps a successor's file safe.
        let _ = tokio::fs::remove_file(&self.host.settings.socket).await;
    }
}

/// Makes the folder that the daemon was started in a workspace, unless it is one. If that fails, for example because
/// other workspaces lie in it, it is only logged.
async fn home_workspace(workspaces: &Workspaces, repo: &Path) {
    if workspaces.containing(repo).is_some() {
        return;
    }
    let new = NewWorkspace {
        name: None,
        path: repo.into(),
        auto_start: false,
        create_if_missing: false,
        reach: Reach::Anywhere,
    };
    if let Err(fault) = workspaces.add(new).await {
        tracing::warn!(error = fault.message, "The folder that the daemon was started in is no workspace.");
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Error> {
    TcpListener::bind(address).await.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => Error::PortInUse { address },
        _ => Error::Listen { address, source },
    })
}

fn local_address(listener: &TcpListener, settings: &Settings) -> Result<SocketAddr, Error> {
    let asked = settings.tcp.as_ref().map(|tcp| tcp.address);
    listener.local_addr().map_err(|source| {
        let address = asked.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)));
        Error::Listen { address, source }
    })
}

fn bind(path: &Path) -> Result<UnixListener, Error> {
    let failed = |source| Error::Socket { path: path.into(), source };
    // The state lock is held, so a socket that is there is an earlier daemon's.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(path, private).map_err(failed)?;
    Ok(listener)
}

async fn accept_local(host: Arc<Host>, listener: UnixListener) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = host.daemon.closing.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => host.daemon.spawn(local::serve(stream, host.clone())),
            Err(_) => tokio::time::sleep(ACCEPT_REST).await,
        }
    }
}

async fn accept_tcp(host: Arc<Host>, listener: TcpListener, identity: Option<Arc<Identity>>) {
    let router = http::router(host.clone());
    let limiter = ConnectionLimiter::new(&host.settings.limits);
    let budget = MessageBudget::new(&host.settings.limits);
    loop {
        let accepted = tokio::select! {
            accepted = async { (limiter.room().await, listener.accept().await) } => accepted,
            () = host.daemon.closing.cancelled() => return,
        };
        match accepted {
            (Some(room), Ok((stream, peer))) => {
                let slot = Arc::new(limiter.register(peer.ip(), room));
                let connection = AcceptedConnection { slot, peer: ConnectInfo(peer), meter: budget.meter() };
                host.daemon.spawn(greet(host.clone(), router.clone(), stream, connection, identity.clone()));
            }
            // Out of file descriptors, most likely: those that are there go on.
            _ => tokio::time::sleep(ACCEPT_REST).await,
        }
        // Those that were accepted before get a turn to show their tokens before the next one may evict them.
        tokio::task::yield_now().await;
    }
}

/// What the requests of an accepted connection share.
#[derive(Clone)]
struct AcceptedConnection {
    slot: Arc<ConnectionSlot>,
    peer: ConnectInfo<SocketAddr>,
    meter: Arc<Meter>,
}

async fn greet(
    host: Arc<Host>,
    router: Router,
    stream: TcpStream,
    connection: AcceptedConnection,
    identity: Option<Arc<Identity>>,
) {
    // Small messages are to be seen at once.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let slot = connection.slot.clone();
    let served = async {
        match identity {
            None => serve(&host, router, stream, connection).await,
            Some(identity) => {
                let handshake = identity.acceptor.accept(stream);
                if let Ok(Ok(stream)) = tokio::time::timeout(host.settings.limits.request_time, handshake).await {
                    serve(&host, router, stream, connection).await;
                }
            }
        }
    };
    tokio::select! {
        () = served => {}
        () = slot.evicted() => {}
    }
}

async fn serve(
    host: &Host,
    router: Router,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    connection: AcceptedConnection,
) {
    let AcceptedConnection { slot, peer, meter } = connection;
    let stream = MeteredStream::new(stream, meter.clone());
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(slot.clone());
        request.extensions_mut().insert(meter.clone());
        router.clone().oneshot(request.map(axum::body::Body::new))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(host.settings.limits.request_time)
        .max_buf_size(HTTP_BUFFER)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // A client that breaks off is its own business.
        _ = connection.as_mut() => {}
        () = host.daemon.closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Creates a session in each workspace with `auto_start` that has none.
async fn begin_sessions(host: Arc<Host>) {
    for entry in host.workspaces.usable().iter().filter(|entry| entry.auto_start) {
        if let Err(fault) = handlers::begin(&host.sessions, entry).await {
            tracing::warn!(workspace = entry.name, error = fault.message, "A workspace could not start by itself.");
        }
    }
}

/// Asks the daemon to stop once no client was connected and no task ran for `idle_exit`.
async fn leave_when_idle(host: Arc<Host>) {
    let Some(patience) = host.settings.idle_exit else { return };
    let mut clients = host.presence.watch_count();
    loop {
        let waited = tokio::select! {
            () = tokio::time::sleep(patience) => true,
            changed = clients.changed() => changed.is_err(),
            () = host.daemon.closing.cancelled() => return,
        };
        let is_needed = host.presence.count() > 0 || host.daemon.running_tasks.is_busy();
        if waited && !is_needed {
            tracing::info!("Nobody needs the daemon any more; it leaves.");
            host.daemon.stop_asked.cancel();
            return;
        }
    }
}
