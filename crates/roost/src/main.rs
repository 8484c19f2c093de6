//! Roost: one daemon that hosts coding agents. Here its parts are put together; the commands are `roost-cli`'s.

mod backend;
mod compose;
mod config;
mod daemon_file;
mod daemon_log;
mod error;
mod folders;
mod gateway;
mod login;
mod modules;
mod serve;
mod upkeep;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

/// The name under which `roost notify` is also known (seed 002): this program, linked or copied to it, is the forwarder.
const NOTIFY_FORWARDER: &str = "acplb-notify-forwarder";

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let name = args.next();
    if name.as_deref().and_then(|name| Path::new(name).file_name()) == Some(OsStr::new(NOTIFY_FORWARDER)) {
        return roost_adapters::codex::forward(args);
    }
    match args.next().as_deref().and_then(|word| word.to_str()) {
        // These run as children many times a day: they start before anything else is set up.
        Some("hold") => roost_process::hold::main(args),
        // Codex runs it when a turn ends; no other runtime calls back, so the registration has no such hook.
        Some("notify") => roost_adapters::codex::forward(args),
        Some("demo-agent") => roost_demo::main(),
        _ => roost_cli::main(backend::open),
    }
}
