//! The user's own settings: they decide what git does, and never what is understood of its words.

use std::os::unix::fs::PermissionsExt;

use roost_workspace::git::{DiffLimits, LogQuery, NewCommit, Rev, Side};

use super::{Repo, path, paths};

/// Everything that changes what git writes, or what it takes for the same file.
const SETTINGS: &str = r#"
[user]
    signingKey = nobody
[alias]
    status = log
[color]
    ui = always
    diff = always
    status = always
    branch = always
    push = always
    transport = always
    advice = always
    remote = always
[column]
    ui = always
[core]
    quotePath = true
    pager = false
    whitespace = trailing-space,tab-in-indent
    commentChar = ";"
[log]
    showSignature = true
    date = relative
    follow = true
    decorate = no
    abbrevCommit = true
    excludeDecoration = refs/tags/*
    initialDecorationSet = all
    showRoot = false
    diffMerges = combined
[format]
    pretty = oneline
[diff]
    noprefix = true
    mnemonicPrefix = true
    external = false
    submodule = log
    renames = false
    relative = true
    autoRefreshIndex = false
    colorMoved = zebra
    suppressBlankEmpty = true
    wordRegex = .
    statGraphWidth = 3
[status]
    short = true
    branch = false
    renames = false
    showStash = true
    showUntrackedFiles = no
    relativePaths = false
    aheadBehind = false
    submoduleSummary = true
[branch]
    sort = -committerdate
[grep]
    patternType = perl
[i18n]
    logOutputEncoding = ISO-8859-1
    commitEncoding = ISO-8859-1
[merge]
    verbosity = 0
    stat = false
[commit]
    verbose = true
    status = true
[stash]
    showPatch = true
[notes]
    displayRef = *
[fetch]
    output = compact
[interactive]
    diffFilter = false
[advice]
    resolveConflict = false
    statusHints = false
    pushNonFastForward = false
"#;

/// Signs everything, and finds every signature good.
const SIGN: &str = "#!/bin/sh
case \"$*\" in
*--verify*) echo '[GNUPG:] GOODSIG 1 Ada'; echo 'gpg: Good signature' >&2 ;;
*) cat > /dev/null; printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'; printf '\\n[GNUPG:] SIG_CREATED \\n' >&2 ;;
esac
";

/// A repository with something for every answer to tell, made in the same way each time.
fn made() -> Repo {
    let repo = Repo::empty();
    repo.write("file", "one\ntwo\n");
    commit(&repo, ".", "first");
    let sign = repo.folder.path().join("home/sign");
    std::fs::write(&sign, SIGN).unwrap();
    std::fs::set_permissions(&sign, std::fs::Permissions::from_mode(0o755)).unwrap();
    repo.run(&["config", "gpg.program", sign.to_str().unwrap()]);
    repo.write("ä/renamed from", "1\n\n2\n3\n4\n5\n6\n7\n8\n9\n");
    repo.run(&["init", "--quiet", "module"]);
    repo.run(&["-C", "module", "config", "user.name", "Ada"]);
    repo.run(&["-C", "module", "config", "user.email", "ada@example.org"]);
    commit(&repo, "module", "in the module");
    commit(&repo, ".", "zweitens: größer\n\nmit Körper");
    repo.run(&["tag", "v1"]);
    repo.run(&["mv", "file", "moved"]);
    at_noon(&repo, &["commit", "--quiet", "--gpg-sign", "--message", "moved"]);
    repo.run(&["branch", "older", "HEAD~"]);
    repo.run(&["config", "branch.main.remote", "."]);
    repo.run(&["config", "branch.main.merge", "refs/heads/older"]);
    repo.write("moved", "put aside\n");
    at_noon(&repo, &["stash", "push", "--quiet", "--message", "später: vielleicht"]);
    repo.run(&["mv", "ä/renamed from", "ä/renamed to"]);
    repo.write("ä/renamed to", "1\n\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    repo.write("moved", "one\nthree\n");
    repo.write("ä/new", "x\n");
    commit(&repo, "module", "more in the module");
    repo
}

/// Everything in a folder, at a time that is always the same.
fn commit(repo: &Repo, folder: &str, message: &str) {
    repo.run(&["-C", folder, "add", "--all"]);
    at_noon(repo, &["-C", folder, "commit", "--quiet", "--allow-empty", "--message", message]);
}

fn at_noon(repo: &Repo, args: &[&str]) {
    let noon = "2026-01-01T12:00:00Z";
    let mut command = std::process::Command::new("git");
    command.args(args).current_dir(repo.path()).envs(repo.environment());
    assert!(command.env("GIT_AUTHOR_DATE", noon).env("GIT_COMMITTER_DATE", noon).status().unwrap().success());
}

/// What a person is told of the repository.
async fn report(repo: &Repo) -> Vec<String> {
    let (git, limits) = (repo.git(), DiffLimits::default());
    let log = |path: Option<&str>, author: Option<&str>| LogQuery {
        limit: 10,
        path: path.map(super::path),
        author: author.map(str::to_owned),
        graph: true,
        ..LogQuery::default()
    };
    let mut told = vec![
        format!("{:#?}", git.status().await.unwrap()),
        format!("{:#?}", git.diff_all(&[Side::Unstaged, Side::Staged], limits).await.unwrap()),
        format!("{:#?}", git.diff_all(&[Side::Since(Rev::parse("HEAD~").unwrap())], limits).await.unwrap()),
        format!("{:#?}", git.diff_file(&path("moved"), None, limits).await.unwrap()),
        format!("{:#?}", git.log(&log(None, None)).await.unwrap()),
        format!("{:#?}", git.log(&log(Some("moved"), Some("ada@example.org"))).await.unwrap()),
        format!("{:#?}", git.stashes().await.unwrap()),
        format!("{:#?}", git.branches().await.unwrap()),
        format!("{:#?}", git.probe().await.unwrap()),
        format!("{:#?}", git.worktrees().await.unwrap().len()),
    ];
    git.stage(&paths(&["moved"])).await.unwrap();
    let new = NewCommit { message: "drittens: ö\n\nmit Körper".into(), session: Some("0190".into()) };
    let committed = git.commit(&new).await.unwrap();
    told.push(format!("{} {}", committed.files, committed.subject));
    told.push(repo.run(&["cat-file", "commit", "HEAD"]).split_once("\n\n").unwrap().1.to_owned());
    told.push(git.log(&log(None, None)).await.unwrap().commits[0].subject.clone());
    repo.run(&["reset", "--quiet", "--hard"]);
    repo.run(&["switch", "--quiet", "--create", "torn", "HEAD~"]);
    repo.write("moved", "theirs\n");
    repo.run(&["commit", "--quiet", "--all", "--message", "theirs"]);
    repo.run(&["switch", "--quiet", "main"]);
    told.push(format!("{:?}", git.merge(&Rev::parse("torn").unwrap(), false, None).await.unwrap().conflicted));
    told
}

#[tokio::test]
async fn no_setting_of_the_user_changes_what_is_told() {
    let (plain, set) = (made(), made());
    std::fs::write(set.folder.path().join("home/.gitconfig"), SETTINGS).unwrap();
    let (expected, found) = (report(&plain).await, report(&set).await);
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected, found);
    }
}
