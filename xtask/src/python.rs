//! Virtual environments of Python, each made once.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, step};

/// The Python of a virtual environment that has the packages of a requirements file. It is made if `module` cannot be
/// imported there. Where the file has hashes, pip refuses every other file.
pub(crate) fn environment(venv: &Path, requirements: &Path, module: &str) -> Result<PathBuf> {
    let python = venv.join("bin/python");
    let works = || step::succeeds(Command::new(&python).args(["-c", &format!("import {module}")]));
    if works() {
        return Ok(python);
    }
    if !step::succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"])) {
        return Err("python3 with venv is missing: install it (on Debian: python3-venv), then try again".into());
    }
    step::run(&format!("make {} (once)", venv.display()), Command::new("python3").args(["-m", "venv"]).arg(venv))?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(requirements);
    step::run(&format!("install the Python package {module} (once)"), &mut install)?;
    if works() { Ok(python) } else { Err(format!("{} does not work; remove it and try again", venv.display())) }
}
