//! The routes of pairing and tokens.

use std::sync::Arc;

use axum::Router;

use super::Auth;

/// The routes of pairing and tokens.
pub fn routes(_: Arc<Auth>) -> Router {
    Router::new()
}
