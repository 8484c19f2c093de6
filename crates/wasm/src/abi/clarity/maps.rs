//! Maps: handles of tables that the host keeps, counted against the module's memory.

use wasmtime::{Caller, Linker};

use super::map_table::{MapKey, MapValue};
use super::memory::Slot;
use super::{Guest, IMPORT_MODULE as ENV};
use crate::limits::LimitReached;
use crate::store::CallState;

/// Adds the imports about maps.
pub(super) fn add(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "map_new", |caller: Caller<'_, CallState>| {
        let mut guest = Guest::of(caller)?;
        let handle = guest.state().clarity.maps.create();
        checked(&mut guest, handle)
    })?;
    linker.func_wrap(ENV, "map_size", |caller: Caller<'_, CallState>, map: i32| {
        let mut guest = Guest::of(caller)?;
        open(&mut guest, map)?;
        Ok(guest.state().clarity.maps.len(map) as i64)
    })?;
    add_text_keyed(linker)?;
    add_number_keyed(linker)?;
    add_listing(linker)
}

fn add_text_keyed(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "map_has_str", |caller: Caller<'_, CallState>, map: i32, key: i32| {
        let (mut guest, key) = text_key(caller, key)?;
        Ok(i32::from(get(&mut guest, map, &key)?.is_some()))
    })?;
    linker.func_wrap(ENV, "map_get_str_i32", |caller: Caller<'_, CallState>, map: i32, key: i32| {
        let (mut guest, key) = text_key(caller, key)?;
        let value = get(&mut guest, map, &key)?;
        guest.new_option(value.map(|value| Slot::I32(value as i32)))
    })?;
    linker.func_wrap(ENV, "map_get_str_i64", |caller: Caller<'_, CallState>, map: i32, key: i32| {
        let (mut guest, key) = text_key(caller, key)?;
        let value = get(&mut guest, map, &key)?;
        guest.new_option(value.map(Slot::I64))
    })?;
    linker.func_wrap(ENV, "map_set_str_i32", |caller: Caller<'_, CallState>, map: i32, key: i32, value: i32| {
        let (guest, key) = text_key(caller, key)?;
        set(guest, map, key, Some(value.into()))
    })?;
    linker.func_wrap(ENV, "map_set_str_i64", |caller: Caller<'_, CallState>, map: i32, key: i32, value: i64| {
        let (guest, key) = text_key(caller, key)?;
        set(guest, map, key, Some(value))
    })?;
    linker.func_wrap(ENV, "map_remove_str", |caller: Caller<'_, CallState>, map: i32, key: i32| {
        let (guest, key) = text_key(caller, key)?;
        set(guest, map, key, None)
    })?;
    Ok(())
}

fn add_number_keyed(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "map_has_i64", |caller: Caller<'_, CallState>, map: i32, key: i64| {
        Ok(i32::from(get(&mut Guest::of(caller)?, map, &MapKey::Int(key))?.is_some()))
    })?;
    linker.func_wrap(ENV, "map_get_i64_i32", |caller: Caller<'_, CallState>, map: i32, key: i64| {
        let mut guest = Guest::of(caller)?;
        let value = get(&mut guest, map, &MapKey::Int(key))?;
        guest.new_option(value.map(|value| Slot::I32(value as i32)))
    })?;
    linker.func_wrap(ENV, "map_get_i64_i64", |caller: Caller<'_, CallState>, map: i32, key: i64| {
        let mut guest = Guest::of(caller)?;
        let value = get(&mut guest, map, &MapKey::Int(key))?;
        guest.new_option(value.map(Slot::I64))
    })?;
    linker.func_wrap(ENV, "map_set_i64_i32", |caller: Caller<'_, CallState>, map: i32, key: i64, value: i32| {
        set(Guest::of(caller)?, map, MapKey::Int(key), Some(value.into()))
    })?;
    linker.func_wrap(ENV, "map_set_i64_i64", |caller: Caller<'_, CallState>, map: i32, key: i64, value: i64| {
        set(Guest::of(caller)?, map, MapKey::Int(key), Some(value))
    })?;
    linker.func_wrap(ENV, "map_remove_i64", |caller: Caller<'_, CallState>, map: i32, key: i64| {
        set(Guest::of(caller)?, map, MapKey::Int(key), None)
    })?;
    Ok(())
}

