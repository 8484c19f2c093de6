//! Resolves the paths that a tool call names to real files, and finds the repository that git would use there.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;
use roost_policy::{MOST_PATHS, NamedPath, ResolvedPath, Unresolved};

use crate::shell_folders::ShellFolders;

/// A glob that matches more files than this is not resolved.
const MOST_MATCHES: usize = 20_000;

/// The folders from which the paths of one call are resolved.
pub(crate) struct Lookup {
    /// The session's working directory; absolute and without links.
    pub(crate) workspace: PathBuf,
    /// The possible current folders of the runtime's shell.
    pub(crate) folders: ShellFolders,
    /// The home that `~` means; `None` if the runtime has another home than the user.
    pub(crate) home: Option<PathBuf>,
    /// The folders in which the call runs git, as the call names them.
    pub(crate) git_folders: Vec<String>,
}

impl Lookup {
    /// Resolves every path from every possible current folder, on a blocking thread.
    pub(crate) async fn resolve(self, paths: Vec<NamedPath>) -> (Vec<ResolvedPath>, Unresolved) {
        if paths.is_empty() {
            let known = self.folders.known().is_some();
            return (Vec::new(), if known { Unresolved::Nothing } else { Unresolved::Folder });
        }
        let blocking = tokio::task::spawn_blocking(move || self.resolve_now(&paths));
        // The task is only cancelled when the daemon shuts down; then nothing is known, so nothing is allowed.
        blocking.await.unwrap_or_else(|_| (Vec::new(), Unresolved::TooMany))
    }

    fn resolve_now(&self, paths: &[NamedPath]) -> (Vec<ResolvedPath>, Unresolved) {
        let mut found = Vec::new();
        let (folders, mut unresolved) = match self.folders.known() {
            Some(folders) => (folders.filter(|folder| folder.is_dir()).cloned().collect(), Unresolved::Nothing),
            None => (vec![self.workspace.clone()], Unresolved::Folder),
        };
        if paths.len() > MOST_PATHS {
            unresolved = Unresolved::TooMany;
        }
        for path in paths.iter().take(MOST_PATHS) {
            for folder in &folders {
                match self.files_of(folder, path) {
                    Some(files) => found.extend(files.iter().map(|file| self.entry(&path.text, file))),
                    None => unresolved = Unresolved::TooMany,
                }
                // An absolute path is the same from everywhere.
                if path.text.starts_with(['/', '~']) {
                    break;
                }
            }
        }
        (found, unresolved)
    }

    /// The files that a path or glob stands for; `None` if they cannot be known or are too many.
    fn files_of(&self, folder: &Path, path: &NamedPath) -> Option<Vec<PathBuf>> {
        if depends_on_process(Path::new(&path.text)) {
            return None;
        }
        if !path.is_pattern {
            return Some(vec![folder.join(&path.text)]);
        }
        let pattern = match path.text.strip_prefix('~') {
            Some(rest) => self.home.as_deref()?.join(rest.trim_start_matches('/')),
            None => folder.join(&path.text),
        };
        let files = expand(&pattern)?;
        // A pattern that matches nothing is passed on as it is.
        Some(if files.is_empty() { vec![pattern] } else { files })
    }

    fn entry(&self, given: &str, path: &Path) -> ResolvedPath {
        let real = real_path(path);
        let inside_workspace = real.as_deref().is_some_and(|real| real.starts_with(&self.workspace));
        let git_runs_here = inside_workspace && self.git_folders.iter().any(|folder| folder == given);
        let folder = real.as_deref().filter(|real| git_runs_here && real.is_dir());
        let in_own_repository = folder.is_some_and(|folder| uses_own_repository(folder, &self.workspace));
        ResolvedPath { given: given.to_owned(), real, inside_workspace, in_own_repository }
    }
}

/// Whether a path means a different file to every process that opens it (`/proc/self`, `/dev/fd`).
fn depends_on_process(path: &Path) -> bool {
    let mut parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let (first, second) = (parts.next(), parts.next());
    let numbered = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    path.is_absolute()
        && match (first, second) {
            (Some("proc"), Some(name)) => numbered(name) || name == "self" || name == "thread-self",
            (Some("dev"), Some(name)) => name == "fd",
            _ => false,
        }
}

/// The most links that are followed for one path; the kernel has the same limit.
const MOST_LINKS: usize = 40;

/// The path with all links resolved. Of a file that does not exist, the nearest existing folder is resolved and the
/// rest is appended. A dangling link is followed too, because writing through it creates its target.
fn real_path(path: &Path) -> Option<PathBuf> {
    let mut missing: Vec<OsString> = Vec::new();
    let mut there = path.to_owned();
    let mut links = 0;
    let mut real = loop {
        if let Ok(real) = std::fs::canonicalize(&there) {
            break real;
        }
        if let Ok(target) = std::fs::read_link(&there) {
            links += 1;
            there = there.parent().filter(|_| links <= MOST_LINKS)?.join(target);
            continue;
        }
        let last = there.components().next_back()?;
        missing.push(last.as_os_str().to_owned());
        there = there.parent()?.to_owned();
    };
    for name in missing.iter().rev() {
        match Path::new(name).components().next() {
            Some(Component::ParentDir) => drop(real.pop()),
            Some(Component::CurDir) | None => {}
            Some(_) => real.push(name),
        }
    }
    Some(real)
}

