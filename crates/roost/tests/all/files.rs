//! Files of a workspace at a terminal.

use std::fs;

use serde_json::Value;

use crate::kit::RoostInstance;

/// An instance with some files, and a daemon that serves it.
fn serving() -> RoostInstance {
    let instance = RoostInstance::new();
    fs::create_dir_all(instance.work().join("src/deep")).unwrap();
    for (path, text) in [("src/main.rs", "fn main() {}\n"), ("src/deep/er.rs", ""), ("notes.md", "# \u{1b}[31mNotes\n")]
    {
        fs::write(instance.work().join(path), text).unwrap();
    }
    fs::write(instance.work().join(".env"), "KEY=1\n").unwrap();
    fs::write(instance.work().join("dot.bin"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
    instance.run(&["up"]).ended(0);
    instance
}

#[test]
fn files_are_listed_as_a_table_as_a_tree_and_as_json() {
    let instance = serving();
    let listed = instance.run(&["files"]).ended(0).stdout;
    let words: Vec<Vec<_>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[1][..4], ["src/", "2", "13", "B"], "folders come first, with what is in them");
    assert_eq!((words[2][0], &words[3][..3]), ("dot.bin", &["notes.md", "13", "B"][..]));
    assert!(!listed.contains(".env"));
    assert!(instance.run(&["files", "--all"]).ended(0).stdout.contains(".env (secret)"));
    assert!(instance.run(&["files", "--limit", "1"]).ended(0).stdout.contains("… and 1 more"));
    let json: Value = serde_json::from_str(&instance.run(&["files", "src", "--json"]).ended(0).stdout).unwrap();
    assert_eq!((&json["files"][0]["path"], &json["total_directories"]), (&"src/main.rs".into(), &1.into()));
    let tree = instance.run(&["files", "--tree", "--depth", "2"]).ended(0).stdout;
    let expected = "work/\n├── src/\n│   ├── deep/ (1 files)\n│   └── main.rs\n├── dot.bin\n└── notes.md\n";
    assert_eq!(tree, expected);
    instance.assert_nothing_left();
}

#[test]
fn a_file_is_printed_as_it_is_but_never_steers_a_terminal() {
    let instance = serving();
    assert_eq!(instance.run(&["files", "cat", "notes.md"]).ended(0).stdout, "# \u{1b}[31mNotes\n");
    let long: String = (0..200_000).map(|n| format!("line {n}\n")).collect();
    fs::write(instance.work().join("long"), &long).unwrap();
    assert!(instance.run(&["files", "cat", "long"]).ended(0).stdout == long, "all of it, in as many parts as it takes");
    let part = instance.run(&["files", "cat", "src/main.rs", "--json"]).ended(0).stdout;
    assert_eq!(serde_json::from_str::<Value>(&part).unwrap()["content"], "fn main() {}\n");

    let mut terminal = instance.terminal(&["files", "cat", "notes.md"]);
    terminal.shows("# ␛[31mNotes");
    terminal.ended(0);
    let mut terminal = instance.terminal(&["files", "cat", "dot.bin"]);
    terminal.shows("not text; save it instead");
    terminal.ended(2);
    instance.assert_nothing_left();
}

#[test]
fn what_is_not_there_or_not_inside_is_refused_with_the_reason() {
    let instance = serving();
    let cases = [
        (&["files", "nowhere"][..], "there is no folder \"nowhere\""),
        (&["files", "notes.md"], "`roost files cat notes.md` shows it"),
        (&["files", "cat", "nowhere"], "there is no \"nowhere\""),
        (&["files", "cat", "../../etc/passwd"], "is not a path inside the workspace"),
        (&["files", "--workspace", "other"], "there is no workspace \"other\""),
    ];
    for (args, why) in cases {
        let done = instance.run(args).ended(2);
        assert!(done.stderr.contains(why), "{args:?}: {done:#?}");
    }
    let folder = instance.run(&["files", "cat", "src"]).ended(1);
    assert!(folder.stderr.contains("is a folder, not a file"), "{folder:#?}");
    instance.assert_nothing_left();
}
