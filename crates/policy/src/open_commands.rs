//! Commands with further arguments (`cargo test *`): which arguments an answer for one of them also covers.
//!
//! Whoever allows `npm test` has seen what `npm test` runs. An argument that chooses another program, configuration,
//! folder or linker makes the same words run something else, so it is covered only by a pattern that names it.

use crate::assignments::without_assignments;
use crate::entry::Entry;
use crate::pattern::ANY;
use crate::shell::base;

/// A command that may be remembered without its further arguments (`cargo test *`).
struct OpenCommand {
    start: &'static [&'static str],
    /// Options without a value that only choose what of the project is built, tested, recorded or shown.
    flags: &'static [&'static str],
    /// The same with a value.
    valued: &'static [&'static str],
    /// What may follow `--`, for the tool that the command runs.
    tool_flags: &'static [&'static str],
    /// The same with a value.
    tool_valued: &'static [&'static str],
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

/// Options of Rust's test harness.
const LIBTEST_FLAGS: &[&str] =
    &["--nocapture", "--no-capture", "--exact", "--ignored", "--include-ignored", "--list", "--show-output", "-q"];
const LIBTEST_VALUED: &[&str] = &["--test-threads", "--skip", "--color", "--format"];
/// Options of the compiler that set the level of a lint.
const LINT_LEVELS: &[&str] = &["-A", "-D", "-F", "-W", "--allow", "--deny", "--forbid", "--warn"];
/// Options of the test runners that `npm test` runs.
const RUNNER_FLAGS: &[&str] = &[
    "--bail",
    "--ci",
    "--coverage",
    "--passWithNoTests",
    "--run",
    "--runInBand",
    "--silent",
    "--verbose",
    "--watch=false",
    "--watchAll=false",
];
const RUNNER_VALUED: &[&str] = &["--grep", "--testNamePattern", "--test-name-pattern"];

const OPEN: [OpenCommand; 15] = [
    OpenCommand::cargo(&["cargo", "build"]),
    OpenCommand::cargo(&["cargo", "check"]),
    OpenCommand { tool_valued: LINT_LEVELS, ..OpenCommand::cargo(&["cargo", "clippy"]) },
    OpenCommand::cargo(&["cargo", "doc"]),
    OpenCommand { tool_flags: &["--check"], ..OpenCommand::cargo(&["cargo", "fmt"]) },
    OpenCommand { tool_flags: LIBTEST_FLAGS, tool_valued: LIBTEST_VALUED, ..OpenCommand::cargo(&["cargo", "test"]) },
    OpenCommand::new(
        &["git", "add"],
        &["-A", "-u", "-N", "-v", "-n", "--all", "--update", "--intent-to-add", "--dry-run"],
        &[],
    ),
    OpenCommand::new(
        &["git", "commit"],
        &["-a", "-s", "-v", "-q", "--all", "--amend", "--no-edit", "--signoff", "--quiet", "--allow-empty"],
        &["-m", "-am", "--message", "--author", "--date"],
    ),
    OpenCommand::new(&["go", "build"], GO_FLAGS, GO_VALUED),
    OpenCommand::new(&["go", "test"], GO_FLAGS, GO_VALUED),
    OpenCommand::new(&["go", "vet"], GO_FLAGS, GO_VALUED),
    OpenCommand::package_script(&["npm", "test"]),
    OpenCommand::package_script(&["npm", "run"]),
    OpenCommand::package_script(&["pnpm", "run"]),
    OpenCommand::package_script(&["yarn", "run"]),
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

fn find(argv: &[&str]) -> Option<&'static OpenCommand> {
    OPEN.iter().find(|open| argv.starts_with(open.start))
}

