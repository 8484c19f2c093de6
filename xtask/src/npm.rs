//! Packages from npm, installed once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::{Result, step};

/// Installs packages of exact versions into a folder of the cache and returns it.
pub(crate) fn install(cache: &Cache, name: &str, packages: &[&str]) -> Result<PathBuf> {
    let prefix = cache.folder("tools").join(name);
    fs::create_dir_all(&prefix).map_err(|error| format!("cannot create {}: {error}", prefix.display()))?;
    let mut install = npm()?;
    install.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&prefix).args(packages);
    step::run(&format!("install {name} (once)"), &mut install)?;
    Ok(prefix)
}

/// Installs what the lock file of a project names, unless just that was installed before. No install script runs.
pub(crate) fn install_locked(project: &Path) -> Result {
    let (wanted, installed) = (project.join("package-lock.json"), project.join("node_modules/installed-lock.json"));
    let wanted = fs::read(&wanted).map_err(|error| format!("cannot read {}: {error}", wanted.display()))?;
    if fs::read(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let mut install = npm()?;
    install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(project);
    step::run(&format!("install the packages of {} (once)", project.display()), &mut install)?;
    fs::write(&installed, wanted).map_err(|error| format!("cannot write {}: {error}", installed.display()))
}

fn npm() -> Result<Command> {
    if step::succeeds(Command::new("npm").arg("--version")) {
        Ok(Command::new("npm"))
    } else {
        Err("npm is missing: install Node.js 20 or newer, then try again".into())
    }
}
