//! Lines of files by their content.

use std::fs;
use std::os::unix::fs::symlink;

use roost_workspace::grep::{FileMatches, GrepQuery, GrepSummary, grep};
use roost_workspace::search::Filter;
use roost_workspace::{Error, RelPath};
use tokio_util::sync::CancellationToken;

use crate::test_folder::TestFolder;

fn query(pattern: &str) -> GrepQuery {
    GrepQuery { pattern: pattern.into(), ..GrepQuery::default() }
}

fn run(place: &TestFolder, query: &GrepQuery) -> (Vec<FileMatches>, GrepSummary) {
    let repository = place.open();
    repository.rebuild().unwrap();
    let mut all = Vec::new();
    let summary = grep(repository.root(), &repository.index(), query, &CancellationToken::new(), |file| {
        all.push(file);
        true
    });
    (all, summary.unwrap())
}

/// Every line as `path:number:text`, those of context with `-`.
fn drawn(files: &[FileMatches]) -> Vec<String> {
    let lines = files.iter().flat_map(|file| file.lines.iter().map(move |line| (file, line)));
    lines
        .map(|(file, line)| {
            let mark = if line.matches.is_empty() { '-' } else { ':' };
            format!("{}{mark}{}{mark}{}", file.path, line.number, line.text)
        })
        .collect()
}

#[test]
fn each_way_to_search_finds_what_it_says() {
    let place = TestFolder::empty();
    place.write("a.rs", "fn Main() {}\nlet a.b = 1;\nmain_thing\n");
    place.write("b/c.md", "main axb\r\n");
    let all = || query("");
    let cases: [(GrepQuery, &[&str]); 8] = [
        (query("main"), &["a.rs:1:fn Main() {}", "a.rs:3:main_thing", "b/c.md:1:main axb"]),
        (query("Main"), &["a.rs:1:fn Main() {}"]),
        (GrepQuery { case_sensitive: Some(true), ..query("main") }, &["a.rs:3:main_thing", "b/c.md:1:main axb"]),
        (GrepQuery { whole_words: true, ..query("main") }, &["a.rs:1:fn Main() {}", "b/c.md:1:main axb"]),
        (query("a.b"), &["a.rs:2:let a.b = 1;"]),
        (GrepQuery { is_regex: true, ..query("a.b") }, &["a.rs:2:let a.b = 1;", "b/c.md:1:main axb"]),
        (GrepQuery { folder: RelPath::parse("b").unwrap(), ..query("main") }, &["b/c.md:1:main axb"]),
        (
            GrepQuery { filter: Filter::default().with_extensions(["md"]), pattern: "main".into(), ..all() },
            &["b/c.md:1:main axb"],
        ),
    ];
    for (query, expected) in cases {
        assert_eq!(drawn(&run(&place, &query).0), expected, "{query:?}");
    }
}

#[test]
fn context_comes_with_the_match() {
    let place = TestFolder::empty();
    place.write("a", "1\n2\nhit\n4\n5\n");
    let (files, _) = run(&place, &GrepQuery { context: (1, 2), ..query("hit") });
    assert_eq!(drawn(&files), ["a-2-2", "a:3:hit", "a-4-4", "a-5-5"]);
    assert_eq!(files[0].lines[1].matches.first(), Some(&(0..3)));
}

#[test]
fn a_limit_cuts_the_same_every_time_and_is_told() {
    let place = TestFolder::empty();
    for n in 0..200 {
        place.write(&format!("folder/{n:03}"), "hit\nhit\nhit\n");
    }
    let query = GrepQuery { limit: (10, 2), ..query("hit") };
    let (files, summary) = run(&place, &query);
    assert_eq!(
        files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
        ["folder/000", "folder/001", "folder/002", "folder/003", "folder/004"]
    );
    assert_eq!((summary.files, summary.matches, summary.is_limited), (5, 10, true));
    for _ in 0..5 {
        assert_eq!(run(&place, &query).0, files);
    }
}

