//! Which variables may be set before a command (`CI=1 npm test`) that is remembered.
//!
//! A variable can choose the program, the loader or the configuration of whatever runs. An assignment is remembered by
//! its exact name and value, and only if the value can name no file, option or host, and the name is not one of those
//! by which programs are told what to run.

use crate::shell::without_version;

/// Beginnings of names that steer a loader, an interpreter, a build tool or git.
#[rustfmt::skip]
const PREFIXES: [&str; 34] = [
    "AWS_", "BASH", "BUN_", "BUNDLE", "CARGO_", "CDPATH", "CMAKE_", "COMPOSER_", "CONDA", "COREPACK_", "DENO_",
    "DOCKER_", "DYLD_", "GEM_", "GIT_", "GLIBC_", "GRADLE", "JAVA_", "JDK_", "LD_", "LESS", "MAKE", "MAVEN_", "NODE_",
    "NPM_", "PERL", "PIP_", "PNPM_", "PYTHON", "RUBY", "RUSTC", "SSH_", "XDG_", "YARN_",
];
/// Names below those beginnings that say only how much is checked or shown.
const HARMLESS: [&str; 3] = ["CARGO_INCREMENTAL", "CARGO_TERM_COLOR", "NODE_ENV"];
/// Whole names that do the same.
#[rustfmt::skip]
const NAMES: [&str; 26] = [
    "AR", "AS", "BROWSER", "CC", "CPP", "CXX", "ENV", "FC", "FPATH", "GCONV", "GLOBIGNORE", "IFS", "LD", "NM", "OLDPWD",
    "PERLLIB", "PROMPT_COMMAND", "PS1", "PS4", "PWD", "SHELLOPTS", "STRIP", "TERMINFO", "TMPDIR", "VISUAL", "ZDOTDIR",
];
/// Parts of names, between underscores, by which a name says that its value is a program, its options or a place.
#[rustfmt::skip]
const PARTS: [&str; 44] = [
    "ARGS", "ASKPASS", "BIN", "CMD", "COMMAND", "COMPILER", "CONF", "CONFIG", "DIR", "EDITOR", "EXEC", "EXECUTABLE",
    "FILE", "FILES", "FLAGS", "HELPER", "HOME", "HOOK", "HOOKS", "HOST", "IMPORT", "INTERPRETER", "LIB", "LIBRARY",
    "LINKER", "LOADER", "OPTIONS", "OPTS", "PAGER", "PATH", "PLUGIN", "PLUGINS", "PRELOAD", "PROFILE", "PROXY", "RC",
    "REGISTRY", "REQUIRE", "ROOT", "RUNNER", "SCRIPT", "SHELL", "TOOLCHAIN", "WRAPPER",
];

/// Whether a word is `NAME=value`. No command pattern has a program of such a name.
pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let usual = |c: char| c.is_ascii_alphanumeric() || c == '_';
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(usual)
    })
}

/// A command pattern without the assignments before its program.
pub(crate) fn without_assignments<T: AsRef<str>>(words: &[T]) -> &[T] {
    let count = words.iter().take_while(|word| is_assignment(word.as_ref())).count();
    &words[count..]
}

/// Whether an answer for a command may also hold with this assignment before it.
pub(crate) fn may_be_remembered(assignment: &str) -> bool {
    let Some((name, value)) = assignment.split_once('=') else { return false };
    // Names in small letters are those of proxies and of npm's settings.
    let usual_name = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let usual_value = value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ',' | ':' | '-'));
    usual_name && usual_value && !value.starts_with(['-', '.']) && (HARMLESS.contains(&name) || !steers(name))
}

fn steers(name: &str) -> bool {
    // `CFLAGS`, `GOPATH` and `RUSTFLAGS` are written without an underscore.
    let says = |part: &str| PARTS.iter().any(|word| part == *word || (word.len() > 3 && part.ends_with(word)));
    NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || name.split('_').map(without_version).any(says)
}
