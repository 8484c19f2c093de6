//! JSON in strings: taking values out of documents, and maps from and to objects.
//!
//! A document that cannot be parsed, or is nested too deeply for the parser, has no values.

use serde_json::{Map, Value};
use wasmtime::{Caller, Linker};

use super::map_table::MapKey;
use super::memory::Slot;
use super::numbers::float_to_string;
use super::{Guest, IMPORT_MODULE as ENV, bounded_json, long_work, maps};
use crate::store::CallState;

/// What parsing a byte of a document takes, and freeing what was made of it.
const STEPS_PER_BYTE: usize = 8;

/// Adds the imports about JSON.
pub(super) fn add(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    type Find = fn(Value, &str) -> Option<String>;
    let finds: [(&str, Find); 3] = [("json_get", member), ("json_get_path", path), ("json_get_nested", nested)];
    for (name, find) in finds {
        linker.func_wrap_async(ENV, name, move |caller: Caller<'_, CallState>, (document, key): (i32, i32)| {
            Box::new(async move {
                let mut guest = Guest::of(caller)?;
                let (document, key) = (parse(&mut guest, document).await?, guest.string(key)?);
                let found = document.and_then(|document| find(document, &key));
                guest.new_option_string(found.as_deref())
            })
        })?;
    }
    linker.func_wrap_async(ENV, "json_keys", |caller: Caller<'_, CallState>, (document,): (i32,)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let Some(object) = parse_object(&mut guest, document).await? else { return guest.new_option(None) };
            let keys = guest.new_strings(object.keys())?;
            guest.new_option(Some(Slot::I32(keys)))
        })
    })?;
    linker.func_wrap(ENV, "json_escape_string", |caller: Caller<'_, CallState>, text: i32| {
        let mut guest = Guest::of(caller)?;
        let text = guest.string(text)?;
        guest.room(escaped_len(&text))?;
        let quoted = Value::from(text).to_string();
        guest.new_string(&quoted[1..quoted.len() - 1])
    })?;
    add_arrays(linker)?;
    add_objects(linker)
}

fn add_arrays(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap_async(ENV, "json_array_length", |caller: Caller<'_, CallState>, (document,): (i32,)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let document = parse(&mut guest, document).await?;
            let len = document.as_ref().and_then(Value::as_array).map(|items| items.len() as i64);
            guest.new_option(len.map(Slot::I64))
        })
    })?;
    linker.func_wrap_async(ENV, "json_array_get", |caller: Caller<'_, CallState>, (document, index): (i32, i64)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let document = parse(&mut guest, document).await?;
            let item = document.as_ref().and_then(Value::as_array).zip(usize::try_from(index).ok());
            let item = item.and_then(|(items, index)| items.get(index)).map(text_of);
            guest.new_option_string(item.as_deref())
        })
    })?;
    Ok(())
}

fn add_objects(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap_async(ENV, "json_parse", |caller: Caller<'_, CallState>, (document,): (i32,)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let object = parse_object(&mut guest, document).await?;
            let is_flat =
                |object: &Map<String, Value>| !object.values().any(|value| value.is_array() || value.is_object());
            let Some(object) = object.filter(is_flat) else { return guest.new_option(None) };
            let map = new_map(&mut guest, object)?;
            guest.new_option(Some(Slot::I32(map)))
        })
    })?;
    linker.func_wrap_async(ENV, "json_parse_object", |caller: Caller<'_, CallState>, (document,): (i32,)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let Some(object) = parse_object(&mut guest, document).await? else {
                return guest.new_result(Err("Expected JSON object"));
            };
            let map = new_map(&mut guest, object)?;
            guest.new_result(Ok(Slot::I32(map)))
        })
    })?;
    linker.func_wrap_async(ENV, "json_stringify", |caller: Caller<'_, CallState>, (map,): (i32,)| {
        Box::new(async move {
            stringify(caller, map, |text| match text.trim() {
                plain @ ("null" | "true" | "false") => plain.parse().unwrap_or(Value::Null),
                number if number.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) => {
                    number.parse().unwrap_or_else(|_| text.into())
                }
                _ => text.into(),
            })
        })
    })?;
    linker.func_wrap(ENV, "json_stringify_object", |caller: Caller<'_, CallState>, map: i32| {
        stringify(caller, map, |text| text.into())
    })?;
    Ok(())
}

