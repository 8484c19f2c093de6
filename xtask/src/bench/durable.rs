//! The yardstick `durable`: its source lives in `crates/bench`, its build in the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::{Result, step};

/// Builds the yardstick and returns its binary.
pub(crate) fn build(root: &Path, cache: &Cache) -> Result<PathBuf> {
    let source = root.join("crates/bench/durable");
    let copy = cache.folder("durable");
    // Cargo writes a lock file next to the manifest, and a bench leaves the checkout as it is.
    for file in ["Cargo.toml", "src/main.rs"] {
        copy_if_changed(&source.join(file), &copy.join(file))?;
    }
    let target = cache.folder("target-durable");
    step::run(
        "build durable",
        Command::new("cargo")
            .args(["build", "--release", "--manifest-path"])
            .arg(copy.join("Cargo.toml"))
            .env("CARGO_TARGET_DIR", &target),
    )?;
    Ok(target.join("release/durable"))
}

/// Copies a file unless the copy is equal already, so that cargo sees nothing to rebuild.
fn copy_if_changed(from: &Path, to: &Path) -> Result {
    let text = fs::read(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    if fs::read(to).is_ok_and(|present| present == text) {
        return Ok(());
    }
    to.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(to, text))
        .map_err(|error| format!("cannot write {}: {error}", to.display()))
}
