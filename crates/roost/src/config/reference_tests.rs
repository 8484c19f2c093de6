//! The table of keys in `docs/configuration.md` is what the types say.

use std::path::PathBuf;

use serde_json::Value;

use super::keys::{keys, properties, schema};

const BLESS: &str = "ROOST_BLESS=1 cargo test -p roost reference";
const BEGIN: &str = "<!-- The table is made from crates/roost/src/config/sections.rs. -->\n";
const END: &str = "<!-- End of the table. -->\n";

#[test]
fn the_reference_is_what_the_types_say() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let committed = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = committed.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let document = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("ROOST_BLESS").is_some() {
        std::fs::write(&path, &document).unwrap();
        return;
    }
    assert!(committed == document, "docs/configuration.md is out of date; run `{BLESS}` and commit the result");
}

#[test]
fn every_key_says_what_it_is_for() {
    for key in keys() {
        let meaning = key.schema["description"].as_str().unwrap_or_default();
        assert!(meaning.ends_with('.'), "{}: {meaning:?}", key.variable());
    }
}

fn table() -> String {
    let mut rows = String::from("\n| key | environment | default | meaning |\n|---|---|---|---|\n");
    for key in keys() {
        let name = key.section.iter().chain([&key.name]).map(String::as_str).collect::<Vec<_>>().join(".");
        rows += &row(&name, &format!("`{}`", key.variable()), &key.schema);
    }
    for (name, schema) in &properties(&schema()["properties"]["runtimes"]["additionalProperties"]) {
        rows += &row(&format!("runtimes.ID.{name}"), "", schema);
    }
    rows + "\n"
}

fn row(name: &str, variable: &str, schema: &Value) -> String {
    let default = match &schema["default"] {
        Value::Null => String::new(),
        value => format!("`{value}`"),
    };
    let mut words = schema["oneOf"].as_array().into_iter().flatten().filter_map(|word| {
        let meaning = word["description"].as_str()?.trim_end_matches('.');
        let (first, rest) = meaning.split_at(1);
        Some(format!("`{}` {}{rest}", word["const"].as_str()?, first.to_lowercase()))
    });
    let meaning = schema["description"].as_str().unwrap_or_default();
    let meaning = match words.next() {
        None => meaning.to_owned(),
        Some(first) => {
            format!("{}: {}.", meaning.trim_end_matches('.'), words.fold(first, |all, word| all + "; " + &word))
        }
    };
    format!("| `{name}` | {variable} | {default} | {meaning} |\n")
}
