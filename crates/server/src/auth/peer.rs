//! Finds out where a request comes from, and whether it comes from this machine.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use roost_model::scope::Scope;

use super::routes::refusal;
use super::{Auth, DeviceFacts};

/// The header with the local secret, or with that of an open page.
pub const LOCAL_HEADER: &str = "x-roost-local";

/// Headers that only somebody in between adds, besides all that begin with `x-forwarded`.
const FORWARDED: [&str; 5] = ["forwarded", "via", "x-real-ip", "cf-connecting-ip", "true-client-ip"];

/// The origin of a request: its address, its headers and the name that it used for us.
pub(super) struct Peer {
    address: Option<IpAddr>,
    forwarded_for: Option<String>,
    is_forwarded: bool,
    user_agent: Option<String>,
    /// The name and port that it used for us.
    pub(super) host: Option<String>,
}

impl Peer {
    fn from_request(parts: &Parts) -> Self {
        let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let forwarded = parts.headers.get_all("x-forwarded-for").iter();
        let forwarded: Vec<_> = forwarded.filter_map(|value| value.to_str().ok()).collect();
        let address = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip().to_canonical());
        Self {
            address,
            forwarded_for: Some(forwarded.join(", ")).filter(|all| !all.is_empty()),
            is_forwarded: is_forwarded(&parts.headers),
            user_agent: text(header::USER_AGENT.as_str()),
            host: text(header::HOST.as_str()),
        }
    }

    /// Whether it comes straight from a process on this machine, of whichever user.
    pub(super) fn is_direct(&self) -> bool {
        !self.is_forwarded && self.address.is_some_and(|address| address.is_loopback())
    }

    /// The address that counts where tries are counted. Behind a proxy on this machine it is the one that the proxy saw:
    /// the last in `X-Forwarded-For`, as those before it are the client's own claim. The header of anybody else is not
    /// believed. A proxy that adds none makes all of its clients one address.
    pub(super) fn origin(&self) -> IpAddr {
        let address = self.address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let forwarded = || self.forwarded_for.as_deref()?.rsplit(',').next()?.trim().parse().ok();
        if address.is_loopback() { forwarded().unwrap_or(address) } else { address }
    }

    /// The facts of the device that makes the request, with this name.
    pub(super) fn device(&self, name: Option<String>) -> DeviceFacts {
        let address = self.address.map(|address| match &self.forwarded_for {
            // Not proven, but a tunnel's own address would say even less.
            Some(others) => format!("{address}, forwarded for {others}"),
            None => address.to_string(),
        });
        DeviceFacts { name, user_agent: self.user_agent.clone(), remote_addr: address }
    }
}

fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| name.as_str().starts_with("x-forwarded") || FORWARDED.contains(&name.as_str()))
}

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::from_request(parts))
    }
}

/// Proof that somebody at this machine asks: a direct peer that knows the secret. Holds what a device that it pairs may
/// do.
pub(super) struct LocalProof(pub(super) Scope);

impl FromRequestParts<Arc<Auth>> for LocalProof {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, auth: &Arc<Auth>) -> Result<Self, Response> {
        let secret = parts.headers.get(LOCAL_HEADER).and_then(|value| value.to_str().ok());
        if Peer::from_request(parts).is_direct()
            && let Some(scope) = secret.and_then(|secret| auth.local.admits(secret))
        {
            return Ok(Self(scope));
        }
        let why = "Only somebody at the host can do this; run `roost pair` there and open the page that it names";
        Err(refusal(StatusCode::FORBIDDEN, why).into_response())
    }
}
