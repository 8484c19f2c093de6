//! Settings in the environment: `ROOST_SERVER_PORT=0` counts before `port` in `[server]`.

use std::ffi::OsString;

use toml::{Table, Value};

use super::in_plain_words;
use super::keys::{Key, keys};
use super::sections::Config;
use super::suggest::nearest;

/// The prefix of every variable that sets a key.
const PREFIX: &str = "ROOST_";

/// Puts the settings of the environment over those of the file; an error names the variable.
pub(super) fn overlay(
    text: &str,
    config: Config,
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Config, String> {
    let ours = |(name, value): (OsString, OsString)| {
        let name = name.into_string().ok().filter(|name| name.starts_with(PREFIX))?;
        // Set to nothing means not set.
        (!value.is_empty()).then_some((name, value))
    };
    let mut ours: Vec<_> = variables.filter_map(ours).collect();
    if ours.is_empty() {
        return Ok(config);
    }
    ours.sort();
    let (keys, mut config) = (keys(), config);
    let mut table: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    for (name, value) in ours {
        let Some(key) = find(&keys, &name)? else { continue };
        let value = value.into_string().map_err(|_| format!("{name} is not UTF-8"))?;
        put(&mut table, key, key.value(&value));
        config = table
            .clone()
            .try_into()
            .map_err(|error: toml::de::Error| format!("{name}: {}", in_plain_words(error.message())))?;
    }
    Ok(config)
}

/// The key that a variable sets. One that looks like a setting and is none is an error; others are not our business.
fn find<'a>(keys: &'a [Key], name: &str) -> Result<Option<&'a Key>, String> {
    if let Some(key) = keys.iter().find(|key| key.variable() == name) {
        return Ok(Some(key));
    }
    let tables = keys.iter().map(|key| key.section.as_ref().unwrap_or(&key.name));
    let is_setting = |table: &String| name[PREFIX.len()..].starts_with(&format!("{}_", table.to_uppercase()));
    if !tables.into_iter().any(is_setting) {
        return Ok(None);
    }
    let known: Vec<_> = keys.iter().map(Key::variable).collect();
    let meant = nearest(name, known.iter().map(String::as_str));
    let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
    Err(format!("{name} sets nothing that can be configured{meant}"))
}

fn put(table: &mut Table, key: &Key, value: Value) {
    let table = match &key.section {
        None => Some(table),
        Some(section) => table.entry(section).or_insert_with(|| Table::new().into()).as_table_mut(),
    };
    if let Some(table) = table {
        table.insert(key.name.clone(), value);
    }
}
