//! The peer that `bench stream` is compared with, from npm.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::cache::Cache;
use crate::{Result, step};

const PACKAGES: [&str; 2] = ["sandbox-agent@0.4.2", "@sandbox-agent/cli@0.4.2"];
const BINARY: &str = "node_modules/@sandbox-agent/cli-linux-x64/bin/sandbox-agent";

/// Installs the peer once and returns its binary, known to start.
pub(crate) fn install(cache: &Cache) -> Result<PathBuf> {
    let prefix = cache.folder("tools").join("sandbox-agent");
    let binary = prefix.join(BINARY);
    if step::succeeds(Command::new(&binary).arg("--version")) {
        return Ok(binary);
    }
    fs::create_dir_all(&prefix).map_err(|error| format!("cannot create {}: {error}", prefix.display()))?;
    step::run(
        "install sandbox-agent (once)",
        Command::new("npm").args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&prefix).args(PACKAGES),
    )?;
    // The package ships its binary without the executable bit.
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("npm left no {}: {error}; bench stream needs linux-x64", binary.display()))?;
    if step::succeeds(Command::new(&binary).arg("--version")) {
        Ok(binary)
    } else {
        Err(format!("{} does not start; remove {} and try again", binary.display(), prefix.display()))
    }
}
