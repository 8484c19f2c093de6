use serde_json::json;

use super::*;

/// What is shown of an input in a folder with `file.txt` of three lines.
fn shown(input: &Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file.txt"), "one\ntwo\nthree\n").unwrap();
    shown_in(folder.path(), input)
}

fn shown_in(folder: &Path, input: &Value) -> String {
    let (changes, _) = changes(input.as_object().unwrap()).unwrap();
    changes.iter().flat_map(|change| change.diff(folder)).collect::<Vec<_>>().join("\n")
}

const SECOND: &str = "file.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three";

#[test]
fn every_way_to_say_the_same_change_shows_the_same_diff() {
    let table = [
        json!({ "path": "file.txt", "content": "one\n2\nthree\n" }),
        json!({ "file_path": "file.txt", "old_string": "two", "new_string": "2" }),
        json!({ "filePath": "file.txt", "oldText": "two", "newText": "2", "replaceAll": true }),
        json!({ "path": "file.txt", "edits": [{ "old_text": "two", "new_text": "2" }] }),
        json!({ "path": "file.txt", "edits": [{ "old_str": "two", "new_str": "zwei" }, { "oldStr": "zwei", "newStr": "2" }] }),
        json!({ "content": [{ "type": "diff", "path": "file.txt", "oldText": "one\ntwo\nthree\n", "newText": "one\n2\nthree\n" }] }),
        json!({ "content": [{ "type": "diff", "path": "file.txt", "oldText": "two\n", "newText": "2\n" }] }),
    ];
    for input in table {
        assert_eq!(shown(&input), SECOND, "{input}");
    }
}

#[test]
fn a_new_file_is_called_one() {
    let input = json!({ "path": "new.txt", "content": "hello\n" });
    assert_eq!(shown(&input), "new.txt (new file)\n@@ -0,0 +1 @@\n+hello");
}

#[test]
fn text_that_is_not_in_the_file_is_shown_and_said_so() {
    let input = json!({ "path": "file.txt", "old_string": "four", "new_string": "4" });
    let text = shown(&input);
    assert!(text.contains("not in the file") && text.contains("-four") && text.contains("+4"), "{text}");
}

#[test]
fn a_file_outside_of_the_workspace_is_named_as_such_whatever_leads_there() {
    let folder = tempfile::tempdir().unwrap();
    let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "old\n").unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
    for path in ["../out/secret", "link/secret", "link/new", outside.join("secret").to_str().unwrap()] {
        let text = shown_in(&inside, &json!({ "path": path, "content": "new\n" }));
        assert!(text.lines().next().unwrap().contains("outside of the workspace"), "{path}: {text}");
    }
}

#[test]
fn what_is_no_plain_text_file_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("binary"), [0xff, 0xfe, 0x00]).unwrap();
    for (path, reason) in [("/dev/zero", "not a plain file"), (".", "not a plain file"), ("binary", "not a text")] {
        let text = shown_in(folder.path(), &json!({ "path": path, "content": "new\n" }));
        assert!(text.contains(reason) && text.contains("+new"), "{path}: {text}");
    }
}

#[test]
fn what_is_no_change_is_none() {
    for input in
        [json!({}), json!({ "path": "x" }), json!({ "content": "x" }), json!({ "content": [{ "type": "text" }] })]
    {
        assert_eq!(changes(input.as_object().unwrap()), None, "{input}");
    }
}
