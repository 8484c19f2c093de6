//! A real browser for tests: Chromium, installed from the system's packages if it is not there.

use std::path::PathBuf;
use std::process::Command;

use crate::{Result, step};

const NAMES: [&str; 2] = ["chromium", "chromium-browser"];

/// The path of Chromium.
pub(crate) fn install() -> Result<PathBuf> {
    if let Some(browser) = find() {
        return Ok(browser);
    }
    let mut install = Command::new("sh");
    install.args(["-c", "apt-get update -q && apt-get install -yq --no-install-recommends chromium"]);
    step::run("install Chromium (once)", install.env("DEBIAN_FRONTEND", "noninteractive"))
        .map_err(|why| format!("{why}\nor install Chromium yourself, so that `chromium` is in PATH"))?;
    find().ok_or_else(|| "chromium was installed and is not in PATH".into())
}

fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let candidates = std::env::split_paths(&path).flat_map(|folder| NAMES.map(|name| folder.join(name)));
    candidates.into_iter().find(|program| program.is_file())
}
