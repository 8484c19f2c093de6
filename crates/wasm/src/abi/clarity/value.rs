//! Values between JSON and the module's memory.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};
use wasmtime::{AsContextMut, Val};

use super::memory::{Guest, Slot};
use crate::abi::value_type::ValueType;
use crate::limits::LimitReached;
use crate::outcome::HostTrap;
use crate::schema::{brief, read_float, read_integer, write_float, write_integer};
use crate::store::CallState;

/// What each value of a result counts at least, so that many small ones are bounded, too.
const VALUE_BYTES: usize = 8;

/// Why a value was not written: it does not fit its type, or there is no room for it.
#[derive(Debug)]
pub(crate) enum EncodeError {
    /// It is the caller's mistake.
    Mismatch(String),
    /// The module has not enough memory for it.
    Room(wasmtime::Error),
}

impl From<wasmtime::Error> for EncodeError {
    fn from(error: wasmtime::Error) -> Self {
        Self::Room(error)
    }
}

impl From<String> for EncodeError {
    fn from(reason: String) -> Self {
        Self::Mismatch(reason)
    }
}

/// A value without the module's memory: all but strings, lists and the like.
pub(crate) fn encode_number(value_type: &ValueType, value: &Value) -> Result<Slot, String> {
    let fits = |text: &str| format!("{} does not fit into {text}", brief(value));
    match value_type {
        ValueType::Int64 | ValueType::Timestamp => {
            i64::try_from(read_integer(value)?).map(Slot::I64).map_err(|_| fits("64 bits with a sign"))
        }
        ValueType::Int32 => {
            let number = match value {
                Value::Bool(flag) => i128::from(*flag),
                other => read_integer(other)?,
            };
            // Wasm does not say whether it is signed.
            let signed = i32::try_from(number).ok().or_else(|| u32::try_from(number).ok().map(|bits| bits as i32));
            signed.map(Slot::I32).ok_or_else(|| fits("32 bits"))
        }
        ValueType::Float64 => read_float(value).map(Slot::F64),
        ValueType::Float32 => read_float(value).map(|number| Slot::F32(number as f32)),
        ValueType::Bool => match value {
            Value::Bool(flag) => Ok(Slot::I32((*flag).into())),
            other => Err(format!("expected true or false, not {}", brief(other))),
        },
        other => Err(format!("expected {other}, not {}", brief(value))),
    }
}

/// Writes a value into the module's memory.
pub(crate) fn encode<C: AsContextMut<Data = CallState>>(
    guest: &mut Guest<C>,
    value_type: &ValueType,
    value: &Value,
) -> Result<Slot, EncodeError> {
    let wrong = || EncodeError::Mismatch(format!("expected {value_type}, not {}", brief(value)));
    let pointer = match value_type {
        ValueType::String => guest.new_string(value.as_str().ok_or_else(wrong)?)?,
        ValueType::Bytes => {
            let decoded = value.as_str().and_then(|text| BASE64.decode(text).ok());
            guest.new_bytes(&decoded.ok_or_else(|| EncodeError::Mismatch("expected base64".into()))?)?
        }
        ValueType::List(element) => {
            let mut elements = Vec::new();
            for (at, item) in value.as_array().ok_or_else(wrong)?.iter().enumerate() {
                let slot = encode(guest, element, item).map_err(|error| at_place(error, &format!("[{at}]")))?;
                elements.extend(slot.to_bytes());
            }
            guest.new_list(&elements, element.size())?
        }
        ValueType::Record(fields) => {
            let object = value.as_object().ok_or_else(wrong)?;
            if let Some(unknown) = object.keys().find(|key| !fields.iter().any(|(name, _)| name == *key)) {
                return Err(EncodeError::Mismatch(format!("{value_type} has no field \"{unknown}\"")));
            }
            let mut bytes = Vec::new();
            for (name, field) in fields {
                let item = object.get(name).unwrap_or(&Value::Null);
                let slot = encode(guest, field, item).map_err(|error| at_place(error, &format!(".{name}")))?;
                bytes.resize(bytes.len().next_multiple_of(field.size()), 0);
                bytes.extend(slot.to_bytes());
            }
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            let start = guest.allocate(bytes.len())?;
            guest.write(start as usize, &bytes)?;
            start as i32
        }
        ValueType::Option(inner) => {
            let slot = (!value.is_null()).then(|| encode(guest, inner, value)).transpose()?;
            guest.new_option(slot)?
        }
        ValueType::Result(ok, err) => {
            let object = value.as_object().filter(|object| object.len() == 1).ok_or_else(wrong)?;
            let (tag, inner, item) = match (object.get("ok"), object.get("err")) {
                (Some(item), _) => (0, ok, item),
                (_, Some(item)) => (1, err, item),
                _ => return Err(wrong()),
            };
            let slot = encode(guest, inner, item)?;
            guest.new_union(tag, Some(slot))?
        }
        ValueType::Unit if value.is_null() => 0,
        number => return Ok(encode_number(number, value)?),
    };
    Ok(Slot::I32(pointer))
}

fn at_place(error: EncodeError, place: &str) -> EncodeError {
    match error {
        EncodeError::Mismatch(reason) if reason.starts_with(['.', '[']) => {
            EncodeError::Mismatch(format!("{place}{reason}"))
        }
        EncodeError::Mismatch(reason) => EncodeError::Mismatch(format!("{place}: {reason}")),
        room => room,
    }
}

