//! Diffs of files, as `git diff` writes them.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Read;

use super::call::Call;
use super::run::Git;
use super::{Change, GitKind, Rev, patch};
use crate::{Error, RelPath, Root};

/// The bytes at a file's beginning that are searched for a NUL.
const SNIFFED: usize = 8 << 10;

/// The two versions that are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// The working copy with the index.
    Unstaged,
    /// The index with the last commit.
    Staged,
    /// The working copy with a revision.
    Since(Rev),
}

/// The greatest sizes of diffs; what is longer is cut.
#[derive(Clone, Copy, Debug)]
pub struct DiffLimits {
    /// The most bytes of one file's diff.
    pub file: usize,
    /// The most bytes of all diffs together.
    pub total: usize,
}

impl Default for DiffLimits {
    fn default() -> Self {
        Self { file: 500 << 10, total: 700 << 10 }
    }
}

/// The diff of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDiff {
    /// The file's path from the workspace's folder.
    pub path: String,
    /// The diff, as `git diff` writes it; empty if nothing changed or no room was left.
    pub diff: String,
    /// Whether the index is compared with the last commit.
    pub is_staged: bool,
    /// The file is not in the version that it is compared with.
    pub is_new: bool,
    /// Whether the file is binary; the diff then says only that.
    pub is_binary: bool,
    /// Whether the diff was cut.
    pub is_truncated: bool,
    /// How many lines were added, in the part that is shown.
    pub additions: u64,
    /// How many lines were deleted, in the part that is shown.
    pub deletions: u64,
}

impl Git {
    /// The diff of one file: on the given side, or on the first that has changes (working copy, then index). For a
    /// folder, the diffs of all its tracked files.
    pub async fn diff_file(&self, path: &RelPath, side: Option<Side>, limits: DiffLimits) -> Result<FileDiff, Error> {
        let status = self.status_at(std::slice::from_ref(path)).await?;
        let is_untracked = status.untracked.iter().any(|change| change.name() == path.as_str().as_bytes());
        if is_untracked && side != Some(Side::Staged) {
            return self.new_files(vec![path.clone()], limits).await.map(|mut new| new.pop().unwrap_or_default());
        }
        let sides = side.map_or_else(|| vec![Side::Unstaged, Side::Staged], |side| vec![side]);
        for side in &sides {
            let found = self.patches(side, std::slice::from_ref(path), limits).await?;
            if let Some(all) = found.into_iter().reduce(joined) {
                let mut all = FileDiff { path: path.to_string(), ..all };
                cut(&mut all, limits.file);
                return Ok(all);
            }
        }
        if !self.knows(path).await? {
            let message = format!("there is no {:?} that git knows", path.as_str());
            return Err(Error::Git { operation: "diff", message, kind: GitKind::NoSuchPath });
        }
        Ok(FileDiff { path: path.to_string(), is_staged: sides == [Side::Staged], ..FileDiff::default() })
    }

    /// The diffs of all files on the given sides; untracked files belong to the working copy. A file for which no room
    /// was left has only its name.
    pub async fn diff_all(&self, sides: &[Side], limits: DiffLimits) -> Result<Vec<FileDiff>, Error> {
        let status = self.status_at(&[]).await?;
        let mut found = Vec::new();
        for side in sides {
            let mut of_side = self.patches(side, &[], limits).await?;
            let known: HashSet<_> = of_side.iter().map(|diff| diff.path.clone()).collect();
            let listed: &[Change] = match side {
                Side::Staged => &status.staged,
                Side::Unstaged => &status.unstaged,
                Side::Since(_) => &[],
            };
            let missing = listed.iter().filter(|change| !known.contains(&change.path));
            of_side.extend(missing.map(|change| FileDiff {
                path: change.path.clone(),
                is_staged: *side == Side::Staged,
                is_truncated: true,
                ..FileDiff::default()
            }));
            found.extend(of_side);
        }
        if sides.iter().any(|side| *side != Side::Staged) {
            // A folder is a repository of its own.
            let new = || status.untracked.iter().filter(|change| !change.path.ends_with('/'));
            found.extend(self.new_files(new().filter_map(Change::to_path).collect(), limits).await?);
            // A name that is not UTF-8 cannot be written into a diff; that the file is there can.
            let unreadable = new().filter(|change| change.raw.is_some());
            found.extend(unreadable.map(|change| FileDiff {
                path: change.path.clone(),
                is_new: true,
                is_truncated: true,
                ..FileDiff::default()
            }));
        }
        let mut left = limits.total;
        for diff in &mut found {
            cut(diff, left.min(limits.file));
            left -= diff.diff.len();
        }
        Ok(found)
    }

