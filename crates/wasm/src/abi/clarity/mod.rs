//! Clarity's conventions: values in the module's memory, and the host functions that its compiler counts on.
//!
//! The imports of module `env` are in one file per subject. Indices count UTF-16 units and numbers are written as
//! JavaScript writes them, because that is what programs of the language were written against.

mod asserts;
mod bounded_json;
mod bytes;
mod console;
mod effects;
mod json;
mod lists;
mod long_work;
mod map_table;
mod maps;
pub(crate) mod memory;
mod numbers;
mod patterns;
mod text;
mod time;
pub(crate) mod value;

use wasmtime::{Caller, Linker, Memory};

use crate::store::CallState;

use map_table::MapTable;

/// The module of all of Clarity's imports.
pub(crate) const IMPORT_MODULE: &str = "env";

/// What host functions keep for one call.
#[derive(Default)]
pub(crate) struct ClarityState {
    /// The module's memory and where the next allocation goes; known once the first host function needs it.
    heap: Option<Heap>,
    maps: MapTable,
    /// How many servers the module connected to: each has the number that was counted with it.
    servers: i64,
}

/// The host's part of the module's memory: it grows upwards and is never freed, as the call is short.
#[derive(Clone, Copy)]
struct Heap {
    memory: Memory,
    next: u32,
}

/// A host function's view of its caller.
type Guest<'a> = memory::Guest<Caller<'a, CallState>>;

/// Adds every import that we offer.
pub(crate) fn add_to_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    for add in [
        asserts::add,
        bytes::add,
        console::add,
        effects::add,
        json::add,
        lists::add,
        maps::add,
        memory::add,
        numbers::add,
        patterns::add,
        text::add,
        time::add,
    ] {
        add(linker)?;
    }
    Ok(())
}