/// The files that match a shell glob; `None` if they are too many. Wildcards match a leading dot too, because some
/// shells are configured that way.
fn expand(pattern: &Path) -> Option<Vec<PathBuf>> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let Component::Normal(name) = part else {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        };
        let text = name.to_string_lossy();
        if text == "**" {
            // Some shells take it for any depth, others for one.
            found = descend(found)?;
            continue;
        }
        // A class of characters may stand for any.
        let text = if text.contains("[[") { "*".into() } else { text };
        let glob =
            GlobBuilder::new(&text).literal_separator(true).build().ok().filter(|_| text.contains(['*', '?', '[']));
        let Some(matcher) = glob.map(|glob| glob.compile_matcher()) else {
            found.iter_mut().for_each(|path| path.push(name));
            continue;
        };
        let mut next = Vec::new();
        for folder in &found {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if matcher.is_match(Path::new(&entry.file_name())) {
                    next.push(entry.path());
                }
                if next.len() > MOST_MATCHES {
                    return None;
                }
            }
        }
        found = next;
    }
    found.retain(|path| path.symlink_metadata().is_ok());
    Some(found)
}

/// These folders and everything below them; `None` if that is more than [`MOST_MATCHES`].
fn descend(folders: Vec<PathBuf>) -> Option<Vec<PathBuf>> {
    let mut found = folders.clone();
    let mut open = folders;
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            found.push(entry.path());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
            if found.len() > MOST_MATCHES {
                return None;
            }
        }
    }
    Some(found)
}

/// Whether git, started in this folder of the workspace, uses the workspace's own repository, and not one that lies
/// inside the workspace. Git takes the nearest folder with a `.git`, but also a folder that is laid out like a bare
/// repository, which an agent can create.
fn uses_own_repository(folder: &Path, workspace: &Path) -> bool {
    for level in folder.ancestors() {
        let dot_git = level.join(".git");
        let is_there = dot_git.symlink_metadata().is_ok();
        if is_there && !workspace.starts_with(level) {
            return false;
        }
        if dot_git.is_file() {
            return !points_into(&dot_git, workspace) && has_no_strange_submodule(level, &git_folder_of(&dot_git));
        }
        if dot_git.join("HEAD").symlink_metadata().is_ok() {
            return has_no_strange_submodule(level, &dot_git);
        }
        if level.join("HEAD").symlink_metadata().is_ok() {
            return false;
        }
    }
    // There is no repository, so git reads nothing.
    true
}

/// Whether the repositories of all submodules in the index lie inside the workspace's own repository. Git visits every
/// submodule and obeys its settings.
fn has_no_strange_submodule(top: &Path, git_folder: &Path) -> bool {
    let hash = gix_index::hash::Kind::Sha1;
    let index = git_folder.join("index");
    if !index.exists() {
        return true;
    }
    let Ok(index) = gix_index::File::at(index, hash, true, gix_index::decode::Options::default()) else { return false };
    let entries = index.entries().iter().filter(|entry| entry.mode == gix_index::entry::Mode::COMMIT);
    entries.into_iter().all(|entry| {
        let path = entry.path(&index).to_string();
        let dot_git = top.join(path).join(".git");
        let own = real_path(git_folder).is_some_and(|own| git_folder_of(&dot_git).starts_with(own));
        dot_git.symlink_metadata().is_err() || (dot_git.is_file() && own)
    })
}

/// The folder that a `.git` file names; empty if it names none.
fn git_folder_of(dot_git: &Path) -> PathBuf {
    let text = std::fs::read_to_string(dot_git).unwrap_or_default();
    let named = text.trim().strip_prefix("gitdir:").and_then(|target| Some(dot_git.parent()?.join(target.trim())));
    named.and_then(|path| real_path(&path)).unwrap_or_default()
}

