//! The page for pairing: one file, nothing from elsewhere, and no script but its own.

use axum::http::{HeaderName, header};
use axum::response::{Html, IntoResponse, Response};

use super::{AuthError, token};

const HTML: &str = include_str!("page.html");

/// The page; what it shows it asks for, so it is the same for everybody.
pub(super) async fn page() -> Result<Response, AuthError> {
    let nonce = token::random()?;
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src blob:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let headers: [(HeaderName, &str); 3] = [
        (header::CONTENT_SECURITY_POLICY, &policy),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, Html(HTML.replace("NONCE", &nonce))).into_response())
}
