//! Adds to a settings file that a person keeps: JSON, perhaps with comments and trailing commas. Comments, order and
//! everything else stay as they are, and a copy of the file is made first.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};
use tempfile::NamedTempFile;

/// Copies of one file that are kept at most; more than a person makes.
const MAX_BACKUPS: usize = 100;

/// What comments and trailing commas need; everything else that the parser could take, the editors do not.
const FORMAT: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// What became of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// It said so already.
    Unchanged,
    /// There was none.
    Created,
    /// The file as it was is in `backup`.
    Changed { backup: PathBuf },
}

/// Replaces a file by what `merge` makes of its text, which is empty if there is no file. An error says why the file is as
/// it was.
pub(super) fn write(file: &Path, merge: impl FnOnce(&str) -> Result<String, String>) -> Result<Written, String> {
    let failed = |error: io::Error| format!("it cannot be written ({error})");
    // Settings are often links into a repository of a person's dotfiles: what they lead to is changed.
    let file = match file.canonicalize() {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound && file.symlink_metadata().is_err() => {
            let text = merge("")?;
            fs::create_dir_all(file.parent().unwrap_or(file)).map_err(failed)?;
            let mut new = File::create_new(file).map_err(failed)?;
            new.write_all(text.as_bytes()).map_err(failed)?;
            return Ok(Written::Created);
        }
        Err(error) => return Err(format!("it cannot be read ({error})")),
    };
    let text = fs::read_to_string(&file).map_err(|error| format!("it cannot be read ({error})"))?;
    let merged = merge(&text)?;
    if merged == text {
        return Ok(Written::Unchanged);
    }
    let backup = back_up(&file, &text).map_err(|error| format!("no copy of it can be made ({error})"))?;
    replace(&file, &merged).map_err(failed)?;
    Ok(Written::Changed { backup })
}

/// Writes the text into a new file beside `file`, with the same permissions.
fn back_up(file: &Path, text: &str) -> io::Result<PathBuf> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    for number in 1..=MAX_BACKUPS {
        let backup = file.with_file_name(format!("{name}.before-roost-{number}"));
        match File::create_new(&backup) {
            Ok(mut copy) => {
                copy.set_permissions(file.metadata()?.permissions())?;
                copy.write_all(text.as_bytes())?;
                copy.sync_all()?;
                return Ok(backup);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("there are {MAX_BACKUPS} of them already; remove some")))
}

/// Writes the file anew and puts it into its place in one step, so that the editor never reads half of it.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut new = NamedTempFile::new_in(file.parent().unwrap_or(file))?;
    new.as_file().set_permissions(file.metadata()?.permissions())?;
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    Ok(())
}

/// The text with these members in the object at `path`, which is made where it is missing. Other members of that object
/// stay. An error says why nothing can be added to the text safely.
pub(super) fn merge(text: &str, path: &[&str], members: &Map<String, Value>) -> Result<String, String> {
    let root = CstRootNode::parse(text, &FORMAT).map_err(|error| format!("it is not valid JSON ({error})"))?;
    let mut object = root.object_value_or_create().ok_or("it is not an object")?;
    for name in path {
        object = match property(&object, name)? {
            Some(existing) => existing.object_value().ok_or_else(|| format!("{name:?} in it is not an object"))?,
            None => object.object_value_or_set(name),
        };
    }
    for (name, value) in members {
        match property(&object, name)? {
            // What has the value already keeps the comments in it.
            Some(existing) if existing.to_serde_value().as_ref() == Some(value) => {}
            Some(existing) => existing.set_value(input(value)),
            None => drop(object.append(name, input(value))),
        }
    }
    let merged = root.to_string();
    Ok(if text.trim().is_empty() { format!("{}\n", merged.trim_end()) } else { merged })
}

