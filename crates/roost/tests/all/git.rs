//! What changed in a workspace, at a terminal.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::kit::RoostInstance;

#[test]
fn what_changed_is_shown_for_people_and_for_programs() {
    let instance = RoostInstance::new();
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        assert!(instance.clear(&mut command).args(args).status().unwrap().success(), "{args:?}");
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    fs::write(instance.work().join("file"), "one\ntwo\n").unwrap();
    git(&["add", "file"]);
    let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    git(&[&identity[..], &["commit", "--quiet", "--message", "first"]].concat());
    fs::write(instance.work().join("file"), "one\n\u{1b}[31mred\n").unwrap();
    fs::write(instance.work().join("new"), "x\n").unwrap();
    instance.run(&["up"]).ended(0);
    let status = instance.run(&["git", "status"]).ended(0).stdout;
    assert_eq!(status, "On main\nNot staged:\n  M file  +1 -1\nUntracked:\n  ? new\n");
    let status: Value = serde_json::from_str(&instance.run(&["git", "status", "--json"]).ended(0).stdout).unwrap();
    assert_eq!(status["unstaged"][0]["path"], "file");
    let diff = instance.run(&["git", "diff", "file"]).ended(0).stdout;
    assert!(diff.contains("-two\n+") && !diff.contains('\u{1b}'), "{diff}");
    assert!(instance.run(&["git", "diff"]).ended(0).stdout.contains("+++ b/new"));
    assert_eq!(instance.run(&["git", "diff", "--staged", "file"]).ended(0).stdout, "");
    let unknown = instance.run(&["git", "status", "--workspace", "nowhere"]).ended(2);
    assert!(unknown.stderr.contains("nowhere") && unknown.stderr.contains("work"), "{unknown:#?}");
    instance.run(&["down"]).ended(0);
    instance.assert_nothing_left();
}
