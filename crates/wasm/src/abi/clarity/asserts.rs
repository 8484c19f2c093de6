//! Assertions: one that fails ends the call with what was expected.

use wasmtime::{Caller, Linker};

use super::numbers::float_to_string;
use super::{Guest, IMPORT_MODULE as ENV};
use crate::outcome::HostTrap;
use crate::store::CallState;

/// Floating point numbers that differ by less are equal.
const TOLERANCE: f64 = 1e-9;

/// Adds the assertions.
pub(super) fn add(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "assert_eq", |actual: i64, expected: i64| check(actual == expected, actual, expected))?;
    linker.func_wrap(ENV, "assert_eq_float", |actual: f64, expected: f64| {
        let same = (actual - expected).abs() <= TOLERANCE;
        check(same, float_to_string(actual), float_to_string(expected))
    })?;
    linker.func_wrap(ENV, "assert_eq_string", |caller: Caller<'_, CallState>, actual: i32, expected: i32| {
        let mut guest = Guest::of(caller)?;
        let (actual, expected) = (guest.string(actual)?, guest.string(expected)?);
        check(actual == expected, shortened(&actual), shortened(&expected))
    })?;
    linker.func_wrap(ENV, "assert_true", |value: i32| check(value == 1, "False", "True"))?;
    linker.func_wrap(ENV, "assert_false", |value: i32| check(value == 0, "True", "False"))?;
    // AssemblyScript's runtime ends a program with it; its strings are not ours to read.
    linker.func_wrap(ENV, "abort", |_message: i32, _file: i32, line: i32, column: i32| -> wasmtime::Result<()> {
        Err(HostTrap::fault(format!("it aborted at line {line}, column {column} of its source")))
    })?;
    Ok(())
}

fn check(holds: bool, actual: impl ToString, expected: impl ToString) -> wasmtime::Result<()> {
    let failed = || format!("an assertion failed: it is {}, not {}", actual.to_string(), expected.to_string());
    if holds { Ok(()) } else { Err(HostTrap::fault(failed())) }
}

fn shortened(text: &str) -> String {
    format!("{:?}", text.chars().take(200).collect::<String>())
}
