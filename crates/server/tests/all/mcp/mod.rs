//! The MCP gateway at its boundary, with fixture servers behind it.

mod admission;
mod aggregate;
mod client;
mod conformance;
mod fixture_gateway;
mod inspector;
mod lines;
mod modern;
mod sessions;
