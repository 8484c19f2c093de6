//! Lists: every operation that changes one makes a new one.

use wasmtime::{Caller, Linker};

use super::{Guest, IMPORT_MODULE as ENV};
use crate::outcome::HostTrap;
use crate::store::CallState;

/// Adds the imports about lists.
pub(super) fn add(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "list_length", |caller: Caller<'_, CallState>, list: i32| {
        Guest::of(caller)?.list_len(list).map(|len| len as i64)
    })?;
    add_reading(linker)?;
    add_changing(linker)
}

fn add_reading(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "list_get_i64", |caller: Caller<'_, CallState>, list: i32, index: i64| {
        let guest = Guest::of(caller)?;
        element(&guest, list, index, 8)?.map_or(Ok(0), |address| guest.read_i64(address))
    })?;
    linker.func_wrap(ENV, "list_get_i32", |caller: Caller<'_, CallState>, list: i32, index: i64| {
        let guest = Guest::of(caller)?;
        element(&guest, list, index, 4)?.map_or(Ok(0), |address| guest.read_u32(address).map(|value| value as i32))
    })?;
    linker.func_wrap(ENV, "list_head_i64", |caller: Caller<'_, CallState>, list: i32| {
        let guest = Guest::of(caller)?;
        element(&guest, list, 0, 8)?.map_or(Ok(0), |address| guest.read_i64(address))
    })?;
    Ok(())
}

fn add_changing(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "list_tail", |caller: Caller<'_, CallState>, list: i32, size: i32| {
        change(caller, list, element_size(size)?, |elements, size| {
            elements.drain(..size.min(elements.len()));
        })
    })?;
    linker.func_wrap(ENV, "list_reverse", |caller: Caller<'_, CallState>, list: i32, size: i32| {
        change(caller, list, element_size(size)?, |elements, size| {
            *elements = elements.chunks_exact(size).rev().flatten().copied().collect();
        })
    })?;
    linker.func_wrap(ENV, "list_concat", |caller: Caller<'_, CallState>, one: i32, other: i32, size: i32| {
        let (mut guest, size) = (Guest::of(caller)?, element_size(size)?);
        let mut elements = guest.list(one, size)?;
        elements.extend(guest.list(other, size)?);
        guest.new_list(&elements, size)
    })?;
    linker.func_wrap(ENV, "list_append_i64", |caller: Caller<'_, CallState>, list: i32, value: i64| {
        change(caller, list, 8, |elements, _| elements.extend(value.to_le_bytes()))
    })?;
    linker.func_wrap(ENV, "list_append_i32", |caller: Caller<'_, CallState>, list: i32, value: i32| {
        change(caller, list, 4, |elements, _| elements.extend(value.to_le_bytes()))
    })?;
    linker.func_wrap(ENV, "list_set_i64", |caller: Caller<'_, CallState>, list: i32, index: i64, value: i64| {
        change(caller, list, 8, |elements, _| set(elements, index, &value.to_le_bytes()))
    })?;
    linker.func_wrap(ENV, "list_set_i32", |caller: Caller<'_, CallState>, list: i32, index: i64, value: i32| {
        change(caller, list, 4, |elements, _| set(elements, index, &value.to_le_bytes()))
    })?;
    Ok(())
}

/// Makes a new list of a changed copy of the elements.
fn change(
    caller: Caller<'_, CallState>,
    list: i32,
    size: usize,
    change: impl FnOnce(&mut Vec<u8>, usize),
) -> wasmtime::Result<i32> {
    let mut guest = Guest::of(caller)?;
    let mut elements = guest.list(list, size)?;
    change(&mut elements, size);
    guest.new_list(&elements, size)
}

/// Replaces an element; nothing happens outside of the list.
fn set(elements: &mut [u8], index: i64, value: &[u8]) {
    let chunk = usize::try_from(index).ok().and_then(|index| elements.chunks_exact_mut(value.len()).nth(index));
    if let Some(chunk) = chunk {
        chunk.copy_from_slice(value);
    }
}

/// Where an element is; `None` outside of the list.
fn element(guest: &Guest<'_>, list: i32, index: i64, size: usize) -> wasmtime::Result<Option<usize>> {
    let len = guest.list_len(list)?;
    let index = usize::try_from(index).ok().filter(|index| *index < len);
    Ok(index.map(|index| list as u32 as usize + 4 + index * size))
}

fn element_size(size: i32) -> wasmtime::Result<usize> {
    match size {
        4 => Ok(4),
        8 => Ok(8),
        other => Err(HostTrap::fault(format!("elements of {other} bytes are in no list"))),
    }
}
