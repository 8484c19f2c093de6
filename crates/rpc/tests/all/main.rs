//! The method table at its boundary: the documents, schemas and client that are made from it.

// Clippy lets only test functions unwrap, and here every function is one's helper.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod docs;
mod openrpc;
mod schemas;
mod typescript;
