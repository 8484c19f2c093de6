//! Roost: one daemon that hosts coding agents.

mod ago;
mod ask;
mod background;
mod bundle;
mod cli;
mod cmd;
mod compose;
mod config;
mod connect;
mod daemon_file;
mod daemon_log;
mod diagnostics;
mod error;
mod exit;
mod find;
mod interrupt;
mod keyboard;
mod line;
mod pairing;
mod past;
mod paths;
mod printer;
mod reading;
mod render;
mod screen;
mod size;
mod stderr;
mod style;
mod table;
mod upkeep;
mod watch;
mod workspace;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next().as_deref().and_then(|word| word.to_str()) {
        // These run as children many times a day: they start before anything else is set up.
        Some("hold") => roost_process::hold::main(args),
        Some("notify") => roost_adapters::codex::forward(args),
        Some("demo-agent") => roost_adapters::demo::agent::main(),
        _ => cli::main(),
    }
}
