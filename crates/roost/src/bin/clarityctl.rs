//! `clarityctl`: `roost` as clarity-runtime's command line. So that `cargo install` puts this name in place, too.

#[path = "../other_name.rs"]
mod other_name;

use std::process::ExitCode;

fn main() -> ExitCode {
    other_name::start(env!("CARGO_BIN_NAME"))
}
