//! Byte arrays and hashes.

use sha2::{Digest, Sha256};
use wasmtime::{Caller, Linker};

use super::{Guest, IMPORT_MODULE as ENV, long_work};
use crate::store::CallState;

/// Adds the imports about bytes.
pub(super) fn add(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "bytes_new", |caller: Caller<'_, CallState>, size: i64| {
        let mut guest = Guest::of(caller)?;
        let size = usize::try_from(size).unwrap_or_default();
        guest.room(size)?;
        guest.new_bytes(&vec![0; size])
    })?;
    linker.func_wrap(ENV, "bytes_length", |caller: Caller<'_, CallState>, bytes: i32| {
        Guest::of(caller)?.list_len(bytes).map(|len| len as i64)
    })?;
    linker.func_wrap(ENV, "bytes_get", |caller: Caller<'_, CallState>, bytes: i32, index: i64| {
        let guest = Guest::of(caller)?;
        let len = guest.list_len(bytes)?;
        let Some(index) = usize::try_from(index).ok().filter(|index| *index < len) else { return Ok(0) };
        Ok(i64::from(guest.slice(bytes as u32 as usize + 4 + index, 1)?[0]))
    })?;
    linker.func_wrap(ENV, "bytes_set", |caller: Caller<'_, CallState>, bytes: i32, index: i64, value: i64| {
        let mut guest = Guest::of(caller)?;
        let mut copy = guest.bytes(bytes)?;
        if let Some(byte) = usize::try_from(index).ok().and_then(|index| copy.get_mut(index)) {
            *byte = value as u8;
        }
        guest.new_bytes(&copy)
    })?;
    linker.func_wrap(ENV, "bytes_slice", |caller: Caller<'_, CallState>, bytes: i32, start: i64, len: i64| {
        let mut guest = Guest::of(caller)?;
        let copy = guest.bytes(bytes)?;
        let start = usize::try_from(start).unwrap_or_default().min(copy.len());
        let len = usize::try_from(len).unwrap_or_default().min(copy.len() - start);
        guest.new_bytes(&copy[start..start + len])
    })?;
    linker.func_wrap(ENV, "bytes_concat", |caller: Caller<'_, CallState>, one: i32, other: i32| {
        let mut guest = Guest::of(caller)?;
        let joined = [guest.bytes(one)?, guest.bytes(other)?].concat();
        guest.new_bytes(&joined)
    })?;
    linker.func_wrap(ENV, "bytes_from_string", |caller: Caller<'_, CallState>, text: i32| {
        let mut guest = Guest::of(caller)?;
        let bytes = guest.bytes(text)?;
        guest.new_bytes(&bytes)
    })?;
    linker.func_wrap(ENV, "bytes_to_string", |caller: Caller<'_, CallState>, bytes: i32| {
        let mut guest = Guest::of(caller)?;
        let text = guest.string(bytes)?;
        guest.new_string(&text)
    })?;
    linker.func_wrap_async(ENV, "sha256", |caller: Caller<'_, CallState>, (text,): (i32,)| {
        Box::new(async move {
            let mut guest = Guest::of(caller)?;
            let text = guest.string(text)?;
            let digest = long_work::run(&mut guest, text.len(), move || Sha256::digest(text.as_bytes())).await?;
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            guest.new_string(&hex)
        })
    })?;
    Ok(())
}
