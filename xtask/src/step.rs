//! One announced, timed piece of work, and how to repeat it by hand when it fails.

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Result;

/// Runs a command as a step; the failure names the step and the command line that repeats it.
pub(crate) fn run(name: &str, command: &mut Command) -> Result {
    let rerun = command_line(command);
    run_with(name, &rerun, || {
        let status = command.status().map_err(|error| format!("cannot start {rerun}: {error}"))?;
        if status.success() { Ok(()) } else { Err(status.to_string()) }
    })
}

/// Runs a function as a step; `rerun` is the command that a failure suggests for repeating it.
pub(crate) fn run_with(name: &str, rerun: &str, work: impl FnOnce() -> Result) -> Result {
    println!("== {name}");
    let start = Instant::now();
    let outcome = work();
    let seconds = start.elapsed().as_secs_f64();
    outcome.map_err(|why| format!("{why}\nfailed: {name} after {seconds:.1} s; run it again with: {rerun}"))?;
    println!("== {name}: ok in {seconds:.1} s");
    Ok(())
}

/// Whether a command starts and succeeds; what it prints is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The command as one would type it into a shell.
fn command_line(command: &Command) -> String {
    let envs = command.get_envs().filter_map(|(key, value)| Some((key, value?)));
    let envs = envs.map(|(key, value)| format!("{}={}", key.display(), quoted(&value.to_string_lossy())));
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| quoted(&word.to_string_lossy()));
    envs.chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@,+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_says_which_step_and_how_to_repeat_it() {
        let failure = run("flaky", Command::new("sh").args(["-c", "exit 3"]).env("ROOST_FULL", "1")).unwrap_err();
        let last = failure.lines().last().unwrap();
        assert!(last.starts_with("failed: flaky after "), "{last}");
        assert!(last.ends_with("run it again with: ROOST_FULL=1 sh -c 'exit 3'"), "{last}");
    }

    #[test]
    fn a_command_that_does_not_exist_is_a_failure_that_names_it() {
        let failure = run("absent", &mut Command::new("./no-such-program")).unwrap_err();
        assert!(failure.starts_with("cannot start ./no-such-program"), "{failure}");
    }

    #[test]
    fn words_are_quoted_only_when_a_shell_would_split_them() {
        for (word, expected) in
            [("--locked", "--locked"), ("", "''"), ("it's", r"'it'\''s'"), ("not a(b)", "'not a(b)'")]
        {
            assert_eq!(quoted(word), expected);
        }
    }
}
