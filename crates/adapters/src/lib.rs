//! The runtimes that Roost hosts, one folder each, all behind [`roost_engine::adapter::RuntimeAdapter`].

pub mod acp;
mod built_in;
pub mod claude;
pub mod codex;
pub mod demo;
#[cfg(test)]
mod examples;
pub mod gemini;
mod head_cache;
mod layers;
mod locks;
pub mod opencode;
mod version_probe;
mod waiting;

pub use built_in::{BUILT_IN, BuiltIn, Setup, built_in};
