//! `cargo xtask conformance`: a daemon that is thrown away afterwards, walked through by a client that is not ours.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::cache::Cache;
use crate::fixtures::locked_packages::AgentSet;
use crate::{Result, fixtures, python, step};

const FOLDER: &str = "conformance";

/// The real agents that the daemon hosts beside the built-in demo.
const AGENTS: [&str; 2] = ["claude", "codex"];

/// Carries out `cargo xtask conformance`: builds the release binary and runs the walk against it.
pub(crate) fn run(root: &Path) -> Result {
    let cache = Cache::from_env(root)?;
    fixtures::install(&cache, AgentSet::Pinned)?;
    let mut build = Command::new("cargo");
    build.args([
        "build",
        "--release",
        "--locked",
        "-p",
        "roost",
        "-p",
        "testkit",
        "--bin",
        "roost",
        "--example",
        "model",
    ]);
    build.current_dir(root).env("CARGO_TARGET_DIR", cache.target());
    step::run("build roost and the scripted model", &mut build)?;
    walk(root, &cache, "release")
}

/// Runs the conformance walk against a binary that is already built for this profile. The agents must be installed.
pub(crate) fn walk(root: &Path, cache: &Cache, profile: &str) -> Result {
    let python = python_of_the_walk(root, cache)?;
    let built = cache.target().join(profile);
    let home = Home::new()?;
    let _model = Model::start(&built.join("examples/model"), &home)?;
    let daemon = Daemon::start(&built.join("roost"), &home)?;
    let mut walk = Command::new(python);
    walk.arg(root.join(FOLDER).join("walk.py")).arg("--roost").arg(&daemon.roost).arg("--repo").arg(home.repo());
    // The folder of the scripts is the checkout, which is nobody's to write into.
    home.confine(walk.arg("--agents").args(AGENTS)).env("PYTHONDONTWRITEBYTECODE", "1");
    step::run("conformance", &mut walk)
}

/// The Python of a virtual environment that has the walk's packages; both are made if they are missing.
fn python_of_the_walk(root: &Path, cache: &Cache) -> Result<PathBuf> {
    let requirements = root.join(FOLDER).join("requirements.txt");
    let wanted = fs::read_to_string(&requirements)
        .map_err(|error| format!("cannot read {}: {error}", requirements.display()))?;
    let wanted = wanted.trim();
    let (package, version) = wanted.split_once("==").ok_or("requirements.txt must pin one package")?;
    let venv = cache.folder("tools").join(format!("python-{package}-{version}"));
    python::environment(&venv, &requirements, package)
}

/// A temporary home directory, removed on drop.
struct Home(PathBuf);

impl Home {
    fn new() -> Result<Self> {
        let home = Self(std::env::temp_dir().join(format!("roost-conformance-{}", std::process::id())));
        let failed = |error| format!("cannot make {}: {error}", home.repo().display());
        fs::create_dir_all(home.repo()).map_err(failed)?;
        Ok(home)
    }

    fn repo(&self) -> PathBuf {
        self.0.join("repo")
    }

    /// Lets a command see this home instead of the user's, and no `ROOST_*` variable.
    fn confine<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("ROOST_") {
                command.env_remove(name);
            }
        }
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"] {
            command.env(name, self.0.join(name));
        }
        command.env("HOME", &self.0)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The process of the scripted model, which also writes the agents' settings into the home. Killed on drop.
struct Model(Child);

impl Model {
    fn start(model: &Path, home: &Home) -> Result<Self> {
        let mut command = Command::new(model);
        command.arg("--roost").arg(&home.0).stdin(Stdio::null()).stdout(Stdio::piped());
        let child = command.spawn().map_err(|error| format!("cannot start {}: {error}", model.display()))?;
        let mut model = Self(child);
        wait_until_ready(&mut model.0, "the model is there")?;
        Ok(model)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running `roost serve`. On drop it is ended with `roost down`, or killed if that fails.
struct Daemon<'a> {
    roost: PathBuf,
    home: &'a Home,
    child: Child,
}

impl<'a> Daemon<'a> {
    /// Starts a daemon on any free port and returns once it listens.
    fn start(roost: &Path, home: &'a Home) -> Result<Self> {
        let mut serve = Command::new(roost);
        serve.arg("--config").arg(home.0.join("roost.toml")).args(["serve", "--port", "0", "--repo"]).arg(home.repo());
        let serve = home.confine(&mut serve).stdin(Stdio::null()).stdout(Stdio::piped());
        let child = serve.spawn().map_err(|error| format!("cannot start {}: {error}", roost.display()))?;
        let mut daemon = Self { roost: roost.into(), home, child };
        wait_until_ready(&mut daemon.child, "is running at")?;
        Ok(daemon)
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        let is_down = step::succeeds(self.home.confine(Command::new(&self.roost).arg("down")));
        if !is_down {
            // Its holders end its agents.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// Reads the first line of a process's stdout and checks that it says the process is ready.
fn wait_until_ready(child: &mut Child, word: &str) -> Result {
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
    }
    if line.contains(word) { Ok(()) } else { Err(format!("it did not say that it {word:?}: {line:?}")) }
}
