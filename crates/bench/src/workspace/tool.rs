//! Runs the command line tools that people would use instead.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Outcome;
use crate::figure::{median, millis};

/// Runs a tool in a folder and reads its whole output. Returns the milliseconds and the output. An exit code of 1 is no
/// error, because `rg` and `fzf` end with it if nothing is found.
pub(super) fn run(folder: &Path, program: &str, args: &[&str], input: &[u8]) -> Outcome<(f64, Vec<u8>)> {
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(args)
        .current_dir(folder)
        .stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(|error| format!("cannot start {program}: {error}; `cargo xtask bench workspace` installs it"))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input)?;
    }
    let mut output = Vec::new();
    child.stdout.take().ok_or("no stdout")?.read_to_end(&mut output)?;
    let status = child.wait()?;
    match status.code() {
        Some(0 | 1) => Ok((millis(start.elapsed()), output)),
        _ => Err(format!("{program} {args:?} failed: {status}").into()),
    }
}

/// Measures two things alternately, so that a busy moment hits both. Returns the median of each; the first round does not
/// count.
pub(super) fn measure_alternately(
    rounds: usize,
    mut ours: impl FnMut() -> Outcome<f64>,
    mut theirs: impl FnMut() -> Outcome<f64>,
) -> Outcome<(f64, f64)> {
    let (mut us, mut them) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let (our, their) = (ours()?, theirs()?);
        if round > 0 {
            us.push(our);
            them.push(their);
        }
    }
    Ok((median(us), median(them)))
}
