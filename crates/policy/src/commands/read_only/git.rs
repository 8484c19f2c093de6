//! What git only reads: a command that is known to read, with options that are known to it.
//!
//! Left out on purpose: whatever writes a file (`--output`), runs a program that the line or a driver names
//! (`--ext-diff`, `grep -O`, `cat-file --filters`, `%G?` and `--show-signature` for gpg) or takes another repository
//! (`--git-dir`). Git accepts any beginning of a long option; this table does not.

use super::options::{KnownOptions, Operands};
use super::{folders, literals};
use crate::shell::PlainWord;

const DIFF: &str = "stat? numstat shortstat dirstat? summary patch no-patch patch-with-stat raw name-only name-status \
    color? no-color word-diff? word-diff-regex= color-words? color-moved? no-renames find-renames? find-copies? \
    find-copies-harder irreversible-delete diff-filter= pickaxe-all pickaxe-regex ignore-space-at-eol ignore-space-change \
    ignore-all-space ignore-blank-lines ignore-cr-at-eol ignore-matching-lines= inter-hunk-context= function-context \
    exit-code quiet no-ext-diff no-textconv unified= minimal patience histogram diff-algorithm= anchored= full-index \
    binary abbrev? no-abbrev relative? no-relative text src-prefix= dst-prefix= no-prefix cached staged merge-base \
    compact-summary check ws-error-highlight= submodule? ignore-submodules? cc combined-all-paths base ours theirs root \
    no-index no-commit-id stdin diff-merges=";
const DIFF_FLAGS: &str = "puszraRwbmct1230MCBD";
const DIFF_VALUED: &str = "SGUl";
const LOG: &str = "oneline graph all branches? tags? remotes? glob= exclude= decorate? no-decorate decorate-refs= \
    decorate-refs-exclude= source pretty? format= abbrev-commit no-abbrev-commit date= relative-date parents children \
    left-right cherry cherry-mark cherry-pick left-only right-only no-merges merges min-parents= max-parents= first-parent \
    follow reverse topo-order date-order author-date-order max-count= skip= since= after= until= before= author= \
    committer= grep= all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp basic-regexp \
    reflog grep-reflog= boundary simplify-by-decoration full-history ancestry-path? dense sparse simplify-merges \
    walk-reflogs no-walk? log-size notes? no-notes mailmap use-mailmap clear-decorations expand-tabs? no-expand-tabs \
    encoding= count remerge-diff numbered email objects disk-usage? no-patch not";
const LOG_FLAGS: &str = "puszraRwbmct1230MCBDiEFPgq";
const LOG_VALUED: &str = "nSGUlL";

