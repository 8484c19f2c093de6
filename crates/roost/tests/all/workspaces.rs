//! Workspaces at a terminal: listed, added, removed and found.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::kit::RoostInstance;

/// An instance whose daemon serves its working directory.
fn serving() -> RoostInstance {
    let instance = RoostInstance::new();
    instance.run(&["up"]).ended(0);
    instance
}

fn git(instance: &RoostInstance, folder: &str, args: &[&str]) {
    let mut command = Command::new("git");
    instance.clear(&mut command).args(["-C", folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]);
    assert!(command.args(args).status().unwrap().success(), "{args:?}");
}

/// The cells of the row that begins with this name, without what is only there to be pretty.
fn row(table: &str, name: &str) -> Vec<String> {
    let line = table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {table}"));
    line.split("  ").map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn workspaces_are_listed_with_their_branch_changes_and_sessions_also_one_whose_folder_is_gone() {
    let instance = serving();
    let (web, gone) = (instance.home().join("web"), instance.home().join("gone"));
    for folder in [&web, &gone] {
        fs::create_dir_all(folder).unwrap();
        let folder = folder.to_str().unwrap();
        assert!(instance.run(&["workspaces", "add", folder]).ended(0).stdout.contains(folder));
    }
    git(&instance, web.to_str().unwrap(), &["init", "--quiet", "--initial-branch=main"]);
    fs::write(web.join("new"), "").unwrap();
    instance.run(&["run", "--cwd", web.to_str().unwrap(), "hello"]).ended(0);
    fs::remove_dir(&gone).unwrap();

    let table = instance.run(&["workspaces"]).ended(0).stdout;
    assert_eq!(row(&table, "web"), ["web", "main", "1 new", "1", web.to_str().unwrap()]);
    assert_eq!(row(&table, "work")[1..3], ["-", "-"], "no repository");
    let missing = format!("{} (missing)", gone.display());
    assert_eq!(row(&table, "gone").last(), Some(&missing));
    assert!(table.contains("roost workspaces remove NAME"), "{table}");
    let lines = instance.run(&["workspaces", "--json"]).ended(0).stdout;
    let names: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["name"].clone()).collect();
    assert_eq!(names, ["work", "web", "gone"]);

    instance.run(&["workspaces", "remove", "gone"]).ended(0);
    instance.run(&["workspaces", "remove", web.to_str().unwrap()]).ended(0);
    assert_eq!(instance.run(&["workspaces"]).ended(0).stdout.lines().count(), 2);
    assert!(web.join("new").exists(), "only the workspace is forgotten");
    instance.assert_nothing_left();
}

#[test]
fn a_folder_that_cannot_be_a_workspace_is_refused_with_the_reason() {
    let instance = serving();
    fs::create_dir(instance.work().join("inside")).unwrap();
    let cases = [
        (&["workspaces", "add", "nowhere"][..], "nowhere"),
        (&["workspaces", "add", "."], "is the workspace \"work\" already"),
        (&["workspaces", "add", "inside"], "lie in one another"),
        (&["workspaces", "remove", "nothing"], "there is no workspace \"nothing\" (there are: work)"),
    ];
    for (args, why) in cases {
        let done = instance.run(args);
        assert!(done.code != Some(0) && done.stderr.contains(why), "{args:?}: {done:#?}");
    }
    let added = instance.run(&["workspaces", "add", "../made", "--create", "--name", "Made", "--json"]).ended(0).stdout;
    assert_eq!(serde_json::from_str::<Value>(&added).unwrap()["name"], "Made");
    instance.assert_nothing_left();
}

#[test]
fn repositories_are_found_and_their_search_is_shown_at_a_terminal() {
    let instance = serving();
    let projects = instance.home().join("projects");
    for name in ["one", "deep/two"] {
        fs::create_dir_all(projects.join(name).join(".git")).unwrap();
    }
    let folder = projects.to_str().unwrap();
    let found = instance.run(&["workspaces", "discover", folder]).ended(0);
    assert_eq!(row(&found.stdout, "two")[1], "no");
    assert!(found.stdout.contains("roost workspaces add FOLDER") && found.stderr.is_empty(), "{found:#?}");

    instance.run(&["workspaces", "add", projects.join("one").to_str().unwrap()]).ended(0);
    let known = instance.run(&["workspaces", "discover", folder]).ended(0).stdout;
    assert_eq!(row(&known, "one")[1], "yes");
    assert!(known.contains("--fresh looks again"), "{known}");
    let json = instance.run(&["workspaces", "discover", folder, "--json"]).ended(0).stdout;
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["count"], 2);

    let mut terminal = instance.terminal(&["workspaces", "discover", "--fresh", folder]);
    terminal.shows("folders so far").shows("REPOSITORY");
    terminal.ended(0);
    let none = instance.run(&["workspaces", "discover", instance.work().to_str().unwrap()]).ended(0).stdout;
    assert!(none.contains("No repository in 1 folders"), "{none}");
    instance.assert_nothing_left();
}

#[test]
fn a_folder_that_nobody_may_have_is_refused_with_the_reason() {
    let instance = serving();
    let state = instance.state();
    let around = state.parent().unwrap().to_owned();
    let config = instance.home().join(".config");
    fs::create_dir_all(config.join("roost")).unwrap();
    for (folder, why) in [
        (state.as_path(), "lies in Roost's state directory"),
        (around.as_path(), "contains Roost's"),
        (config.as_path(), "contains Roost's configuration directory"),
        ("/".as_ref(), "contains the kernel's own folder"),
        ("/proc/sys".as_ref(), "lies in the kernel's own folder"),
    ] {
        let done = instance.run(&["workspaces", "add", folder.to_str().unwrap()]).ended(2);
        assert!(done.stderr.contains(why) && done.stderr.contains("choose a project's folder"), "{}", done.stderr);
    }
}
