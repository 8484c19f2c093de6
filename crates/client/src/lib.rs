//! The Rust client of the method table, over the local socket.
