//! What one call may take, and the part of the host that says no when it wants more.

use std::time::Duration;

use roost_model::service::wasm::WasmLimits;
use wasmtime::ResourceLimiter;

/// What one call may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Units of work: about one for each wasm instruction, and one for each byte that the host handles for the module.
    pub fuel: u64,
    /// Time, without the time that the host waits for a person, a model or a server on behalf of the module.
    pub time: Duration,
    /// How long a call waits for its turn, before it is told that the service is busy.
    pub wait: Duration,
    /// The size of each linear memory, and of the maps that the host keeps for the module.
    pub memory_bytes: usize,
    /// The elements of each table.
    pub table_elements: usize,
    /// The size of a result.
    pub output_bytes: usize,
    /// Calls of one service that may be under way at once.
    pub max_concurrency: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            fuel: 10_000_000_000,
            time: Duration::from_secs(2),
            wait: Duration::from_secs(30),
            memory_bytes: 64 << 20,
            table_elements: 100_000,
            output_bytes: 1 << 20,
            max_concurrency: 16,
        }
    }
}

impl Limits {
    /// These limits with the ones of a manifest in their place; memory and tables not beyond what the host can give.
    pub fn with_manifest(&self, declared: &WasmLimits, ceiling: &Self) -> Self {
        let size = |declared: Option<u64>, default: usize, most: usize| {
            declared.map_or(default, |value| usize::try_from(value).unwrap_or(usize::MAX)).min(most)
        };
        Self {
            fuel: declared.fuel.unwrap_or(self.fuel),
            time: declared.timeout_ms.map_or(self.time, Duration::from_millis),
            wait: self.wait,
            memory_bytes: size(declared.memory_bytes, self.memory_bytes, ceiling.memory_bytes),
            table_elements: size(declared.table_elements, self.table_elements, ceiling.table_elements),
            output_bytes: size(declared.output_bytes, self.output_bytes, ceiling.output_bytes),
            max_concurrency: size(declared.max_concurrency.map(u64::from), self.max_concurrency, usize::MAX),
        }
    }

    /// The smaller of each: a caller may ask for less than a service has, never for more.
    pub fn at_most(&self, other: &Self) -> Self {
        Self {
            fuel: self.fuel.min(other.fuel),
            time: self.time.min(other.time),
            wait: self.wait.min(other.wait),
            memory_bytes: self.memory_bytes.min(other.memory_bytes),
            table_elements: self.table_elements.min(other.table_elements),
            output_bytes: self.output_bytes.min(other.output_bytes),
            max_concurrency: self.max_concurrency.min(other.max_concurrency),
        }
    }
}

/// A limit that a call ran into.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitReached {
    /// A linear memory, or what the host keeps for the module.
    #[error("it wants {wanted} bytes of memory and may have {limit}; raise limits.memoryBytes in its manifest")]
    Memory {
        /// The bytes it asked for.
        wanted: usize,
        /// The bytes it may have.
        limit: usize,
    },
    /// A table of functions or references.
    #[error("it wants a table of {wanted} elements and may have {limit}; raise limits.tableElements in its manifest")]
    Table {
        /// The elements it asked for.
        wanted: usize,
        /// The elements it may have.
        limit: usize,
    },
    /// The result, as JSON or in the module's memory.
    #[error("its result is larger than {limit} bytes; return less, or raise limits.outputBytes in its manifest")]
    Output {
        /// The bytes it may have.
        limit: usize,
    },
    /// Its time is up.
    #[error("it ran for longer than {0:?}; raise limits.timeoutMs in its manifest")]
    Time(Duration),
}

/// Refuses growth beyond the limits of a call.
#[derive(Debug)]
pub(crate) struct MemoryLimiter {
    pub(crate) memory_bytes: usize,
    pub(crate) table_elements: usize,
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        // Growing beyond the module's own maximum fails as the module expects it.
        if maximum.is_some_and(|maximum| desired > maximum && maximum < self.memory_bytes) {
            return Ok(false);
        }
        match desired > self.memory_bytes {
            true => Err(LimitReached::Memory { wanted: desired, limit: self.memory_bytes }.into()),
            false => Ok(true),
        }
    }

    fn table_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum && maximum < self.table_elements) {
            return Ok(false);
        }
        match desired > self.table_elements {
            true => Err(LimitReached::Table { wanted: desired, limit: self.table_elements }.into()),
            false => Ok(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_changes_limits_but_not_beyond_what_the_host_can_give() {
        let (defaults, ceiling) = (Limits::default(), Limits { memory_bytes: 256 << 20, ..Limits::default() });
        let declared = WasmLimits { fuel: Some(5), memory_bytes: Some(1 << 40), ..WasmLimits::default() };
        let limits = defaults.with_manifest(&declared, &ceiling);
        assert_eq!(limits, Limits { fuel: 5, memory_bytes: 256 << 20, ..defaults });
    }

    #[test]
    fn a_caller_gets_the_smaller_of_both() {
        let service = Limits { fuel: 10, time: Duration::from_secs(9), ..Limits::default() };
        let asked = Limits { fuel: 20, time: Duration::from_secs(1), ..Limits::default() };
        let limits = service.at_most(&asked);
        assert_eq!((limits.fuel, limits.time), (10, Duration::from_secs(1)));
    }
}
