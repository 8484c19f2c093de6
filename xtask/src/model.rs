//! `cargo xtask model`: the scripted model of the tests, for people.

use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::cache::Cache;

/// Runs the model until it is interrupted.
pub(crate) fn run(root: &Path, args: &[&str]) -> Result {
    let cache = Cache::from_env(root)?;
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--quiet", "--locked", "-p", "testkit", "--example", "model", "--"]).args(args);
    cargo.current_dir(root).env("CARGO_TARGET_DIR", cache.target());
    let status = cargo.status().map_err(|error| format!("cannot start cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("the model ended: {status}")) }
}
