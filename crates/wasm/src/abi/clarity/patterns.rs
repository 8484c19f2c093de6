//! Regular expressions and percent encoding.
//!
//! What needs looking around or back is no pattern here, and matches nothing: so the time of a search grows with the text
//! times the size of the pattern, and no faster. That much fuel is taken for it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use regex::{Regex, RegexBuilder};
use wasmtime::{Caller, Linker};

use super::memory::Slot;
use super::{Guest, IMPORT_MODULE as ENV};
use crate::outcome::HostTrap;
use crate::store::CallState;

/// The text of a pattern.
const MAX_PATTERN_BYTES: usize = 16 * 1024;
/// Fuel for compiling each byte of a pattern.
const FUEL_PER_PATTERN_BYTE: usize = 1_000;
/// The memory that compiled patterns take; the first that is enough for a pattern is its size.
const SIZES: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// The memory of one state of a pattern, of which each byte of a text may need all.
const STATE_BYTES: usize = 32;
/// Places that are copied about as fast as a step is made.
const PLACES_PER_STEP: usize = 4;
/// The steps of one search, each a few nanoseconds: nothing ends a search before its end.
const MAX_STEPS: usize = 1 << 30;
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
        let Some(pattern) = pattern else { return Ok(0) };
        pattern.pay(&mut guest, &text, 1)?;
        Ok(i32::from(pattern.regex.is_match(&text)))
    })?;
    linker.func_wrap(ENV, "regex_captures", |caller: Caller<'_, CallState>, pattern: i32, text: i32| {
        let mut guest = Guest::of(caller)?;
        let pattern = compile(&mut guest, pattern)?;
        let text = guest.string(text)?;
        let Some(pattern) = pattern else { return guest.new_option(None) };
        pattern.pay(&mut guest, &text, pattern.regex.captures_len())?;
        let Some(found) = pattern.regex.captures(&text) else { return guest.new_option(None) };
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

/// A pattern that was compiled.
struct Pattern {
    regex: Regex,
    states: usize,
}

/// Compiles a pattern; `None` if it is none, or a huge one.
fn compile(guest: &mut Guest<'_>, pattern: i32) -> wasmtime::Result<Option<Pattern>> {
    let pattern = guest.string(pattern)?;
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(HostTrap::fault(format!("a pattern may have {MAX_PATTERN_BYTES} bytes, not {}", pattern.len())));
    }
    guest.charge(pattern.len().saturating_mul(FUEL_PER_PATTERN_BYTE))?;
    let sized = |size| Some((RegexBuilder::new(&pattern).size_limit(size).build().ok()?, size));
    Ok(SIZES.into_iter().find_map(sized).map(|(regex, size)| Pattern { regex, states: size / STATE_BYTES }))
}

impl Pattern {
    /// Takes fuel for a search that keeps so many places of the text for each state, or refuses it.
    fn pay(&self, guest: &mut Guest<'_>, text: &str, places: usize) -> wasmtime::Result<()> {
        let copies = places.div_ceil(PLACES_PER_STEP);
        let steps = text.len().saturating_mul(self.states).saturating_mul(copies);
        match steps > MAX_STEPS {
            true => Err(HostTrap::fault(format!(
                "a text of {} bytes is too long for this pattern, which may search {}; search in parts of it",
                text.len(),
                MAX_STEPS / self.states / copies
            ))),
            false => guest.charge(steps),
        }
    }
}