async fn parse(guest: &mut Guest<'_>, document: i32) -> wasmtime::Result<Option<Value>> {
    let text = guest.string(document)?;
    let limit = guest.state().limits.memory_bytes;
    let steps = text.len().saturating_mul(STEPS_PER_BYTE);
    Ok(long_work::run(guest, steps, move || bounded_json::parse(&text, limit)).await??)
}

async fn parse_object(guest: &mut Guest<'_>, document: i32) -> wasmtime::Result<Option<Map<String, Value>>> {
    Ok(match parse(guest, document).await? {
        Some(Value::Object(object)) => Some(object),
        _ => None,
    })
}

/// Makes a map from keys to strings.
fn new_map(guest: &mut Guest<'_>, object: Map<String, Value>) -> wasmtime::Result<i32> {
    let mut entries = Vec::with_capacity(object.len());
    for (key, value) in object {
        entries.push((MapKey::Text(key), guest.new_string(&text_of(&value))?.into()));
    }
    let handle = guest.state().clarity.maps.create_from(entries);
    maps::checked(guest, handle)
}

/// Writes a map from keys to strings as an object.
fn stringify(caller: Caller<'_, CallState>, map: i32, read: fn(&str) -> Value) -> wasmtime::Result<i32> {
    let mut guest = Guest::of(caller)?;
    let (mut object, mut wanted) = (Map::new(), 0_usize);
    for (key, pointer) in maps::entries(&mut guest, map)? {
        let key = match key {
            MapKey::Text(text) => text,
            MapKey::Int(number) => number.to_string(),
        };
        let text = guest.string(pointer as i32)?;
        // Many keys can have the same text, so what it takes is more than the module's memory has of it.
        wanted = wanted.saturating_add(escaped_len(&key)).saturating_add(escaped_len(&text));
        guest.room(wanted)?;
        object.insert(key, read(&text));
    }
    guest.new_string(&Value::from(object).to_string())
}

/// The bytes of a text in a JSON string, the marks around it included.
fn escaped_len(text: &str) -> usize {
    let escaped = text.bytes().map(|byte| match byte {
        b'"' | b'\\' => 2,
        0..0x20 => "\\u0000".len(),
        _ => 1,
    });
    escaped.sum::<usize>() + 2
}

/// A value as a program of the language sees it: strings as they are, everything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().map(float_to_string).unwrap_or_default(),
        other => other.to_string(),
    }
}

fn present(value: Value) -> Option<String> {
    (!value.is_null()).then(|| text_of(&value))
}

fn member(document: Value, key: &str) -> Option<String> {
    match document {
        Value::Object(mut object) => object.remove(key).and_then(present),
        _ => None,
    }
}

fn path(document: Value, path: &str) -> Option<String> {
    let step = |value: Value, key: &str| match value {
        Value::Object(mut object) => object.remove(key),
        _ => None,
    };
    path.split('.').try_fold(document, step).and_then(present)
}

/// Like [`path`], and numbers lead into arrays.
fn nested(document: Value, path: &str) -> Option<String> {
    let step = |value: Value, key: &str| match value {
        Value::Object(mut object) => object.remove(key),
        Value::Array(mut items) => {
            let index = key.parse().ok().filter(|index: &usize| *index < items.len())?;
            Some(items.swap_remove(index))
        }
        _ => None,
    };
    path.split('.').try_fold(document, step).and_then(present)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found_by_key_path_and_index() {
        let document = json!({ "a": { "b": [1.0, "x", { "c": true }] }, "n": null });
        for (find, key, expected) in [
            (member as fn(Value, &str) -> Option<String>, "a", Some(r#"{"b":[1.0,"x",{"c":true}]}"#)),
            (member, "n", None),
            (path, "a.b", Some(r#"[1.0,"x",{"c":true}]"#)),
            (path, "a.b.0", None),
            (nested, "a.b.0", Some("1")),
            (nested, "a.b.2.c", Some("true")),
            (nested, "a.b.3", None),
        ] {
            assert_eq!(find(document.clone(), key).as_deref(), expected, "{key}");
        }
    }
}
