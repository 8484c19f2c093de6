//! `cargo xtask conformance`: a daemon that is thrown away afterwards, walked through by a client that is not ours.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::cache::Cache;
use crate::test::Extent;
use crate::{Result, step};

const FOLDER: &str = "conformance";

/// Builds the release binary and walks through its daemon; the usual extent leaves out what waits for half a minute.
pub(crate) fn run(root: &Path, extent: Extent) -> Result {
    let cache = Cache::from_env(root)?;
    walk(root, &cache, "release", &["--release"], extent)
}

/// Builds a binary like this and walks through its daemon.
pub(crate) fn walk(root: &Path, cache: &Cache, profile: &str, flags: &[&str], extent: Extent) -> Result {
    let mut build = Command::new("cargo");
    build.args(["build", "--locked", "-p", "roost"]).args(flags).current_dir(root);
    step::run("build roost", build.env("CARGO_TARGET_DIR", cache.target()))?;
    let python = python(root, cache)?;
    let daemon = Daemon::start(&cache.target().join(profile).join("roost"))?;
    let mut walk = Command::new(python);
    walk.arg(root.join(FOLDER).join("walk.py")).arg("--roost").arg(&daemon.roost).arg("--repo").arg(daemon.repo());
    // The folder of the scripts is the checkout, which is nobody's to write into.
    daemon.at_home(&mut walk).env("PYTHONDONTWRITEBYTECODE", "1");
    if extent == Extent::Full {
        walk.arg("--full");
    }
    step::run("conformance", &mut walk)
}

/// A Python with the packages of the walk; they are installed where they are not there yet.
fn python(root: &Path, cache: &Cache) -> Result<PathBuf> {
    let requirements = root.join(FOLDER).join("requirements.txt");
    let wanted = fs::read_to_string(&requirements)
        .map_err(|error| format!("cannot read {}: {error}", requirements.display()))?;
    let wanted = wanted.trim();
    let (package, version) = wanted.split_once("==").ok_or("requirements.txt must pin one package")?;
    let venv = cache.folder("tools").join(format!("python-{package}-{version}"));
    let python = venv.join("bin/python");
    let works = || step::succeeds(Command::new(&python).args(["-c", &format!("import {package}")]));
    if works() {
        return Ok(python);
    }
    if !step::succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"])) {
        return Err("python3 with venv is missing: install it (on Debian: python3-venv), then try again".into());
    }
    step::run(&format!("make {} (once)", venv.display()), Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(&requirements);
    step::run(&format!("install {wanted} (once)"), &mut install)?;
    if works() { Ok(python) } else { Err(format!("{} does not work; remove it and try again", venv.display())) }
}

/// A daemon with a home of its own; it and its home are gone when this is dropped.
struct Daemon {
    roost: PathBuf,
    home: PathBuf,
    child: Child,
}

impl Daemon {
    /// Starts one on any free port; returns when it listens.
    fn start(roost: &Path) -> Result<Self> {
        let home = std::env::temp_dir().join(format!("roost-conformance-{}", std::process::id()));
        let failed = |why: &dyn std::fmt::Display| format!("cannot start a daemon in {}: {why}", home.display());
        fs::create_dir_all(home.join("repo")).map_err(|error| failed(&error))?;
        let mut serve = Command::new(roost);
        serve.args(["serve", "--port", "0", "--repo"]).arg(home.join("repo")).stdin(Stdio::null());
        let child = at(&home, serve.stdout(Stdio::piped())).spawn().map_err(|error| failed(&error))?;
        let mut daemon = Self { roost: roost.into(), home, child };
        let mut said = String::new();
        if let Some(stdout) = daemon.child.stdout.take() {
            BufReader::new(stdout).read_line(&mut said).map_err(|error| error.to_string())?;
        }
        if said.contains("listens on") {
            Ok(daemon)
        } else {
            Err(format!("the daemon did not say that it listens: {said:?}"))
        }
    }

    fn repo(&self) -> PathBuf {
        self.home.join("repo")
    }

    /// Lets a command find this daemon and no other.
    fn at_home<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        at(&self.home, command)
    }
}

/// Keeps a command to this home.
fn at<'a>(home: &Path, command: &'a mut Command) -> &'a mut Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ROOST_") {
            command.env_remove(name);
        }
    }
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"] {
        command.env(name, home.join(name));
    }
    command.env("HOME", home)
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let is_down = step::succeeds(at(&self.home, Command::new(&self.roost).arg("down")));
        if !is_down {
            // Its holders end its agents.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.home);
    }
}
