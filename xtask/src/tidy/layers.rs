//! Which crate may use which, and that ARCHITECTURE.md shows newcomers the same.

use super::repo::{Dependency, Package, Repo};

const DOCUMENT: &str = "ARCHITECTURE.md";
const HERE: &str = "xtask/src/tidy/layers.rs";
/// Every crate's name begins with this, and the document leaves it out.
const PREFIX: &str = "roost-";

/// Every crate with the crates that it may use, the highest first: a crate uses only crates further down. The list is
/// exactly what the manifests say: a dependency that is allowed and not used is reported too.
const ALLOWED: &[(&str, &[&str])] = &[
    (
        "roost",
        &[
            "roost-cli",
            "roost-server",
            "roost-adapters",
            "roost-demo",
            "roost-gateway",
            "roost-engine",
            "roost-process",
            "roost-policy",
            "roost-log",
            "roost-model",
        ],
    ),
    (
        BENCH,
        &[
            "roost-adapters",
            TESTKIT,
            "roost-engine",
            "roost-wasm",
            "roost-process",
            "roost-policy",
            "roost-log",
            "roost-model",
        ],
    ),
    (
        "roost-cli",
        &[
            "roost-acp",
            "roost-client",
            "roost-process",
            "roost-policy",
            "roost-log",
            "roost-settings",
            "roost-rpc",
            "roost-model",
        ],
    ),
    (
        "roost-server",
        &[
            "roost-workspace",
            "roost-gateway",
            "roost-engine",
            "roost-acp",
            "roost-client",
            "roost-log",
            "roost-rpc",
            "roost-model",
        ],
    ),
    ("roost-workspace", &["roost-process"]),
    ("roost-adapters", &["roost-engine", "roost-process", "roost-model"]),
    ("roost-demo", &[]),
    (TESTKIT, &["roost-gateway", "roost-engine", "roost-process", "roost-log", "roost-model"]),
    ("roost-gateway", &["roost-engine", "roost-wasm", "roost-process", "roost-log", "roost-settings", "roost-model"]),
    ("roost-engine", &["roost-process", "roost-policy", "roost-log", "roost-model"]),
    ("roost-acp", &["roost-client", "roost-rpc", "roost-model"]),
    ("roost-client", &["roost-rpc"]),
    ("roost-wasm", &["roost-model"]),
    ("roost-process", &["roost-model"]),
    ("roost-policy", &["roost-model"]),
    ("roost-log", &["roost-model"]),
    ("roost-settings", &[]),
    ("roost-rpc", &["roost-model"]),
    ("roost-model", &[]),
    ("xtask", &[]),
];

/// Shared by the tests of every crate and by the measurements, and shipped by none.
const TESTKIT: &str = "testkit";
const BENCH: &str = "roost-bench";

pub(crate) fn check(repo: &Repo) -> Vec<String> {
    let mut violations: Vec<_> = repo.packages.iter().flat_map(check_package).collect();
    if let Some(document) = repo.file(DOCUMENT) {
        violations.extend(ALLOWED.iter().filter_map(|room| table_row_problem(&document.text, room)));
    }
    violations
}

/// Reports dependencies that are not allowed, and allowed ones that are not used.
fn check_package(package: &Package) -> Vec<String> {
    let folder = &package.folder;
    let Some(allowed) = may_use(&package.name) else {
        return vec![format!("{folder}: crate {} is not in the table of {HERE}", package.name)];
    };
    // A crate's tests may switch on its own features.
    let others = package.uses.iter().filter(|used| used.name != package.name);
    let forbidden = others.filter(|used| !is_allowed(allowed, used)).map(|used| {
        let kind = if used.only_in_tests { "its tests" } else { "it" };
        format!("{folder}: {kind} may not use {} ({HERE})", used.name)
    });
    let uses = |room: &&str| package.uses.iter().any(|used| used.name == **room && !used.only_in_tests);
    let unused = allowed.iter().filter(|room| !uses(room));
    let unused = unused.map(|room| format!("{folder}: does not use {room}; take it out of {HERE}"));
    forbidden.chain(unused).collect()
}

