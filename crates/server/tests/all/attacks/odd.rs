//! Repositories that are not as they should be, and what is called on each.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use roost_rpc::Method;
use serde_json::{Value, json};

fn git(folder: &Path, args: &[&str]) {
    let output = Command::new("git").args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn repository(folder: &Path) {
    git(folder, &["init", "--quiet", "--initial-branch=main"]);
    git(folder, &["config", "user.name", "Ada"]);
    git(folder, &["config", "user.email", "ada@example.org"]);
}

/// A repository with a commit and a change.
fn usual(folder: &Path) {
    repository(folder);
    fs::write(folder.join("file"), "one\n").unwrap();
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message", "first"]);
    fs::write(folder.join("file"), "two\n").unwrap();
}

/// How something odd is made in an empty folder.
pub(super) type Make = fn(&Path);

/// Every kind, with how it is made.
pub(super) fn kinds() -> Vec<(&'static str, Make)> {
    vec![
        ("no repository", |_| {}),
        ("folder is gone", |folder| fs::remove_dir(folder).unwrap()),
        ("no commits", repository),
        ("bare", |folder| git(folder, &["init", "--quiet", "--bare"])),
        ("bare with commands", |folder| {
            git(folder, &["init", "--quiet", "--bare"]);
            let harm = format!("touch '{}' #", folder.with_file_name("harm").display());
            for (key, value) in [
                ("core.bare", "false"),
                ("core.worktree", "."),
                ("core.fsmonitor", &harm),
                ("core.sshCommand", &harm),
                ("core.hooksPath", "hooks"),
                ("filter.x.clean", &harm),
            ] {
                git(folder, &["config", "--file", "config", key, value]);
            }
            fs::write(folder.join(".gitattributes"), "* filter=x\n").unwrap();
            fs::write(folder.join("file"), "x\n").unwrap();
            for hook in ["pre-commit", "post-checkout", "post-index-change", "reference-transaction"] {
                let hook = folder.join("hooks").join(hook);
                fs::write(&hook, format!("#!/bin/sh\n{harm}\n")).unwrap();
                fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }),
        ("shallow", |folder| {
            let full = folder.with_file_name("full");
            fs::create_dir(&full).unwrap();
            usual(&full);
            git(&full, &["commit", "--quiet", "--all", "--message", "second"]);
            let url = format!("file://{}", full.display());
            git(folder, &["clone", "--quiet", "--depth=1", &url, "."]);
            git(folder, &["config", "user.name", "Ada"]);
            git(folder, &["config", "user.email", "ada@example.org"]);
        }),
        ("broken index", |folder| {
            usual(folder);
            fs::write(folder.join(".git/index"), "DIRC rubbish rubbish rubbish rubbish rubbish rubbish").unwrap();
        }),
        ("held index.lock", |folder| {
            usual(folder);
            fs::write(folder.join(".git/index.lock"), "").unwrap();
        }),
        ("files elsewhere", |folder| {
            usual(folder);
            let outside = folder.with_file_name("outside");
            git(folder, &["config", "core.worktree", outside.to_str().unwrap()]);
        }),
        ("full disk", |folder| {
            usual(folder);
            git(folder, &["add", "--all"]);
            // What git adds there the kernel refuses as it does on a full disk.
            for file in ["logs/HEAD", "logs/refs/heads/main"] {
                let path = folder.join(".git").join(file);
                fs::remove_file(&path).unwrap();
                std::os::unix::fs::symlink("/dev/full", path).unwrap();
            }
        }),
    ]
}

/// What works on a workspace's files or its repository, and needs no connection's state.
pub(super) fn methods() -> impl Iterator<Item = Method> {
    let of_files = [Method::FileGet, Method::FileList, Method::WorkspaceFileGet, Method::WorkspaceFilesList];
    let of_index = |method: Method| method.area() == "repository" && !method.routes().is_empty();
    let is_one = move |method: Method| method.is_git() || of_index(method) || of_files.contains(&method);
    Method::ALL.iter().copied().filter(move |method| is_one(*method))
}

/// What a method is called with in a workspace.
pub(super) fn params(method: Method, workspace: &str) -> Value {
    let mut params = match method {
        Method::FileGet | Method::WorkspaceFileGet => json!({ "path": "file" }),
        Method::GitStage | Method::GitUnstage | Method::GitDiscard => json!({ "paths": ["file"] }),
        Method::GitCommit => json!({ "message": "words" }),
        Method::GitCheckout | Method::GitMerge => json!({ "branch": "main" }),
        Method::GitBranchDelete => json!({ "branch": "gone" }),
        Method::GitUpstreamSet => json!({ "branch": "main", "upstream": "origin/main" }),
        Method::GitRemoteAdd => json!({ "name": "copy", "url": "https://127.0.0.1:1/nowhere" }),
        Method::GitRemoteRemove => json!({ "name": "copy" }),
        Method::WorktreeAdd
        | Method::WorktreeRemove
        | Method::WorktreeDiff
        | Method::WorktreeMerge
        | Method::WorktreeDiscard => json!({ "name": "aside" }),
        Method::RepositorySearch => json!({ "query": "file" }),
        Method::RepositoryGrep => json!({ "pattern": "one" }),
        _ => json!({}),
    };
    params["workspace_id"] = json!(workspace);
    params
}
