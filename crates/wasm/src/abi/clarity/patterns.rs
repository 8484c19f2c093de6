//! Regular expressions and percent encoding.
//!
//! The time of a search grows with the text only: what needs looking around or back is no pattern here, and matches
//! nothing.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use regex::{Regex, RegexBuilder};
use wasmtime::{Caller, Linker};

use super::memory::Slot;
use super::{Guest, IMPORT_MODULE as ENV};
use crate::store::CallState;

/// The memory that a compiled pattern may take.
const MAX_PATTERN_BYTES: usize = 1 << 20;
/// Fuel for compiling each byte of a pattern.
const FUEL_PER_PATTERN_BYTE: usize = 1_000;
/// What JavaScript's `encodeURIComponent` leaves as it is.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// Adds the imports about patterns and percent encoding.
pub(super) fn add(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "regex_match", |caller: Caller<'_, CallState>, pattern: i32, text: i32| {
        let mut guest = Guest::of(caller)?;
        let pattern = compile(&mut guest, pattern)?;
        let text = guest.string(text)?;
        Ok(i32::from(pattern.is_some_and(|pattern| pattern.is_match(&text))))
    })?;
    linker.func_wrap(ENV, "regex_captures", |caller: Caller<'_, CallState>, pattern: i32, text: i32| {
        let mut guest = Guest::of(caller)?;
        let pattern = compile(&mut guest, pattern)?;
        let text = guest.string(text)?;
        let Some(found) = pattern.as_ref().and_then(|pattern| pattern.captures(&text)) else {
            return guest.new_option(None);
        };
        let groups = found.iter().map(|group| group.map_or("", |group| group.as_str()));
        let list = guest.new_strings(groups)?;
        guest.new_option(Some(Slot::I32(list)))
    })?;
    linker.func_wrap(ENV, "url_encode", |caller: Caller<'_, CallState>, text: i32| {
        let mut guest = Guest::of(caller)?;
        let encoded = utf8_percent_encode(&guest.string(text)?, UNRESERVED).to_string();
        guest.new_string(&encoded)
    })?;
    linker.func_wrap(ENV, "url_decode", |caller: Caller<'_, CallState>, text: i32| {
        let mut guest = Guest::of(caller)?;
        let text = guest.string(text)?;
        let decoded = percent_decode_str(&text).decode_utf8().unwrap_or_else(|_| text.as_str().into());
        guest.new_string(&decoded)
    })?;
    Ok(())
}

fn compile(guest: &mut Guest<'_>, pattern: i32) -> wasmtime::Result<Option<Regex>> {
    let pattern = guest.string(pattern)?;
    guest.charge(pattern.len().saturating_mul(FUEL_PER_PATTERN_BYTE))?;
    Ok(RegexBuilder::new(&pattern).size_limit(MAX_PATTERN_BYTES).build().ok())
}
