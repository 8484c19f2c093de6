//! The peer that `bench gateway` is compared with, from npm.

use std::path::PathBuf;

use crate::cache::Cache;
use crate::{Result, npm};

const NAME: &str = "mcp-hub";
const PACKAGES: [&str; 1] = ["mcp-hub@4.2.1"];
const SCRIPT: &str = "node_modules/mcp-hub/dist/cli.js";

/// Installs the peer once and returns its script, which Node runs.
pub(crate) fn install(cache: &Cache) -> Result<PathBuf> {
    let script = cache.folder("tools").join(NAME).join(SCRIPT);
    if script.is_file() {
        return Ok(script);
    }
    let prefix = npm::install(cache, NAME, &PACKAGES)?;
    match script.is_file() {
        true => Ok(script),
        false => Err(format!("npm left no {}; remove {} and try again", script.display(), prefix.display())),
    }
}
