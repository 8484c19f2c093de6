//! The door: JSON-RPC over WebSocket, HTTP and the local socket, pairing and tokens, events.

pub mod auth;