    async fn patches(&self, side: &Side, paths: &[RelPath], limits: DiffLimits) -> Result<Vec<FileDiff>, Error> {
        let args =
            ["diff", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"];
        let call = Call::read("diff").args(args).flag(*side == Side::Staged, "--cached");
        let call = match side {
            Side::Since(rev) => call.args(["--end-of-options", rev.as_str()]),
            _ => call,
        };
        // One file more than there is room for is enough to see that there is more.
        let output = self.run(call.paths(paths).cut_at(limits.total + limits.file)).await?;
        if !output.success {
            return Err(output.failure("diff"));
        }
        let text = String::from_utf8_lossy(&output.answer);
        // A file that was touched and not changed has its name and nothing else.
        let parts = patch::split(&text).into_iter().filter(|part| part.text.lines().nth(1).is_some());
        let mut found: Vec<_> = parts.map(|part| shown(&part, side, limits)).collect();
        if output.cut
            && let Some(last) = found.last_mut()
        {
            last.is_truncated = true;
        }
        Ok(found)
    }

    /// Whether git tracks the path.
    async fn knows(&self, path: &RelPath) -> Result<bool, Error> {
        let listed = self.answer(Call::read("diff").args(["ls-files", "-z"]).paths([path])).await?;
        Ok(!listed.is_empty())
    }

    /// Diffs of untracked files, in which every line is new.
    async fn new_files(&self, paths: Vec<RelPath>, limits: DiffLimits) -> Result<Vec<FileDiff>, Error> {
        let root = self.root().clone();
        let read = move || {
            let mut left = limits.total;
            let mut found = Vec::with_capacity(paths.len());
            for path in paths {
                let diff = match new_file(&root, &path, limits.file.min(left)) {
                    Ok(diff) => diff,
                    // It went away, or is a link or a pipe: it has a name, and no lines that could be shown.
                    Err(_) => FileDiff { path: path.to_string(), is_new: true, ..FileDiff::default() },
                };
                left = left.saturating_sub(diff.diff.len());
                found.push(diff);
            }
            found
        };
        tokio::task::spawn_blocking(read).await.map_err(|error| Error::Git {
            operation: "diff",
            message: error.to_string(),
            kind: GitKind::Other,
        })
    }
}

fn shown(part: &patch::Patch<'_>, side: &Side, limits: DiffLimits) -> FileDiff {
    let mut diff = FileDiff {
        path: part.path.clone(),
        diff: part.text.to_owned(),
        is_staged: *side == Side::Staged,
        is_new: part.is_new,
        is_binary: part.is_binary,
        ..FileDiff::default()
    };
    cut(&mut diff, limits.file);
    let lines = || diff.diff.lines().skip_while(|line| !line.starts_with("@@"));
    diff.additions = lines().filter(|line| line.starts_with('+')).count() as u64;
    diff.deletions = lines().filter(|line| line.starts_with('-')).count() as u64;
    diff
}

fn joined(one: FileDiff, other: FileDiff) -> FileDiff {
    FileDiff {
        diff: one.diff + &other.diff,
        is_new: one.is_new && other.is_new,
        is_binary: one.is_binary && other.is_binary,
        is_truncated: one.is_truncated || other.is_truncated,
        additions: one.additions + other.additions,
        deletions: one.deletions + other.deletions,
        ..one
    }
}

/// Cuts a diff to so many bytes, at a character boundary.
fn cut(diff: &mut FileDiff, most: usize) {
    if diff.diff.len() > most {
        diff.diff.truncate(diff.diff.floor_char_boundary(most));
        diff.is_truncated = true;
    }
}

/// The diff of an untracked file. Waits for the disk.
fn new_file(root: &Root, path: &RelPath, most: usize) -> Result<FileDiff, Error> {
    let named = |source| Error::io(path.as_str(), source);
    let (file, metadata) = root.open_file(path)?;
    let mut content = Vec::new();
    file.take(most as u64).read_to_end(&mut content).map_err(named)?;
    let is_truncated = metadata.len() > content.len() as u64;
    let is_binary = content[..content.len().min(SNIFFED)].contains(&0);
    let text = String::from_utf8_lossy(&content);
    let mut diff = format!("diff --git a/{path} b/{path}\nnew file mode 100644\n");
    let additions = if is_binary { 0 } else { text.lines().count() as u64 };
    if is_binary {
        _ = writeln!(diff, "Binary files /dev/null and b/{path} differ");
    } else if additions > 0 {
        _ = writeln!(diff, "--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{additions} @@");
        for line in text.split_inclusive('\n') {
            diff.push('+');
            diff.push_str(line);
        }
        if !text.ends_with('\n') && !is_truncated {
            diff.push_str("\n\\ No newline at end of file\n");
        }
    }
    let path = path.to_string();
    let is_truncated = is_truncated && !is_binary;
    let mut new = FileDiff { path, diff, is_new: true, is_binary, is_truncated, additions, ..FileDiff::default() };
    cut(&mut new, most);
    Ok(new)
}
