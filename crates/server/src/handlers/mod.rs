//! One file per area of the method table: each handler checks, calls the engine or the log, and shapes the answer.

pub(crate) mod agent;
mod amending;
mod answering;
mod attaching;
pub(crate) mod audit;
pub(crate) mod bootstrap;
pub(crate) mod daemon;
pub(crate) mod discovering;
pub(crate) mod events;
pub(crate) mod file;
pub(crate) mod forking;
pub(crate) mod git;
pub(crate) mod history;
pub(crate) mod lifecycle;
mod mcp_servers;
mod past;
pub(crate) mod permission;
pub(crate) mod repository;
mod routing;
pub(crate) mod run;
pub(crate) mod searching;
pub(crate) mod secret;
pub(crate) mod service;
pub(crate) mod session;
pub(crate) mod session_client;
mod shape;
mod terminal_input;
pub(crate) mod watching;
pub(crate) mod workspace;

pub(crate) use routing::{check_agent_type, normalize_agent_type};
pub(crate) use session::begin;
