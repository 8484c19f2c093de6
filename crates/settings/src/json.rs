//! Members of an object in a JSON file, perhaps with comments and trailing commas.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

/// What comments and trailing commas need; everything else that the parser could take, the programs do not.
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

/// The text with these members in the object at `path`, which is made where it is missing. Other members of that object
/// stay. An error says why nothing can be added to the text safely.
pub fn merge(text: &str, path: &[&str], members: &Map<String, Value>) -> Result<String, String> {
    let root = parse(text)?;
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

/// The text with this value as the member that `path` leads to, in place of whatever was there. An error says why nothing
/// can be added to the text safely.
pub fn set(text: &str, path: &[&str], value: &Value) -> Result<String, String> {
    let Some((last, parents)) = path.split_last() else { return Err("no member is named".into()) };
    merge(text, parents, &Map::from_iter([((*last).to_owned(), value.clone())]))
}

/// The text without the member that `path` leads to; unchanged if there is none.
pub fn remove(text: &str, path: &[&str]) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let root = parse(text)?;
    if let Some(found) = find(&root, path)? {
        found.remove();
    }
    Ok(root.to_string())
}

/// The value of the member that `path` leads to, if there is one.
pub fn get(text: &str, path: &[&str]) -> Result<Option<Value>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    Ok(find(&parse(text)?, path)?.and_then(|found| found.to_serde_value()))
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &FORMAT).map_err(|error| format!("it is not valid JSON ({error})"))
}

fn find(root: &CstRootNode, path: &[&str]) -> Result<Option<CstObjectProp>, String> {
    let Some((last, parents)) = path.split_last() else { return Ok(None) };
    let mut object = root.object_value().ok_or("it is not an object")?;
    for name in parents {
        match property(&object, name)?.and_then(|parent| parent.object_value()) {
            Some(inner) => object = inner,
            None => return Ok(None),
        }
    }
    property(&object, last)
}

/// The property of this name. One that is there twice is refused: programs differ in which of them counts.
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
    use serde_json::json;

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
            ("{", "not valid JSON"),
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
    fn a_member_is_set_found_and_taken_away_again() {
        for text in ["{ // mine\n  \"theme\": \"One\"\n}\n", "{\n  \"servers\": {\n    \"other\": {}\n  }\n}\n"] {
            let path = ["servers", "roost"];
            let with = set(text, &path, &json!({ "url": "x" })).unwrap();
            assert_eq!(get(&with, &path).unwrap(), Some(json!({ "url": "x" })), "{with}");
            let without = remove(&with, &path).unwrap();
            assert_eq!(get(&without, &path).unwrap(), None, "{without}");
            assert!(without.contains("// mine") == text.contains("// mine"));
            assert!(without.contains("other") == text.contains("other"));
        }
        assert_eq!(remove("", &["a", "b"]).unwrap(), "");
        assert_eq!(remove("{}", &["a", "b"]).unwrap(), "{}");
    }
}
