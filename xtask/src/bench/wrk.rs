//! The load generator of `bench door`'s HTTP figure, from the system's packages.

use std::process::Command;

use crate::{Result, step};

/// Makes sure that `wrk` is there.
pub(crate) fn install() -> Result {
    // It says its version and fails.
    if Command::new("wrk").arg("--version").output().is_ok() {
        return Ok(());
    }
    step::run("install wrk (once)", Command::new("apt-get").args(["install", "--yes", "wrk"]))
        .map_err(|why| format!("{why}\nbench door needs wrk; install it with your system's packages"))
}
