//! Finds repositories on the machine, so that a person can pick one to work in.

use std::collections::VecDeque;
use std::fs::{self, DirEntry};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::{RelPath, Root};

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Folders below a root.
    pub depth: usize,
    /// How long it takes at most.
    pub time: Duration,
    /// Repositories at most.
    pub repositories: usize,
}

impl Default for Reach {
    fn default() -> Self {
        Self { depth: 4, time: Duration::from_secs(10), repositories: 1000 }
    }
}

/// A repository that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRepository {
    /// Its folder, absolute.
    pub path: PathBuf,
    /// Where it comes from.
    pub remote_url: Option<String>,
    /// When git last changed something in it.
    pub modified: SystemTime,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// The repositories, by their folders.
    pub repositories: Vec<FoundRepository>,
    /// Folders that were looked into.
    pub scanned: u64,
    /// Folders that could not be looked into, or no more.
    pub skipped: u64,
}

/// Folders that hold no repositories of their own, but very many folders.
const PASSED_OVER: [&str; 7] = ["node_modules", "vendor", "target", "dist", "build", "venv", "__pycache__"];

/// Bytes of a repository's settings that are read at most.
const SETTINGS: u64 = 64 << 10;

impl Discovery {
    /// The repositories in the order of their folders, each once.
    pub fn in_order(mut self) -> Self {
        self.repositories.sort_by(|one, other| one.path.cmp(&other.path));
        self.repositories.dedup_by(|one, other| one.path == other.path);
        self
    }
}

/// Looks below these folders, the nearest first. `goes_on` is told what was found so far, before each folder, and ends
/// the search by saying no. Links are not followed. Waits for the disk.
pub fn discover(roots: &[PathBuf], reach: Reach, mut goes_on: impl FnMut(&Discovery) -> bool) -> Discovery {
    let began = Instant::now();
    let mut found = Discovery::default();
    let mut waiting: VecDeque<(PathBuf, usize)> = roots.iter().map(|root| (root.clone(), 0)).collect();
    while let Some((folder, depth)) = waiting.pop_front() {
        let enough = found.repositories.len() >= reach.repositories || began.elapsed() > reach.time;
        if enough || !goes_on(&found) {
            found.skipped += 1 + waiting.len() as u64;
            break;
        }
        if let Some(repository) = repository(&folder) {
            found.repositories.push(repository);
            continue;
        }
        match fs::read_dir(&folder) {
            Ok(_) if depth > reach.depth => found.skipped += 1,
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

/// The repository in a folder. A work tree beside its repository has a file in place of the folder `.git`.
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

/// The settings of a repository that may be anybody's: what is no file is not waited for.
fn settings(git: &Path) -> Option<String> {
    let (file, _) = Root::open(git).ok()?.open_file(&RelPath::parse("config").ok()?).ok()?;
    let mut text = String::new();
    file.take(SETTINGS).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The address of `origin` in a repository's settings, without what a person may have put in front of its host.
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