/// Reads values out of the module's memory, up to the size of a result.
pub(crate) struct Decoder<'g, C> {
    guest: &'g mut Guest<C>,
    left: usize,
    limit: usize,
}

impl<'g, C: AsContextMut<Data = CallState>> Decoder<'g, C> {
    pub(crate) fn new(guest: &'g mut Guest<C>) -> Self {
        let limit = guest.state().limits.output_bytes;
        Self { guest, left: limit, limit }
    }

    /// The value of a returned number or pointer.
    pub(crate) fn decode(&mut self, value_type: &ValueType, value: &Val) -> wasmtime::Result<Value> {
        let slot = match value {
            Val::I32(value) => Slot::I32(*value),
            Val::I64(value) => Slot::I64(*value),
            Val::F32(bits) => Slot::F32(f32::from_bits(*bits)),
            Val::F64(bits) => Slot::F64(f64::from_bits(*bits)),
            _ => return Err(HostTrap::fault("it returned a value that is neither a number nor a pointer")),
        };
        self.slot(value_type, slot)
    }

    fn slot(&mut self, value_type: &ValueType, slot: Slot) -> wasmtime::Result<Value> {
        self.spend(VALUE_BYTES)?;
        match (value_type, slot) {
            (ValueType::Unit, _) => Ok(Value::Null),
            (ValueType::Bool, Slot::I32(flag)) => Ok((flag != 0).into()),
            (ValueType::Int32, Slot::I32(number)) => Ok(number.into()),
            (_, Slot::I64(number)) => Ok(write_integer(number.into())),
            (_, Slot::F32(number)) => Ok(write_float(number.into())),
            (_, Slot::F64(number)) => Ok(write_float(number)),
            (pointed, Slot::I32(pointer)) => self.pointed(pointed, pointer),
        }
    }

    fn pointed(&mut self, value_type: &ValueType, pointer: i32) -> wasmtime::Result<Value> {
        match value_type {
            ValueType::String => {
                self.spend(self.guest.list_len(pointer)?)?;
                self.guest.string(pointer).map(Value::from)
            }
            ValueType::Bytes => {
                self.spend(self.guest.list_len(pointer)?.saturating_mul(4) / 3)?;
                Ok(BASE64.encode(self.guest.bytes(pointer)?).into())
            }
            ValueType::List(element) => {
                let (len, size) = (self.guest.list_len(pointer)?, element.size());
                self.spend(len.saturating_mul(VALUE_BYTES))?;
                let first = pointer as u32 as usize + 4;
                let items = (0..len).map(|at| self.at(element, first + at * size));
                items.collect::<wasmtime::Result<Vec<_>>>().map(Value::from)
            }
            ValueType::Record(fields) => {
                let (start, mut offset, mut object) = (pointer as u32 as usize, 0_usize, Map::new());
                for (name, field) in fields {
                    offset = offset.next_multiple_of(field.size());
                    self.spend(name.len())?;
                    object.insert(name.clone(), self.at(field, start + offset)?);
                    offset += field.size();
                }
                Ok(object.into())
            }
            ValueType::Option(inner) => match self.guest.union(pointer)? {
                (0, address) => self.at(inner, address),
                _ => Ok(Value::Null),
            },
            ValueType::Result(ok, err) => {
                let (tag, address) = self.guest.union(pointer)?;
                let (name, inner) = if tag == 0 { ("ok", ok) } else { ("err", err) };
                let value = self.at(inner, address)?;
                Ok(Map::from_iter([(name.to_owned(), value)]).into())
            }
            other => Err(HostTrap::fault(format!("it returned a pointer where {other} should be"))),
        }
    }

    fn at(&mut self, value_type: &ValueType, address: usize) -> wasmtime::Result<Value> {
        let slot = match value_type {
            ValueType::Unit => Slot::I32(0),
            ValueType::Int64 | ValueType::Timestamp => Slot::I64(self.guest.read_i64(address)?),
            ValueType::Float64 => Slot::F64(f64::from_bits(self.guest.read_i64(address)? as u64)),
            ValueType::Float32 => Slot::F32(f32::from_bits(self.guest.read_u32(address)?)),
            _ => Slot::I32(self.guest.read_u32(address)? as i32),
        };
        self.slot(value_type, slot)
    }

    fn spend(&mut self, bytes: usize) -> wasmtime::Result<()> {
        self.left = self.left.checked_sub(bytes).ok_or(LimitReached::Output { limit: self.limit })?;
        Ok(())
    }
}

/// A value that a function of plain numbers returned.
pub(crate) fn decode_number(value_type: &ValueType, value: &Val) -> Value {
    match (value_type, value) {
        (ValueType::Bool, Val::I32(flag)) => (*flag != 0).into(),
        (_, Val::I32(number)) => (*number).into(),
        (_, Val::I64(number)) => write_integer((*number).into()),
        (_, Val::F32(bits)) => write_float(f32::from_bits(*bits).into()),
        (_, Val::F64(bits)) => write_float(f64::from_bits(*bits)),
        _ => Value::Null,
    }
}