/// A command, with its options of one letter without and with a value, and its long options; `log` and `diff` stand for
/// the lists above.
type Row = (&'static str, &'static str, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const COMMANDS: &[Row] = &[
    ("blame", "wltsefpnbcMC", "LS", &["porcelain line-porcelain show-email show-name show-number since= date= root incremental color-lines reverse first-parent ignore-rev= abbrev="]),
    ("check-ignore", "vnqz", "", &["verbose non-matching quiet no-index"]),
    ("cherry", "v", "", &["abbrev?"]),
    ("count-objects", "vH", "", &["verbose human-readable"]),
    ("describe", "", "", &["tags all contains abbrev= always dirty? broken? long match= exclude= exact-match first-parent candidates="]),
    ("diff", DIFF_FLAGS, DIFF_VALUED, &[DIFF]),
    ("diff-files", DIFF_FLAGS, DIFF_VALUED, &[DIFF]),
    ("diff-index", DIFF_FLAGS, DIFF_VALUED, &[DIFF]),
    ("diff-tree", DIFF_FLAGS, DIFF_VALUED, &[DIFF, LOG]),
    ("for-each-ref", "", "", &["format= sort= count= contains? no-contains? merged? no-merged? points-at= ignore-case"]),
    ("grep", "nilcwvEFGPrhHIaLopWqz", "eABCmf", &["name-only files-with-matches files-without-match count line-number column ignore-case word-regexp invert-match extended-regexp fixed-strings perl-regexp basic-regexp untracked cached no-index all-match break heading show-function function-context max-depth= max-count= color? no-color recursive text and or not context= after-context= before-context= quiet exclude-standard no-exclude-standard"]),
    ("log", LOG_FLAGS, LOG_VALUED, &[DIFF, LOG]),
    ("ls-files", "cdmoisuztvf", "xX", &["cached deleted modified others ignored stage unmerged directory no-empty-directory eol exclude= exclude-from= exclude-standard error-unmatch with-tree= full-name recurse-submodules abbrev? deduplicate format="]),
    ("ls-tree", "drtlz", "", &["name-only name-status object-only long full-name full-tree abbrev? format="]),
    ("merge-base", "a", "", &["all octopus is-ancestor fork-point independent"]),
    ("name-rev", "", "", &["tags refs= exclude= all name-only no-undefined always"]),
    ("rev-list", LOG_FLAGS, LOG_VALUED, &[DIFF, LOG]),
    ("rev-parse", "q", "", &["show-toplevel abbrev-ref? git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository show-prefix show-cdup short? verify quiet symbolic symbolic-full-name all branches? tags? remotes? show-superproject-working-tree show-object-format? local-env-vars revs-only no-revs flags no-flags default= prefix= disambiguate= not"]),
    ("shortlog", "snec", "w", &[LOG, "summary numbered email group= committer"]),
    ("show", LOG_FLAGS, LOG_VALUED, &[DIFF, LOG]),
    ("show-branch", "agr", "", &["all remotes list current topo-order date-order independent merge-base reflog? no-name sha1-name topics color? no-color more="]),
    ("show-ref", "dsq", "", &["heads branches tags dereference hash? verify quiet abbrev? head"]),
    ("status", "sbvz", "", &["short branch porcelain? long verbose untracked-files? ignored? ignore-submodules? show-stash ahead-behind no-ahead-behind renames no-renames find-renames? column? no-column"]),
    ("version", "", "", &["build-options"]),
    ("whatchanged", LOG_FLAGS, LOG_VALUED, &[DIFF, LOG]),
];

/// The folder in which git runs (`.` without `-C`), if the command is read-only; else `None`.
pub(super) fn reads(args: &[PlainWord]) -> Option<String> {
    let mut folder = ".".to_owned();
    let mut rest = args;
    loop {
        let (word, after) = rest.split_first()?;
        match word.literal()? {
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => rest = after,
            "-C" => {
                let (at, after) = after.split_first()?;
                folder = folders::join(&folder, at.literal().filter(|at| !at.is_empty() && !at.starts_with('-'))?);
                rest = after;
            }
            "--version" if after.is_empty() => return Some(folder),
            command => return command_reads(command, after).then_some(folder),
        }
    }
}

fn command_reads(command: &str, args: &[PlainWord]) -> bool {
    // Git asks gpg about signatures where a format wants to show them.
    let asks_gpg = |word: &PlainWord| match word {
        PlainWord::Literal(text) | PlainWord::Files(text) => {
            let shows = |part: &str| part.strip_prefix(['+', '-', ' ']).unwrap_or(part).starts_with('G');
            text.contains("signature") || text.split('%').skip(1).any(shows)
        }
        PlainWord::Variable => true,
    };
    if args.iter().any(asks_gpg) {
        return false;
    }
    match COMMANDS.iter().find(|row| row.0 == command) {
        Some(row) => accepts(row, args),
        None => lists(command, args),
    }
}

fn accepts((command, flags, valued, long, ..): &Row, args: &[PlainWord]) -> bool {
    let numeric = matches!(*command, "log" | "show" | "rev-list" | "shortlog" | "whatchanged" | "grep" | "show-branch");
    let operand = |word: &PlainWord| matches!(word, PlainWord::Literal(text) if !text.starts_with('-'));
    // An option may be in any of the lists; where it takes a value, the value belongs to it.
    let mut rest = args;
    while let Some((word, after)) = rest.split_first() {
        if word.literal() == Some("--") {
            return !after.contains(&PlainWord::Variable);
        }
        // `-uno`, `-uall` and the like.
        if *command == "status" && matches!(word.literal(), Some("-u" | "-uno" | "-unormal" | "-uall")) {
            rest = after;
            continue;
        }
        let known = |long| KnownOptions { flags, valued, long, numeric, operands: Operands::Named };
        let taken = if long.iter().any(|long| known(long).accepts(&rest[..1])) {
            1
        } else if rest
            .get(..2)
            .is_some_and(|pair| operand(&pair[1]) && long.iter().any(|long| known(long).accepts(pair)))
        {
            2
        } else {
            return false;
        };
        rest = &rest[taken..];
    }
    true
}

/// Commands that list or change, depending on what they are given.
fn lists(command: &str, args: &[PlainWord]) -> bool {
    const LISTING: &str = "list contains? no-contains? merged? no-merged? points-at= all remotes show-current verbose sort= \
        format= color? no-color column? no-column abbrev= ignore-case";
    let Some(words) = literals(args) else { return false };
    // Behind `--`, what looks like an option is a name.
    if words.contains(&"--") {
        return false;
    }
    let known =
        |flags, valued| KnownOptions { flags, valued, long: LISTING, numeric: false, operands: Operands::Named };
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.split('=').next().unwrap_or(word)));
    // With a name and without one of these, it would make a branch or a tag of that name.
    let forced = has(&["--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"]);
    let only_lists = |known: KnownOptions, forced: bool| {
        known.operands_of(args).is_some_and(|operands| operands.is_empty() || forced)
    };
    match (command, words.as_slice()) {
        ("branch", _) => only_lists(known("arvi", ""), forced),
        ("tag", ["-n" | "-n1" | "-n5" | "-n9"]) => true,
        ("tag", _) => only_lists(known("li", ""), forced || has(&["-l"])),
        ("remote", [] | ["-v" | "--verbose"] | ["show"]) => true,
        ("remote", ["get-url", name]) => !name.starts_with('-'),
        ("stash", ["list"]) => true,
        ("stash", ["show", rest @ ..]) => rest
            .iter()
            .all(|word| !word.starts_with('-') || matches!(*word, "-p" | "--stat" | "--patch" | "--name-only")),
        ("worktree", ["list"] | ["list", "--porcelain" | "-v" | "--verbose"]) => true,
        ("reflog", [] | ["show"] | ["show", "HEAD"]) => true,
        ("reflog", [number] | ["show", number]) => {
            number.strip_prefix('-').is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        }
        ("config", words) => reads_config(words),
        ("cat-file", ["-t" | "-s" | "-e" | "-p" | "blob" | "commit" | "tree" | "tag", object]) => {
            !object.starts_with('-')
        }
        _ => false,
    }
}

fn reads_config(words: &[&str]) -> bool {
    let among = ["--global", "--local", "--system", "--show-origin", "--show-scope", "--name-only", "-z", "--null"];
    let words: Vec<_> = words.iter().copied().filter(|word| !among.contains(word)).collect();
    match words.as_slice() {
        ["--list" | "-l" | "list"] => true,
        ["--get" | "--get-all" | "--get-regexp" | "get", name] => !name.starts_with('-'),
        _ => false,
    }
}
