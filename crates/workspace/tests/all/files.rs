//! Files are read as they are, in parts, and never beyond what fits.

use std::fs;
use std::time::SystemTime;

use roost_workspace::files::{ByteRange, Limits, Refusal, UploadKind, Uploads, list, read};
use roost_workspace::{Error, RelPath, Root};
use tempfile::TempDir;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR the rest of a picture";

fn place() -> (TempDir, Root) {
    let place = TempDir::new().unwrap();
    let root = Root::open(place.path()).unwrap();
    (place, root)
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

#[test]
fn a_long_text_is_shown_from_its_beginning_and_can_be_paged_through() {
    let (place, root) = place();
    let text = "zwölf Boxkämpfer jagen Viktor\n".repeat(100);
    fs::write(place.path().join("long.txt"), &text).unwrap();
    let (mut read_so_far, mut offset) = (Vec::new(), 0);
    loop {
        let content = read(&root, &path("long.txt"), ByteRange { offset: Some(offset), limit: 97 }).unwrap();
        assert!(content.is_text && content.size == text.len() as u64);
        assert_eq!(content.offset, offset, "no byte is passed over");
        offset += content.bytes.len() as u64;
        let truncated = content.is_truncated();
        read_so_far.extend(content.bytes);
        if !truncated {
            break;
        }
    }
    assert_eq!(String::from_utf8(read_so_far).unwrap(), text);
}

#[test]
fn a_picture_is_given_whole_or_refused_with_its_size() {
    let (place, root) = place();
    fs::write(place.path().join("a.png"), PNG).unwrap();
    let whole = read(&root, &path("a.png"), ByteRange { offset: None, limit: 1000 }).unwrap();
    assert_eq!((whole.bytes.as_slice(), whole.media_type, whole.is_text), (PNG, "image/png", false));
    match read(&root, &path("a.png"), ByteRange { offset: None, limit: 10 }) {
        Err(Error::TooLarge { size, limit: 10, .. }) => assert_eq!(size, PNG.len() as u64),
        other => panic!("{other:?}"),
    }
    let part = read(&root, &path("a.png"), ByteRange { offset: Some(4), limit: 4 }).unwrap();
    assert_eq!((part.bytes.as_slice(), part.is_truncated()), (&PNG[4..8], true));
}

#[test]
fn a_file_that_becomes_something_else_further_on_is_not_called_text() {
    let (place, root) = place();
    let mut bytes = vec![b'a'; 10_000];
    bytes.extend([0xff, 0xfe, b'x', b'y']);
    fs::write(place.path().join("odd"), &bytes).unwrap();
    let content = read(&root, &path("odd"), ByteRange { offset: None, limit: 20_000 }).unwrap();
    assert_eq!((content.bytes, content.is_text), (bytes, false));
}

#[test]
fn a_folder_is_listed_by_name_with_what_is_below_it() {
    let (place, root) = place();
    fs::create_dir_all(place.path().join("src/deep/er")).unwrap();
    for (name, text) in
        [("b.txt", "12345"), ("a.txt", ""), (".hidden", "x"), (".gitignore", "x"), ("src/deep/c", "123")]
    {
        fs::write(place.path().join(name), text).unwrap();
    }
    std::os::unix::fs::symlink("b.txt", place.path().join("link")).unwrap();
    let listing = list(&root, &RelPath::root(), false).unwrap();
    let files: Vec<_> = listing.files.iter().map(|file| (file.path.as_str(), file.size, file.is_symlink)).collect();
    assert_eq!(files, [(".gitignore", 1, false), ("a.txt", 0, false), ("b.txt", 5, false), ("link", 5, true)]);
    let [src] = listing.folders.as_slice() else { panic!("{listing:?}") };
    assert_eq!((src.path.as_str(), src.folders, src.files, src.bytes), ("src", 2, 1, 3));
    let inner = list(&root, &path("src/deep"), false).unwrap();
    assert_eq!(inner.files[0].path, "src/deep/c");
    assert!(list(&root, &RelPath::root(), true).unwrap().files.iter().any(|file| file.name == ".hidden"));
}

#[test]
fn a_picture_is_taken_in_pieces_kept_out_of_git_and_removed_when_its_time_is_over() {
    let (place, root) = place();
    let uploads = Uploads::new(root, UploadKind::Images, Limits::default());
    let now = SystemTime::now();
    let mut upload = uploads.begin("one", "a.png", now).unwrap();
    for piece in PNG.chunks(5) {
        upload.write(piece).unwrap();
    }
    let image = upload.finish().unwrap();
    assert_eq!(
        (image.media_type, image.size, image.path.as_str()),
        ("image/png", PNG.len() as u64, ".roost/images/img_one.png")
    );
    assert_eq!(fs::read(place.path().join(image.path.as_str())).unwrap(), PNG);
    assert_eq!(fs::read_to_string(place.path().join(".roost/.gitignore")).unwrap(), "*\n");
    assert_eq!(uploads.list(now).unwrap(), std::slice::from_ref(&image));
    let later = image.expires;
    assert_eq!(uploads.list(later).unwrap(), []);
    assert!(!place.path().join(image.path.as_str()).exists());
}

#[test]
fn what_is_no_picture_or_too_much_is_refused_and_leaves_nothing() {
    let (place, root) = place();
    let limits = Limits { one: 100, count: 2, all: 120, ..Limits::default() };
    let uploads = Uploads::new(root, UploadKind::Images, limits);
    let now = SystemTime::now();
    let take = |id: &str, bytes: &[u8]| {
        let mut upload = uploads.begin(id, "a.png", now)?;
        upload.write(bytes)?;
        upload.finish()
    };
    assert!(matches!(take("text", b"just some words, no picture"), Err(Refusal::Unsupported)));
    assert!(matches!(take("short", b"\x89PN"), Err(Refusal::Unsupported)));
    assert!(matches!(take("big", &[PNG, &[0; 100]].concat()), Err(Refusal::TooLarge(100))));
    assert_eq!(fs::read_dir(place.path().join(".roost/images")).unwrap().count(), 0);
    take("a", &[PNG, &[0; 50]].concat()).unwrap();
    assert!(matches!(take("b", &[PNG, &[0; 50]].concat()), Err(Refusal::Full)));
    take("c", PNG).unwrap_err();
    take("d", &PNG[..20]).unwrap();
    assert!(matches!(take("e", &PNG[..20]), Err(Refusal::Full)));
    assert!(matches!(uploads.get("nothing", now), Err(Refusal::Unknown(_))));
    uploads.remove("a", now).unwrap();
    assert_eq!(uploads.clear(now).unwrap(), 1);
}

#[test]
fn a_file_of_any_kind_is_taken_under_its_own_name() {
    let (place, root) = place();
    let uploads = Uploads::new(root, UploadKind::Files, Limits::default());
    let now = SystemTime::now();
    let mut upload = uploads.begin("7f", "../my notes.md", now).unwrap();
    upload.write(b"# Notes").unwrap();
    let file = upload.finish().unwrap();
    assert_eq!((file.name.as_str(), file.path.as_str()), ("my_notes.md", ".roost/files/7f_my_notes.md"));
    assert_eq!(file.media_type, "text/markdown");
    assert_eq!(fs::read(place.path().join(file.path.as_str())).unwrap(), b"# Notes");
    assert_eq!(uploads.list(now).unwrap(), [file]);
}

#[test]
fn those_that_come_at_the_same_time_do_not_get_more_together_than_there_is() {
    let (_place, root) = place();
    let limits = Limits { one: 60, count: 10, all: 100, ..Limits::default() };
    let uploads = Uploads::new(root, UploadKind::Files, limits);
    let now = SystemTime::now();
    let mut first = uploads.begin("a", "a", now).unwrap();
    let mut second = uploads.begin("b", "b", now).unwrap();
    assert!(matches!(uploads.begin("c", "c", now), Err(Refusal::Full)), "both may still need all that is left");
    first.write(&[b'x'; 60]).unwrap();
    assert!(matches!(second.write(&[b'x'; 41]), Err(Refusal::Full)));
    drop(second);
    first.finish().unwrap();
    assert_eq!(uploads.list(now).unwrap().len(), 1);
    uploads.begin("d", "d", now).unwrap().write(&[b'x'; 40]).unwrap();
}

#[test]
fn pictures_never_leave_the_workspace_through_a_link() {
    let (place, root) = place();
    let outside = TempDir::new().unwrap();
    std::os::unix::fs::symlink(outside.path(), place.path().join(".roost")).unwrap();
    let uploads = Uploads::new(root, UploadKind::Images, Limits::default());
    assert!(uploads.begin("one", "a.png", SystemTime::now()).is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}
