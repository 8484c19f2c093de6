//! The web app: developed in the checkout, built and tested in a copy outside it, so that only `ui/dist` is written here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::fixtures::locked_packages::AgentSet;
use crate::{Result, browser, fixtures, npm, step};

const USAGE: &str = "usage: cargo xtask ui [build | test [FILE...] | screens]";
const PROJECT: &str = "ui";
/// What is copied of it; everything else there is made from these.
const SOURCES: [&str; 11] = [
    "build.mjs",
    "compress.mjs",
    "index.html",
    "package.json",
    "package-lock.json",
    "public",
    "src",
    "svelte.config.js",
    "test",
    "tsconfig.json",
    "vite.config.ts",
];
/// The generated client, which the app is built with.
const CLIENT: &str = "clients/ts/src";

/// The tests in a browser, and those of them that take pictures.
const BROWSER_TESTS: [&str; 12] = [
    "pairing",
    "sessions",
    "transcript",
    "composing",
    "approvals",
    "network",
    "workspace",
    "services",
    "hostile",
    "states",
    "real-agent",
    "looks",
];
const PICTURED: [&str; 4] = ["pairing", "network", "states", "looks"];

/// Carries out `cargo xtask ui`: without arguments the app with live reload, beside a daemon that runs already.
pub(crate) fn run(root: &Path, args: &[&str]) -> Result {
    let cache = Cache::from_env(root)?;
    match args {
        [] => develop(root),
        ["build"] => build(root, &cache),
        ["test", files @ ..] => {
            copy(root, &cache)?;
            test_with_daemon(&cache, files)
        }
        ["screens"] => screens(root, &cache),
        _ => Err(USAGE.into()),
    }
}

/// Checks the types, runs the tests that need no browser, and fails if `ui/dist` is not what the sources become.
pub(crate) fn check(root: &Path, cache: &Cache) -> Result {
    let project = copy(root, cache)?;
    check_version(root)?;
    step::run("web app: types", Command::new("npm").args(["run", "--silent", "check"]).current_dir(&project))?;
    let mut tests = Command::new("node");
    tests.args(["--test", "--test-reporter=spec", "test/units.test.mjs"]).current_dir(&project);
    step::run("web app: tests of functions", &mut tests)?;
    let mut build = Command::new("node");
    build.args(["build.mjs", "--check"]).arg(root.join(PROJECT).join("dist")).current_dir(&project);
    step::run("web app: ui/dist is what its sources become", &mut build)
}

/// Fails if the app's version is not the daemon's: each shows the other's where they differ.
fn check_version(root: &Path) -> Result {
    let file = root.join(PROJECT).join("package.json");
    let package = fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let version = env!("CARGO_PKG_VERSION");
    if package.contains(&format!("\"version\": \"{version}\"")) {
        return Ok(());
    }
    Err(format!("the version in {} is not that of the workspace; set it to {version}", file.display()))
}

/// Runs the tests in a real browser against the debug build of the daemon; all of them, or those in the files named.
pub(crate) fn test_with_daemon(cache: &Cache, files: &[&str]) -> Result {
    let mut tests = in_browser(cache)?;
    tests.args(["--test", "--test-reporter=spec", "--test-concurrency=1"]);
    if files.is_empty() {
        tests.args(BROWSER_TESTS.map(|name| format!("test/{name}.test.mjs")));
    } else {
        tests.args(files);
    }
    step::run("web app: tests in a browser", &mut tests)
}

/// Measures the app in a browser, against the daemon at this path.
pub(crate) fn bench(root: &Path, cache: &Cache, daemon: &Path) -> Result {
    copy(root, cache)?;
    let mut bench = in_browser(cache)?;
    bench.arg("test/bench.mjs").env("ROOST", daemon);
    step::run("web app: speed", &mut bench)
}

/// The pinned Node in the copy of the project, with the paths of the daemon, the scripted model and the browser in its
/// environment.
fn in_browser(cache: &Cache) -> Result<Command> {
    let (pinned, browser) = (fixtures::install(cache, AgentSet::Pinned)?.join("node"), browser::install()?);
    let mut node = Command::new(pinned);
    let debug = cache.target().join("debug");
    node.env("ROOST", debug.join("roost")).env("MODEL", debug.join("examples/model")).env("BROWSER", browser);
    node.current_dir(project(cache));
    Ok(node)
}

fn develop(root: &Path) -> Result {
    let project = root.join(PROJECT);
    npm::install_locked(&project)?;
    println!("The app is at http://127.0.0.1:5173 and uses the daemon at $ROOST_DAEMON, else http://127.0.0.1:8766.");
    step::run("web app with live reload", Command::new("npm").args(["run", "--silent", "dev"]).current_dir(project))
}

fn build(root: &Path, cache: &Cache) -> Result {
    let project = copy(root, cache)?;
    step::run("build the web app", Command::new("node").arg("build.mjs").current_dir(&project))?;
    let (built, committed) = (project.join("dist"), root.join(PROJECT).join("dist"));
    let failed = |error| format!("cannot write {}: {error}", committed.display());
    if committed.exists() {
        fs::remove_dir_all(&committed).map_err(failed)?;
    }
    let copied = Command::new("cp").arg("-R").arg(&built).arg(&committed).status().map_err(failed)?;
    if copied.success() { Ok(()) } else { Err(format!("cannot copy {} to ui/dist", built.display())) }
}

/// Takes the pictures of every page for the README.
fn screens(root: &Path, cache: &Cache) -> Result {
    copy(root, cache)?;
    let mut looks = in_browser(cache)?;
    looks.args(["--test", "--test-concurrency=1"]).args(PICTURED.map(|name| format!("test/{name}.test.mjs")));
    looks.env("SCREENS", root.join("docs/screens"));
    step::run("pictures of the web app", &mut looks)
}

fn project(cache: &Cache) -> PathBuf {
    cache.target().join("web-app").join(PROJECT)
}

/// Copies the sources into the target folder, in place of an earlier copy, and installs what they need; what npm
/// installed there stays.
fn copy(root: &Path, cache: &Cache) -> Result<PathBuf> {
    let (project, client) = (project(cache), cache.target().join("web-app").join(CLIENT));
    for folder in [project.join("src"), project.join("test"), project.join("public"), client.clone()] {
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
        }
    }
    let sources = SOURCES.iter().map(|name| root.join(PROJECT).join(name));
    copy_into(sources, &project)?;
    copy_into([root.join(CLIENT)].into_iter(), client.parent().unwrap_or(&client))?;
    npm::install_locked(&project)?;
    Ok(project)
}

fn copy_into(sources: impl Iterator<Item = PathBuf>, folder: &Path) -> Result {
    let failed = |error| format!("cannot write into {}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    let copied = Command::new("cp").arg("-R").args(sources).arg(folder).status().map_err(failed)?;
    if copied.success() { Ok(()) } else { Err(format!("cannot copy the web app to {}", folder.display())) }
}
