//! The module's memory as host functions use it.
//!
//! A string or byte array is a u32 length and its bytes; a list is a u32 length and its elements; an option or result is
//! a u32 tag and, at offset 8, its value.

use std::ops::{Deref, DerefMut};

use wasmtime::{AsContextMut, Caller, Extern, Instance, Linker, Memory, StoreContextMut, Trap};

use super::{Guest as CallerGuest, Heap, IMPORT_MODULE as ENV};
use crate::limits::LimitReached;
use crate::outcome::HostTrap;
use crate::store::CallState;

/// The exported global that says where free memory begins.
const HEAP_BASE: &str = "__heap_base";
const MEMORY: &str = "memory";
/// Every allocation begins at a multiple of this.
const ALIGNMENT: u32 = 8;
/// Before the host handles so many bytes it looks at the clock.
const DEADLINE_BYTES: usize = 64 * 1024;
/// The bytes of an option or result.
const UNION_BYTES: usize = 16;
const PAYLOAD: usize = 8;
const PAGE: u64 = 64 * 1024;

/// A value in an option, a result, a list or a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Slot {
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
}

impl Slot {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        match self {
            Self::I32(value) => value.to_le_bytes().to_vec(),
            Self::I64(value) => value.to_le_bytes().to_vec(),
            Self::F32(value) => value.to_le_bytes().to_vec(),
            Self::F64(value) => value.to_le_bytes().to_vec(),
        }
    }
}

/// The state of a call, borrowed from its store.
pub(crate) struct StateRef<'a>(StoreContextMut<'a, CallState>);

impl Deref for StateRef<'_> {
    type Target = CallState;

    fn deref(&self) -> &CallState {
        self.0.data()
    }
}

impl DerefMut for StateRef<'_> {
    fn deref_mut(&mut self) -> &mut CallState {
        self.0.data_mut()
    }
}

/// The memory of a module in the middle of a call.
pub(crate) struct Guest<C> {
    context: C,
    heap: Heap,
}

impl<'a> Guest<Caller<'a, CallState>> {
    /// The memory of the module that called a host function.
    pub(crate) fn of(mut caller: Caller<'a, CallState>) -> wasmtime::Result<Self> {
        if let Some(heap) = caller.data().clarity.heap {
            return Ok(Self { context: caller, heap });
        }
        let memory = caller.get_export(MEMORY).and_then(Extern::into_memory);
        let base = caller.get_export(HEAP_BASE).and_then(Extern::into_global);
        let base = base.and_then(|global| global.get(&mut caller).i32());
        Self::with_memory(caller, memory, base)
    }
}

impl<'a> Guest<StoreContextMut<'a, CallState>> {
    /// The memory of an instance.
    pub(crate) fn of_instance(
        mut context: StoreContextMut<'a, CallState>,
        instance: &Instance,
    ) -> wasmtime::Result<Self> {
        if let Some(heap) = context.data().clarity.heap {
            return Ok(Self { context, heap });
        }
        let memory = instance.get_memory(&mut context, MEMORY);
        let base = instance.get_global(&mut context, HEAP_BASE);
        let base = base.and_then(|global| global.get(&mut context).i32());
        Self::with_memory(context, memory, base)
    }
}

impl<C: AsContextMut<Data = CallState>> Guest<C> {
    fn with_memory(mut context: C, memory: Option<Memory>, base: Option<i32>) -> wasmtime::Result<Self> {
        let memory = memory.ok_or_else(|| HostTrap::fault("the module exports no memory for strings and lists"))?;
        // Without a base, only new pages are certainly free.
        let end = || u32::try_from(memory.data_size(&context)).unwrap_or(u32::MAX);
        let next = base.map_or_else(end, |base| base as u32);
        let heap = Heap { memory, next };
        context.as_context_mut().data_mut().clarity.heap = Some(heap);
        Ok(Self { context, heap })
    }

