//! Programs that benches compare with or use, from the system's packages.

use std::process::Command;

use crate::{Result, step};

/// Makes sure that a program is there, which a package has.
pub(crate) fn install(bench: &str, program: &str, package: &str) -> Result {
    // Some say their version and fail; that they say something is enough.
    if Command::new(program).arg("--version").output().is_ok() {
        return Ok(());
    }
    step::run(&format!("install {package} (once)"), Command::new("apt-get").args(["install", "--yes", package]))
        .map_err(|why| format!("{why}\nbench {bench} needs {program}; install {package} with your system's packages"))
}
