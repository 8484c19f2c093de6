//! Reads `git status --porcelain=v2 -z`, and the line counts of each file.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::call::Call;
use super::run::Git;
use crate::{Error, RelPath};

/// The most files of a side whose lines are counted, because each has to be read.
const COUNTED: usize = 1000;
/// The most files of a side that are named to git, because it compares each file of the tree with each name.
const NAMED: usize = 50;

/// A file that differs from the index, from the last commit, or that git does not track.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Its path from the root; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// The name in bytes if it is not UTF-8; `path` then names another file, or none.
    pub raw: Option<Vec<u8>>,
    /// The path before, if it was renamed or copied.
    pub from: Option<String>,
    /// `M A D R C T`, `?` for untracked, `!` for conflicted.
    pub status: char,
    /// How many lines were added; absent for binary files and where they were not counted.
    pub additions: Option<u64>,
    /// How many lines were deleted; absent for binary files and where they were not counted.
    pub deletions: Option<u64>,
    /// Whether it is a submodule.
    pub is_submodule: bool,
}

impl Change {
    /// The file's name in bytes, whether or not it is UTF-8.
    pub fn name(&self) -> &[u8] {
        self.raw.as_deref().unwrap_or(self.path.as_bytes())
    }

    /// Its path; `None` if the name is not UTF-8.
    pub(crate) fn to_path(&self) -> Option<RelPath> {
        RelPath::parse(&self.path).ok().filter(|_| self.raw.is_none())
    }
}

/// The status of a working copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitStatus {
    /// The branch; absent with a detached head.
    pub branch: Option<String>,
    /// The object id of `HEAD`; absent before the first commit.
    pub head: Option<String>,
    /// The upstream of the branch, whether or not it exists.
    pub upstream: Option<String>,
    /// Whether the upstream exists, so that `ahead` and `behind` mean something.
    pub is_tracking: bool,
    /// How many commits the upstream lacks.
    pub ahead: u64,
    /// How many commits only the upstream has.
    pub behind: u64,
    /// Changes in the index, which the next commit will hold.
    pub staged: Vec<Change>,
    /// Changes in the working copy that are not in the index.
    pub unstaged: Vec<Change>,
    /// Files that git does not track or ignore.
    pub untracked: Vec<Change>,
    /// Files with unresolved merge conflicts.
    pub conflicted: Vec<Change>,
}

impl GitStatus {
    /// Whether there is nothing to commit, stage or resolve.
    pub fn is_clean(&self) -> bool {
        [&self.staged, &self.unstaged, &self.untracked, &self.conflicted].iter().all(|changes| changes.is_empty())
    }
}

impl Git {
    /// The status with line counts, for sides with at most `COUNTED` files.
    pub async fn status(&self) -> Result<GitStatus, Error> {
        let mut status = self.status_at(&[]).await?;
        let (staged, unstaged) =
            tokio::try_join!(self.line_counts(&status.staged, &["--cached"]), self.line_counts(&status.unstaged, &[]))?;
        set_line_counts(&mut status.staged, &staged);
        set_line_counts(&mut status.unstaged, &unstaged);
        Ok(status)
    }

    /// The git settings that apply here: the file, the name and the value of each.
    pub(crate) async fn settings(&self) -> Result<Vec<(PathBuf, String, String)>, Error> {
        let answer = self.answer(Call::read("status").args(["config", "--list", "--show-origin", "-z"])).await?;
        Ok(parse_settings(&answer))
    }

    /// The status at some paths, or everywhere if there are none, without line counts.
    pub async fn status_at(&self, paths: &[RelPath]) -> Result<GitStatus, Error> {
        self.status_with_renames(paths, "--find-renames").await
    }

    /// Like [`Self::status_at`]; `renames` is `--find-renames` or `--no-renames`.
    pub(crate) async fn status_with_renames(&self, paths: &[RelPath], renames: &str) -> Result<GitStatus, Error> {
        let args = ["status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", renames];
        let call = Call::read("status").args(args).paths(paths);
        let (answer, ()) = tokio::try_join!(self.answer(call), self.check_toplevel("status"))?;
        Ok(parse(&answer))
    }

