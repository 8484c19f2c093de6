//! All integration tests of the adapters, in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "clippy knows test functions, but not their helpers")]

mod policy;
