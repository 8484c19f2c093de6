//! Which variables may be set before a command (`CI=1 npm test`) that is remembered.
//!
//! A variable can choose the program, the loader or the configuration of whatever runs. An assignment is remembered by
//! its exact name and value, and only if the value is a number or one plain word, which is no path, option or address,
//! and the name is none by which programs are told what to run and none of a secret.

use crate::redact::is_secret_name;
use crate::shell::without_version;

/// Beginnings of names that steer a loader, an interpreter, a build tool, a package manager or git.
#[rustfmt::skip]
const PREFIXES: [&str; 67] = [
    "ANSIBLE_", "AWS_", "BASH", "BAZEL", "BUNDLE", "BUN_", "CARGO_", "CCACHE", "CDPATH", "CLIPPY", "CMAKE", "COMPOSER",
    "CONDA", "COREPACK_", "DENO_", "DISTCC", "DJANGO_", "DOCKER_", "DOTNET_", "DYLD_", "ELECTRON_", "FLASK_", "GCC_",
    "GEM_", "GIT", "GLIBC_", "GO", "GRADLE", "GTK_", "HG", "JAVA", "JDK_", "JULIA_", "KUBE", "LD_", "LESS", "LUA_",
    "MAKE", "MALLOC_", "MAVEN_", "MIX_", "NIX_", "NODE_", "NPM_", "NVM_", "OPENSSL_", "PERL", "PHP", "PIP", "PNPM_",
    "POETRY_", "PYENV_", "PYTEST_", "PYTHON", "QT_", "RBENV_", "RUBY", "RUST", "SCCACHE_", "SSH_", "SSL_", "TS_NODE_",
    "TSX_", "UV_", "VIRTUAL_ENV", "XDG_", "YARN_",
];
/// Names with those beginnings that only say how much is built, tested or shown, or for which machine.
#[rustfmt::skip]
const HARMLESS: [&str; 14] = [
    "CARGO_BUILD_JOBS", "CARGO_INCREMENTAL", "CARGO_TERM_COLOR", "GO111MODULE", "GOARCH", "GOARM", "GOMAXPROCS", "GOOS",
    "MIX_ENV", "NODE_ENV", "RUST_BACKTRACE", "RUST_LIB_BACKTRACE", "RUST_LOG", "RUST_TEST_THREADS",
];
/// Names that steer programs and that none of the other lists has.
#[rustfmt::skip]
const NAMES: [&str; 13] = [
    "ENV", "GHCRTS", "GLOBIGNORE", "HOSTALIASES", "IFS", "OLDPWD", "PS1", "PS4", "PWD", "TERMCAP", "TERMINFO", "VISUAL",
    "ZDOTDIR",
];
/// Names of programs. A build tool runs what a variable of such a name says, also for one target (`CC_arm`, `HOST_CC`).
#[rustfmt::skip]
const PROGRAMS: [&str; 21] = [
    "AR", "AS", "AWK", "BROWSER", "CC", "CPP", "CXX", "FC", "GREP", "INSTALL", "LD", "LEX", "NM", "OBJCOPY", "PROTOC",
    "RANLIB", "SED", "STRIP", "SWIG", "TAR", "YACC",
];
/// Ends of words by which a name says that its value is a program, its options, a file, a place or a host: `HOME`,
/// `CFLAGS`, `RUSTC_WRAPPER`, `EDITOR`, `HTTP_PROXY`.
#[rustfmt::skip]
const ENDINGS: [&str; 62] = [
    "ARGS", "ASKPASS", "BIN", "CMD", "COMMAND", "COMPILER", "CONF", "CONFIG", "DIR", "EDIT", "EDITOR", "ENGINE",
    "ENGINES", "ENVIRON", "EXEC", "EXECUTABLE", "FILE", "FILES", "FLAGS", "HELPER", "HOME", "HOOK", "HOOKS", "HOST",
    "IMPORT", "INIT", "INTERPRETER", "LIB", "LIBRARY", "LIBS", "LINKER", "LOADER", "MODULE", "MODULES", "OPT",
    "OPTIONS", "OPTS", "PAGER", "PATH", "PLUGIN", "PLUGINS", "PREFIX", "PRELOAD", "PROFILE", "PROJECT", "PROXY", "RC",
    "REGISTRY", "REQUIRE", "ROOT", "RSH", "RUNNER", "SCRIPT", "SETTINGS", "SHELL", "TOOL", "TOOLCHAIN", "URL",
    "WORKSPACE", "WRAPPER", "YAML", "YML",
];

/// Whether a word is `NAME=value`. No command pattern has a program of such a name.
pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| is_variable_name(name))
}

/// Whether a shell takes this for the name of a variable.
pub(crate) fn is_variable_name(name: &str) -> bool {
    let usual = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(usual)
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
    usual_name && is_plain_value(value) && (HARMLESS.contains(&name) || !steers(name)) && !is_secret_name(name)
}

/// Whether a value is a number (`1`, `2.5`), a word (`test`, `x86-64`), a locale (`C.UTF-8`) or empty. A word with a dot
/// in it may be the name of a file.
fn is_plain_value(value: &str) -> bool {
    let is_number = value.chars().all(|c| c.is_ascii_digit() || c == '.') && !value.starts_with('.');
    let word = value.strip_suffix(".UTF-8").unwrap_or(value);
    let is_word = word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) && !word.starts_with('-');
    is_number || is_word
}

/// Whether the name is one by which programs are told what to run, to read or to contact.
fn steers(name: &str) -> bool {
    let mut words = name.split('_').map(without_version);
    NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || words.any(|word| PROGRAMS.contains(&word) || ENDINGS.iter().any(|ending| word.ends_with(ending)))
}
