//! Tables in a TOML file.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table};

/// The text with this table at `path`, in place of whatever was there. An error says why nothing can be added safely.
pub fn set(text: &str, path: &[&str], members: &Map<String, Value>) -> Result<String, String> {
    let mut document = parse(text)?;
    let Some((last, parents)) = path.split_last() else { return Err("no table is named".into()) };
    let mut table: &mut Item = document.as_item_mut();
    for name in parents {
        let inner = child(table, name)?;
        if inner.is_none() {
            let mut parent = Table::new();
            // Only the table itself gets a header.
            parent.set_implicit(true);
            *inner = Item::Table(parent);
        }
        table = inner;
    }
    let place = child(table, last)?;
    if read(place).as_ref() != Some(members) {
        let mut new = Table::new();
        for (name, value) in members {
            new.insert(name, Item::Value(input(value)?));
        }
        *place = Item::Table(new);
    }
    Ok(document.to_string())
}

/// The text without the table at `path`, and without what lies below it; unchanged if there is none.
pub fn remove(text: &str, path: &[&str]) -> Result<String, String> {
    let mut document = parse(text)?;
    let Some((last, parents)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut table: &mut Item = document.as_item_mut();
    for name in parents {
        match table.get_mut(name) {
            Some(inner) => table = inner,
            None => return Ok(text.to_owned()),
        }
    }
    match table.as_table_like_mut().and_then(|parent| parent.remove(last)) {
        Some(_) => Ok(document.to_string()),
        None => Ok(text.to_owned()),
    }
}

/// The members of the table at `path`, if there is one.
pub fn get(text: &str, path: &[&str]) -> Result<Option<Map<String, Value>>, String> {
    let document = parse(text)?;
    let found = path.iter().try_fold(document.as_item(), |table, name| table.get(name));
    Ok(found.and_then(read))
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error| format!("it is not valid TOML ({error})"))
}

/// The member of a table, which may be missing.
fn child<'a>(table: &'a mut Item, name: &str) -> Result<&'a mut Item, String> {
    match table.as_table_like_mut() {
        Some(members) => Ok(members.entry(name).or_insert(Item::None)),
        None => Err(format!("what should have {name:?} in it is not a table")),
    }
}

fn read(item: &Item) -> Option<Map<String, Value>> {
    let members = item.as_table_like()?.iter();
    Some(members.filter_map(|(name, value)| Some((name.to_owned(), value_of(value)?))).collect())
}

fn value_of(item: &Item) -> Option<Value> {
    match item {
        Item::Value(toml_edit::Value::Array(items)) => {
            let items = items.iter().map(|item| value_of(&Item::Value(item.clone())));
            items.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        Item::Value(value) => value
            .as_str()
            .map(Value::from)
            .or_else(|| value.as_bool().map(Value::from))
            .or_else(|| value.as_integer().map(Value::from))
            .or_else(|| read(item).map(Value::Object)),
        Item::Table(_) | Item::ArrayOfTables(_) => read(item).map(Value::Object),
        Item::None => None,
    }
}

fn input(value: &Value) -> Result<toml_edit::Value, String> {
    Ok(match value {
        Value::String(text) => text.as_str().into(),
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => number.as_i64().ok_or("TOML takes whole numbers only here")?.into(),
        Value::Array(items) => items.iter().map(input).collect::<Result<Array, _>>()?.into(),
        Value::Object(members) => {
            let members: Result<Vec<_>, String> =
                members.iter().map(|(name, value)| Ok((name.clone(), input(value)?))).collect();
            toml_edit::Value::InlineTable(members?.into_iter().collect::<InlineTable>())
        }
        Value::Null => return Err("TOML has no null".into()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PATH: [&str; 2] = ["mcp_servers", "roost"];

    fn merged(text: &str) -> Result<String, String> {
        let members = json!({ "command": "/bin/roost", "args": ["gateway", "serve"], "env": { "A": "1" } });
        set(text, &PATH, members.as_object().unwrap())
    }

    #[test]
    fn the_table_is_added_and_everything_else_stays() {
        let table = [
            ("toml_empty", ""),
            ("toml_other_keys", "# mine\nmodel = \"gpt-5\" # best\n\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n"),
            ("toml_other_servers", "[mcp_servers.docs] # theirs\nurl = 'x'\n\n[z]\na=1\n"),
            (
                "toml_an_older_entry",
                "[mcp_servers.roost]\ncommand = \"/old\"\n[mcp_servers.roost.env]\nB = \"2\"\n[z]\na = 1\n",
            ),
            ("toml_inline", "mcp_servers = { docs = { url = 'x' } }\n"),
        ];
        for (name, text) in table {
            let with = merged(text).unwrap();
            insta::assert_snapshot!(name, with);
            assert_eq!(merged(&with).unwrap(), with, "a second time changes nothing");
            assert_eq!(get(&with, &PATH).unwrap().unwrap()["args"], json!(["gateway", "serve"]));
            assert_eq!(get(&remove(&with, &PATH).unwrap(), &PATH).unwrap(), None);
        }
    }

    #[test]
    fn taking_the_table_away_again_leaves_the_file_as_it_was() {
        for text in ["# mine\nmodel = \"x\"\n", "[mcp_servers.docs] # theirs\nurl = 'x'\n\n[z]\na=1\n"] {
            assert_eq!(remove(&merged(text).unwrap(), &PATH).unwrap(), text);
        }
        assert_eq!(remove("a = 1 # one\n", &PATH).unwrap(), "a = 1 # one\n");
    }

    #[test]
    fn what_cannot_be_merged_safely_is_refused() {
        for (text, expected) in
            [("a = ", "not valid TOML"), ("mcp_servers = 1\n", "not a table"), ("[a]\n[a]\n", "not valid")]
        {
            let why = merged(text).expect_err(text);
            assert!(why.contains(expected), "{text}: {why}");
        }
    }
}