#[test]
fn exactly_as_many_lines_as_are_wanted_are_told_and_whether_there_are_more() {
    let place = TestFolder::empty();
    place.write("a", "hit\nhit\n");
    place.write("b", "1\nhit\n3\nhit\n");
    for (limit, per_file, expected, is_limited) in [
        (10, 10, &["a:1:hit", "a:2:hit", "b-1-1", "b:2:hit", "b-3-3", "b:4:hit"][..], false),
        (4, 10, &["a:1:hit", "a:2:hit", "b-1-1", "b:2:hit", "b-3-3", "b:4:hit"], false),
        (3, 10, &["a:1:hit", "a:2:hit", "b-1-1", "b:2:hit", "b-3-3"], true),
        (10, 1, &["a:1:hit", "b-1-1", "b:2:hit", "b-3-3"], true),
    ] {
        let query = GrepQuery { limit: (limit, per_file), context: (1, 1), ..query("hit") };
        let (files, summary) = run(&place, &query);
        let drawn: Vec<_> = drawn(&files).into_iter().filter(|line| line != "a-2-hit").collect();
        assert_eq!(
            (drawn.as_slice(), summary.is_limited),
            (&expected.iter().map(ToString::to_string).collect::<Vec<_>>()[..], is_limited),
            "{limit} {per_file}"
        );
        assert_eq!(summary.matches, files.iter().map(|file| file.matched).sum::<usize>());
    }
}

#[test]
fn nothing_outside_and_nothing_that_is_no_text_is_read() {
    let place = TestFolder::empty();
    fs::write(place.outside("secret"), "hit").unwrap();
    symlink(place.outside("secret"), place.path("link")).unwrap();
    symlink(place.outside(""), place.path("folder")).unwrap();
    place.write("binary", "hit\0hit");
    place.write("text", "hit");
    let (files, _) = run(&place, &query("hit"));
    assert_eq!(drawn(&files), ["text:1:hit"]);
}

#[test]
fn a_folder_that_becomes_a_link_after_it_was_indexed_leads_nowhere() {
    let place = TestFolder::empty();
    place.write("a/b", "inside");
    let repository = place.open();
    repository.rebuild().unwrap();
    fs::remove_dir_all(place.path("a")).unwrap();
    fs::create_dir(place.outside("out")).unwrap();
    fs::write(place.outside("out/b"), "hit").unwrap();
    symlink(place.outside("out"), place.path("a")).unwrap();
    let summary = grep(repository.root(), &repository.index(), &query("hit"), &CancellationToken::new(), |_| true);
    assert_eq!(summary.unwrap().matches, 0);
}

#[test]
fn a_long_line_shows_what_is_around_its_match() {
    let place = TestFolder::empty();
    place.write("long", &format!("{}hit{}", "ö".repeat(5000), "z".repeat(5000)));
    let (files, _) = run(&place, &query("hit"));
    let line = &files[0].lines[0];
    assert!(line.is_cut && line.text.len() <= 1000);
    assert_eq!(&line.text[line.matches[0].clone()], "hit");
}

#[test]
fn a_search_ends_when_it_is_cancelled_or_nobody_wants_more() {
    let place = TestFolder::empty();
    place.write_all(&["a", "b", "c"]);
    let repository = place.open();
    repository.rebuild().unwrap();
    let every = GrepQuery { is_regex: true, ..query(".") };
    let cancel = CancellationToken::new();
    let summary = grep(repository.root(), &repository.index(), &every, &cancel, |_| false).unwrap();
    assert_eq!(summary.files, 1);
    cancel.cancel();
    let summary = grep(repository.root(), &repository.index(), &every, &cancel, |_| true).unwrap();
    assert_eq!(summary.files, 0);
}

#[test]
fn a_pattern_that_is_none_is_refused_with_the_reason() {
    let place = TestFolder::empty();
    let repository = place.open();
    let bad = GrepQuery { is_regex: true, ..query("(") };
    let refused = grep(repository.root(), &repository.index(), &bad, &CancellationToken::new(), |_| true);
    assert!(matches!(refused, Err(Error::BadPattern { message }) if message.contains("unclosed group")));
}
