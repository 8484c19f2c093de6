//! What changed: `git status --porcelain=v2 -z` and the lines of each file.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::call::Call;
use super::run::Git;
use crate::{Error, RelPath};

/// Files of a side whose lines are counted at most: each has to be read.
const COUNTED: usize = 1000;
/// Files of a side that are named to git at most: it compares each file of the tree with each name.
const NAMED: usize = 50;

/// A file that changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Where it is, from the root; what is not UTF-8 in a name is replaced.
    pub path: String,
    /// The name itself, where it is not UTF-8: the path then names another file, or none.
    pub raw: Option<Vec<u8>>,
    /// Where it was, if it was renamed or copied.
    pub from: Option<String>,
    /// `M A D R C T`, `?` for untracked, `!` for conflicted.
    pub status: char,
    /// Lines added, if that is known and it is text.
    pub additions: Option<u64>,
    /// Lines deleted, if that is known and it is text.
    pub deletions: Option<u64>,
    /// It is a repository of its own.
    pub is_submodule: bool,
}

impl Change {
    /// The name itself.
    pub fn name(&self) -> &[u8] {
        self.raw.as_deref().unwrap_or(self.path.as_bytes())
    }

    /// It as a path; none where the name is not UTF-8.
    pub(crate) fn to_path(&self) -> Option<RelPath> {
        RelPath::parse(&self.path).ok().filter(|_| self.raw.is_none())
    }
}

/// How a working copy is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The branch; absent when detached.
    pub branch: Option<String>,
    /// The commit that is checked out; absent before the first.
    pub head: Option<String>,
    /// The branch that the branch follows.
    pub upstream: Option<String>,
    /// The followed branch is there, so `ahead` and `behind` mean something.
    pub is_tracking: bool,
    /// Commits that the followed branch has not.
    pub ahead: u64,
    /// Commits that only the followed branch has.
    pub behind: u64,
    /// What the next commit holds.
    pub staged: Vec<Change>,
    /// What it does not hold yet.
    pub unstaged: Vec<Change>,
    /// Files that git does not know.
    pub untracked: Vec<Change>,
    /// Files whose conflict waits.
    pub conflicted: Vec<Change>,
}

impl Status {
    /// Whether there is nothing to commit, stage or resolve.
    pub fn is_clean(&self) -> bool {
        [&self.staged, &self.unstaged, &self.untracked, &self.conflicted].iter().all(|changes| changes.is_empty())
    }
}

impl Git {
    /// How the working copy is, with the lines of each file on a side with few of them.
    pub async fn status(&self) -> Result<Status, Error> {
        let mut status = self.status_of(&[]).await?;
        let (staged, unstaged) =
            tokio::try_join!(self.lines(&status.staged, &["--cached"]), self.lines(&status.unstaged, &[]))?;
        count(&mut status.staged, &staged);
        count(&mut status.unstaged, &unstaged);
        Ok(status)
    }

    /// The settings that hold here: the file that each comes from, its name and its value.
    pub(crate) async fn settings(&self) -> Result<Vec<(PathBuf, String, String)>, Error> {
        let answer = self.answer(Call::read("status").args(["config", "--list", "--show-origin", "-z"])).await?;
        Ok(settings(&answer))
    }

    /// How the working copy is at some paths (everywhere if there are none), without lines.
    pub async fn status_of(&self, paths: &[RelPath]) -> Result<Status, Error> {
        self.status_by(paths, "--find-renames").await
    }

    /// The same, with files that were renamed told as such, or as one that is gone and one that is new.
    pub(crate) async fn status_by(&self, paths: &[RelPath], renames: &str) -> Result<Status, Error> {
        let args = ["status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", renames];
        let call = Call::read("status").args(args).paths(paths);
        let (answer, ()) = tokio::try_join!(self.answer(call), self.confined("status"))?;
        Ok(parse(&answer))
    }

