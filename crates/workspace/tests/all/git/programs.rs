//! What git starts besides itself: which of the programs that a repository names run, and when.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use roost_workspace::git::{Branch, DiffLimits, Git, LogQuery, NewCommit, Push, Remote, Rev, Side};
use roost_workspace::{RelPath, Root};

use super::{Repo, path, paths};

/// Programs that leave a mark when they run.
struct Canaries {
    folder: PathBuf,
}

impl Canaries {
    fn beside(repo: &Repo) -> Self {
        let folder = repo.path().parent().unwrap().join("canaries");
        fs::create_dir_all(&folder).unwrap();
        Self { folder }
    }

    /// A program of this name; a filter passes on what it reads, others fail.
    fn program(&self, name: &str) -> String {
        let (program, mark) = (self.folder.join(name), self.folder.join(format!("{name}.ran")));
        Self::write(&program, &mark, if name == "filter" { "cat" } else { "exit 1" });
        program.to_str().unwrap().to_owned()
    }

    /// A hook of this name in this folder, which says yes.
    fn hook(&self, folder: &Path, name: &str) {
        fs::create_dir_all(folder).unwrap();
        Self::write(&folder.join(name), &self.folder.join("hook.ran"), "exit 0");
    }

    fn write(program: &Path, mark: &Path, then: &str) {
        fs::write(program, format!("#!/bin/sh\n: > '{}'\n{then}\n", mark.display())).unwrap();
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Those that ran since the last time.
    fn ran(&self) -> BTreeSet<String> {
        let all = fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().path());
        let marks: Vec<_> = all.filter(|path| path.extension().is_some_and(|ending| ending == "ran")).collect();
        marks.iter().for_each(|mark| fs::remove_file(mark).unwrap());
        marks.iter().map(|mark| mark.file_stem().unwrap().to_string_lossy().into_owned()).collect()
    }
}

const HOOKS: [&str; 8] = [
    "pre-commit",
    "commit-msg",
    "post-commit",
    "post-checkout",
    "post-merge",
    "post-index-change",
    "pre-push",
    "reference-transaction",
];

/// Calls every method that only reads.
async fn look(git: &Git) {
    let limits = DiffLimits::default;
    _ = git.status().await;
    _ = git.probe().await;
    _ = git.diff_all(&[Side::Staged, Side::Unstaged], limits()).await;
    _ = git.diff_file(&path("file"), None, limits()).await;
    _ = git.log(&LogQuery { limit: 10, path: Some(path("file")), ..LogQuery::default() }).await;
    _ = git.branches().await;
    _ = git.stashes().await;
    _ = git.remotes().await;
    _ = git.worktrees().await;
}

/// Calls every method that changes something.
async fn change(git: &Git) {
    let message = || NewCommit { message: "words".into(), session: None };
    let branch = |name: &str| Branch::parse(name).unwrap();
    _ = git.stage(&[RelPath::root()]).await;
    _ = git.commit(&message()).await;
    _ = git.unstage(&paths(&["file"])).await;
    _ = git.discard(&paths(&["file"])).await;
    _ = git.stash(None, true).await;
    _ = git.checkout(&branch("next"), true).await;
    _ = git.merge(&Rev::parse("main").unwrap(), false, None).await;
    _ = git.add_worktree("beside", &branch("beside"), None).await;
    _ = git.init(&branch("main"), Some("words")).await;
    _ = git.add_remote(&Remote::parse("there").unwrap(), "https://127.0.0.1:1/x").await;
    _ = git.fetch(&Remote::parse("origin").unwrap(), false).await;
    _ = git.push(&Push::default()).await;
}

