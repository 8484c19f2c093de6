//! Packages from npm, installed once into the cache at an exact version.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::cache::Cache;
use crate::{Result, step};

/// Installs packages into a folder of the cache and returns it.
pub(crate) fn install(cache: &Cache, name: &str, packages: &[&str]) -> Result<PathBuf> {
    if !step::succeeds(Command::new("npm").arg("--version")) {
        return Err(format!("npm is missing, which installs {name}: install Node.js 20 or newer, then try again"));
    }
    let prefix = cache.folder("tools").join(name);
    fs::create_dir_all(&prefix).map_err(|error| format!("cannot create {}: {error}", prefix.display()))?;
    let mut install = Command::new("npm");
    install.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&prefix).args(packages);
    step::run(&format!("install {name} (once)"), &mut install)?;
    Ok(prefix)
}
