//! Where `clarityctl` finds the daemon: over its local socket, where no token is needed, or at a URL.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use roost_client::Client;
use roost_model::secret::Secret;
use roost_rpc::{Fault, Typed};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::screen::one_line;
use crate::stderr::print_stderr;

/// Where clarity-runtime listens unless somebody says otherwise.
const DEFAULT_URL: &str = "http://localhost:4707";
/// The header in which clarity-runtime's clients send their token.
const TOKEN_HEADER: &str = "x-clarity-token";
/// How long the end of a session may take to be told.
const END_TIME: Duration = Duration::from_secs(2);
/// How long the daemon may take to accept a connection.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// The daemon that a command talks to.
pub(super) enum ControlPlane {
    /// The daemon of this user's state directory.
    Socket(Box<Client>),
    /// A daemon at a URL.
    Url(DaemonUrl),
}

/// A daemon's URL, and what proves who calls.
pub(super) struct DaemonUrl {
    pub(super) url: String,
    pub(super) http: reqwest::Client,
}

/// The response to a call.
#[derive(Deserialize)]
struct RpcAnswer {
    result: Option<Box<RawValue>>,
    error: Option<Fault>,
}

impl ControlPlane {
    /// Connects to the daemon that is meant. Without a URL it is this user's own, which is started if none runs and no
    /// token says that there is one at the usual port. A URL of this user's own daemon needs no token.
    pub(super) async fn open(url: Option<String>, token: Option<Secret>, context: &Context) -> Result<Self, Error> {
        let own = connect::find_with_status(&context.state).await?;
        match (url, own) {
            (None, Some((client, _))) => Ok(Self::Socket(Box::new(client))),
            (None, None) if token.is_none() => Ok(Self::Socket(Box::new(connect::open(context).await?))),
            (Some(url), Some((client, status))) if token.is_none() && is_own(&url, status.address.as_deref()) => {
                Ok(Self::Socket(Box::new(client)))
            }
            (url, _) => DaemonUrl::new(url.unwrap_or_else(|| DEFAULT_URL.into()), token).map(Self::Url),
        }
    }

    /// Calls a method and waits for its result.
    pub(super) async fn call<M: Typed>(&self, params: M::Params) -> Result<M::Result, Error> {
        match self {
            Self::Socket(client) => Ok(client.call::<M>(params).await?),
            Self::Url(daemon) => daemon.call::<M>(params).await,
        }
    }

    /// What the daemon is found at, for people.
    pub(super) fn place(&self) -> String {
        match self {
            Self::Socket(_) => "its socket".into(),
            Self::Url(daemon) => daemon.url.clone(),
        }
    }
}

impl DaemonUrl {
    fn new(url: String, token: Option<Secret>) -> Result<Self, Error> {
        let url = url.trim_end_matches('/').to_owned();
        let failed = |why: String| Error::DaemonUrl { url: url.clone(), why };
        let mut headers = HeaderMap::new();
        if let Some(token) = token {
            if url.starts_with("http://") && !is_loopback(&url) {
                print_stderr(format_args!("clarityctl: the token goes to {} unencrypted", one_line(&url)));
            }
            let mut value = HeaderValue::from_str(token.expose())
                .map_err(|_| failed("cannot be asked: the token has characters that no header may have".into()))?;
            value.set_sensitive(true);
            headers.insert(TOKEN_HEADER, value);
        }
        // Fails if the process has one already, which then does.
        let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .default_headers(headers)
            .connect_timeout(CONNECT_TIME)
            // A redirect would take the token elsewhere.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(|error| failed(format!("cannot be asked: {error}")))?;
        Ok(Self { url, http })
    }

