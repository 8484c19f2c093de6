//! The TypeScript client: built and tested in a copy outside the checkout, from where it also is packed and installed as
//! its users do.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::fixtures::locked_packages::AgentSet;
use crate::{Result, browser, fixtures, npm, step};

const PROJECT: &str = "clients/ts";
/// What is copied of it; everything else there is made from these.
const SOURCES: [&str; 6] = ["README.md", "package.json", "package-lock.json", "tsconfig.json", "src", "test"];

/// Carries out `cargo xtask typescript`. The tests that need a daemon run if there is one.
pub(crate) fn run(root: &Path) -> Result {
    let cache = Cache::from_env(root)?;
    test(root, &cache)?;
    if daemon(&cache).exists() {
        test_with_daemon(&cache)
    } else {
        println!("left out: the tests with a daemon, because there is no {}", daemon(&cache).display());
        Ok(())
    }
}

/// Builds the client, checks its types and runs the tests that need no daemon.
pub(crate) fn test(root: &Path, cache: &Cache) -> Result {
    let project = copy(root, cache)?;
    npm::install_locked(&project)?;
    step::run("typescript", Command::new("npm").args(["run", "--silent", "build"]).current_dir(&project))?;
    step::run("typescript tests", Command::new("npm").args(["run", "--silent", "test"]).current_dir(&project))
}

/// Runs all tests of the client that [`test`] has built, with the debug build of the daemon and a browser: in this machine's
/// Node, which may be too old to have a WebSocket, and in the pinned one, which has one.
pub(crate) fn test_with_daemon(cache: &Cache) -> Result {
    let (pinned, browser) = (fixtures::install(cache, AgentSet::Pinned)?.join("node"), browser::install()?);
    for node in [Path::new("node"), &pinned] {
        let mut tests = Command::new("sh");
        tests.args(["-c", r#"exec "$0" --test --test-reporter=spec test/*.test.mjs"#]).arg(node);
        tests.env("ROOST", daemon(cache)).env("BROWSER", &browser).current_dir(project(cache));
        step::run("typescript tests with a daemon", &mut tests)?;
    }
    Ok(())
}

fn daemon(cache: &Cache) -> PathBuf {
    cache.target().join("debug/roost")
}

fn project(cache: &Cache) -> PathBuf {
    cache.target().join("clients-ts")
}

/// Copies the sources into the target folder, in place of an earlier copy; what npm installed there stays.
fn copy(root: &Path, cache: &Cache) -> Result<PathBuf> {
    let project = project(cache);
    let failed = |error| format!("cannot write into {}: {error}", project.display());
    fs::create_dir_all(&project).map_err(failed)?;
    for folder in ["src", "test", "dist"] {
        match fs::remove_dir_all(project.join(folder)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    let copied = Command::new("cp").arg("-R").args(SOURCES).arg(&project).current_dir(root.join(PROJECT)).status();
    match copied.map_err(failed)?.success() {
        true => Ok(project),
        false => Err(format!("cannot copy {PROJECT} to {}", project.display())),
    }
}