    /// Lines added and deleted by path, of what a diff compares; none where that would take long.
    async fn lines(&self, changes: &[Change], what: &[&str]) -> Result<Lines, Error> {
        if changes.is_empty() || changes.len() > COUNTED {
            return Ok(Lines::new());
        }
        // With their names git looks at these files alone, and not at the whole tree a second time.
        let named = if changes.len() > NAMED { &[] } else { changes };
        // What was renamed from a name that is not UTF-8 has to be looked for in the whole tree, too.
        let is_named = named.iter().all(|change| change.from.as_ref().is_none_or(|from| !from.contains('\u{fffd}')));
        let named = if is_named { named } else { &[] };
        let names = named.iter().flat_map(|change| [Some(change.name()), change.from.as_deref().map(str::as_bytes)]);
        let args = ["diff", "--numstat", "-z", "-M", "--no-ext-diff", "--no-textconv"];
        Ok(lines(&self.answer(Call::read("diff").args(args).args(what).names(names.flatten())).await?))
    }
}

/// What `config --list --show-origin -z` tells: `file:path NUL name LF value NUL`.
fn settings(answer: &[u8]) -> Vec<(PathBuf, String, String)> {
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

/// Lines added and deleted by path; none for what is not text.
type Lines = HashMap<Vec<u8>, Option<(u64, u64)>>;

fn count(changes: &mut [Change], lines: &Lines) {
    for change in changes {
        if let Some(Some((additions, deletions))) = lines.get(change.name()) {
            (change.additions, change.deletions) = (Some(*additions), Some(*deletions));
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The status that git's answer tells.
fn parse(answer: &[u8]) -> Status {
    let mut status = Status::default();
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

fn header(status: &mut Status, line: &str) {
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

/// What comes after so many fields; it may hold spaces.
fn field(record: &[u8], skip: usize) -> Option<&[u8]> {
    record.splitn(skip + 1, |&byte| byte == b' ').nth(skip)
}

fn change(path: &[u8], status: char) -> Change {
    let raw = std::str::from_utf8(path).is_err().then(|| path.to_owned());
    Change { path: text(path), raw, status, ..Change::default() }
}

/// A file may have changed on both sides: in the index against the commit, and in the folder against the index.
fn sides(status: &mut Status, record: &[u8], path: &[u8], from: Option<&[u8]>) {
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

/// What `--numstat -z` tells: `added TAB deleted TAB path NUL`, or for a rename `… TAB NUL from NUL to NUL`.
fn lines(answer: &[u8]) -> Lines {
    let mut lines = Lines::new();
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
        let of = |changes: &[Change]| changes.iter().map(|c| format!("{}{}", c.status, c.path)).collect::<Vec<_>>();
        assert_eq!(of(&status.staged), ["Mstaged file", "M-both", "Rnew name"]);
        assert_eq!(status.staged[2].from.as_deref(), Some("old name"));
        assert_eq!(of(&status.unstaged), ["Mun\nstaged", "M-both"]);
        assert_eq!(of(&status.untracked), ["?un\u{fffd}tracked"]);
        assert_eq!(status.untracked[0].name(), b"un\xfftracked");
        assert_eq!(of(&status.conflicted), ["!torn apart"]);
    }

    #[test]
    fn a_repository_without_commits_and_a_detached_head_have_no_name_for_it() {
        let status = parse(b"# branch.oid (initial)\0# branch.head main\0");
        assert_eq!((status.head, status.branch.as_deref(), status.is_tracking), (None, Some("main"), false));
        assert_eq!(parse(b"# branch.oid 12\0# branch.head (detached)\0").branch, None);
    }

    #[test]
    fn lines_are_counted_by_the_new_name_and_not_for_what_is_no_text() {
        let lines = lines(b"1\t2\ta b\0-\t-\tpicture\x000\t5\t\0old\0new\0");
        assert_eq!(lines[&b"a b"[..]], Some((1, 2)));
        assert_eq!(lines[&b"picture"[..]], None);
        assert_eq!(lines[&b"new"[..]], Some((0, 5)));
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn every_setting_has_its_file() {
        let told = settings(
            b"file:/home/a/.gitconfig\0user.name\nA B\0command line:\0color.ui\nfalse\0file:.git/config\0core.bare\0",
        );
        let setting = |file: &str, name: &str, value: &str| (PathBuf::from(file), name.to_owned(), value.to_owned());
        assert_eq!(told, [setting("/home/a/.gitconfig", "user.name", "A B"), setting(".git/config", "core.bare", "")]);
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_git_could_say_breaks_it(answer: Vec<u8>) {
            parse(&answer);
            lines(&answer);
        }
    }
}
