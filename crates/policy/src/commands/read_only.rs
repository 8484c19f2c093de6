//! Commands that change nothing, whatever files they are given.

use super::{Args, git};

/// Programs that change nothing with any argument.
const ALWAYS: [&str; 49] = [
    "[",
    "arch",
    "basename",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expr",
    "false",
    "fgrep",
    "fold",
    "free",
    "grep",
    "head",
    "hexdump",
    "id",
    "jq",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "od",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "seq",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "sleep",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "tr",
    "true",
];
/// More of them.
const ALSO: [&str; 5] = ["uname", "uptime", "wc", "which", "whoami"];
/// Programs that tell their version.
const VERSIONED: [&str; 14] =
    ["bun", "cargo", "deno", "gcc", "git", "go", "java", "node", "npm", "pip", "python", "python3", "ruby", "rustc"];

/// Whether this program, named without a folder, only reads.
pub(super) fn matches(program: &str, args: Args<'_>) -> bool {
    if ALWAYS.contains(&program) || ALSO.contains(&program) {
        // Bash evaluates what it finds between brackets in an argument of `test` and `printf`, quoted or not.
        let evaluated =
            matches!(program, "[" | "test" | "printf") && args.certain().any(|arg| arg.contains(['$', '`']));
        return !evaluated && !args.0.contains(&crate::shell::Word::Dynamic);
    }
    let Some(all) = args.all() else { return false };
    match (program, all.as_slice()) {
        (_, ["--version"]) => VERSIONED.contains(&program),
        ("git", all) => git::only_reads(all),
        ("find", all) => !all
            .iter()
            .any(|arg| ["-exec", "-ok", "-delete", "-fprint", "-fls"].iter().any(|action| arg.starts_with(action))),
        ("rg", _) => !args.has_long(&["--pre", "--hostname-bin"]),
        ("sort", _) => !args.has_short("o") && !args.has_long(&["--output", "--compress-program"]),
        ("tree", _) => !args.has_short("oR") && !args.has_long(&["--output"]),
        ("file", _) => !args.has_short("C") && !args.has_long(&["--compile"]),
        ("uniq", all) => all.iter().filter(|arg| !arg.starts_with('-')).count() < 2,
        ("date", all) => all.iter().all(|arg| arg.starts_with('+') || ["-u", "-R", "-I", "--utc"].contains(arg)),
        ("hostname", []) => true,
        ("type", _) => true,
        ("command", ["-v" | "-V", _]) => true,
        ("sed", ["-n", script, files @ ..]) => prints_lines(script) && !files.iter().any(|file| file.starts_with('-')),
        _ => false,
    }
}

/// `5p`, `1,20p` or `$p`.
fn prints_lines(script: &str) -> bool {
    let address = |text: &str| text == "$" || (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
    script.strip_suffix('p').is_some_and(|range| range.splitn(2, ',').all(address))
}
