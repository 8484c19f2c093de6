//! Installs the program under all of its names.

use std::path::Path;
use std::process::Command;

use crate::Result;

/// Builds the program as people install it, and puts it and the small programs that are its other names
/// (`crates/roost/src/bin`) into a folder: `~/.cargo/bin`, or the `bin` of the folder that `--root` names.
pub(crate) fn run(root: &Path, args: &[&str]) -> Result {
    let into = match args {
        [] => None,
        ["--root", folder] => Some(std::path::absolute(folder).map_err(|error| error.to_string())?),
        _ => return Err("cargo xtask install takes --root FOLDER and nothing else".into()),
    };
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args(["install", "--locked", "--profile", "dist", "--path", "crates/roost"]);
    if let Some(folder) = &into {
        cargo.arg("--root").arg(folder);
    }
    let done = cargo.status().map_err(|error| format!("cargo does not start: {error}"))?;
    if !done.success() {
        return Err("the program was not installed; cargo says above why".into());
    }
    Ok(())
}
