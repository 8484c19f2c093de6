//! The server's settings, which the composition root fills in.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use roost_model::secret::Secret;
pub use roost_workspace::files::Limits as UploadLimits;

/// All settings of the server; [`Settings::default`] listens on no TCP address.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The TCP listener; `None` means that only the local socket is served.
    pub tcp: Option<Tcp>,
    /// The path of the local socket, which is created at the start and removed at the end.
    pub socket: PathBuf,
    /// The folder that clients see as the default workspace.
    pub repo: Option<PathBuf>,
    /// Roots of `workspace/discover` where the client names none.
    pub discover_in: Vec<PathBuf>,
    /// Folders beneath which devices may add workspaces.
    pub workspace_roots: Vec<PathBuf>,
    /// The folder of Roost's configuration, which no workspace may contain or lie in.
    pub config_dir: Option<PathBuf>,
    /// Whether TCP clients need a token.
    pub require_auth: bool,
    /// A token with the scope `admin` that whoever started the daemon chose; it is valid until the daemon ends.
    pub start_token: Option<Secret>,
    /// Whether somebody at the machine must agree to a new device.
    pub require_pairing_approval: bool,
    /// How long a pairing token can be exchanged.
    pub pairing_token_secs: u64,
    /// Origins besides those of this machine: exact, or `*.domain`.
    pub allowed_origins: Vec<String>,
    /// Names under which this machine may be addressed, besides its own.
    pub allowed_hosts: Vec<String>,
    /// Whether clients other than the local command line may use the mode `yolo`.
    pub allow_yolo: bool,
    /// Whether editors at `/acp` that ask for the draft of version 2 get it.
    pub acp_protocol_v2: bool,
    /// Limits on what clients may use.
    pub limits: Limits,
    /// A client started the daemon, so it leaves when it is no longer needed.
    pub auto_started: bool,
    /// How long it stays without clients and tasks; `None` means for ever.
    pub idle_exit: Option<Duration>,
}

/// The TCP address, and how it is served.
#[derive(Clone, Debug)]
pub struct Tcp {
    /// The address; port 0 means any free one.
    pub address: SocketAddr,
    /// The certificate to serve with; absent means plain HTTP.
    pub tls: Option<Tls>,
    /// The URL that clients reach it under, where that is not the address.
    pub external_url: Option<String>,
}

/// The source of the TLS certificate.
#[derive(Clone, Debug)]
pub enum Tls {
    /// Made here; its fingerprint is in the QR code.
    SelfSigned,
    /// Read from files in PEM.
    Files {
        /// The file of the certificate chain, in PEM.
        cert: PathBuf,
        /// The file of its private key, in PEM.
        key: PathBuf,
    },
}

/// Limits on what clients may use; 0 means no limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls that change something, per minute.
    pub changes_per_minute: u32,
    /// Calls that may start an agent, per minute.
    pub starts_per_minute: u32,
    /// Uploads of pictures and files, per minute.
    pub uploads_per_minute: u32,
    /// How much pictures, and files, may take of a workspace.
    pub uploads: UploadLimits,
    /// Calls that only read, per minute.
    pub reads_per_minute: u32,
    /// WebSockets, and connections of editors over HTTP, that one device may have open at once.
    pub sockets_per_token: u32,
    /// The greatest body of an HTTP request, in bytes; uploads have their own limit.
    pub max_body_bytes: usize,
    /// Bytes of a message that a client sends over a socket.
    pub max_frame_bytes: usize,
    /// Bytes of messages over WebSockets that are not whole yet, of all clients together.
    pub unfinished_bytes: usize,
    /// Connections over TCP; half of them may be without a token, and half of the files that may be open is the most.
    pub connections: u32,
    /// Connections of one address that have not shown a token yet.
    pub connections_per_address: u32,
    /// The time limit for a TLS handshake, for a request's head and for its body. A paired device whose body keeps
    /// coming has longer.
    pub request_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            changes_per_minute: 100,
            starts_per_minute: 10,
            uploads_per_minute: 10,
            uploads: UploadLimits::default(),
            reads_per_minute: 6000,
            sockets_per_token: 32,
            max_body_bytes: 1 << 20,
            max_frame_bytes: 16 << 20,
            unfinished_bytes: 64 << 20,
            connections: 4096,
            connections_per_address: 128,
            request_time: Duration::from_secs(10),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tcp: None,
            socket: PathBuf::new(),
            repo: None,
            discover_in: Vec::new(),
            workspace_roots: Vec::new(),
            config_dir: None,
            require_auth: true,
            start_token: None,
            require_pairing_approval: false,
            pairing_token_secs: 3600,
            allowed_origins: Vec::new(),
            allowed_hosts: Vec::new(),
            allow_yolo: false,
            acp_protocol_v2: false,
            limits: Limits::default(),
            auto_started: false,
            idle_exit: None,
        }
    }
}