    pub(crate) fn state(&mut self) -> StateRef<'_> {
        StateRef(self.context.as_context_mut())
    }

    /// Takes fuel for work of the host: one unit for each byte that it handles.
    pub(crate) fn charge(&mut self, bytes: usize) -> wasmtime::Result<()> {
        if bytes >= DEADLINE_BYTES {
            self.state().check_deadline()?;
        }
        let mut context = self.context.as_context_mut();
        let left = context.get_fuel()?.checked_sub(bytes as u64);
        context.set_fuel(left.unwrap_or_default())?;
        left.map(drop).ok_or_else(|| Trap::OutOfFuel.into())
    }

    /// Refuses what the module could not hold, before the host makes it.
    pub(crate) fn room(&mut self, bytes: usize) -> wasmtime::Result<()> {
        let limit = self.state().limits.memory_bytes;
        match bytes > limit {
            true => Err(LimitReached::Memory { wanted: bytes, limit }.into()),
            false => Ok(()),
        }
    }

    /// Bytes of the memory.
    pub(crate) fn slice(&self, address: usize, len: usize) -> wasmtime::Result<&[u8]> {
        let data = self.heap.memory.data(self.context.as_context());
        let end = address.checked_add(len);
        end.and_then(|end| data.get(address..end)).ok_or_else(|| outside(address, len))
    }

    pub(crate) fn read_u32(&self, address: usize) -> wasmtime::Result<u32> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.slice(address, 4)?);
        Ok(u32::from_le_bytes(bytes))
    }

    pub(crate) fn read_i64(&self, address: usize) -> wasmtime::Result<i64> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.slice(address, 8)?);
        Ok(i64::from_le_bytes(bytes))
    }

    /// A byte array, or the bytes of a string.
    pub(crate) fn bytes(&mut self, pointer: i32) -> wasmtime::Result<Vec<u8>> {
        let address = pointer as u32 as usize;
        let len = self.read_u32(address)? as usize;
        self.slice(address + 4, len)?;
        self.charge(len)?;
        Ok(self.slice(address + 4, len)?.to_vec())
    }

    /// A string; bytes that are no UTF-8 are replaced.
    pub(crate) fn string(&mut self, pointer: i32) -> wasmtime::Result<String> {
        let bytes = self.bytes(pointer)?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// The length of a list.
    pub(crate) fn list_len(&self, pointer: i32) -> wasmtime::Result<usize> {
        Ok(self.read_u32(pointer as u32 as usize)? as usize)
    }

    /// The elements of a list as bytes.
    pub(crate) fn list(&mut self, pointer: i32, size: usize) -> wasmtime::Result<Vec<u8>> {
        let address = pointer as u32 as usize;
        let len = self.list_len(pointer)?.saturating_mul(size);
        self.slice(address + 4, len)?;
        self.charge(len)?;
        Ok(self.slice(address + 4, len)?.to_vec())
    }

    /// Makes room in the memory, which grows if it must.
    pub(crate) fn allocate(&mut self, size: usize) -> wasmtime::Result<u32> {
        self.charge(size)?;
        let start = self.heap.next.next_multiple_of(ALIGNMENT);
        let end = u64::from(start) + size as u64;
        let limit = self.state().limits.memory_bytes;
        let next = u32::try_from(end).map_err(|_| {
            let wanted = usize::try_from(end).unwrap_or(usize::MAX);
            LimitReached::Memory { wanted, limit }
        })?;
        let have = self.heap.memory.data_size(&self.context) as u64;
        if end > have {
            self.heap.memory.grow(&mut self.context, (end - have).div_ceil(PAGE))?;
        }
        self.set_next(next);
        Ok(start)
    }

    fn set_next(&mut self, next: u32) {
        self.heap.next = next;
        let heap = self.heap;
        self.state().clarity.heap = Some(heap);
    }

    pub(crate) fn write(&mut self, address: usize, bytes: &[u8]) -> wasmtime::Result<()> {
        let data = self.heap.memory.data_mut(&mut self.context);
        let end = address.checked_add(bytes.len());
        let target = end.and_then(|end| data.get_mut(address..end));
        target.ok_or_else(|| outside(address, bytes.len()))?.copy_from_slice(bytes);
        Ok(())
    }

    /// Makes a value of a count and what follows it.
    fn new_counted(&mut self, count: usize, bytes: &[u8]) -> wasmtime::Result<i32> {
        let start = self.allocate(4 + bytes.len())?;
        // What was allocated has an end of 32 bits, so its count has, too.
        self.write(start as usize, &(count as u32).to_le_bytes())?;
        self.write(start as usize + 4, bytes)?;
        Ok(start as i32)
    }

    pub(crate) fn new_bytes(&mut self, bytes: &[u8]) -> wasmtime::Result<i32> {
        self.new_counted(bytes.len(), bytes)
    }

    pub(crate) fn new_string(&mut self, text: &str) -> wasmtime::Result<i32> {
        self.new_bytes(text.as_bytes())
    }

    /// Makes a list of elements of this size.
    pub(crate) fn new_list(&mut self, elements: &[u8], size: usize) -> wasmtime::Result<i32> {
        self.new_counted(elements.len() / size.max(1), elements)
    }

    /// Makes a list of strings.
    pub(crate) fn new_strings<T: AsRef<str>>(&mut self, texts: impl IntoIterator<Item = T>) -> wasmtime::Result<i32> {
        let mut pointers = Vec::new();
        for text in texts {
            pointers.extend(self.new_string(text.as_ref())?.to_le_bytes());
        }
        self.new_list(&pointers, 4)
    }

    /// Makes an option.
    pub(crate) fn new_option(&mut self, value: Option<Slot>) -> wasmtime::Result<i32> {
        self.new_union(u32::from(value.is_none()), value)
    }

    /// Makes an option of a string.
    pub(crate) fn new_option_string(&mut self, text: Option<&str>) -> wasmtime::Result<i32> {
        let slot = text.map(|text| self.new_string(text).map(Slot::I32)).transpose()?;
        self.new_option(slot)
    }

    /// Makes a result whose error is a string.
    pub(crate) fn new_result(&mut self, value: Result<Slot, &str>) -> wasmtime::Result<i32> {
        match value {
            Ok(slot) => self.new_union(0, Some(slot)),
            Err(message) => {
                let message = self.new_string(message)?;
                self.new_union(1, Some(Slot::I32(message)))
            }
        }
    }

    /// Makes a result whose value and error are strings.
    pub(crate) fn new_result_string(&mut self, value: Result<&str, &str>) -> wasmtime::Result<i32> {
        match value {
            Ok(text) => {
                let text = self.new_string(text)?;
                self.new_result(Ok(Slot::I32(text)))
            }
            Err(message) => self.new_result(Err(message)),
        }
    }

    /// Makes a tag with a value.
    pub(crate) fn new_union(&mut self, tag: u32, value: Option<Slot>) -> wasmtime::Result<i32> {
        let start = self.allocate(UNION_BYTES)?;
        self.write(start as usize, &tag.to_le_bytes())?;
        if let Some(slot) = value {
            self.write(start as usize + PAYLOAD, &slot.to_bytes())?;
        }
        Ok(start as i32)
    }

    /// The tag of an option or result, and where its value is.
    pub(crate) fn union(&self, pointer: i32) -> wasmtime::Result<(u32, usize)> {
        let address = pointer as u32 as usize;
        Ok((self.read_u32(address)?, address + PAYLOAD))
    }
}

