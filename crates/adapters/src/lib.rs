//! The runtimes that Roost hosts: one folder each, all behind [`roost_engine::adapter::RuntimeAdapter`].

pub mod acp;
mod built_in;
pub mod claude;
pub mod codex;
pub mod demo;
#[cfg(test)]
mod examples;
pub mod gemini;
#[cfg(test)]
mod generated;
mod head_cache;
mod host;
mod layers;
pub mod opencode;
mod provider_errors;
mod slash;
mod source_files;
mod tested_versions;
#[cfg(test)]
mod trace_kit;

pub use built_in::{BUILT_IN, BuiltIn, Setup, built_in};
pub use host::AgentCommand;
pub use source_files::TrustedFiles;
