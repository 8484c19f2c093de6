//! The habits of the project as code: `cargo xtask` lists them.

mod bench;
mod browser;
mod cache;
mod conformance;
mod contract;
mod fixtures;
mod install;
mod model;
mod npm;
mod python;
mod record;
mod recording;
mod step;
mod test;
mod tidy;
mod typescript;
mod ui;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask test [--full | --newest]   format, lints, tidy, clients, conformance, all tests; --full adds what takes long;
                                       --newest only runs the contract of adapters with the newest agents
cargo xtask typescript                 the TypeScript client alone: built and tested, with the daemon if it is built
cargo xtask ui                         the web app with live reload, beside a daemon that runs already
cargo xtask ui build                   builds the web app into ui/dist, which is committed
cargo xtask ui test [FILE...]          the web app in a real browser against the daemon (debug build)
cargo xtask ui screens                 takes the pictures in docs/screens anew
cargo xtask install [--root FOLDER]    builds the program and installs it under all of its names: roost, clarityctl,
                                       clarityd, codex-cli-acp, acplb-notify-forwarder
cargo xtask conformance                a client that is not ours walks through a daemon with real agents
cargo xtask tidy                       the rules of the house that no compiler checks
cargo xtask fixtures [--newest | --full] [--print-path]
                                       installs the agents that tests run, pinned or newest (the path is for PATH), and
                                       builds wasm modules; --full adds components of JavaScript and Python
cargo xtask fixtures --update          locks the newest release of each agent that the registry has
cargo xtask model [--port N | --roost HOME]
                                       the scripted model of the tests, to try agents on by hand; or hosted by a Roost
cargo xtask record AGENT [--newest]    records an agent under Roost, for the tests with recorded runs
cargo xtask recording                  records `roost demo` for the README: docs/demo.cast and docs/demo.svg
cargo xtask bench [NAME...] [--json FILE]
                                       side-by-side measurements: stream, first, log, memory, policy, door, agents,
                                       workspace, acp, gateway, wasm (default: all); ui for the web app

Builds and downloads are kept under ~/.cache/roost (XDG_CACHE_HOME and CARGO_TARGET_DIR are honoured).";

/// The result of a command; an error is a message that ends with what to do next.
type Result<T = ()> = std::result::Result<T, String>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = repository_root();
    let outcome = match args.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        ["test"] => test::run(&root, test::Extent::Usual),
        ["test", "--full"] => test::run(&root, test::Extent::Full),
        ["test", "--newest"] => test::run_newest(&root),
        ["typescript"] => typescript::run(&root),
        ["ui", args @ ..] => ui::run(&root, args),
        ["conformance"] => conformance::run(&root),
        ["tidy"] => tidy::run(&root),
        ["fixtures", wanted @ ..] => fixtures::run(&root, wanted),
        ["install", args @ ..] => install::run(&root, args),
        ["model", args @ ..] => model::run(&root, args),
        ["record", args @ ..] => record::run(&root, args),
        ["recording"] => recording::run(&root),
        ["bench", wanted @ ..] => bench::run(&root, wanted),
        unknown => {
            eprintln!("unknown command: cargo xtask {}\n\n{HELP}", unknown.join(" "));
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn repository_root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}