fn outside(address: usize, len: usize) -> wasmtime::Error {
    HostTrap::fault(format!("the module passed {len} bytes at {address}, which are outside of its memory"))
}

/// Adds what a module uses to manage the host's part of its memory.
pub(super) fn add(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "__alloc", |caller: Caller<'_, CallState>, size: i32| {
        let size = usize::try_from(size).map_err(|_| HostTrap::fault("the module wants less than no memory"))?;
        CallerGuest::of(caller)?.allocate(size).map(|start| start as i32)
    })?;
    linker.func_wrap(ENV, "__free", |_: Caller<'_, CallState>, _: i32| {})?;
    linker.func_wrap(ENV, "arena_save", |caller: Caller<'_, CallState>| {
        CallerGuest::of(caller).map(|guest| i64::from(guest.heap.next))
    })?;
    linker.func_wrap(ENV, "arena_restore", |caller: Caller<'_, CallState>, mark: i64| {
        CallerGuest::of(caller).map(|mut guest| guest.restore(mark))
    })?;
    linker.func_wrap(ENV, "arena_restore_keeping_str", |caller: Caller<'_, CallState>, mark: i64, text: i32| {
        let mut guest = CallerGuest::of(caller)?;
        let text = guest.string(text)?;
        guest.restore(mark);
        guest.new_string(&text)
    })?;
    linker.func_wrap(ENV, "memory_stats", |caller: Caller<'_, CallState>| {
        let mut guest = CallerGuest::of(caller)?;
        let stats =
            format!("{{\"heap_ptr\":{},\"live_allocs\":0,\"free_blocks\":0,\"interned_strings\":0}}", guest.heap.next);
        guest.new_string(&stats)
    })?;
    Ok(())
}

impl CallerGuest<'_> {
    /// Gives back what was allocated since the mark.
    fn restore(&mut self, mark: i64) {
        if let Ok(mark) = u32::try_from(mark)
            && mark < self.heap.next
        {
            self.set_next(mark);
        }
    }
}