    async fn call<M: Typed>(&self, params: M::Params) -> Result<M::Result, Error> {
        let failed = |why: String| Error::DaemonUrl { url: self.url.clone(), why };
        let unclear = |error: &dyn std::fmt::Display| failed(format!("was not understood: {error}"));
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": M::METHOD.name(), "params": params }).to_string();
        let sent = self.http.post(format!("{}/api/rpc", self.url)).header(CONTENT_TYPE, "application/json").body(body);
        let response = sent.send().await.map_err(|error| failed(unreachable(&error)))?;
        if response.status() == StatusCode::UNAUTHORIZED {
            let how = "wants another token; give the daemon's with --auth-token or CLARITYD_AUTH_TOKEN";
            return Err(failed(how.into()));
        }
        let status = response.status();
        let text = response.text().await.map_err(|error| failed(unreachable(&error)))?;
        let answer: RpcAnswer = match serde_json::from_str(&text) {
            Ok(answer) => answer,
            Err(_) if !status.is_success() => return Err(failed(format!("refused it ({status}): {}", text.trim()))),
            Err(error) => return Err(unclear(&error)),
        };
        match answer {
            RpcAnswer { error: Some(fault), .. } => Err(roost_client::Error::Fault(fault).into()),
            RpcAnswer { result: Some(result), .. } => {
                serde_json::from_str(result.get()).map_err(|error| unclear(&error))
            }
            RpcAnswer { result: None, error: None } => Err(failed(format!("refused it ({status}): {}", text.trim()))),
        }
    }

    /// Asks with a message of MCP, which is answered by an object or by a stream of events.
    pub(super) async fn post_mcp(&self, message: String, headers: HeaderMap) -> Result<reqwest::Response, Error> {
        let sent = self.http.post(format!("{}/mcp", self.url)).headers(headers).body(message);
        let sent = sent.header(CONTENT_TYPE, "application/json").header(ACCEPT, "application/json, text/event-stream");
        sent.send().await.map_err(|error| Error::DaemonUrl { url: self.url.clone(), why: unreachable(&error) })
    }
}

impl DaemonUrl {
    /// Opens the stream of what the daemon says outside of answers.
    pub(super) async fn listen_mcp(&self, headers: HeaderMap) -> Result<reqwest::Response, reqwest::Error> {
        let stream = self.http.get(format!("{}/mcp", self.url)).headers(headers);
        stream.header(ACCEPT, "text/event-stream").send().await
    }

    /// Ends a session of MCP, as far as the daemon is still there.
    pub(super) async fn end_mcp(&self, headers: HeaderMap) {
        let ended = self.http.delete(format!("{}/mcp", self.url)).headers(headers).timeout(END_TIME).send().await;
        if let Err(error) = ended {
            tracing::debug!(%error, "The daemon was not told that the client is gone.");
        }
    }
}

fn unreachable(error: &reqwest::Error) -> String {
    // The innermost reason says most; what is around it repeats the address.
    let mut reason: &dyn std::error::Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    format!("cannot be reached: {reason}; `clarityd` or `roost up` starts one here")
}

/// Host and port of a URL.
fn authority(url: &str) -> Option<(&str, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let usual = if scheme == "https" { 443 } else { 80 };
    match authority.rsplit_once(':').filter(|(host, _)| !host.is_empty() && !host.ends_with(':')) {
        Some((host, port)) => Some((host, port.parse().ok()?)),
        None => Some((authority, usual)),
    }
}

fn is_loopback(url: &str) -> bool {
    let of_host = |host: &str| {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    };
    authority(url).is_some_and(|(host, _)| of_host(host))
}

/// Whether a URL is the address that this user's daemon listens on.
fn is_own(url: &str, address: Option<&str>) -> bool {
    let port = address.and_then(|address| address.rsplit_once(':')?.1.parse().ok());
    is_loopback(url) && authority(url).map(|(_, port)| port) == port
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_this_users_daemon_if_it_is_this_machine_and_that_port() {
        for (url, expected) in [
            ("http://localhost:4707", true),
            ("http://127.0.0.1:4707/", true),
            ("http://[::1]:4707", true),
            ("http://localhost:4708", false),
            ("http://localhost", false),
            ("http://192.0.2.1:4707", false),
            ("http://localhost.evil.example:4707", false),
            ("nonsense", false),
        ] {
            assert_eq!(is_own(url, Some("127.0.0.1:4707")), expected, "{url}");
            assert!(!is_own(url, None), "{url}");
        }
    }
}