    /// The line counts of these changes; empty if there are too many. `what` are further arguments of `git diff`.
    async fn line_counts(&self, changes: &[Change], what: &[&str]) -> Result<LineCounts, Error> {
        if changes.is_empty() || changes.len() > COUNTED {
            return Ok(LineCounts::new());
        }
        // With their names git looks at these files alone, and not at the whole tree a second time.
        let named = if changes.len() > NAMED { &[] } else { changes };
        // What was renamed from a name that is not UTF-8 has to be looked for in the whole tree, too.
        let is_named = named.iter().all(|change| change.from.as_ref().is_none_or(|from| !from.contains('\u{fffd}')));
        let named = if is_named { named } else { &[] };
        let names = named.iter().flat_map(|change| [Some(change.name()), change.from.as_deref().map(str::as_bytes)]);
        let args = ["diff", "--numstat", "-z", "-M", "--no-ext-diff", "--no-textconv"];
        Ok(parse_numstat(&self.answer(Call::read("diff").args(args).args(what).names(names.flatten())).await?))
    }
}

/// Parses `config --list --show-origin -z`: `file:path NUL name LF value NUL`.
fn parse_settings(answer: &[u8]) -> Vec<(PathBuf, String, String)> {
    let mut settings = Vec::new();
    let mut fields = answer.split(|&byte| byte == 0);
    while let (Some(origin), Some(setting)) = (fields.next(), fields.next()) {
        // What is given on the command line is the same each time.
        let Some(file) = origin.strip_prefix(b"file:") else { continue };
        let setting = text(setting);
        let (name, value) = setting.split_once('\n').unwrap_or((&setting, ""));
        settings.push((OsStr::from_bytes(file).into(), name.to_owned(), value.to_owned()));
    }
    settings
}

/// Added and deleted lines by path; `None` for binary files.
type LineCounts = HashMap<Vec<u8>, Option<(u64, u64)>>;

