//! `cargo xtask test`: everything a change must pass, cheapest first.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::cache::Cache;
use crate::contract::ContractRun;
use crate::fixtures::locked_packages::{AgentSet, SET_VARIABLE};
use crate::{Result, conformance, contract, fixtures, step, tidy, typescript, ui};

const NEXTEST_VERSION: &str = "0.9.143";
const FULL_PROPTEST_CASES: &str = "2000";

/// How much `cargo xtask test` runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything that a commit has to pass.
    Usual,
    /// Also the `full_*` test binaries, many more cases per property, and the contract with the newest agents.
    Full,
}

/// Runs the steps in order and stops at the first that fails.
pub(crate) fn run(root: &Path, extent: Extent) -> Result {
    let start = Instant::now();
    let cache = Cache::from_env(root)?;
    let lint = Lint::find()?;
    let cargo = || lint.apply(in_workspace(Command::new("cargo"), root, &cache));

    step::run("fmt", cargo().args(["fmt", "--all", "--check"]))?;
    step::run_with("tidy", "cargo xtask tidy", || tidy::run(root))?;
    typescript::test(root, &cache)?;
    ui::check(root, &cache)?;
    step::run("build and clippy", cargo().args(["test", "--workspace", "--no-run", "--locked"]))?;
    // The tests switch on the feature `schema`; what people run is built without it.
    step::run("build without schemas", cargo().args(["check", "-p", "roost-rpc", "--locked"]))?;
    step::run("doc tests", cargo().args(["test", "--workspace", "--doc", "--locked"]))?;
    step::run_with("fixtures", "cargo xtask fixtures", || {
        let node = fixtures::install(&cache, AgentSet::Pinned)?.join("node");
        fixtures::acp_clients::install(&cache)?;
        fixtures::mcp::install(&cache)?;
        fixtures::wasm::build_modules(&cache, &node)?;
        match extent {
            Extent::Usual => Ok(()),
            Extent::Full => fixtures::wasm::build_components(&cache, &node),
        }
    })?;
    typescript::test_with_daemon(&cache)?;
    ui::test_with_daemon(&cache, &[])?;
    conformance::walk(root, &cache, "debug")?;
    // The tests last: a run closes with their count.
    let mut nextest = lint.apply(in_workspace(nextest(&cache)?, root, &cache));
    nextest.args(["run", "--workspace", "--locked"]);
    // What a failed test says names its place already; a backtrace would push that out of a short report.
    nextest.env("RUST_BACKTRACE", "0");
    if extent == Extent::Full {
        nextest.args(["--profile", "full"]).env("ROOST_FULL", "1");
        if std::env::var_os("PROPTEST_CASES").is_none() {
            nextest.env("PROPTEST_CASES", FULL_PROPTEST_CASES);
        }
    }
    let pinned = contract::folder(cache.target(), "contract")?;
    nextest.env(contract::FOLDER_VARIABLE, &pinned);
    let outcome = step::run("tests", &mut nextest);
    let pinned = ContractRun { set: AgentSet::Pinned, folder: &pinned };
    let complete = match extent {
        Extent::Usual => contract::print(root, &[pinned]),
        Extent::Full => newest_contract(root, &cache, &lint, Some(pinned)),
    };
    outcome?;
    complete?;

    if extent == Extent::Usual {
        println!(
            "left out: test binaries named full_*, {FULL_PROPTEST_CASES} cases per property and the contract with the \
             newest agents; run them with: cargo xtask test --full"
        );
    }
    if std::env::var_os("CLARITYC_BIN").is_none() {
        println!("left out: modules of the real Clarity compiler, which is on no registry; name it in CLARITYC_BIN");
    }
    println!("all green in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Runs the contract with the newest agents alone, as `cargo xtask test --newest` asks.
pub(crate) fn run_newest(root: &Path) -> Result {
    let cache = Cache::from_env(root)?;
    newest_contract(root, &cache, &Lint::find()?, None)
}

/// Runs the contract with the agents whose newest release is not the pinned one, and prints its table beside that of the
/// pinned ones.
fn newest_contract(root: &Path, cache: &Cache, lint: &Lint, pinned: Option<ContractRun<'_>>) -> Result {
    let folder = contract::folder(cache.target(), "contract-newest")?;
    let outcome = match contract::newest_tests() {
        None => Ok(()),
        Some(tests) => {
            step::run_with("newest fixtures", "cargo xtask fixtures --newest", || {
                fixtures::install(cache, AgentSet::Newest).map(drop)
            })?;
            let mut nextest = lint.apply(in_workspace(nextest(cache)?, root, cache));
            nextest.args(["run", "--workspace", "--locked", "-E", &tests]);
            nextest.env(contract::FOLDER_VARIABLE, &folder).env(SET_VARIABLE, "newest");
            step::run("the contract with the newest agents", &mut nextest)
        }
    };
    let newest = ContractRun { set: AgentSet::Newest, folder: &folder };
    let complete = contract::print(root, &pinned.into_iter().chain([newest]).collect::<Vec<_>>());
    outcome.and(complete)
}

fn in_workspace(mut command: Command, root: &Path, cache: &Cache) -> Command {
    command.current_dir(root).env("CARGO_TARGET_DIR", cache.target());
    command
}

/// Clippy as the compiler of our own crates. `cargo clippy` checks every crate, ours and others', and keeps nothing that a
/// build could use; this lints and builds in one go, and every later step finds the same artifacts.
struct Lint {
    driver: PathBuf,
}

impl Lint {
    fn find() -> Result<Self> {
        let printed = Command::new("rustc").args(["--print", "sysroot"]).output();
        let printed = printed.map_err(|error| format!("cannot start rustc: {error}"))?;
        let sysroot = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
        let driver = Path::new(&sysroot).join("bin/clippy-driver");
        if driver.exists() {
            Ok(Self { driver })
        } else {
            Err(format!("{} is missing: run `rustup component add clippy`", driver.display()))
        }
    }

    fn apply(&self, mut command: Command) -> Command {
        // The words that `cargo clippy -- -D warnings` hands to its driver.
        let arguments = ["-D", "warnings"].map(|word| format!("{word}__CLIPPY_HACKERY__")).concat();
        command.env("RUSTC_WORKSPACE_WRAPPER", &self.driver).env("CLIPPY_ARGS", arguments);
        command
    }
}

/// The nextest command: the machine's own, else one installed into the cache.
fn nextest(cache: &Cache) -> Result<Command> {
    if step::succeeds(Command::new("cargo").args(["nextest", "--version"])) {
        let mut command = Command::new("cargo");
        command.arg("nextest");
        return Ok(command);
    }
    let tools = cache.folder("tools");
    let mut command = Command::new(tools.join("bin/cargo-nextest"));
    command.arg("nextest");
    if !step::succeeds(Command::new(command.get_program()).args(["nextest", "--version"])) {
        let mut install = Command::new("cargo");
        install.args(["install", "cargo-nextest", "--locked", "--version", NEXTEST_VERSION, "--root"]).arg(&tools);
        step::run("install nextest (once, a few minutes)", &mut install)?;
    }
    Ok(command)
}
