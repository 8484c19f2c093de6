//! Commands with further arguments (`cargo test *`): which arguments an answer for one of them also covers.
//!
//! Whoever allows `npm test` has seen what `npm test` runs. An argument that chooses another program, configuration,
//! folder or linker makes the same words run something else, so it is covered only by a pattern that names it.

use crate::entry::Entry;
use crate::pattern::ANY;

/// A command that may be remembered without its further arguments.
struct Open {
    start: &'static [&'static str],
    /// Options without a value that only choose what of the project is built, tested, recorded or shown.
    flags: &'static [&'static str],
    /// The same with a value.
    valued: &'static [&'static str],
}

const CARGO_FLAGS: &[&str] = &[
    "--lib",
    "--bins",
    "--tests",
    "--examples",
    "--benches",
    "--all",
    "--workspace",
    "--all-targets",
    "--all-features",
    "--no-default-features",
    "--release",
    "-r",
    "-v",
    "-vv",
    "-q",
    "--verbose",
    "--quiet",
    "--no-run",
    "--no-fail-fast",
    "--doc",
    "--keep-going",
    "--locked",
    "--offline",
    "--frozen",
    "--check",
    "--no-deps",
];
const CARGO_VALUED: &[&str] = &[
    "-p",
    "--package",
    "--bin",
    "--test",
    "--example",
    "--bench",
    "--features",
    "-F",
    "--profile",
    "-j",
    "--jobs",
    "--exclude",
    "--color",
    "--message-format",
];
const GO_FLAGS: &[&str] = &["-v", "-race", "-short", "-cover", "-benchmem", "-failfast", "-json"];
const GO_VALUED: &[&str] = &["-run", "-count", "-timeout", "-bench", "-parallel", "-p", "-skip", "-cpu", "-shuffle"];
const NPM_FLAGS: &[&str] = &["-s", "--silent", "--if-present", "--workspaces", "--ignore-scripts"];
const NPM_VALUED: &[&str] = &["-w", "--workspace"];

const OPEN: [Open; 15] = [
    Open { start: &["cargo", "build"], flags: CARGO_FLAGS, valued: CARGO_VALUED },
    Open { start: &["cargo", "check"], flags: CARGO_FLAGS, valued: CARGO_VALUED },
    Open { start: &["cargo", "clippy"], flags: CARGO_FLAGS, valued: CARGO_VALUED },
    Open { start: &["cargo", "doc"], flags: CARGO_FLAGS, valued: CARGO_VALUED },
    Open { start: &["cargo", "fmt"], flags: CARGO_FLAGS, valued: CARGO_VALUED },
    Open { start: &["cargo", "test"], flags: CARGO_FLAGS, valued: CARGO_VALUED },
    Open {
        start: &["git", "add"],
        flags: &["-A", "-u", "-N", "-v", "-n", "--all", "--update", "--intent-to-add", "--dry-run"],
        valued: &[],
    },
    Open {
        start: &["git", "commit"],
        flags: &["-a", "-s", "-v", "-q", "--all", "--amend", "--no-edit", "--signoff", "--quiet", "--allow-empty"],
        valued: &["-m", "-am", "--message", "--author", "--date"],
    },
    Open { start: &["go", "build"], flags: GO_FLAGS, valued: GO_VALUED },
    Open { start: &["go", "test"], flags: GO_FLAGS, valued: GO_VALUED },
    Open { start: &["go", "vet"], flags: GO_FLAGS, valued: GO_VALUED },
    Open { start: &["npm", "test"], flags: NPM_FLAGS, valued: NPM_VALUED },
    Open { start: &["npm", "run"], flags: NPM_FLAGS, valued: NPM_VALUED },
    Open { start: &["pnpm", "run"], flags: NPM_FLAGS, valued: NPM_VALUED },
    Open { start: &["yarn", "run"], flags: NPM_FLAGS, valued: NPM_VALUED },
];

