//! `roost serve`: the daemon. What it does is the composition root's; here is how it is asked for.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::paths::working_directory;
use crate::tls::Tls;

/// What the daemon calls itself where it holds something.
pub const DAEMON_NAME: &str = "roost serve";

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
}

impl Args {
    /// As if nothing was said: serve, and show how to connect.
    pub(crate) fn plain() -> Self {
        Self { listen: Listen::default(), auto: false, background: false, pairs: true }
    }
}

/// Where and how to listen; what is not said is as configured.
#[derive(Clone, Default, clap::Args)]
pub struct Listen {
    /// The address to listen on [default: server.host in roost.toml, else 127.0.0.1]
    #[arg(long, value_name = "IP")]
    pub host: Option<IpAddr>,
    /// The port; 0 means any free one [default: server.port in roost.toml, else 8766]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// The folder that clients find without asking for it [default: server.repo in roost.toml, else here]
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
    /// Encryption: self-signed, or two files
    #[arg(long, value_name = "self-signed|CERT,KEY")]
    pub tls: Option<Tls>,
    /// Listen beyond this machine without encryption
    #[arg(long)]
    pub allow_insecure: bool,
}

impl Listen {
    /// The folder that clients find without asking for it.
    pub fn repo(&self, configured: Option<&Path>) -> Result<PathBuf, Error> {
        working_directory(self.repo.as_deref().or(configured))
    }
}
