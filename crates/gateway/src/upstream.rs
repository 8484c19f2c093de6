//! Servers behind the gateway: what carries calls to them and answers back.

mod peer;

pub use peer::{FromServer, ServerAnswer, UpstreamError, UpstreamPeer};
