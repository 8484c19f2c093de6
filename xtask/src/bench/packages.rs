//! Programs that benches are compared with or need, from the packages of the system.

use std::process::Command;

use crate::{Result, step};

/// Installs the package of a program with `apt-get`, unless the program starts already.
pub(crate) fn install(bench: &str, program: &str, package: &str) -> Result {
    // Some say their version and fail; that they say something is enough.
    if Command::new(program).arg("--version").output().is_ok() {
        return Ok(());
    }
    step::run(&format!("install {package} (once)"), Command::new("apt-get").args(["install", "--yes", package]))
        .map_err(|why| format!("{why}\nbench {bench} needs {program}; install {package} with your system's packages"))
}