fn set_line_counts(changes: &mut [Change], lines: &LineCounts) {
    for change in changes {
        if let Some(Some((additions, deletions))) = lines.get(change.name()) {
            (change.additions, change.deletions) = (Some(*additions), Some(*deletions));
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Parses the output of `git status`; unknown records are skipped.
fn parse(answer: &[u8]) -> GitStatus {
    let mut status = GitStatus::default();
    let mut records = answer.split(|&byte| byte == 0);
    while let Some(record) = records.next() {
        let (kind, rest) = record.split_at(record.len().min(2));
        match kind {
            b"# " => header(&mut status, &text(rest)),
            b"? " => status.untracked.push(change(rest, '?')),
            b"u " => status.conflicted.extend(field(rest, 9).map(|path| change(path, '!'))),
            b"1 " => {
                if let Some(path) = field(rest, 7) {
                    sides(&mut status, rest, path, None);
                }
            }
            b"2 " => {
                let from = records.next();
                if let Some(path) = field(rest, 8) {
                    sides(&mut status, rest, path, from);
                }
            }
            _ => {}
        }
    }
    status
}

fn header(status: &mut GitStatus, line: &str) {
    match line.split_once(' ') {
        Some(("branch.oid", id)) if id != "(initial)" => status.head = Some(id.to_owned()),
        Some(("branch.head", name)) if name != "(detached)" => status.branch = Some(name.to_owned()),
        Some(("branch.upstream", name)) => status.upstream = Some(name.to_owned()),
        Some(("branch.ab", counts)) => {
            let mut counts = counts.split(' ').map(|count| count.trim_start_matches(['+', '-']).parse().unwrap_or(0));
            (status.ahead, status.behind) = (counts.next().unwrap_or(0), counts.next().unwrap_or(0));
            status.is_tracking = true;
        }
        _ => {}
    }
}

/// The rest of a record after so many fields; it may hold spaces.
fn field(record: &[u8], skip: usize) -> Option<&[u8]> {
    record.splitn(skip + 1, |&byte| byte == b' ').nth(skip)
}

fn change(path: &[u8], status: char) -> Change {
    let raw = std::str::from_utf8(path).is_err().then(|| path.to_owned());
    Change { path: text(path), raw, status, ..Change::default() }
}

/// Adds a file to each side on which it changed: the index against the commit, and the working copy against the index.
fn sides(status: &mut GitStatus, record: &[u8], path: &[u8], from: Option<&[u8]>) {
    for (at, side) in [(0, &mut status.staged), (1, &mut status.unstaged)] {
        match record.get(at) {
            None | Some(b'.') => {}
            Some(&letter) => {
                let from = from.filter(|_| matches!(letter, b'R' | b'C')).map(text);
                let is_submodule = record.get(3) == Some(&b'S');
                side.push(Change { from, is_submodule, ..change(path, char::from(letter)) });
            }
        }
    }
}

/// Parses `--numstat -z`: `added TAB deleted TAB path NUL`, or for a rename `… TAB NUL from NUL to NUL`.
fn parse_numstat(answer: &[u8]) -> LineCounts {
    let mut lines = LineCounts::new();
    let mut records = answer.split(|&byte| byte == 0);
    while let Some(record) = records.next() {
        let mut fields = record.splitn(3, |&byte| byte == b'\t');
        let (Some(added), Some(deleted), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let path = if path.is_empty() { records.nth(1).unwrap_or_default() } else { path };
        let number = |field: &[u8]| text(field).parse().ok();
        lines.insert(path.to_owned(), number(added).zip(number(deleted)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_record_is_read() {
        let answer = b"# branch.oid 1234\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +2 -3\0\
            1 M. N... 100644 100644 100644 a b staged file\0\
            1 .M N... 100644 100644 100644 a b un\nstaged\0\
            1 MM N... 100644 100644 100644 a b -both\0\
            2 R. N... 100644 100644 100644 a b R100 new name\0old name\0\
            u UU N... 100644 100644 100644 100644 a b c torn apart\0\
            ? un\xfftracked\0! ignored\0";
        let status = parse(answer);
        assert_eq!((status.branch.as_deref(), status.head.as_deref()), (Some("main"), Some("1234")));
        assert_eq!((status.upstream.as_deref(), status.ahead, status.behind), (Some("origin/main"), 2, 3));
        let shown = |changes: &[Change]| changes.iter().map(|c| format!("{}{}", c.status, c.path)).collect::<Vec<_>>();
        assert_eq!(shown(&status.staged), ["Mstaged file", "M-both", "Rnew name"]);
        assert_eq!(status.staged[2].from.as_deref(), Some("old name"));
        assert_eq!(shown(&status.unstaged), ["Mun\nstaged", "M-both"]);
        assert_eq!(shown(&status.untracked), ["?un\u{fffd}tracked"]);
        assert_eq!(status.untracked[0].name(), b"un\xfftracked");
        assert_eq!(shown(&status.conflicted), ["!torn apart"]);
    }

    #[test]
    fn a_repository_without_commits_and_a_detached_head_have_no_name_for_it() {
        let status = parse(b"# branch.oid (initial)\0# branch.head main\0");
        assert_eq!((status.head, status.branch.as_deref(), status.is_tracking), (None, Some("main"), false));
        assert_eq!(parse(b"# branch.oid 12\0# branch.head (detached)\0").branch, None);
    }

    #[test]
    fn lines_are_counted_by_the_new_name_and_not_for_what_is_no_text() {
        let lines = parse_numstat(b"1\t2\ta b\0-\t-\tpicture\x000\t5\t\0old\0new\0");
        assert_eq!(lines[&b"a b"[..]], Some((1, 2)));
        assert_eq!(lines[&b"picture"[..]], None);
        assert_eq!(lines[&b"new"[..]], Some((0, 5)));
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn every_setting_has_its_file() {
        let found = parse_settings(
            b"file:/home/a/.gitconfig\0user.name\nA B\0command line:\0color.ui\nfalse\0file:.git/config\0core.bare\0",
        );
        let setting = |file: &str, name: &str, value: &str| (PathBuf::from(file), name.to_owned(), value.to_owned());
        assert_eq!(found, [setting("/home/a/.gitconfig", "user.name", "A B"), setting(".git/config", "core.bare", "")]);
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_git_could_say_breaks_it(answer: Vec<u8>) {
            parse(&answer);
            parse_numstat(&answer);
        }
    }
}
