//! `cargo xtask bench`: builds what is compared, release on every side, and hands over to `roost-bench`.

mod durable;
mod mcp_hub;
mod packages;
mod sandbox_agent;

use std::path::Path;
use std::process::Command;

use crate::cache::Cache;
use crate::fixtures::locked_packages::AgentSet;
use crate::{Result, fixtures, step, ui};

/// Builds Roost and its yardsticks, then runs the benches named in `args` (none: all of them).
pub(crate) fn run(root: &Path, args: &[&str]) -> Result {
    let cache = Cache::from_env(root)?;
    if args == ["ui"] {
        return web_app(root, &cache);
    }
    let durable = durable::build(root, &cache)?;
    let compares = wants(args, "stream") || wants(args, "door");
    let sandbox_agent = if compares { Some(sandbox_agent::install(&cache)?) } else { None };
    let mcp_hub = if wants(args, "gateway") { Some(mcp_hub::install(&cache)?) } else { None };
    if wants(args, "door") || wants(args, "gateway") {
        packages::install("door and gateway", "wrk", "wrk")?;
    }
    if wants(args, "workspace") {
        packages::install("workspace", "rg", "ripgrep")?;
        packages::install("workspace", "fzf", "fzf")?;
    }
    if wants(args, "agents") || wants(args, "acp") || wants(args, "gateway") {
        step::run_with("fixtures", "cargo xtask fixtures", || fixtures::install(&cache, AgentSet::Pinned).map(drop))?;
    }
    if wants(args, "acp") {
        step::run_with("ACP clients", "cargo xtask fixtures", || fixtures::acp_clients::install(&cache))?;
    }
    if wants(args, "wasm") {
        step::run_with("wasm components", "cargo xtask fixtures --full", || {
            let node = fixtures::install(&cache, AgentSet::Pinned)?.join("node");
            fixtures::wasm::build_components(&cache, &node)?;
            // The inspector, which calls the modules.
            fixtures::mcp::install(&cache)
        })?;
    }
    step::run(
        "build roost",
        Command::new("cargo")
            .args(["build", "--profile", "dist", "--locked", "-p", "roost", "-p", "roost-bench"])
            .current_dir(root)
            .env("CARGO_TARGET_DIR", cache.target()),
    )?;

    let dist = cache.target().join("dist");
    let mut bench = Command::new(dist.join("roost-bench"));
    bench.args(args).env("ROOST_BIN", dist.join("roost")).env("ROOST_BENCH_DURABLE", durable);
    bench.env("ROOST_BENCH_WASM_COMPONENTS", fixtures::wasm::components_folder(&cache));
    if let Some(binary) = sandbox_agent {
        bench.env("ROOST_BENCH_SANDBOX_AGENT", binary);
    }
    if let Some(script) = mcp_hub {
        bench.env("ROOST_BENCH_MCP_HUB", script);
    }
    step::run("bench", &mut bench)
}

/// Measures the web app in a browser; it is compared with nothing, and so has no part in `roost-bench`.
fn web_app(root: &Path, cache: &Cache) -> Result {
    let mut build = Command::new("cargo");
    build.args(["build", "--profile", "dist", "--locked", "-p", "roost"]).current_dir(root);
    step::run("build roost", build.env("CARGO_TARGET_DIR", cache.target()))?;
    ui::bench(root, cache, &cache.target().join("dist/roost"))
}

/// Whether the arguments ask for a bench, by name or by naming none.
fn wants(args: &[&str], name: &str) -> bool {
    let mut named = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match *arg {
            "--json" => _ = rest.next(),
            flag if flag.starts_with('-') => {}
            bench => named.push(bench),
        }
    }
    named.is_empty() || named.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bench_is_in_the_help() {
        let usage = include_str!("../../crates/bench/src/main.rs").split("usage: roost-bench ").nth(1).unwrap();
        let benches = usage.split(" [--json").next().unwrap().split_whitespace();
        let help = crate::HELP.split("measurements:").nth(1).unwrap();
        for bench in benches.map(|bench| bench.trim_matches(['[', ']'])) {
            assert!(help.contains(bench), "{bench}");
        }
    }

    #[test]
    fn a_bench_is_wanted_when_named_or_when_none_is() {
        for (args, expected) in [
            (&[][..], true),
            (&["stream"], true),
            (&["log", "stream"], true),
            (&["log"], false),
            (&["--json", "out.json"], true),
            (&["--json", "stream", "log"], false),
            (&["--json=out.json"], true),
        ] {
            assert_eq!(wants(args, "stream"), expected, "{args:?}");
        }
    }
}
