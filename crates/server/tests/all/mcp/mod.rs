//! The MCP gateway at its boundary, with fixture servers behind it.

mod admission;
mod aggregate;
pub(crate) mod client;
mod conformance;
pub(crate) mod fixture_gateway;
mod inspector;
mod lines;
mod lists;
mod modern;
mod read_lists;
mod sessions;
mod tasks;