/// The property of this name. One that is there twice is refused: editors differ in which of them counts.
fn property(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, String> {
    let mut found = object.properties().into_iter().filter(|property| property.decoded_name().as_deref() == Some(name));
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(format!("{name:?} is in it twice")),
        (first, None) => Ok(first),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use serde_json::json;
    use tempfile::TempDir;

    use super::*;

    fn merged(text: &str) -> Result<String, String> {
        let members = json!({ "command": "/bin/roost", "args": ["acp"] });
        merge(text, &["agent_servers", "Roost"], members.as_object().unwrap())
    }

    #[test]
    fn the_agent_is_added_and_everything_else_stays() {
        let table = [
            ("empty", ""),
            ("empty_object", "{}"),
            ("other_keys", "// mine\n{\n  \"theme\": \"One\", // dark\n  /* vim */ \"vim_mode\": true\n}\n"),
            ("trailing_comma", "{\n\t\"theme\": \"One\",\n}\n"),
            (
                "other_agents",
                "{\n  \"agent_servers\": {\n    // theirs\n    \"Other\": { \"command\": \"other\" }\n  },\n  \"z\": 1\n}\n",
            ),
            (
                "an_older_entry",
                "{\n  \"agent_servers\": {\n    \"Roost\": {\n      \"command\": \"/old/roost\", // old\n      \
                 \"args\": [\"acp\" /* kept */],\n      \"env\": { \"RUST_LOG\": \"debug\" }\n    }\n  }\n}\n",
            ),
        ];
        for (name, text) in table {
            insta::assert_snapshot!(name, merged(text).unwrap());
        }
    }

    #[test]
    fn a_second_time_changes_nothing() {
        let first = merged("// mine\n{ \"theme\": \"One\" }\n").unwrap();
        assert_eq!(merged(&first).unwrap(), first);
    }

    #[test]
    fn what_cannot_be_merged_safely_is_refused() {
        let table = [
            ("[]", "not an object"),
            ("{ \"theme\": }", "not valid JSON"),
            ("{ 'theme': 1 }", "not valid JSON"),
            ("{ \"a\": 1 \"b\": 2 }", "not valid JSON"),
            ("{ \"agent_servers\": [] }", "\"agent_servers\" in it is not an object"),
            ("{ \"agent_servers\": { \"Roost\": null } }", "\"Roost\" in it is not an object"),
            ("{ \"agent_servers\": {}, \"agent_servers\": {} }", "twice"),
        ];
        for (text, expected) in table {
            let why = merged(text).expect_err(text);
            assert!(why.contains(expected), "{text}: {why}");
        }
    }

    #[test]
    fn a_new_file_is_made_with_its_folder() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("zed/settings.json");
        assert_eq!(write(&file, merged), Ok(Written::Created));
        assert_eq!(fs::read_to_string(&file).unwrap(), merged("").unwrap());
        assert_eq!(write(&file, merged), Ok(Written::Unchanged));
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_copy_of_the_file_is_kept_and_links_and_permissions_stay() {
        let folder = TempDir::new().unwrap();
        let (dotfiles, file) = (folder.path().join("dotfiles.json"), folder.path().join("settings.json"));
        fs::write(&dotfiles, "{} // one").unwrap();
        fs::set_permissions(&dotfiles, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&dotfiles, &file).unwrap();
        for (number, text) in ["{} // one", "{} // two"].into_iter().enumerate() {
            fs::write(&dotfiles, text).unwrap();
            let backup =
                dotfiles.canonicalize().unwrap().with_file_name(format!("dotfiles.json.before-roost-{}", number + 1));
            assert_eq!(write(&file, merged), Ok(Written::Changed { backup: backup.clone() }));
            assert_eq!(fs::read_to_string(&backup).unwrap(), text);
            for kept in [&dotfiles, &backup] {
                assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o640);
            }
        }
        assert!(file.is_symlink());
        assert!(fs::read_to_string(&dotfiles).unwrap().contains("/bin/roost"));
    }

    #[test]
    fn a_file_that_is_refused_is_left_alone_without_a_copy() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("settings.json");
        for bytes in [&b"[]"[..], b"{", b"\xff{}"] {
            fs::write(&file, bytes).unwrap();
            write(&file, merged).unwrap_err();
            assert_eq!(fs::read(&file).unwrap(), bytes);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
