//! The TypeScript client: compiled with a pinned compiler, then tried against a daemon of a few lines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::{Result, npm, step};

const VERSION: &str = "7.0.2";
const PROJECT: &str = "clients/ts";

/// Compiles the client with its type tests, and runs its tests.
pub(crate) fn test(root: &Path, cache: &Cache) -> Result {
    let out = cache.target().join("clients-ts");
    let mut compile = Command::new(compiler(cache)?);
    compile.args(["--project", PROJECT, "--noEmit", "false", "--outDir"]).arg(&out).current_dir(root);
    step::run("typescript", &mut compile)?;
    // Node takes the compiled files as modules only where a manifest says so.
    fs::copy(root.join(PROJECT).join("package.json"), out.join("package.json"))
        .map_err(|error| format!("cannot write into {}: {error}", out.display()))?;
    let mut tests = Command::new("node");
    tests
        .args(["--test", "--test-reporter=spec", "clients/ts/test/"])
        .env("CLIENT", out.join("src/client.js"))
        .current_dir(root);
    step::run("typescript tests", &mut tests)
}

/// The path of the TypeScript compiler, which is installed first if it does not start.
fn compiler(cache: &Cache) -> Result<PathBuf> {
    let name = format!("typescript-{VERSION}");
    let compiler = cache.folder("tools").join(&name).join("node_modules/.bin/tsc");
    let starts = || step::succeeds(Command::new(&compiler).arg("--version"));
    if !starts() {
        npm::install(cache, &name, &[&format!("typescript@{VERSION}")])?;
    }
    if starts() {
        Ok(compiler)
    } else {
        Err(format!("{} does not start; remove its folder and try again", compiler.display()))
    }
}
