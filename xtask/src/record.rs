//! `cargo xtask record`: real agents under Roost, written down for the tests with recorded runs.

use std::path::Path;
use std::process::Command;

use crate::cache::Cache;
use crate::fixtures::locked_packages::{AgentSet, SET_VARIABLE};
use crate::{Result, fixtures, step};

/// The folder of the recordings, from the root.
const RECORDINGS: &str = "crates/adapters/tests/traces";

/// Carries out `cargo xtask record AGENT [--newest]`: records every scenario with the pinned or the newest version.
pub(crate) fn run(root: &Path, args: &[&str]) -> Result {
    let (agent, set) = match args {
        [agent] => (agent, AgentSet::Pinned),
        [agent, "--newest"] => (agent, AgentSet::Newest),
        _ => return Err("usage: cargo xtask record AGENT [--newest]".into()),
    };
    let cache = Cache::from_env(root)?;
    fixtures::install(&cache, set)?;
    let mut build = Command::new("cargo");
    // The whole workspace, so that its crates have the features that the tests build them with.
    build.args(["build", "--workspace", "--locked", "--bin", "roost", "--example", "record"]);
    build.current_dir(root).env("CARGO_TARGET_DIR", cache.target());
    step::run("build roost and the recorder", &mut build)?;
    let built = cache.target().join("debug");
    let mut record = Command::new(built.join("examples/record"));
    record.arg(agent).arg(root.join(RECORDINGS)).arg(built.join("roost"));
    if set == AgentSet::Newest {
        record.env(SET_VARIABLE, "newest");
    }
    step::run("record", &mut record)
}
