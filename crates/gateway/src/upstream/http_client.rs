//! The one HTTP client of the gateway: it follows no redirects, uses no proxies and connects to allowed addresses only.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::LOCATION;
use reqwest::redirect;
use reqwest::{Client, Response};

use super::UpstreamError;
use super::address_policy::AddressPolicy;
use crate::lifecycle::ServiceFault;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an unused connection is kept.
const IDLE: Duration = Duration::from_secs(60);

/// Makes the client.
pub(super) fn build(policy: &AddressPolicy) -> reqwest::Result<Client> {
    // Another part of the program may have chosen the same one before.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("roost/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .no_proxy()
        .dns_resolver(Arc::new(policy.clone()))
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
        .tcp_nodelay(true)
        .build()
}

/// Reads the body of a response. More than `max` bytes are not read: the error is the number of bytes that came.
pub(super) async fn read_body(response: Response, max: usize) -> Result<Vec<u8>, BodyError> {
    let announced = response.content_length().unwrap_or(0);
    if announced > max as u64 {
        return Err(BodyError::TooLong(announced));
    }
    let (mut response, mut body) = (response, Vec::new());
    while let Some(chunk) = response.chunk().await.map_err(|error| BodyError::Broken(reason(&error)))? {
        if body.len() + chunk.len() > max {
            return Err(BodyError::TooLong((body.len() + chunk.len()) as u64));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Why a body cannot be read.
#[derive(Debug)]
pub(super) enum BodyError {
    /// It has this many bytes or more.
    TooLong(u64),
    /// The connection broke.
    Broken(String),
}

/// What to say about a redirect, which is not followed: where it leads may be chosen by somebody else.
pub(super) fn redirected(response: &Response) -> Option<UpstreamError> {
    let target = response.status().is_redirection().then(|| response.headers().get(LOCATION))?;
    let target = target.and_then(|target| target.to_str().ok()).unwrap_or("nowhere");
    let message =
        format!("it redirects to {target}, which is not followed; if you trust that address, apply it as the endpoint");
    Some(UpstreamError::Failed(ServiceFault::Broken, message.into()))
}

/// The failure of a request that got no response.
pub(super) fn unreachable(error: &reqwest::Error) -> UpstreamError {
    UpstreamError::Failed(ServiceFault::Unreachable, reason(error).into())
}

/// What went wrong, down to its cause, without the address, which may hold secrets.
pub(super) fn reason(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    match error.is_connect() {
        true => format!("no connection can be made: {cause}"),
        false => format!("the connection broke: {cause}"),
    }
}
