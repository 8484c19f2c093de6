//! What the gateway shows to a remote server so that it is let in.

use std::sync::Arc;

use reqwest::StatusCode;
use reqwest::header::{HeaderName, HeaderValue};

use super::UpstreamError;
use super::oauth::OAuthLogin;

/// The credentials of one connection.
pub(super) enum HttpAuth {
    /// One header with a secret that the manifest refers to.
    Header(HeaderName, HeaderValue),
    /// The manifest names none: a person may have logged in.
    Login(Arc<OAuthLogin>),
}

impl HttpAuth {
    /// The header that lets a request in.
    pub(super) async fn header(&self) -> Result<Option<(HeaderName, HeaderValue)>, UpstreamError> {
        match self {
            Self::Header(name, value) => Ok(Some((name.clone(), value.clone()))),
            Self::Login(login) => login.header().await.map_err(UpstreamError::from),
        }
    }

    /// Takes note of a refusal. True if the request may be sent again, with renewed credentials.
    pub(super) async fn on_refusal(&self, status: StatusCode, challenge: Option<String>) -> bool {
        match self {
            Self::Header(..) => false,
            Self::Login(login) => {
                login.challenged(challenge);
                // Of a login that lacks rights, a new token lacks them too.
                status == StatusCode::UNAUTHORIZED && login.renew().await
            }
        }
    }

    /// What to do about a refusal, for people.
    pub(super) fn refused(&self, status: StatusCode) -> String {
        let what = match (self, status) {
            (Self::Header(..), _) => "it refused the credentials of `authRef`",
            (Self::Login(_), StatusCode::FORBIDDEN) => {
                "the login has not the rights that it wants; log in again with `roost services login`"
            }
            (Self::Login(_), _) => "it needs a login; run `roost services login`, or set `authRef` in its manifest",
        };
        format!("it answered with HTTP status {status}: {what}")
    }
}
