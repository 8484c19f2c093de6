//! Which crate may use which: the table of the rooms in ARCHITECTURE.md as data.

use super::repo::{Repo, Use};

/// A crate may use only rooms further down; crates that do not exist yet have their place already.
const ROOMS: &[(&str, &[&str])] = &[
    ("roost", LIBRARIES),
    ("roost-bench", LIBRARIES),
    (
        "roost-server",
        &["roost-engine", "roost-workspace", "roost-gateway", "roost-policy", "roost-log", "roost-rpc", "roost-model"],
    ),
    ("roost-acp", &["roost-client", "roost-engine", "roost-log", "roost-rpc", "roost-model"]),
    ("roost-gateway", &["roost-engine", "roost-wasm", "roost-process", "roost-policy", "roost-log", "roost-model"]),
    ("roost-wasm", &["roost-model"]),
    ("roost-workspace", &["roost-process", "roost-log", "roost-model"]),
    ("roost-adapters", &["roost-engine", "roost-process", "roost-model"]),
    (TESTKIT, &["roost-engine", "roost-process", "roost-policy", "roost-log", "roost-model"]),
    ("roost-engine", &["roost-process", "roost-policy", "roost-log", "roost-model"]),
    ("roost-client", &["roost-rpc", "roost-model"]),
    ("roost-process", &["roost-model"]),
    ("roost-policy", &["roost-model"]),
    ("roost-log", &["roost-model"]),
    ("roost-rpc", &["roost-model"]),
    ("roost-model", &[]),
    ("xtask", &[]),
];

const LIBRARIES: &[&str] = &[
    "roost-server",
    "roost-acp",
    "roost-gateway",
    "roost-wasm",
    "roost-workspace",
    "roost-adapters",
    "roost-engine",
    "roost-client",
    "roost-process",
    "roost-policy",
    "roost-log",
    "roost-rpc",
    "roost-model",
];

/// Shared by the tests of every crate and by the measurements, and shipped by none.
const TESTKIT: &str = "testkit";
const BENCH: &str = "roost-bench";

pub(crate) fn check(repo: &Repo) -> Vec<String> {
    let mut violations = Vec::new();
    for package in &repo.packages {
        let Some(allowed) = may_use(&package.name) else {
            violations.push(format!(
                "{}: crate {} is not in the table of xtask/src/tidy/layers.rs",
                package.folder, package.name
            ));
            continue;
        };
        let measures = |used: &Use| package.name == BENCH && used.name == TESTKIT;
        for used in package.uses.iter().filter(|used| !is_allowed(allowed, used) && !measures(used)) {
            let kind = if used.only_in_tests { "its tests" } else { "it" };
            violations.push(format!("{}: {kind} may not use {} (xtask/src/tidy/layers.rs)", package.folder, used.name));
        }
    }
    violations
}

fn may_use(name: &str) -> Option<&'static [&'static str]> {
    ROOMS.iter().find(|(room, _)| *room == name).map(|(_, allowed)| *allowed)
}

/// Tests may also reach what lies below the allowed rooms, because they build real parts.
fn is_allowed(allowed: &[&str], used: &Use) -> bool {
    let below = |room: &&str| may_use(room).is_some_and(|deeper| is_allowed(deeper, used));
    allowed.contains(&used.name.as_str()) || used.only_in_tests && (used.name == TESTKIT || allowed.iter().any(below))
}

#[cfg(test)]
mod tests {
    use super::super::repo::Package;
    use super::*;

    fn violations(name: &str, used: &str, only_in_tests: bool) -> Vec<String> {
        let uses = vec![Use { name: used.into(), only_in_tests }];
        let package = Package { name: name.into(), folder: "here".into(), uses, targets: Vec::new() };
        check(&Repo { files: Vec::new(), packages: vec![package] })
    }

    #[test]
    fn arrows_point_only_downwards_in_the_table() {
        for (at, (room, allowed)) in ROOMS.iter().enumerate() {
            for used in *allowed {
                assert!(ROOMS[at + 1..].iter().any(|(lower, _)| lower == used), "{room} uses {used}");
            }
        }
    }

    #[test]
    fn a_dependency_outside_the_table_is_reported() {
        for (name, used, only_in_tests, allowed) in [
            ("roost-engine", "roost-log", false, true),
            ("roost-log", "roost-engine", false, false),
            ("roost-log", "roost-engine", true, false),
            ("roost-adapters", "roost-log", false, false),
            ("roost-adapters", "roost-log", true, true),
            ("roost-model", "testkit", true, true),
            ("roost-engine", "testkit", false, false),
            ("roost", "testkit", false, false),
            ("roost", "roost-policy", false, true),
            ("roost-bench", "roost", false, false),
            ("roost-bench", "testkit", false, true),
        ] {
            let found = violations(name, used, only_in_tests);
            assert_eq!(found.is_empty(), allowed, "{name} {used} {only_in_tests}: {found:?}");
        }
    }

    #[test]
    fn a_crate_that_is_not_in_the_table_is_reported() {
        let found = violations("roost-attic", "roost-model", false);
        assert_eq!(found, ["here: crate roost-attic is not in the table of xtask/src/tidy/layers.rs"]);
    }
}