fn add_listing(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "map_keys_str", |caller: Caller<'_, CallState>, map: i32| {
        let mut guest = Guest::of(caller)?;
        let keys = entries(&mut guest, map)?.into_iter().filter_map(|(key, _)| match key {
            MapKey::Text(text) => Some(text),
            MapKey::Int(_) => None,
        });
        guest.new_strings(keys)
    })?;
    linker.func_wrap(ENV, "map_keys_i64", |caller: Caller<'_, CallState>, map: i32| {
        let mut guest = Guest::of(caller)?;
        let keys = entries(&mut guest, map)?.into_iter().filter_map(|(key, _)| match key {
            MapKey::Text(_) => None,
            MapKey::Int(number) => Some(number),
        });
        let bytes: Vec<u8> = keys.flat_map(i64::to_le_bytes).collect();
        guest.new_list(&bytes, 8)
    })?;
    linker.func_wrap(ENV, "map_values_i32", |caller: Caller<'_, CallState>, map: i32| {
        let mut guest = Guest::of(caller)?;
        let values = entries(&mut guest, map)?.into_iter();
        let bytes: Vec<u8> = values.flat_map(|(_, value)| (value as i32).to_le_bytes()).collect();
        guest.new_list(&bytes, 4)
    })?;
    linker.func_wrap(ENV, "map_values_i64", |caller: Caller<'_, CallState>, map: i32| {
        let mut guest = Guest::of(caller)?;
        let bytes: Vec<u8> = entries(&mut guest, map)?.into_iter().flat_map(|(_, value)| value.to_le_bytes()).collect();
        guest.new_list(&bytes, 8)
    })?;
    Ok(())
}

fn text_key(caller: Caller<'_, CallState>, key: i32) -> wasmtime::Result<(Guest<'_>, MapKey)> {
    let mut guest = Guest::of(caller)?;
    let key = MapKey::Text(guest.string(key)?);
    Ok((guest, key))
}

/// Takes fuel for bringing a map's tree to it.
fn open(guest: &mut Guest<'_>, map: i32) -> wasmtime::Result<()> {
    let distance = guest.state().clarity.maps.distance(map);
    guest.charge(1 + distance.saturating_mul(16))
}

fn get(guest: &mut Guest<'_>, map: i32, key: &MapKey) -> wasmtime::Result<Option<MapValue>> {
    open(guest, map)?;
    Ok(guest.state().clarity.maps.get(map, key))
}

fn set(mut guest: Guest<'_>, map: i32, key: MapKey, value: Option<MapValue>) -> wasmtime::Result<i32> {
    open(&mut guest, map)?;
    let handle = guest.state().clarity.maps.change(map, key, value);
    checked(&mut guest, handle)
}

pub(super) fn entries(guest: &mut Guest<'_>, map: i32) -> wasmtime::Result<Vec<(MapKey, MapValue)>> {
    open(guest, map)?;
    let len = guest.state().clarity.maps.len(map);
    guest.charge(len.saturating_mul(16))?;
    Ok(guest.state().clarity.maps.entries(map))
}

/// The handle of a new map, unless the maps of the call have become too large.
pub(super) fn checked(guest: &mut Guest<'_>, handle: i32) -> wasmtime::Result<i32> {
    let (wanted, limit) = (guest.state().clarity.maps.bytes(), guest.state().limits.memory_bytes);
    match wanted > limit {
        true => Err(LimitReached::Memory { wanted, limit }.into()),
        false => Ok(handle),
    }
}
