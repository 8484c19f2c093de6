//! `clarityd`: the daemon, as clarity-runtime's is started.

use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::RawFd;

use clap::Parser;
use roost_model::secret::Secret;

use super::ClarityProgram;
use super::own_token::hidden_token;
use crate::cli::Global;
use crate::cmd::serve;
use crate::stderr::print_stderr;
use crate::tls::Tls;

/// Where clarity-runtime listens.
const PORT: u16 = 4707;
/// A shorter token can be guessed.
const SAFE_TOKEN: usize = 16;

/// Run the daemon in the foreground until Ctrl-C: Roost, under the name and with the options of clarity-runtime's
#[derive(Parser)]
#[command(name = "clarityd", version)]
pub(crate) struct Clarityd {
    #[command(flatten)]
    global: Global,
    /// The port to listen on; 0 means any free one
    #[arg(short, long, value_name = "N", default_value_t = PORT)]
    port: u16,
    /// The address to listen on
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", value_parser = address)]
    host: IpAddr,
    /// A token that lets its bearer do everything; also in CLARITYD_AUTH_TOKEN
    #[arg(long, value_name = "TOKEN")]
    auth_token: Option<String>,
    /// Where the token is after this program was started again without it
    #[arg(long, hide = true)]
    auth_token_fd: Option<RawFd>,
    /// Read that token from stdin
    #[arg(long, conflicts_with = "auth_token")]
    auth_token_stdin: bool,
    /// Encrypt: with a self-signed certificate, or with your own from two PEM files
    #[arg(long, value_name = "self-signed|CERT,KEY")]
    tls: Option<Tls>,
    /// Allow other machines to connect without encryption
    #[arg(long)]
    allow_insecure: bool,
}

impl Clarityd {
    /// The same for `roost serve`; the token is no longer among the arguments or variables.
    pub(crate) fn into_serve(self) -> io::Result<(Global, serve::Args)> {
        let Self { global, port, host, auth_token, auth_token_fd, auth_token_stdin, tls, allow_insecure } = self;
        let start_token = match auth_token_stdin {
            true => {
                let mut text = String::new();
                io::stdin().read_to_string(&mut text)?;
                Some(Secret::from(text.trim().to_owned()))
            }
            false => hidden_token(ClarityProgram::Clarityd, auth_token, auth_token_fd)?,
        };
        if start_token.as_ref().is_some_and(|token| token.expose().len() < SAFE_TOKEN) {
            print_stderr(format_args!("clarityd: the token is short; with {SAFE_TOKEN} characters nobody guesses it"));
        }
        let listen = serve::Listen { host: Some(host), port: Some(port), repo: None, tls, allow_insecure };
        Ok((global, serve::Args { listen, auto: false, background: false, pairs: false, start_token }))
    }
}

/// An address, or the name of this machine for itself.
fn address(text: &str) -> Result<IpAddr, String> {
    match text {
        "localhost" => Ok(Ipv4Addr::LOCALHOST.into()),
        other => other.parse().map_err(|_| "it is no IP address; write one such as 127.0.0.1".into()),
    }
}
