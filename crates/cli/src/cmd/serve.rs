//! `roost serve`: the daemon. What it does is the composition root's; here is how it is asked for.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use roost_model::secret::Secret;

use crate::error::Error;
use crate::paths::working_directory;
use crate::tls::Tls;

/// What the daemon calls itself where it holds something.
pub const DAEMON_NAME: &str = "roost serve";

const EXAMPLES: &str = "\
Examples:
  roost serve                                            listen on 127.0.0.1:8766 until Ctrl-C
  roost serve --port 0 --repo ~/src/app                  listen on any free port
  roost serve --host 0.0.0.0 --tls self-signed           listen on the network, encrypted
  roost serve --host 0.0.0.0 --tls cert.pem,key.pem      use your own certificate

`roost` without a command does the same and shows how to pair a device; `roost up` runs in the background.";

/// Run the daemon in the foreground until Ctrl-C
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where and how to listen.
    #[command(flatten)]
    pub listen: Listen,
    /// Started by a command that needs a daemon: the socket only, and gone when nobody needs it any more
    #[arg(long, hide = true)]
    pub auto: bool,
    /// Started by `roost up`
    #[arg(long, hide = true)]
    pub background: bool,
    /// Show how to connect a device
    #[arg(skip)]
    pub pairs: bool,
    /// A token with the scope `admin`, valid until the daemon ends
    #[arg(skip)]
    pub start_token: Option<Secret>,
}

impl Args {
    /// As for `roost` without a command: serve, and show how to connect.
    pub(crate) fn without_command(listen: Listen) -> Self {
        Self { listen, auto: false, background: false, pairs: true, start_token: None }
    }
}

/// Where and how to listen; whatever is not given is as configured.
#[derive(Clone, Default, PartialEq, clap::Args)]
pub struct Listen {
    /// The address to listen on [default: server.host in roost.toml, else 127.0.0.1]
    #[arg(long, value_name = "IP")]
    pub host: Option<IpAddr>,
    /// The port to listen on; 0 means any free one [default: server.port in roost.toml, else 8766]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// The default workspace of clients [default: server.repo in roost.toml, else the current folder]
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
    /// Encrypt: with a self-signed certificate, or with your own from two PEM files
    #[arg(long, value_name = "self-signed|CERT,KEY")]
    pub tls: Option<Tls>,
    /// Allow other machines to connect without encryption
    #[arg(long)]
    pub allow_insecure: bool,
}

impl Listen {
    /// The default workspace of clients.
    pub fn repo(&self, configured: Option<&Path>) -> Result<PathBuf, Error> {
        working_directory(self.repo.as_deref().or(configured))
    }
}
