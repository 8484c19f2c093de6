//! Points in time, the clock and random numbers; the last two only if they are granted.

use std::time::Duration;

use roost_model::time::Timestamp;
use serde_json::Value;
use wasmtime::{Caller, Linker};

use super::memory::Slot;
use super::{Guest, IMPORT_MODULE as ENV};
use crate::store::CallState;

/// Adds the imports about time and chance.
pub(super) fn add(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "timestamp_to_int", |time: i64| time)?;
    linker.func_wrap(ENV, "timestamp_from_int", |millis: i64| millis)?;
    linker.func_wrap(ENV, "timestamp_add", |time: i64, millis: i64| time.wrapping_add(millis))?;
    linker.func_wrap(ENV, "timestamp_diff", |one: i64, other: i64| one.wrapping_sub(other))?;
    linker.func_wrap(ENV, "timestamp_to_string", |caller: Caller<'_, CallState>, time: i64| {
        Guest::of(caller)?.new_string(&Timestamp::from_millis(time).to_string())
    })?;
    linker.func_wrap(ENV, "timestamp_parse_iso", |caller: Caller<'_, CallState>, text: i32| {
        let mut guest = Guest::of(caller)?;
        let parsed: Option<Timestamp> = serde_json::from_value(Value::from(guest.string(text)?)).ok();
        guest.new_option(parsed.map(|time| Slot::I64(time.as_millis())))
    })?;
    linker.func_wrap(ENV, "now", |caller: Caller<'_, CallState>| {
        caller.data().service.grants.clock()?;
        Ok(Timestamp::now().as_millis())
    })?;
    linker.func_wrap_async(ENV, "sleep", |caller: Caller<'_, CallState>, (millis,): (i64,)| {
        Box::new(async move {
            caller.data().service.grants.clock()?;
            tokio::time::sleep(Duration::from_millis(u64::try_from(millis).unwrap_or_default())).await;
            Ok(())
        })
    })?;
    linker.func_wrap(ENV, "random_float", |caller: Caller<'_, CallState>| {
        caller.data().service.grants.random()?;
        // As many bits as a double keeps.
        Ok((random_bits()? >> 11) as f64 / (1_u64 << 53) as f64)
    })?;
    linker.func_wrap(ENV, "random_int", |caller: Caller<'_, CallState>, min: i64, max: i64| {
        caller.data().service.grants.random()?;
        let span = (i128::from(max) - i128::from(min)).max(0) + 1;
        let random = (u128::from(random_bits()?) << 64) | u128::from(random_bits()?);
        Ok((i128::from(min) + (random % span as u128) as i128) as i64)
    })?;
    Ok(())
}

fn random_bits() -> wasmtime::Result<u64> {
    Ok(getrandom::u64()?)
}
