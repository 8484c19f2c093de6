//! Strings: joining, cutting, searching and changing.

use wasmtime::{Caller, Linker};

use super::{Guest, IMPORT_MODULE as ENV};
use crate::outcome::HostTrap;
use crate::store::CallState;

type FromOne = fn(&str) -> String;
type FromTwo = fn(&str, &str) -> bool;

/// What makes a string of one string.
const CHANGES: [(&str, FromOne); 5] = [
    ("trim", |text| text.trim().to_owned()),
    ("trim_start", |text| text.trim_start().to_owned()),
    ("trim_end", |text| text.trim_end().to_owned()),
    ("to_uppercase", |text| text.to_uppercase()),
    ("to_lowercase", |text| text.to_lowercase()),
];

/// What is true or false of two strings.
const COMPARISONS: [(&str, FromTwo); 6] = [
    ("string_eq", |one, other| one == other),
    ("contains", |text, part| text.contains(part)),
    ("string_starts_with", |text, prefix| text.starts_with(prefix)),
    ("string_ends_with", |text, suffix| text.ends_with(suffix)),
    ("eval_exact", |got, expected| got == expected),
    ("eval_contains", |got, expected| got.contains(expected)),
];

/// Adds the imports about strings.
pub(super) fn add(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    for (name, change) in CHANGES {
        linker.func_wrap(ENV, name, move |caller: Caller<'_, CallState>, text: i32| {
            let mut guest = Guest::of(caller)?;
            let text = guest.string(text)?;
            guest.new_string(&change(&text))
        })?;
    }
    for (name, compare) in COMPARISONS {
        linker.func_wrap(ENV, name, move |caller: Caller<'_, CallState>, one: i32, other: i32| {
            let mut guest = Guest::of(caller)?;
            let (one, other) = (guest.string(one)?, guest.string(other)?);
            Ok(i32::from(compare(&one, &other)))
        })?;
    }
    add_making(linker)?;
    add_indexing(linker)?;
    add_splitting(linker)
}

fn add_making(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "string_concat", |caller: Caller<'_, CallState>, one: i32, other: i32| {
        let mut guest = Guest::of(caller)?;
        let joined = guest.string(one)? + &guest.string(other)?;
        guest.new_string(&joined)
    })?;
    linker.func_wrap(
        ENV,
        "string_replace",
        |caller: Caller<'_, CallState>, text: i32, search: i32, replacement: i32| {
            let mut guest = Guest::of(caller)?;
            let (text, search, replacement) = (guest.string(text)?, guest.string(search)?, guest.string(replacement)?);
            if search.is_empty() {
                return guest.new_string(&text);
            }
            let found = text.matches(&search).count();
            room(&mut guest, text.len().saturating_add(found.saturating_mul(replacement.len())))?;
            guest.new_string(&text.replace(&search, &replacement))
        },
    )?;
    linker.func_wrap(ENV, "string_repeat", |caller: Caller<'_, CallState>, text: i32, count: i64| {
        let mut guest = Guest::of(caller)?;
        let text = guest.string(text)?;
        let count = usize::try_from(count).unwrap_or_default();
        room(&mut guest, text.len().saturating_mul(count))?;
        guest.new_string(&text.repeat(count))
    })?;
    for (name, left) in [("pad_left", true), ("pad_right", false)] {
        linker.func_wrap(ENV, name, move |caller: Caller<'_, CallState>, text: i32, width: i64, filler: i32| {
            let mut guest = Guest::of(caller)?;
            let (text, filler) = (guest.string(text)?, guest.string(filler)?);
            let filler = if filler.is_empty() { " " } else { &filler };
            let missing = usize::try_from(width).unwrap_or_default().saturating_sub(utf16_len(&text));
            room(&mut guest, text.len().saturating_add(missing.saturating_mul(3)))?;
            let units: Vec<u16> = filler.encode_utf16().cycle().take(missing).collect();
            let padding = String::from_utf16_lossy(&units);
            guest.new_string(&if left { padding + &text } else { text + &padding })
        })?;
    }
    linker.func_wrap(ENV, "char_from_code", |caller: Caller<'_, CallState>, code: i64| {
        let character = u32::try_from(code).ok().and_then(char::from_u32);
        let character = character.ok_or_else(|| HostTrap::fault(format!("{code} is the code of no character")))?;
        Guest::of(caller)?.new_string(character.encode_utf8(&mut [0; 4]))
    })?;
    Ok(())
}

