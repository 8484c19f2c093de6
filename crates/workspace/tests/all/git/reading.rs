//! Status, diff, log, branches: what is seen.

use roost_workspace::git::{BranchInfo, DiffLimits, GitState, LogQuery, RefType, Rev, Side};

use super::{Repo, names, path};

#[tokio::test]
async fn branches_are_told_without_git_as_git_would_tell_them() {
    let repo = Repo::new().with_remote();
    repo.run(&["remote", "set-head", "origin", "main"]);
    for name in ["a/b", "gone", "packed"] {
        repo.run(&["push", "--quiet", "origin", &format!("main:{name}")]);
        repo.run(&["branch", "--quiet", "--track", name, &format!("origin/{name}")]);
    }
    repo.run(&["pack-refs", "--all"]);
    repo.run(&["update-ref", "-d", "refs/remotes/origin/gone"]);
    repo.run(&["branch", "--quiet", "--track", "follows-main", "main"]);
    repo.write("file", "ahead");
    repo.commit("ahead");
    repo.run(&["update-ref", "refs/remotes/origin/a/b", "main"]);
    let format = "--format=%(refname:lstrip=2)|%(objectname)|%(upstream:short)|%(upstream:track,nobracket)|%(symref)";
    let expected = repo.run(&["for-each-ref", format, "refs/heads", "refs/remotes"]);
    let no_git = repo.git().with_environment(vec![("PATH".into(), "/nowhere".into())]);
    let found = no_git.branches().await.unwrap();
    assert_eq!(found.current.as_deref(), Some("main"));
    let line = |branch: &BranchInfo| {
        let track = match (branch.ahead, branch.behind) {
            _ if branch.name == "gone" => "gone".to_owned(),
            (0, 0) => String::new(),
            (ahead, 0) => format!("ahead {ahead}"),
            (0, behind) => format!("behind {behind}"),
            (ahead, behind) => format!("ahead {ahead}, behind {behind}"),
        };
        format!("{}|{}|{}|{track}|", branch.name, branch.sha, branch.upstream.as_deref().unwrap_or_default())
    };
    let expected: Vec<_> = expected.lines().filter(|line| line.ends_with('|')).collect();
    assert_eq!(found.all.iter().map(line).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_status_tells_every_side_with_its_lines() {
    let repo = Repo::new().with_remote();
    repo.write("renamed from", "1\n2\n3\n4\n5\n");
    repo.write("gone", "x\n");
    repo.commit("more");
    repo.run(&["mv", "renamed from", "renamed to"]);
    repo.write("file", "one\nthree\nfour\n");
    std::fs::remove_file(repo.path().join("gone")).unwrap();
    repo.write("dir/new", "");
    repo.write("picture", b"\0\x01");
    repo.run(&["add", "picture"]);
    let status = repo.git().status().await.unwrap();
    assert_eq!(names(&status.staged), ["A picture", "R renamed to"]);
    assert_eq!(status.staged[1].from.as_deref(), Some("renamed from"));
    assert_eq!(status.staged[0].additions, None, "a picture has no lines");
    assert_eq!(names(&status.unstaged), ["M file", "D gone"]);
    assert_eq!((status.unstaged[0].additions, status.unstaged[0].deletions), (Some(2), Some(1)));
    assert_eq!(names(&status.untracked), ["? dir/new"]);
    assert_eq!((status.upstream.as_deref(), status.ahead, status.behind), (Some("origin/main"), 1, 0));
    assert!(!status.is_clean());
}

#[tokio::test]
async fn names_of_every_kind_are_told_as_they_are() {
    use std::os::unix::ffi::OsStrExt;
    let repo = Repo::empty();
    let all = ["-rf", "a b", "é", "line\nfeed", "tab\t", "quote\"", ":(glob)*", "*"];
    for name in all {
        repo.write(name, "x");
    }
    repo.write(std::ffi::OsStr::from_bytes(b"not \xff utf-8"), "x");
    let found = names(&repo.git().status().await.unwrap().untracked);
    assert_eq!(found.len(), all.len() + 1);
    for name in all {
        assert!(found.contains(&format!("? {name}")), "{name:?} in {found:?}");
    }
    assert!(found.contains(&"? not \u{fffd} utf-8".to_owned()));
}

#[tokio::test]
async fn a_look_leaves_the_index_alone() {
    let repo = Repo::new();
    repo.write("file", "one\ntwo\n");
    let file = std::fs::File::options().write(true).open(repo.path().join("file")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let index = || std::fs::metadata(repo.path().join(".git/index")).unwrap().modified().unwrap();
    let before = index();
    assert!(repo.git().status().await.unwrap().is_clean());
    assert_eq!(repo.git().diff_all(&[Side::Unstaged], DiffLimits::default()).await.unwrap(), [], "it was only touched");
    assert_eq!(index(), before);
}

#[tokio::test]
async fn a_diff_of_one_file_is_of_the_side_that_has_one() {
    let repo = Repo::new();
    let git = repo.git();
    let diff = |side| {
        let git = git.clone();
        async move { git.diff_file(&path("file"), side, DiffLimits::default()).await.unwrap() }
    };
    assert_eq!(diff(None).await.diff, "");
    repo.write("file", "one\nstaged\n");
    repo.run(&["add", "file"]);
    let staged = diff(None).await;
    assert!(staged.is_staged && staged.diff.contains("+staged"), "{staged:?}");
    assert_eq!((staged.additions, staged.deletions), (1, 1));
    repo.write("file", "one\nunstaged\n");
    assert!(diff(None).await.diff.contains("+unstaged"));
    assert!(diff(Some(Side::Staged)).await.diff.contains("+staged"));
    assert!(diff(Some(Side::Since(Rev::parse("HEAD").unwrap()))).await.diff.contains("-two\n+unstaged"));
}

#[tokio::test]
async fn a_diff_of_a_folder_is_that_of_its_files() {
    let repo = Repo::new();
    repo.write("dir/a", "a\n");
    repo.write("dir/b", "b\n");
    repo.commit("two");
    repo.write("dir/a", "A\n");
    repo.write("dir/b", "B\n");
    repo.write("file", "elsewhere\n");
    let diff = repo.git().diff_file(&path("dir"), None, DiffLimits::default()).await.unwrap();
    assert_eq!((diff.path.as_str(), diff.additions, diff.deletions), ("dir", 2, 2));
    assert!(diff.diff.contains("+A\n") && diff.diff.contains("+B\n") && !diff.diff.contains("elsewhere"), "{diff:?}");
}

#[tokio::test]
async fn a_new_file_is_all_new_and_a_picture_is_named_as_such() {
    let repo = Repo::new();
    repo.write("dir/-new", "a\nb");
    repo.write("picture", b"\0\x01\x02");
    let git = repo.git();
    let new = git.diff_file(&path("dir/-new"), None, DiffLimits::default()).await.unwrap();
    assert!(new.is_new && new.diff.contains("@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"), "{new:?}");
    let picture = git.diff_file(&path("picture"), None, DiffLimits::default()).await.unwrap();
    assert!(picture.is_binary && picture.is_new && picture.additions == 0);
}

#[tokio::test]
async fn a_long_diff_is_cut_between_two_characters() {
    let repo = Repo::new();
    repo.write("file", "é".repeat(1000));
    repo.write("new", "é".repeat(1000));
    let git = repo.git();
    for name in ["file", "new"] {
        for file in 300..304 {
            let limits = DiffLimits { file, total: 5000 };
            let diff = git.diff_file(&path(name), None, limits).await.unwrap();
            assert!(diff.is_truncated && diff.diff.len() <= file, "{name} {file} {diff:?}");
        }
    }
}

#[tokio::test]
async fn a_diff_of_everything_has_every_file_even_where_no_room_is_left() {
    let repo = Repo::new();
    repo.write("b", "b\n");
    repo.run(&["add", "b"]);
    repo.write("file", "x\n".repeat(500));
    repo.write("new", "new\n");
    let git = repo.git();
    let all = git.diff_all(&[Side::Unstaged, Side::Staged], DiffLimits::default()).await.unwrap();
    let shown: Vec<_> = all.iter().map(|diff| (diff.path.as_str(), diff.is_staged, diff.is_new)).collect();
    assert_eq!(shown, [("file", false, false), ("b", true, true), ("new", false, true)]);
    let small = DiffLimits { file: 200, total: 250 };
    let all = git.diff_all(&[Side::Unstaged, Side::Staged], small).await.unwrap();
    assert_eq!(all.len(), 3);
    assert!(all.iter().map(|diff| diff.diff.len()).sum::<usize>() <= 250);
    assert!(all[0].is_truncated);
}

#[tokio::test]
async fn a_log_tells_commits_with_refs_and_columns() {
    let repo = Repo::new();
    repo.run(&["switch", "--quiet", "-c", "side"]);
    repo.write("side", "x");
    repo.commit("on the side");
    repo.run(&["switch", "--quiet", "main"]);
    repo.write("main", "x");
    repo.commit("on main\n\nWith a body\nof two lines");
    repo.run(&["merge", "--quiet", "--no-edit", "side"]);
    repo.run(&["tag", "v1"]);
    let git = repo.git();
    let query = LogQuery { limit: 10, graph: true, ..LogQuery::default() };
    let log = git.log(&query).await.unwrap();
    assert_eq!((log.commits.len(), log.total, log.has_more, log.max_columns), (4, 4, false, 2));
    let merge = &log.commits[0];
    assert_eq!(merge.parents.len(), 2);
    let refs: Vec<_> = merge.refs.iter().map(|found| (found.name.as_str(), found.kind)).collect();
    assert_eq!(refs, [("HEAD", RefType::Head), ("main", RefType::LocalBranch), ("v1", RefType::Tag)]);
    assert_eq!((merge.author.as_str(), merge.author_email.as_str()), ("Ada", "ada@example.org"));
    let body = log.commits.iter().find(|commit| commit.subject == "on main").unwrap();
    assert_eq!(body.body, "With a body\nof two lines");

    let second = git.log(&LogQuery { limit: 2, skip: 1, ..query.clone() }).await.unwrap();
    assert_eq!(second.commits, log.commits[1..3], "a page has the columns of the whole");
    assert!(second.has_more);
    let of_path = LogQuery { path: Some(path("side")), ..query.clone() };
    assert_eq!(git.log(&of_path).await.unwrap().commits[0].subject, "on the side");
    let of_nobody = LogQuery { author: Some("--output=x".into()), ..query.clone() };
    assert_eq!(git.log(&of_nobody).await.unwrap().total, 0);
    let of_branch = LogQuery { rev: Some(Rev::parse("side").unwrap()), ..query };
    assert_eq!(git.log(&of_branch).await.unwrap().total, 2);
}

#[tokio::test]
async fn branches_are_told_here_and_there() {
    let repo = Repo::new().with_remote();
    repo.write("file", "x");
    repo.commit("ahead");
    repo.run(&["branch", "side/one"]);
    let branches = repo.git().branches().await.unwrap();
    assert_eq!(branches.current.as_deref(), Some("main"));
    let shown: Vec<_> = branches.all.iter().map(|b| (b.name.as_str(), b.is_current, b.is_remote, b.ahead)).collect();
    assert_eq!(shown, [("main", true, false, 1), ("side/one", false, false, 0), ("origin/main", false, true, 0)]);
}

#[tokio::test]
async fn a_repository_is_probed_in_one_word_at_each_step_of_its_life() {
    let word = |repo: &Repo| {
        let git = repo.git();
        async move { git.probe().await.unwrap().state }
    };
    let repo = Repo::none();
    assert_eq!(word(&repo).await, GitState::NoGit);
    repo.run(&["init", "--quiet", "--initial-branch=main"]);
    repo.identify();
    assert_eq!(word(&repo).await, GitState::Init);
    repo.write("file", "x");
    repo.commit("first");
    assert_eq!(word(&repo).await, GitState::NoRemote);
    let repo = repo.with_remote();
    assert_eq!(word(&repo).await, GitState::Synced);
    repo.somebody_pushes("file", "y");
    repo.run(&["fetch", "--quiet"]);
    assert_eq!(word(&repo).await, GitState::Diverged);
    repo.run(&["switch", "--quiet", "-c", "alone"]);
    assert_eq!(word(&repo).await, GitState::NoPush);
}
