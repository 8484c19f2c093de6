//! Numbers: arithmetic and conversion.

use wasmtime::{Caller, Linker};

use super::memory::Slot;
use super::{Guest, IMPORT_MODULE as ENV};
use crate::store::CallState;

type OfFloat = fn(f64) -> f64;
type OfFloats = fn(f64, f64) -> f64;
type OfInts = fn(i64, i64) -> i64;

const OF_FLOAT: [(&str, OfFloat); 10] = [
    ("sqrt", f64::sqrt),
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    ("log", f64::ln),
    ("log2", f64::log2),
    ("log10", f64::log10),
    ("exp", f64::exp),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
];

const OF_FLOATS: [(&str, OfFloats); 3] = [("pow", f64::powf), ("atan2", f64::atan2), ("f64_rem", |a, b| a % b)];

const OF_INTS: [(&str, OfInts); 2] = [("min_int", i64::min), ("max_int", i64::max)];

/// Adds the imports about numbers.
pub(super) fn add(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    for (name, compute) in OF_FLOAT {
        linker.func_wrap(ENV, name, move |value: f64| compute(value))?;
    }
    for (name, compute) in OF_FLOATS {
        linker.func_wrap(ENV, name, move |one: f64, other: f64| compute(one, other))?;
    }
    for (name, compute) in OF_INTS {
        linker.func_wrap(ENV, name, move |one: i64, other: i64| compute(one, other))?;
    }
    linker.func_wrap(ENV, "abs_int", |value: i64| value.wrapping_abs())?;
    linker.func_wrap(
        ENV,
        "int_clamp",
        |value: i64, min: i64, max: i64| {
            if value < min { min } else { value.min(max) }
        },
    )?;
    linker.func_wrap(ENV, "float_clamp", |value: f64, min: f64, max: f64| match () {
        () if value < min => min,
        () if value > max => max,
        () => value,
    })?;
    linker.func_wrap(ENV, "int_to_float", |value: i64| value as f64)?;
    linker.func_wrap(ENV, "float_to_int", |value: f64| value as i64)?;
    add_conversions(linker)
}

fn add_conversions(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "int_to_string", |caller: Caller<'_, CallState>, value: i64| {
        Guest::of(caller)?.new_string(&value.to_string())
    })?;
    linker.func_wrap(ENV, "float_to_string", |caller: Caller<'_, CallState>, value: f64| {
        Guest::of(caller)?.new_string(&float_to_string(value))
    })?;
    linker.func_wrap(ENV, "string_to_int", |caller: Caller<'_, CallState>, text: i32| {
        let mut guest = Guest::of(caller)?;
        let text = guest.string(text)?;
        let digits = text.trim();
        let parsed = if digits.starts_with('+') { None } else { digits.parse().ok() };
        guest.new_option(parsed.map(Slot::I64))
    })?;
    linker.func_wrap(ENV, "string_to_float", |caller: Caller<'_, CallState>, text: i32| {
        let mut guest = Guest::of(caller)?;
        let text = guest.string(text)?;
        guest.new_option(string_to_float(&text).map(Slot::F64))
    })?;
    Ok(())
}

/// A number as JavaScript writes it.
pub(super) fn float_to_string(value: f64) -> String {
    ryu_js::Buffer::new().format(value).to_owned()
}

/// A number in decimal digits; Rust's other spellings of infinity and NaN are none.
fn string_to_float(text: &str) -> Option<f64> {
    match text.trim() {
        "Infinity" | "+Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        digits if digits.contains(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E')) => None,
        digits => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_javascript_does() {
        for (value, expected) in
            [(1.0, "1"), (0.1, "0.1"), (1e21, "1e+21"), (1e-7, "1e-7"), (f64::NAN, "NaN"), (-0.0, "0")]
        {
            assert_eq!(float_to_string(value), expected);
        }
    }

    #[test]
    fn only_decimal_numbers_are_read() {
        for (text, expected) in [
            (" 1.5 ", Some(1.5)),
            ("1e3", Some(1000.0)),
            ("Infinity", Some(f64::INFINITY)),
            ("inf", None),
            ("nan", None),
            ("", None),
            ("1x", None),
        ] {
            assert_eq!(string_to_float(text), expected, "{text}");
        }
    }
}
