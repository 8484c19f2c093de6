//! Values between JSON and a component.

use serde_json::{Map, Value};
use wasmtime::component::{Type, Val};

use crate::limits::LimitReached;
use crate::schema::{brief, read_float, read_integer, write_float, write_integer};

/// What each value counts at least, so that many small ones are bounded, too.
const VALUE_BYTES: usize = 8;

/// A value of a type; the error says what is wrong and where.
pub(crate) fn from_json(one: &Type, value: &Value) -> Result<Val, String> {
    let wrong = |expected: &str| format!("expected {expected}, not {}", brief(value));
    macro_rules! integer {
        ($case:ident, $bits:literal) => {
            read_integer(value)?
                .try_into()
                .map(Val::$case)
                .map_err(|_| format!("{} does not fit into {}", brief(value), $bits))
        };
    }
    match one {
        Type::Bool => value.as_bool().map(Val::Bool).ok_or_else(|| wrong("true or false")),
        Type::S8 => integer!(S8, "s8"),
        Type::U8 => integer!(U8, "u8"),
        Type::S16 => integer!(S16, "s16"),
        Type::U16 => integer!(U16, "u16"),
        Type::S32 => integer!(S32, "s32"),
        Type::U32 => integer!(U32, "u32"),
        Type::S64 => integer!(S64, "s64"),
        Type::U64 => integer!(U64, "u64"),
        Type::Float32 => read_float(value).map(|number| Val::Float32(number as f32)),
        Type::Float64 => read_float(value).map(Val::Float64),
        Type::Char => {
            let mut characters = value.as_str().unwrap_or_default().chars();
            match (characters.next(), characters.next()) {
                (Some(one), None) => Ok(Val::Char(one)),
                _ => Err(wrong("one character")),
            }
        }
        Type::String => value.as_str().map(|text| Val::String(text.into())).ok_or_else(|| wrong("a string")),
        Type::List(list) => items(value, None)?.map(&|item| from_json(&list.ty(), item)).map(Val::List),
        Type::FixedLengthList(list) => {
            let items = items(value, Some(list.len() as usize))?;
            items.map(&|item| from_json(&list.ty(), item)).map(Val::FixedLengthList)
        }
        Type::Map(map) => {
            let pair = |item: &Value| -> Result<(Val, Val), String> {
                let pair = items(item, Some(2))?;
                Ok((from_json(&map.key(), &pair.0[0])?, from_json(&map.value(), &pair.0[1])?))
            };
            items(value, None)?.map(&pair).map(Val::Map)
        }
        Type::Tuple(tuple) => {
            let types: Vec<_> = tuple.types().collect();
            let values = items(value, Some(types.len()))?;
            let convert =
                |(at, (one, item)): (usize, (&Type, &Value))| at_place(from_json(one, item), &format!("[{at}]"));
            types.iter().zip(values.0).enumerate().map(convert).collect::<Result<_, _>>().map(Val::Tuple)
        }
        Type::Record(record) => {
            let object = value.as_object().ok_or_else(|| wrong("an object"))?;
            if let Some(unknown) = object.keys().find(|key| !record.fields().any(|field| field.name == *key)) {
                return Err(format!("there is no field \"{unknown}\""));
            }
            let fields = record.fields().map(|field| {
                let item = object.get(field.name).unwrap_or(&Value::Null);
                let converted = at_place(from_json(&field.ty, item), &format!(".{}", field.name))?;
                Ok((field.name.to_owned(), converted))
            });
            fields.collect::<Result<_, String>>().map(Val::Record)
        }
        Type::Variant(variant) => {
            let (name, item) = case(value).ok_or_else(|| wrong("the name of a case, or an object with one"))?;
            let found = variant.cases().find(|case| case.name == name);
            let found = found.ok_or_else(|| format!("there is no case \"{name}\""))?;
            let payload = match (&found.ty, item) {
                (None, None | Some(Value::Null)) => None,
                (Some(one), Some(item)) => Some(Box::new(at_place(from_json(one, item), &format!(".{name}"))?)),
                (None, Some(_)) => return Err(format!("the case \"{name}\" has no value")),
                (Some(_), None) => return Err(format!("the case \"{name}\" needs a value")),
            };
            Ok(Val::Variant(name.to_owned(), payload))
        }
        Type::Enum(cases) => {
            let name = value.as_str().filter(|name| cases.names().any(|case| case == *name));
            name.map(|name| Val::Enum(name.to_owned())).ok_or_else(|| wrong("the name of a case"))
        }
        Type::Flags(flags) => {
            let flag = |item: &Value| -> Result<String, String> {
                let name = item.as_str().filter(|name| flags.names().any(|flag| flag == *name));
                name.map(str::to_owned).ok_or_else(|| format!("there is no flag {}", brief(item)))
            };
            items(value, None)?.map(&flag).map(Val::Flags)
        }
        Type::Option(_) if value.is_null() => Ok(Val::Option(None)),
        Type::Option(option) => from_json(&option.ty(), value).map(|inner| Val::Option(Some(Box::new(inner)))),
        Type::Result(result) => {
            let convert =
                |one: Option<Type>, item: &Value| one.map(|one| from_json(&one, item).map(Box::new)).transpose();
            match case(value) {
                Some(("ok", item)) => Ok(Val::Result(Ok(convert(result.ok(), item.unwrap_or(&Value::Null))?))),
                Some(("err", item)) => Ok(Val::Result(Err(convert(result.err(), item.unwrap_or(&Value::Null))?))),
                _ => Err(wrong("an object with ok or err")),
            }
        }
        Type::Own(_) | Type::Borrow(_) | Type::Future(_) | Type::Stream(_) | Type::ErrorContext => {
            Err("values of this type cannot be written as JSON".into())
        }
    }
}