/// Whether a `.git` file (of a worktree or a submodule) names a repository inside the workspace, other than in a
/// `.git`.
fn points_into(dot_git: &Path, workspace: &Path) -> bool {
    let target = git_folder_of(dot_git);
    let inside = target.strip_prefix(workspace);
    target.as_os_str().is_empty()
        || inside.is_ok_and(|inside| !inside.components().any(|part| part.as_os_str() == ".git"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn lookup(workspace: &Path) -> Lookup {
        let folders = ShellFolders::new(workspace.to_owned());
        let git_folders = Vec::new();
        Lookup { workspace: workspace.to_owned(), folders, home: Some(workspace.join("home")), git_folders }
    }

    fn found(workspace: &Path, text: &str, is_pattern: bool) -> Vec<String> {
        let (found, _) = lookup(workspace).resolve_now(&[NamedPath { text: text.into(), is_pattern }]);
        let mut real: Vec<_> = found
            .iter()
            .filter_map(|path| Some(path.real.as_deref()?.strip_prefix(workspace).ok()?.display().to_string()))
            .collect();
        real.sort();
        real.dedup();
        real
    }

    fn workspace() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        (folder, real)
    }

    #[test]
    fn a_path_is_found_through_links_patterns_the_home_and_folders_that_are_not_there_yet() {
        let (_folder, root) = workspace();
        for file in ["secrets/key", "src/a.rs", "src/b.rs", "home/.ssh/id"] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(root.join("secrets"), root.join("link")).unwrap();
        for (target, link) in [("secrets/none", "to-nothing"), ("to-nothing", "twice"), ("circle", "circle")] {
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        let cases: [(&str, bool, &[&str]); 15] = [
            ("to-nothing", false, &["secrets/none"]),
            ("twice", false, &["secrets/none"]),
            ("circle", false, &[]),
            ("**/id", true, &["home/.ssh/id"]),
            ("secret[[:lower:]]/key", true, &["secrets/key"]),
            ("/proc/self/cwd/secrets/key", false, &[]),
            ("secrets/key", false, &["secrets/key"]),
            ("link/key", false, &["secrets/key"]),
            ("li*/k?y", true, &["secrets/key"]),
            ("s*/*", true, &["secrets/key", "src/a.rs", "src/b.rs"]),
            ("~/.ssh/*", true, &["home/.ssh/id"]),
            ("none*", true, &["none*"]),
            ("link/new/deep/file", false, &["secrets/new/deep/file"]),
            ("new/../secrets/key", false, &["secrets/key"]),
            ("*/key", false, &["*/key"]),
        ];
        for (text, is_pattern, expected) in cases {
            assert_eq!(found(&root, text, is_pattern), expected, "{text}");
        }
    }

    #[test]
    fn only_the_workspaces_own_repository_counts_as_its_own() {
        let (_folder, root) = workspace();
        let make = |names: &[&str]| {
            for name in names {
                fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
                fs::write(root.join(name), "ref: refs/heads/main\n").unwrap();
            }
        };
        make(&[
            ".git/HEAD",
            "src/a.rs",
            "nested/.git/HEAD",
            "bare/HEAD",
            "bare/objects/x",
            "bare/refs/x",
            "bare/sub/x",
        ]);
        make(&["worktree/HEAD", "worktree/commondir", "filed/x"]);
        fs::write(root.join("filed/.git"), "gitdir: ../bare\n").unwrap();
        // A name that leads nowhere is one to git.
        fs::create_dir_all(root.join("dangling/.git")).unwrap();
        std::os::unix::fs::symlink("refs/heads/none", root.join("dangling/.git/HEAD")).unwrap();
        let cases = [
            ("dangling", false),
            ("", true),
            ("src", true),
            ("nested", false),
            ("bare", false),
            ("bare/sub", false),
            ("bare/objects", false),
            ("worktree", false),
            ("filed", false),
        ];
        for (folder, own) in cases {
            assert_eq!(uses_own_repository(&root.join(folder), &root), own, "{folder}");
        }
    }

    #[test]
    fn a_workspace_below_a_repository_uses_that_and_its_own_git_file_must_lead_out() {
        let (_folder, root) = workspace();
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join(".git/HEAD"), "").unwrap();
        fs::create_dir_all(root.join("part/sub")).unwrap();
        assert!(uses_own_repository(&root.join("part/sub"), &root.join("part")));
        fs::write(root.join("part/.git"), format!("gitdir: {}", root.join(".git").display())).unwrap();
        assert!(uses_own_repository(&root.join("part"), &root.join("part")));
        fs::write(root.join("part/.git"), "gitdir: fake").unwrap();
        assert!(!uses_own_repository(&root.join("part"), &root.join("part")));
    }

    #[test]
    fn a_repository_with_a_submodule_that_is_not_in_its_own_folder_is_not_only_its_own() {
        let (_folder, root) = workspace();
        let git = |args: &[&str], at: &Path| {
            let mut git = std::process::Command::new("git");
            git.args(args).current_dir(at).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
            assert!(git.output().unwrap().status.success(), "git {args:?}");
        };
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"];
        fs::create_dir(root.join("nested")).unwrap();
        git(&["init", "-q"], &root);
        git(&["init", "-q"], &root.join("nested"));
        git(&identity, &root.join("nested"));
        assert!(uses_own_repository(&root, &root));
        git(&["add", "nested"], &root);
        assert!(!uses_own_repository(&root, &root));
        fs::write(root.join(".gitmodules"), "[submodule \"nested\"]\n\tpath = nested\n\turl = ./x\n").unwrap();
        git(&["submodule", "absorbgitdirs"], &root);
        assert!(uses_own_repository(&root, &root));
    }

    #[test]
    fn an_empty_git_folder_does_not_hide_a_workspace_that_looks_like_a_repository() {
        let (_folder, root) = workspace();
        fs::create_dir(root.join(".git")).unwrap();
        fs::write(root.join("HEAD"), "").unwrap();
        assert!(!uses_own_repository(&root, &root));
    }
}