/// Makes the folder a repository of its own without a `.git`: as a clone can bring one along in a subfolder.
fn embed(repo: &Repo, canaries: &Canaries, folder: &Path) {
    let name = folder.file_name().unwrap().to_str().unwrap();
    repo.run(&["clone", "--quiet", "--bare", ".", name]);
    let config = |key: &str, value: &str| repo.run(&["config", "--file", &format!("{name}/config"), key, value]);
    config("core.bare", "false");
    config("core.worktree", ".");
    config("core.fsmonitor", &canaries.program("fsmonitor"));
    config("core.hooksPath", folder.join("evil").to_str().unwrap());
    config("filter.x.clean", &canaries.program("filter"));
    config("core.sshCommand", &canaries.program("ssh"));
    config("remote.origin.url", "ssh://127.0.0.1/x");
    HOOKS.iter().for_each(|hook| canaries.hook(&folder.join("evil"), hook));
    fs::write(folder.join(".gitattributes"), "* filter=x\n").unwrap();
    fs::write(folder.join("file"), "changed\n").unwrap();
}

#[tokio::test]
async fn a_bare_repository_that_lies_in_the_workspaces_own_folder_runs_nothing() {
    let repo = Repo::new();
    let canaries = Canaries::beside(&repo);
    let folder = repo.path().join("vendor");
    embed(&repo, &canaries, &folder);
    // A person's own git runs it: the trap is one.
    let status = std::process::Command::new("git")
        .args(["-c", "safe.bareRepository=all", "status"])
        .current_dir(&folder)
        .envs(repo.environment())
        .output();
    assert!(status.unwrap().status.success());
    assert!(canaries.ran().contains("fsmonitor"));
    let git = Git::new(Root::open(&folder).unwrap()).with_environment(repo.environment());
    look(&git).await;
    assert_eq!(canaries.ran(), BTreeSet::new(), "by a look");
    change(&git).await;
    assert_eq!(canaries.ran(), BTreeSet::new(), "by a change");
    assert!(git.branches().await.is_err(), "gix takes it for a repository");
    assert!(!folder.join("index").exists() && !folder.join(".git").exists(), "something was done with it");
}

#[tokio::test]
async fn a_look_runs_nothing_that_the_repository_names_but_its_filters_and_a_change_runs_its_own() {
    let repo = Repo::new();
    let canaries = Canaries::beside(&repo);
    repo.write(".gitattributes", "* filter=x diff=x merge=x\n");
    repo.write("file", "one\n2\n");
    repo.commit("second");
    for (key, name) in [
        ("core.fsmonitor", "fsmonitor"),
        ("core.pager", "pager"),
        ("core.editor", "editor"),
        ("core.sshCommand", "ssh"),
        ("core.askPass", "askpass"),
        ("core.alternateRefsCommand", "alternates"),
        ("credential.helper", "credentials"),
        ("diff.external", "external-diff"),
        ("diff.x.command", "diff-driver"),
        ("diff.x.textconv", "textconv"),
        ("filter.x.clean", "filter"),
        ("gpg.program", "gpg"),
        ("interactive.diffFilter", "diff-filter"),
        ("remote.origin.uploadpack", "upload-pack"),
    ] {
        repo.run(&["config", key, &canaries.program(name)]);
    }
    // What is missing here would be fetched from there: a look that talks to another machine.
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", "ssh://127.0.0.1/x"),
        ("remote.origin.promisor", "true"),
        ("log.showSignature", "true"),
    ] {
        repo.run(&["config", key, value]);
    }
    HOOKS.iter().for_each(|hook| canaries.hook(&repo.path().join(".git/hooks"), hook));
    let blob = repo.run(&["-c", "core.fsmonitor=false", "rev-parse", "HEAD:file"]);
    fs::remove_file(repo.path().join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    repo.write("file", "three\n");
    canaries.ran();
    look(&repo.git()).await;
    assert_eq!(canaries.ran(), BTreeSet::from(["filter".to_owned()]), "by a look");
    change(&repo.git()).await;
    let ran = canaries.ran();
    assert!(ran.contains("hook") && ran.contains("filter"), "the owner's own hooks and filters run: {ran:?}");
    for never in ["pager", "editor", "external-diff", "diff-driver", "textconv", "diff-filter"] {
        assert!(!ran.contains(never), "{ran:?}");
    }
}
