//! Finds repositories on the machine, so that a person can pick one to work in.

use std::collections::VecDeque;
use std::fs::{self, DirEntry};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::{RelPath, Root};

/// The limits of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscoverLimits {
    /// How many levels below a root are read; the root is level 0.
    pub depth: usize,
    /// The search ends after this time, with what it found until then.
    pub time: Duration,
    /// The search ends when this many repositories are found.
    pub repositories: usize,
}

impl Default for DiscoverLimits {
    fn default() -> Self {
        Self { depth: 4, time: Duration::from_secs(10), repositories: 1000 }
    }
}

/// A repository that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRepository {
    /// The absolute path of its working copy.
    pub path: PathBuf,
    /// The URL of the remote `origin`, without user and password; absent where there is none.
    pub remote_url: Option<String>,
    /// When git last wrote the index, or else `HEAD`.
    pub modified: SystemTime,
}

/// The result of a search, also while it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// The repositories; sorted by path once the search has ended.
    pub repositories: Vec<FoundRepository>,
    /// How many folders were read.
    pub scanned: u64,
    /// How many folders were not read: unreadable, too deep, or left when the search ended.
    pub skipped: u64,
}

/// Folders that are skipped: they hold no repositories of the user's, but very many folders.
const PASSED_OVER: [&str; 7] = ["node_modules", "vendor", "target", "dist", "build", "venv", "__pycache__"];

/// The most bytes that are read of a repository's `config`.
const SETTINGS: u64 = 64 << 10;

impl Discovery {
    /// Sorts the repositories by path and removes duplicates.
    pub fn in_order(mut self) -> Self {
        self.repositories.sort_by(|one, other| one.path.cmp(&other.path));
        self.repositories.dedup_by(|one, other| one.path == other.path);
        self
    }
}

/// Searches below these folders, breadth first. Before each folder `goes_on` gets what was found so far; the search
/// ends when it returns false. Links are not followed. Waits for the disk.
pub fn discover(roots: &[PathBuf], limits: DiscoverLimits, mut goes_on: impl FnMut(&Discovery) -> bool) -> Discovery {
    let began = Instant::now();
    let mut found = Discovery::default();
    let mut waiting: VecDeque<(PathBuf, usize)> = roots.iter().map(|root| (root.clone(), 0)).collect();
    while let Some((folder, depth)) = waiting.pop_front() {
        let enough = found.repositories.len() >= limits.repositories || began.elapsed() > limits.time;
        if enough || !goes_on(&found) {
            found.skipped += 1 + waiting.len() as u64;
            break;
        }
        if let Some(repository) = repository(&folder) {
            found.repositories.push(repository);
            continue;
        }
        match fs::read_dir(&folder) {
            Ok(_) if depth > limits.depth => found.skipped += 1,
            Ok(entries) => {
                found.scanned += 1;
                let folders = entries.flatten().filter(is_looked_into).map(|entry| (entry.path(), depth + 1));
                waiting.extend(folders);
            }
            Err(_) => found.skipped += 1,
        }
    }
    found.in_order()
}

fn is_looked_into(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    entry.file_type().is_ok_and(|kind| kind.is_dir()) && !name.starts_with('.') && !PASSED_OVER.contains(&&*name)
}

/// The repository in a folder, if there is one. In a linked worktree `.git` is a file.
fn repository(folder: &Path) -> Option<FoundRepository> {
    let git = folder.join(".git");
    let metadata = fs::symlink_metadata(&git).ok().filter(|git| !git.is_symlink())?;
    let modified = ["index", "HEAD"].iter().find_map(|file| fs::metadata(git.join(file)).ok()).unwrap_or(metadata);
    let config = settings(&git).unwrap_or_default();
    Some(FoundRepository {
        path: folder.to_owned(),
        remote_url: origin(&config),
        modified: modified.modified().unwrap_or(SystemTime::UNIX_EPOCH),
    })
}

/// Reads `.git/config`. The repository may be anybody's, so a pipe in its place must not block.
fn settings(git: &Path) -> Option<String> {
    let (file, _) = Root::open(git).ok()?.open_file(&RelPath::parse("config").ok()?).ok()?;
    let mut text = String::new();
    file.take(SETTINGS).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The URL of `origin` in a `config`, without user and password.
fn origin(config: &str) -> Option<String> {
    let mut lines = config.lines().map(str::trim).skip_while(|line| *line != "[remote \"origin\"]").skip(1);
    let settings = lines.by_ref().take_while(|line| !line.starts_with('['));
    let url = settings.filter_map(|line| line.split_once('=')).find(|(name, _)| name.trim() == "url")?.1.trim();
    Some(without_password(url))
}

fn without_password(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.find('/').unwrap_or(rest.len());
            let begin = rest[..host].rfind('@').map_or(0, |at| at + 1);
            format!("{scheme}://{}", &rest[begin..])
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_repository_is_told_without_a_password() {
        let config =
            "[core]\n\tbare = false\n[remote \"other\"]\n\turl = no\n[remote \"origin\"]\n\turl = URL\n\tfetch = x\n";
        let cases = [
            ("https://example.org/a/b.git", "https://example.org/a/b.git"),
            ("https://ada:s3cret@example.org/a@b.git", "https://example.org/a@b.git"),
            ("git@example.org:a/b.git", "git@example.org:a/b.git"),
        ];
        for (url, expected) in cases {
            assert_eq!(origin(&config.replace("URL", url)).as_deref(), Some(expected));
        }
        assert_eq!(origin("[core]\n"), None);
    }
}
