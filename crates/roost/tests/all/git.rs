//! What changed in a workspace, at a terminal.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::kit::Place;

#[test]
fn what_changed_is_shown_for_people_and_for_programs() {
    let place = Place::new();
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        assert!(place.clear(&mut command).args(args).status().unwrap().success(), "{args:?}");
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    fs::write(place.work().join("file"), "one\ntwo\n").unwrap();
    git(&["add", "file"]);
    let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    git(&[&identity[..], &["commit", "--quiet", "--message", "first"]].concat());
    fs::write(place.work().join("file"), "one\n\u{1b}[31mred\n").unwrap();
    fs::write(place.work().join("new"), "x\n").unwrap();
    place.run(&["up"]).ended(0);
    let status = place.run(&["git", "status"]).ended(0).stdout;
    assert_eq!(status, "On main\nNot staged:\n  M file  +1 -1\nUnknown to git:\n  ? new\n");
    let status: Value = serde_json::from_str(&place.run(&["git", "status", "--json"]).ended(0).stdout).unwrap();
    assert_eq!(status["unstaged"][0]["path"], "file");
    let diff = place.run(&["git", "diff", "file"]).ended(0).stdout;
    assert!(diff.contains("-two\n+") && !diff.contains('\u{1b}'), "{diff}");
    assert!(place.run(&["git", "diff"]).ended(0).stdout.contains("+++ b/new"));
    assert_eq!(place.run(&["git", "diff", "--staged", "file"]).ended(0).stdout, "");
    let unknown = place.run(&["git", "status", "--workspace", "nowhere"]).ended(2);
    assert!(unknown.stderr.contains("nowhere") && unknown.stderr.contains("work"), "{unknown:#?}");
    place.run(&["down"]).ended(0);
    place.assert_nothing_left();
}
