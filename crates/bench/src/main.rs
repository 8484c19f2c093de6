//! `cargo xtask bench`: what Roost costs, measured beside what it is compared with, in one run.
//!
//! Prints one table and writes one JSON file. Every figure has its yardstick in the same run, because the machines
//! are noisy; a target that is missed is shown as missed and makes the exit code 1.

mod acp;
mod agent;
mod agents;
mod decision;
mod door;
mod durable;
mod figure;
mod first;
mod follow;
mod gateway;
mod http;
mod log;
mod memory;
mod policy;
mod run_json;
mod sandbox_agent;
mod stage;
mod stream;
mod wasm;
mod workspace;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use figure::Table;

/// The result of a bench; whatever goes wrong ends the run with its message.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

const USAGE: &str = "usage: roost-bench [stream] [first] [log] [memory] [policy] [door] [agents] [workspace] [acp] [gateway] [wasm] [--json FILE]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [hidden, sessions] = args.as_slice()
        && hidden == memory::HOST
    {
        return exit(memory::host(sessions));
    }
    exit(run(args))
}

fn exit(outcome: Outcome<bool>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the named benches, or all; `false` when a target was missed.
fn run(args: Vec<String>) -> Outcome<bool> {
    let mut names = Vec::new();
    let mut json = PathBuf::from("target/bench.json");
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => json = args.next().ok_or(USAGE)?.into(),
            name if BENCHES.iter().any(|(bench, _)| *bench == name) => names.push(arg),
            _ => return Err(format!("unknown argument \"{arg}\"; {USAGE}").into()),
        }
    }
    let mut table = Table::default();
    for (name, bench) in BENCHES {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            eprintln!("bench {name} …");
            bench(&mut table)?;
        }
    }
    print!("{table}");
    table.save(&json)?;
    println!("written to {}", json.display());
    Ok(table.all_met())
}

type Bench = fn(&mut Table) -> Outcome;

const BENCHES: [(&str, Bench); 11] = [
    ("stream", stream::run),
    ("first", first::run),
    ("log", log::run),
    ("memory", memory::run),
    ("policy", policy::run),
    ("door", door::run),
    ("agents", agents::run),
    ("workspace", workspace::run),
    ("acp", acp::run),
    ("gateway", gateway::run),
    ("wasm", wasm::run),
];