fn add_indexing(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "string_length", |caller: Caller<'_, CallState>, text: i32| {
        Guest::of(caller)?.string(text).map(|text| utf16_len(&text) as i64)
    })?;
    linker.func_wrap(ENV, "substring", |caller: Caller<'_, CallState>, text: i32, start: i64, len: i64| {
        let mut guest = Guest::of(caller)?;
        let text = guest.string(text)?;
        guest.new_string(&substring(&text, start, start.saturating_add(len)))
    })?;
    linker.func_wrap(ENV, "char_at", |caller: Caller<'_, CallState>, text: i32, index: i64| {
        let mut guest = Guest::of(caller)?;
        let text = guest.string(text)?;
        let end = if index < 0 { index } else { index.saturating_add(1) };
        guest.new_string(&substring(&text, index, end))
    })?;
    linker.func_wrap(ENV, "char_code", |caller: Caller<'_, CallState>, text: i32| {
        let text = Guest::of(caller)?.string(text)?;
        Ok(text.chars().next().map_or(0, |first| i64::from(u32::from(first))))
    })?;
    linker.func_wrap(ENV, "index_of", |caller: Caller<'_, CallState>, text: i32, part: i32| {
        let mut guest = Guest::of(caller)?;
        let (text, part) = (guest.string(text)?, guest.string(part)?);
        Ok(text.find(&part).map_or(-1, |at| utf16_len(&text[..at]) as i64))
    })?;
    Ok(())
}

fn add_splitting(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "split", |caller: Caller<'_, CallState>, text: i32, separator: i32| {
        let mut guest = Guest::of(caller)?;
        let (text, separator) = (guest.string(text)?, guest.string(separator)?);
        match separator.is_empty() {
            true => guest.new_strings(text.chars().map(String::from)),
            false => guest.new_strings(text.split(&separator)),
        }
    })?;
    linker.func_wrap(ENV, "split_lines", |caller: Caller<'_, CallState>, text: i32| {
        let mut guest = Guest::of(caller)?;
        let text = guest.string(text)?.replace("\r\n", "\n");
        guest.new_strings(text.split(['\n', '\r']))
    })?;
    linker.func_wrap(ENV, "chars", |caller: Caller<'_, CallState>, text: i32| {
        let mut guest = Guest::of(caller)?;
        let text = guest.string(text)?;
        guest.new_strings(text.chars().map(String::from))
    })?;
    Ok(())
}

/// Refuses a string that the module could not hold, else takes fuel for it.
fn room(guest: &mut Guest<'_>, bytes: usize) -> wasmtime::Result<()> {
    guest.room(bytes)?;
    guest.charge(bytes)
}

fn utf16_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// The part between two indices, which are put in order and into the text, as JavaScript's `substring` does.
fn substring(text: &str, start: i64, end: i64) -> String {
    let len = utf16_len(text);
    let inside = |index: i64| usize::try_from(index).unwrap_or_default().min(len);
    let (start, end) = (inside(start.min(end)), inside(start.max(end)));
    match text.is_ascii() {
        true => text[start..end].to_owned(),
        false => String::from_utf16_lossy(&text.encode_utf16().skip(start).take(end - start).collect::<Vec<_>>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_count_utf16_units() {
        assert_eq!(utf16_len("añ😀"), 4);
        for (start, end, expected) in
            [(0, 2, "añ"), (2, 4, "😀"), (1, 99, "ñ😀"), (4, 0, "añ😀"), (-5, 1, "a"), (9, 9, "")]
        {
            assert_eq!(substring("añ😀", start, end), expected, "{start} {end}");
        }
    }
}