/// The command pattern to remember for a command: the command and its subcommand with `*` if the further arguments may
/// vary, else exactly these words.
pub(crate) fn remembered_words(argv: &[&str]) -> Vec<String> {
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

/// Whether the arguments that the entry's `*` covers make the command run something other than what was allowed.
pub(crate) fn leads_elsewhere(words: &[&str], entry: &Entry) -> bool {
    let rest = &words[entry.named_words().min(words.len())..];
    let argv = without_assignments(words);
    match find(argv).filter(|_| entry.is_answer) {
        Some(open) => !open.covers(rest),
        None => rest.iter().any(|word| leads_away(argv.first().copied().unwrap_or_default(), word)),
    }
}

impl OpenCommand {
    /// A command that runs no other tool, so that nothing may follow `--`.
    const fn new(
        start: &'static [&'static str],
        flags: &'static [&'static str],
        valued: &'static [&'static str],
    ) -> Self {
        Self { start, flags, valued, tool_flags: &[], tool_valued: &[] }
    }

    const fn cargo(start: &'static [&'static str]) -> Self {
        Self::new(start, CARGO_FLAGS, CARGO_VALUED)
    }

    /// A script of `package.json`, which usually starts a test runner.
    const fn package_script(start: &'static [&'static str]) -> Self {
        let (flags, valued, tool_flags, tool_valued) = (NPM_FLAGS, NPM_VALUED, RUNNER_FLAGS, RUNNER_VALUED);
        Self { start, flags, valued, tool_flags, tool_valued }
    }

    /// Whether all of these arguments are known to only select a part of the project.
    fn covers(&self, args: &[&str]) -> bool {
        let before = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
        let behind = args.get(before + 1..).unwrap_or_default();
        covers(&args[..before], self.flags, self.valued) && covers(behind, self.tool_flags, self.tool_valued)
    }
}

/// Whether these arguments are options of the lists, their values, and names inside the project.
fn covers(args: &[&str], flags: &[&str], valued: &[&str]) -> bool {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let (name, value) = arg.split_once('=').map_or((*arg, None), |(name, value)| (name, Some(value)));
        let known = if !arg.starts_with('-') {
            stays_inside(arg)
        } else if valued.contains(&name) {
            let value = value.or_else(|| args.next().copied().filter(|value| !value.starts_with('-')));
            value.is_some_and(|value| PROSE.contains(&name) || stays_inside(value))
        } else {
            flags.contains(arg)
        };
        if !known {
            return false;
        }
    }
    true
}

/// Options whose value is text for people.
const PROSE: [&str; 5] = ["-m", "-am", "--message", "--author", "--date"];

/// Whether a word names nothing outside the project: another folder is another project, and `@file` holds arguments.
fn stays_inside(word: &str) -> bool {
    let mut parts = word.split(['/', '=', ':', ',']);
    let starts_outside = |part: &str| part.starts_with(['/', '~', '@']);
    !parts.any(|part| part == "..") && !word.split(['=', ':', ',']).any(starts_outside)
}

/// Options that lead away in one program and are harmless in others.
const LEADS_AWAY_BY_PROGRAM: [(&str, &[&str]); 12] = [
    ("ava", &["-r"]),
    ("eslint", &["-c", "-f"]),
    ("gcc", &["-B", "-specs", "-wrapper"]),
    ("gradle", &["-I", "-b", "-c", "-g", "-p"]),
    ("gradlew", &["-I", "-b", "-c", "-g", "-p"]),
    ("jest", &["-c"]),
    ("make", &["-f", "-I", "-E", "--file", "--makefile", "--include-dir"]),
    ("mocha", &["-r", "-u", "--ui", "--file"]),
    ("mvn", &["-f", "-s", "-gs", "-t"]),
    ("npm", &["--git"]),
    ("pytest", &["-c", "-p", "-o", "--rootdir", "--confcutdir"]),
    ("vitest", &["-c", "-r", "--root"]),
];

/// Whether a further word of a rule's command chooses another program, configuration or linker.
fn leads_away(program: &str, word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    let is_long = name.starts_with("--") && name.len() > 3;
    // `--globalSetup` is `--global-setup`.
    let plain = |option: &str| option.replace('-', "").to_ascii_lowercase();
    let matches = |bad: &&str| {
        let both_long = is_long && bad.starts_with("--");
        let (name_plain, bad_plain) = (plain(name), plain(bad));
        name == *bad
            || both_long && (bad_plain.starts_with(&name_plain) || name_plain.starts_with(&bad_plain))
            || (bad.len() == 2 && word.starts_with(bad))
    };
    let own = LEADS_AWAY_BY_PROGRAM.iter().filter(|(of, _)| *of == base(program)).flat_map(|(_, bad)| *bad);
    // A variable of `make` can name its shell.
    let sets_variable = base(program) == "make" && !word.starts_with('-') && word.contains('=');
    sets_variable || LEADS_AWAY.iter().chain(own).any(matches) || LEADS_AWAY_INSIDE.iter().any(|bad| word.contains(bad))
}
