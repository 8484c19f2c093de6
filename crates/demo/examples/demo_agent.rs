//! The demo agent as a program of its own, for tests and measurements without the `roost` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    roost_demo::main()
}
