//! The tools that people use for the same thing.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Outcome;
use crate::figure::{median, millis};

/// Runs a tool in a folder to its end, with everything it says read as a person's editor would; its time and its words.
/// The exit code is passed over, since `rg` and `fzf` end with 1 where nothing is found.
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
    let mut said = Vec::new();
    child.stdout.take().ok_or("no stdout")?.read_to_end(&mut said)?;
    let status = child.wait()?;
    match status.code() {
        Some(0 | 1) => Ok((millis(start.elapsed()), said)),
        _ => Err(format!("{program} {args:?} failed: {status}").into()),
    }
}

/// Measures two things in turns, so that a busy moment is everybody's; the middle of each. The first of each is not
/// counted.
pub(super) fn beside(
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