/// Reports how the document's row about a crate differs from [`ALLOWED`].
fn table_row_problem(document: &str, (name, allowed): &(&str, &[&str])) -> Option<String> {
    let row = document.lines().map(cells).find(|cells| cells.get(1) == Some(&format!("`{name}`").as_str()));
    let short: Vec<_> = allowed.iter().map(|room| room.strip_prefix(PREFIX).unwrap_or(room)).collect();
    let expected = if short.is_empty() { "–".to_owned() } else { short.join(", ") };
    match row.as_ref().and_then(|cells| cells.last()) {
        Some(shown) if *shown == expected => None,
        Some(shown) => Some(format!("{DOCUMENT}: `{name}` uses \"{expected}\" ({HERE}), not \"{shown}\"")),
        None => Some(format!("{DOCUMENT}: the table of rooms has no row for `{name}`, which uses \"{expected}\"")),
    }
}

/// The cells of a row of a Markdown table. Any other line gives cells that no crate's name matches.
fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

fn may_use(name: &str) -> Option<&'static [&'static str]> {
    ALLOWED.iter().find(|(room, _)| *room == name).map(|(_, allowed)| *allowed)
}

/// Tests may also use what the allowed crates use, because they build real parts.
fn is_allowed(allowed: &[&str], used: &Dependency) -> bool {
    let below = |room: &&str| may_use(room).is_some_and(|deeper| is_allowed(deeper, used));
    allowed.contains(&used.name.as_str()) || used.only_in_tests && (used.name == TESTKIT || allowed.iter().any(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The violations of a crate that uses everything it may, and this crate on top.
    fn violations(name: &str, used: &str, only_in_tests: bool) -> Vec<String> {
        let allowed = may_use(name).unwrap_or_default().iter();
        let mut uses: Vec<_> = allowed.map(|room| Dependency { name: (*room).into(), only_in_tests: false }).collect();
        uses.push(Dependency { name: used.into(), only_in_tests });
        let package = Package { name: name.into(), folder: "here".into(), uses, ..Package::default() };
        check(&Repo { packages: vec![package], ..Repo::default() })
    }

    #[test]
    fn arrows_point_only_downwards_in_the_table() {
        for (at, (room, allowed)) in ALLOWED.iter().enumerate() {
            for used in *allowed {
                assert!(ALLOWED[at + 1..].iter().any(|(lower, _)| lower == used), "{room} uses {used}");
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
            ("roost-cli", "roost-engine", false, false),
            ("roost-cli", "roost-server", false, false),
            ("roost-cli", "roost-adapters", false, false),
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
    fn a_room_that_is_allowed_and_not_used_is_reported() {
        let uses = vec![Dependency { name: "roost-rpc".into(), only_in_tests: true }];
        let package = Package { name: "roost-client".into(), folder: "here".into(), uses, ..Package::default() };
        let found = check(&Repo { packages: vec![package], ..Repo::default() });
        assert_eq!(found, ["here: does not use roost-rpc; take it out of xtask/src/tidy/layers.rs"]);
    }

    #[test]
    fn a_document_that_shows_other_arrows_is_reported() {
        let row = |last: &str| format!("| folder | crate | job | may use |\n| `x` | `roost-engine` | it | {last} |\n");
        let engine = ALLOWED.iter().find(|(name, _)| *name == "roost-engine").unwrap();
        assert_eq!(table_row_problem(&row("process, policy, log, model"), engine), None);
        let found = table_row_problem(&row("process, log, model"), engine).unwrap();
        assert!(found.contains("uses \"process, policy, log, model\""), "{found}");
        assert!(table_row_problem("", engine).unwrap().contains("no row for `roost-engine`"));
        assert_eq!(table_row_problem("| `xtask` | `xtask` | habits | – |", &("xtask", &[])), None);
    }

    #[test]
    fn a_crate_that_is_not_in_the_table_is_reported() {
        let found = violations("roost-attic", "roost-model", false);
        assert_eq!(found, ["here: crate roost-attic is not in the table of xtask/src/tidy/layers.rs"]);
    }
}
