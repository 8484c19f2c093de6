//! The demo runtime: an agent that everybody has, because it lives in our own binary.

pub mod agent;