/// Options of any program that choose what it runs, reads as its configuration or links with. Programs accept a
/// beginning of a long option, so does this list.
const LEADS_AWAY: [&str; 47] = [
    "-C",
    "-Z",
    "--build-runner",
    "--chdir",
    "--compiler",
    "--config",
    "--cwd",
    "--dir",
    "--editor",
    "--eval",
    "--exec",
    "--exec-path",
    "--experimental-loader",
    "--extcmd",
    "--global-setup",
    "--globalconfig",
    "--import",
    "--init-file",
    "--init-module",
    "--linker",
    "--loader",
    "--manifest-path",
    "--node-options",
    "--out-dir",
    "--pager",
    "--plugin",
    "--prefix",
    "--preset",
    "--rcfile",
    "--receive-pack",
    "--reporter",
    "--require",
    "--root-dir",
    "--runner",
    "--script-shell",
    "--setup-file",
    "--shell",
    "--target-dir",
    "--test-runner",
    "--toolchain",
    "--transform",
    "--upload-pack",
    "--userconfig",
    "--with-linker",
    "-exec",
    "-toolexec",
    "-vettool",
];
/// The same as the value of another option, or as a flag of a compiler.
const LEADS_AWAY_INSIDE: [&str; 6] = ["linker=", "-fuse-ld", "extld", "-overlay", "-modfile", "-ldflags"];

fn find(argv: &[&str]) -> Option<&'static Open> {
    OPEN.iter().find(|open| argv.starts_with(open.start))
}

/// The pattern that stands for a command in later calls: the command and its subcommand where further arguments may
/// change, else the command exactly.
pub(crate) fn lasting(argv: &[&str]) -> Vec<String> {
    let mut words: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
    // The script is what `run` runs, so it is part of the command.
    let fixed = if argv.get(1) == Some(&"run") { 3 } else { 2 };
    let Some(open) = find(argv).filter(|_| argv.len() >= fixed) else { return words };
    if !argv[..fixed].iter().any(|word| word.starts_with('-')) && open.covers(&argv[fixed..]) {
        words.truncate(fixed);
        words.push(ANY.to_owned());
    }
    words
}

/// Whether the arguments that an entry leaves open lead the command away from what was allowed.
pub(crate) fn strays(argv: &[&str], entry: &Entry) -> bool {
    let rest = &argv[entry.named_words().min(argv.len())..];
    match find(argv).filter(|_| entry.alone) {
        // A person saw one command; a rule was written for many.
        Some(open) => !open.covers(rest),
        None => rest.iter().any(|word| leads_away(word)),
    }
}

impl Open {
    /// Whether all of these arguments are known to choose only what of the project is meant.
    fn covers(&self, args: &[&str]) -> bool {
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let (name, value) = arg.split_once('=').map_or((*arg, None), |(name, value)| (name, Some(value)));
            let known = match *arg {
                // The rest is for the program that is run, which is the project's own.
                "--" => return !args.any(|arg| leads_away(arg)),
                option if option.starts_with('-') => {
                    let takes_value = self.valued.contains(&name);
                    let complete =
                        !takes_value || value.is_some() || args.next().is_some_and(|value| !value.starts_with('-'));
                    (takes_value || (value.is_none() && self.flags.contains(&option))) && complete
                }
                // Another folder is another project.
                operand => !operand.starts_with(['/', '~']) && !operand.split('/').any(|part| part == ".."),
            };
            if !known {
                return false;
            }
        }
        true
    }
}

fn leads_away(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    let long = name.starts_with("--") && name.len() > 3;
    let named = LEADS_AWAY.iter().any(|bad| {
        name == *bad
            || (long && (bad.starts_with(name) || name.starts_with(bad)))
            || (bad.len() == 2 && word.starts_with(bad))
    });
    named || LEADS_AWAY_INSIDE.iter().any(|bad| word.contains(bad))
}