struct Items<'a>(&'a [Value]);

impl Items<'_> {
    fn map<T, C: FromIterator<T>>(&self, convert: &dyn Fn(&Value) -> Result<T, String>) -> Result<C, String> {
        self.0.iter().enumerate().map(|(at, item)| at_place(convert(item), &format!("[{at}]"))).collect()
    }
}

fn items(value: &Value, len: Option<usize>) -> Result<Items<'_>, String> {
    let items = value.as_array().ok_or_else(|| format!("expected a list, not {}", brief(value)))?;
    match len {
        Some(len) if len != items.len() => Err(format!("expected a list of {len}, not of {}", items.len())),
        _ => Ok(Items(items)),
    }
}

/// A case with its value: `"name"` or `{ "name": value }`.
fn case(value: &Value) -> Option<(&str, Option<&Value>)> {
    match value {
        Value::String(name) => Some((name, None)),
        Value::Object(object) if object.len() == 1 => {
            object.iter().next().map(|(name, item)| (name.as_str(), Some(item)))
        }
        _ => None,
    }
}

fn at_place<T>(converted: Result<T, String>, place: &str) -> Result<T, String> {
    let joined = |reason: String| match reason.starts_with(['.', '[']) {
        true => format!("{place}{reason}"),
        false => format!("{place}: {reason}"),
    };
    converted.map_err(joined)
}

/// A value as JSON, of at most `limit` bytes.
pub(crate) fn to_json(value: &Val, limit: usize) -> wasmtime::Result<Value> {
    Ok(JsonWriter { left: limit, limit }.write(value)?)
}

struct JsonWriter {
    left: usize,
    limit: usize,
}

impl JsonWriter {
    fn write(&mut self, value: &Val) -> Result<Value, LimitReached> {
        self.spend(VALUE_BYTES)?;
        Ok(match value {
            Val::Bool(flag) => (*flag).into(),
            Val::S8(number) => (*number).into(),
            Val::U8(number) => (*number).into(),
            Val::S16(number) => (*number).into(),
            Val::U16(number) => (*number).into(),
            Val::S32(number) => (*number).into(),
            Val::U32(number) => (*number).into(),
            Val::S64(number) => write_integer((*number).into()),
            Val::U64(number) => write_integer((*number).into()),
            Val::Float32(number) => write_float((*number).into()),
            Val::Float64(number) => write_float(*number),
            Val::Char(one) => one.to_string().into(),
            Val::String(text) => self.text(text)?,
            Val::Enum(name) => self.text(name)?,
            Val::List(items) | Val::Tuple(items) | Val::FixedLengthList(items) => self.items(items)?,
            Val::Map(pairs) => {
                let pairs = pairs.iter().map(|(key, item)| Ok(Value::from(vec![self.write(key)?, self.write(item)?])));
                pairs.collect::<Result<Vec<_>, _>>()?.into()
            }
            Val::Record(fields) => {
                let mut object = Map::new();
                for (name, item) in fields {
                    self.spend(name.len())?;
                    object.insert(name.clone(), self.write(item)?);
                }
                object.into()
            }
            Val::Variant(name, None) => self.text(name)?,
            Val::Variant(name, Some(item)) => self.case(name, Some(item))?,
            Val::Option(inner) => inner.as_ref().map_or(Ok(Value::Null), |inner| self.write(inner))?,
            Val::Result(Ok(inner)) => self.case("ok", inner.as_deref())?,
            Val::Result(Err(inner)) => self.case("err", inner.as_deref())?,
            Val::Flags(names) => {
                let names = names.iter().map(|name| self.text(name));
                names.collect::<Result<Vec<_>, _>>()?.into()
            }
            // Functions with these are not offered.
            Val::Resource(_) | Val::Future(_) | Val::Stream(_) | Val::ErrorContext(_) => Value::Null,
        })
    }

    fn items(&mut self, items: &[Val]) -> Result<Value, LimitReached> {
        let items = items.iter().map(|item| self.write(item));
        Ok(items.collect::<Result<Vec<_>, _>>()?.into())
    }

    fn case(&mut self, name: &str, item: Option<&Val>) -> Result<Value, LimitReached> {
        let inner = item.map_or(Ok(Value::Null), |item| self.write(item))?;
        Ok(Map::from_iter([(name.to_owned(), inner)]).into())
    }

    fn text(&mut self, text: &str) -> Result<Value, LimitReached> {
        self.spend(text.len())?;
        Ok(text.into())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), LimitReached> {
        self.left = self.left.checked_sub(bytes).ok_or(LimitReached::Output { limit: self.limit })?;
        Ok(())
    }
}
