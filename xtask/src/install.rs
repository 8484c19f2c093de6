//! Installs the program under all of its names.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

/// The names under which the program is something else; links of these names lead to it.
const NAMES: [&str; 4] = ["clarityctl", "clarityd", "codex-cli-acp", "acplb-notify-forwarder"];

/// Builds the program as people install it, and puts it and its other names into a folder: `~/.cargo/bin`, or the `bin` of
/// the folder that `--root` names.
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
    let bin = into.unwrap_or_else(usual_root).join("bin");
    link_names(&bin)?;
    println!("roost, {} are in {}", NAMES.join(", "), bin.display());
    Ok(())
}

/// Where cargo installs programs.
fn usual_root() -> PathBuf {
    let named = ["CARGO_INSTALL_ROOT", "CARGO_HOME"].iter().find_map(std::env::var_os);
    named.map_or_else(|| std::env::home_dir().unwrap_or_default().join(".cargo"), PathBuf::from)
}

/// Makes the links beside the program. A file of such a name that is no link is somebody else's and stays.
fn link_names(bin: &Path) -> Result {
    for name in NAMES {
        let link = bin.join(name);
        let failed = |error: std::io::Error| format!("{} cannot be made: {error}", link.display());
        match link.symlink_metadata() {
            Ok(found) if found.is_symlink() => std::fs::remove_file(&link).map_err(failed)?,
            Ok(_) => return Err(format!("{} is another program; move it away and try again", link.display())),
            Err(_) => {}
        }
        symlink("roost", &link).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_made_anew_and_other_programs_stay() {
        let folder = std::env::temp_dir().join(format!("roost-install-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        link_names(&folder).unwrap();
        link_names(&folder).unwrap();
        assert_eq!(std::fs::read_link(folder.join("clarityd")).unwrap(), Path::new("roost"));
        std::fs::remove_file(folder.join("clarityctl")).unwrap();
        std::fs::write(folder.join("clarityctl"), "theirs").unwrap();
        assert!(link_names(&folder).is_err());
        assert_eq!(std::fs::read_to_string(folder.join("clarityctl")).unwrap(), "theirs");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
