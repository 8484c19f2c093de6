//! Finds the Clarity sources below a folder.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use ignore::WalkBuilder;

/// Entries that are looked at; a folder with more is told of in part.
const MAX_ENTRIES: usize = 50_000;
/// How deep folders are entered.
const MAX_DEPTH: usize = 32;
/// How much of a source is read: its `module` line and its excerpt are at its beginning.
const MAX_READ: u64 = 64 * 1024;

/// Which sources are wanted.
#[derive(Clone, Copy, Debug)]
pub struct SourceQuery {
    /// Whether folders below are looked into.
    pub recursive: bool,
    /// How many are told of.
    pub limit: usize,
    /// How many characters of each are shown; `None` shows none.
    pub excerpt: Option<usize>,
}

/// One source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its path below the root.
    pub file: PathBuf,
    /// The name that its `module` line gives, else the file's own.
    pub module: String,
    /// How it begins.
    pub excerpt: Option<String>,
}

/// The sources that were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// How many there are.
    pub total: usize,
    /// The first of them, ordered by path.
    pub items: Vec<Source>,
}

/// Finds the sources in a folder below `root`. Ignored and hidden folders, `node_modules` and links are left out. Blocks on
/// the disk.
pub fn list_sources(root: &Path, folder: &Path, query: SourceQuery) -> Result<Sources, String> {
    let failed = |error: std::io::Error| format!("{} cannot be read: {error}", folder.display());
    // Opened beneath the root, so that neither `..` nor a link leads out of it.
    let confined = Dir::open_ambient_dir(root, cap_std::ambient_authority()).map_err(failed)?;
    let inside = confined.open_dir(if folder == Path::new("") { Path::new(".") } else { folder }).map_err(failed)?;
    let start = root.join(folder);
    let depth = if query.recursive { MAX_DEPTH } else { 1 };
    let walk = WalkBuilder::new(&start)
        .max_depth(Some(depth))
        .follow_links(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != "node_modules")
        .build();
    let is_source = |path: &Path| path.extension().is_some_and(|extension| extension == "clarity");
    let entries = walk.take(MAX_ENTRIES).filter_map(Result::ok);
    let files = entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()) && is_source(entry.path()));
    let mut paths: Vec<_> =
        files.filter_map(|entry| entry.path().strip_prefix(&start).ok().map(Path::to_owned)).collect();
    paths.sort();
    let total = paths.len();
    let items = paths.into_iter().take(query.limit).filter_map(|path| {
        let text = beginning(&inside, &path).ok()?;
        let excerpt = query.excerpt.map(|characters| text.chars().take(characters).collect());
        Some(Source { module: module(&text, &path), file: folder.join(path), excerpt })
    });
    Ok(Sources { total, items: items.collect() })
}

fn beginning(folder: &Dir, path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    folder.open(path)?.take(MAX_READ).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn module(text: &str, path: &Path) -> String {
    let declared = text.lines().map(str::trim).find_map(|line| line.strip_prefix("module "));
    let name = declared.and_then(|rest| rest.split_whitespace().next());
    name.map_or_else(|| path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    const ALL: SourceQuery = SourceQuery { recursive: true, limit: 50, excerpt: None };

    fn project() -> TempDir {
        let root = TempDir::new().unwrap();
        for (path, text) in [
            ("app/src/main.clarity", "// first\nmodule Dice\n"),
            ("app/src/other.clarity", "no module here"),
            ("app/node_modules/x.clarity", "module X"),
            ("app/.hidden/y.clarity", "module Y"),
            ("app/notes.txt", "module Z"),
        ] {
            let file = root.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        root
    }

    #[test]
    fn sources_are_found_with_their_modules() {
        let root = project();
        let found = list_sources(root.path(), Path::new("app"), ALL).unwrap();
        let modules: Vec<_> =
            found.items.iter().map(|item| (item.file.to_str().unwrap(), item.module.as_str())).collect();
        assert_eq!(modules, [("app/src/main.clarity", "Dice"), ("app/src/other.clarity", "other")]);
        assert_eq!(list_sources(root.path(), Path::new(""), ALL).unwrap().total, 2);
        let some = SourceQuery { limit: 1, excerpt: Some(8), ..ALL };
        let found = list_sources(root.path(), Path::new("app"), some).unwrap();
        assert_eq!((found.total, found.items.len()), (2, 1));
        assert_eq!(found.items[0].excerpt.as_deref(), Some("// first"));
        let flat = SourceQuery { recursive: false, ..ALL };
        assert_eq!(list_sources(root.path(), Path::new("app"), flat).unwrap().total, 0);
    }

    #[test]
    fn of_a_huge_source_only_the_beginning_is_read() {
        let root = TempDir::new().unwrap();
        let huge = fs::File::create(root.path().join("huge.clarity")).unwrap();
        huge.set_len(50 << 30).unwrap();
        // No text either, and a letter cut in two.
        fs::write(root.path().join("other.clarity"), format!("module Other\n{}", "ä".repeat(40_000))).unwrap();
        fs::write(root.path().join("raw.clarity"), b"module Raw\n\xff").unwrap();
        let query = SourceQuery { excerpt: Some(64), ..ALL };
        let found = list_sources(root.path(), Path::new(""), query).unwrap();
        let modules: Vec<_> = found.items.iter().map(|item| item.module.as_str()).collect();
        assert_eq!(modules, ["huge", "Other", "Raw"]);
    }

    #[test]
    fn no_folder_outside_of_the_root_is_read() {
        let (root, outside) = (project(), project());
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        for folder in ["..", "/etc", "link", "app/../../x", "none"] {
            assert!(list_sources(root.path(), Path::new(folder), ALL).is_err(), "{folder}");
        }
    }
}
