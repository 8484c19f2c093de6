//! Nothing outside the root is reached.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use roost_workspace::index::scan;
use roost_workspace::{Error, RelPath, Root, files};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, renameat_with};
use tempfile::TempDir;

/// A workspace `in` beside a secret, with every link that a bad repository might hold.
fn place() -> (TempDir, Root) {
    let place = TempDir::new().unwrap();
    let inside = place.path().join("in");
    fs::create_dir_all(inside.join("src")).unwrap();
    fs::write(inside.join("src/main.rs"), "fn main() {}").unwrap();
    fs::create_dir(place.path().join("in-side")).unwrap();
    for name in ["secret", "in-side/secret"] {
        fs::write(place.path().join(name), "s3cret").unwrap();
    }
    for (target, link) in [
        ("../secret", "up"),
        ("..", "parent"),
        ("/etc/hostname", "absolute"),
        ("../in-side", "neighbour"),
        ("circle", "circle"),
        ("src/main.rs", "within"),
        ("src", "folder"),
    ] {
        symlink(target, inside.join(link)).unwrap();
    }
    let root = Root::open(&inside).unwrap();
    (place, root)
}

#[test]
fn a_link_that_leads_out_is_refused() {
    let (_place, root) = place();
    for path in ["up", "parent/secret", "absolute", "neighbour/secret", "circle"] {
        let refused = root.open_file(&RelPath::parse(path).unwrap());
        assert!(matches!(refused, Err(Error::PathTraversal { .. })), "{path}: {refused:?}");
    }
    for path in ["parent", "neighbour"] {
        let refused = root.open_dir(&RelPath::parse(path).unwrap());
        assert!(matches!(refused, Err(Error::PathTraversal { .. })), "{path}: {refused:?}");
    }
}

#[test]
fn nothing_is_written_through_a_link_that_leads_out_or_into_what_is_no_file() {
    let (place, root) = place();
    let path = |path: &str| RelPath::parse(path).unwrap();
    for outside in ["up", "parent/secret", "parent/new", "neighbour/secret", "neighbour/new/deep", "circle"] {
        assert!(files::write_text(&root, &path(outside), "x").is_err(), "{outside}");
    }
    rustix::fs::mknodat(CWD, place.path().join("in/pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    for no_file in ["pipe", "src"] {
        assert!(files::write_text(&root, &path(no_file), "x").is_err(), "{no_file}");
    }
    for name in ["secret", "in-side/secret"] {
        assert_eq!(fs::read_to_string(place.path().join(name)).unwrap(), "s3cret");
    }
    assert!(!place.path().join("new").exists() && !place.path().join("in-side/new").exists());
    files::write_text(&root, &path("a/b/new.txt"), "longer\ntext\n").unwrap();
    files::write_text(&root, &path("a/b/new.txt"), "short\n").unwrap();
    assert_eq!(files::read_text(&root, &path("a/b/new.txt"), None, None).unwrap(), "short\n");
}

#[test]
fn a_link_that_stays_inside_is_followed() {
    let (_place, root) = place();
    for path in ["within", "folder/main.rs", "src/main.rs"] {
        assert_eq!(root.open_file(&RelPath::parse(path).unwrap()).unwrap().1.len(), 12, "{path}");
    }
}

#[test]
fn what_is_no_file_is_named_and_never_waited_for() {
    let (place, root) = place();
    let inside = place.path().join("in");
    let made = std::process::Command::new("mkfifo").arg(inside.join("pipe")).status().unwrap();
    assert!(made.success());
    let _listener = UnixListener::bind(inside.join("socket")).unwrap();
    for (path, expected) in [("pipe", "a pipe"), ("socket", "a device"), ("src", "a folder")] {
        match root.open_file(&RelPath::parse(path).unwrap()) {
            Err(Error::NotAFile { kind, .. }) => assert_eq!(kind, expected, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
    }
}

#[test]
fn what_is_not_there_is_said_to_be_not_there() {
    let (_place, root) = place();
    assert!(matches!(root.open_file(&RelPath::parse("nothing").unwrap()), Err(Error::NotFound { .. })));
    assert!(matches!(root.open_dir(&RelPath::parse("src/main.rs").unwrap()), Err(Error::NotADirectory { .. })));
    assert!(matches!(Root::open(std::path::Path::new("/nonexistent")), Err(Error::NoRoot { .. })));
}

#[test]
fn a_folder_that_is_swapped_for_a_link_while_it_is_walked_puts_nothing_from_outside_into_the_index() {
    let (place, root) = place();
    let inside = place.path().join("in");
    // Deep enough for the walk to be somewhere else while the swap happens.
    fs::create_dir_all(inside.join("swapped/deeper")).unwrap();
    fs::create_dir_all(place.path().join("out/deeper")).unwrap();
    for n in 0..20 {
        fs::write(inside.join(format!("swapped/{n}")), "").unwrap();
        fs::write(place.path().join(format!("out/c4nary-{n}")), "").unwrap();
        fs::write(place.path().join(format!("out/deeper/c4nary-{n}")), "").unwrap();
    }
    symlink("../out", inside.join("away")).unwrap();
    let (one, other) = (inside.join("swapped"), inside.join("away"));
    let enough = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !enough.load(Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let scans: Vec<_> = (0..300).map(|_| scan(&root)).collect();
        enough.store(true, Ordering::Relaxed);
        let indexes: Vec<_> = scans.into_iter().map(|scanned| scanned.unwrap().index).collect();
        let found: BTreeSet<_> = indexes.iter().flat_map(|index| index.files()).map(|file| file.path()).collect();
        let outside: Vec<_> = found.iter().filter(|path| path.contains("c4nary")).collect();
        assert!(outside.is_empty(), "{outside:?}");
        assert!(found.contains("swapped/7") && found.contains("src/main.rs"), "{found:?}");
    });
}

#[test]
fn a_workspace_that_has_become_a_link_is_not_followed() {
    let home = tempfile::TempDir::new().unwrap();
    let (there, elsewhere) = (home.path().join("there"), home.path().join("elsewhere"));
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &there).unwrap();
    let refused = roost_workspace::Root::open(&there).unwrap_err().to_string();
    assert!(refused.contains("leads to"), "{refused}");
    std::fs::remove_file(&there).unwrap();
    std::fs::create_dir(&there).unwrap();
    roost_workspace::Root::open(&there).unwrap();
}
