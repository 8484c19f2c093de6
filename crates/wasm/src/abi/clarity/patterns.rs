//! Regular expressions and percent encoding.
//!
//! What needs looking around or back is no pattern here, and matches nothing: so the time of a search grows with the text
//! times the size of the pattern, and no faster. That much fuel is taken for it, and nobody else waits for it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use regex::{Match, Regex, RegexBuilder};
use wasmtime::{Caller, Linker};

use super::memory::Slot;
use super::{Guest, IMPORT_MODULE as ENV, long_work};
use crate::outcome::HostTrap;
use crate::store::CallState;

/// The text of a pattern.
const MAX_PATTERN_BYTES: usize = 16 * 1024;
/// Fuel for compiling each byte of a pattern.
const FUEL_PER_PATTERN_BYTE: usize = 10_000;
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
    linker.func_wrap_async(ENV, "regex_match", |caller: Caller<'_, CallState>, (pattern, text): (i32, i32)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let pattern = compile(&mut guest, pattern).await?;
            let text = guest.string(text)?;
            let Some(Pattern { regex, states }) = pattern else { return Ok(0) };
            let steps = pay(&mut guest, &text, states, 1)?;
            long_work::run(&mut guest, steps, move || i32::from(regex.is_match(&text))).await
        })
    })?;
    linker.func_wrap_async(ENV, "regex_captures", |caller: Caller<'_, CallState>, (pattern, text): (i32, i32)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let pattern = compile(&mut guest, pattern).await?;
            let text = guest.string(text)?;
            let Some(Pattern { regex, states }) = pattern else { return guest.new_option(None) };
            let steps = pay(&mut guest, &text, states, regex.captures_len())?;
            let groups = long_work::run(&mut guest, steps, move || {
                let found = regex.captures(&text)?;
                let text = |group: Option<Match<'_>>| group.map_or_else(String::new, |group| group.as_str().to_owned());
                Some(found.iter().map(text).collect::<Vec<_>>())
            });
            let Some(groups) = groups.await? else { return guest.new_option(None) };
            let list = guest.new_strings(groups)?;
            guest.new_option(Some(Slot::I32(list)))
        })
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
async fn compile(guest: &mut Guest<'_>, pattern: i32) -> wasmtime::Result<Option<Pattern>> {
    let pattern = guest.string(pattern)?;
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(HostTrap::fault(format!("a pattern may have {MAX_PATTERN_BYTES} bytes, not {}", pattern.len())));
    }
    let steps = pattern.len().saturating_mul(FUEL_PER_PATTERN_BYTE);
    guest.charge(steps)?;
    let compile = move || {
        let sized = |size| Some((RegexBuilder::new(&pattern).size_limit(size).build().ok()?, size));
        SIZES.into_iter().find_map(sized).map(|(regex, size)| Pattern { regex, states: size / STATE_BYTES })
    };
    long_work::run(guest, steps, compile).await
}

/// Takes fuel for a search that keeps so many places of the text for each state, or refuses it. Returns its steps.
fn pay(guest: &mut Guest<'_>, text: &str, states: usize, places: usize) -> wasmtime::Result<usize> {
    let copies = places.div_ceil(PLACES_PER_STEP);
    let steps = text.len().saturating_mul(states).saturating_mul(copies);
    match steps > MAX_STEPS {
        true => Err(HostTrap::fault(format!(
            "a text of {} bytes is too long for this pattern, which may search {}; search in parts of it",
            text.len(),
            MAX_STEPS / states / copies
        ))),
        false => guest.charge(steps).map(|()| steps),
    }
}
