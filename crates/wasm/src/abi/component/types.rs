//! The types of components: their JSON schemas and their names in WIT.

use serde_json::{Map, Value, json};
use wasmtime::component::Type;

use crate::schema;

/// The schema of no value.
pub(crate) fn null() -> Value {
    json!({ "type": "null" })
}

/// Why values of a type cannot be written as JSON; `None` if they can.
pub(crate) fn unsupported(one: &Type) -> Option<&'static str> {
    match one {
        Type::Own(_) | Type::Borrow(_) => Some("it passes resources, which live in one instance only"),
        Type::Future(_) | Type::Stream(_) => Some("it passes futures or streams"),
        Type::ErrorContext => Some("it passes error contexts"),
        Type::List(list) => unsupported(&list.ty()),
        Type::FixedLengthList(list) => unsupported(&list.ty()),
        Type::Map(map) => unsupported(&map.key()).or_else(|| unsupported(&map.value())),
        Type::Record(record) => record.fields().find_map(|field| unsupported(&field.ty)),
        Type::Tuple(tuple) => tuple.types().find_map(|one| unsupported(&one)),
        Type::Variant(variant) => variant.cases().find_map(|case| case.ty.as_ref().and_then(unsupported)),
        Type::Option(option) => unsupported(&option.ty()),
        Type::Result(result) => {
            result.ok().as_ref().and_then(unsupported).or_else(|| result.err().as_ref().and_then(unsupported))
        }
        _ => None,
    }
}

/// The JSON schema of a value.
pub(crate) fn schema(one: &Type) -> Value {
    let array = |items: Value| json!({ "type": "array", "items": items });
    match one {
        Type::Bool => json!({ "type": "boolean" }),
        Type::S8 => schema::integer(i8::MIN.into(), i8::MAX.into()),
        Type::U8 => schema::integer(0, u8::MAX.into()),
        Type::S16 => schema::integer(i16::MIN.into(), i16::MAX.into()),
        Type::U16 => schema::integer(0, u16::MAX.into()),
        Type::S32 => schema::integer(i32::MIN.into(), i32::MAX.into()),
        Type::U32 => schema::integer(0, u32::MAX.into()),
        Type::S64 => schema::wide_integer(true),
        Type::U64 => schema::wide_integer(false),
        Type::Float32 | Type::Float64 => schema::float(),
        Type::Char => json!({ "type": "string", "minLength": 1, "maxLength": 2 }),
        Type::String => json!({ "type": "string" }),
        Type::List(list) => array(schema(&list.ty())),
        Type::FixedLengthList(list) => {
            json!({ "type": "array", "items": schema(&list.ty()), "minItems": list.len(), "maxItems": list.len() })
        }
        Type::Map(map) => tuple(vec![schema(&map.key()), schema(&map.value())], array),
        Type::Record(record) => {
            let required = record.fields().filter(|field| !matches!(field.ty, Type::Option(_)));
            let required = required.map(|field| field.name.to_owned()).collect();
            let properties = record.fields().map(|field| (field.name.to_owned(), schema(&field.ty))).collect();
            schema::object(properties, required).into()
        }
        Type::Tuple(types) => tuple(types.types().map(|one| schema(&one)).collect(), |whole| whole),
        Type::Variant(variant) => {
            let cases = variant.cases().map(|case| match &case.ty {
                None => json!({ "const": case.name }),
                Some(one) => single(case.name, schema(one)),
            });
            json!({ "anyOf": Value::from_iter(cases) })
        }
        Type::Enum(names) => json!({ "enum": Value::from_iter(names.names()) }),
        Type::Option(option) => json!({ "anyOf": [schema(&option.ty()), { "type": "null" }] }),
        Type::Result(result) => {
            let case = |name: &str, one: Option<Type>| single(name, one.as_ref().map_or_else(null, schema));
            json!({ "anyOf": [case("ok", result.ok()), case("err", result.err())] })
        }
        Type::Flags(flags) => array(json!({ "enum": Value::from_iter(flags.names()) })),
        // Functions with these are not offered.
        Type::Own(_) | Type::Borrow(_) | Type::Future(_) | Type::Stream(_) | Type::ErrorContext => json!(false),
    }
}

fn tuple(items: Vec<Value>, wrap: impl Fn(Value) -> Value) -> Value {
    let len = items.len();
    wrap(json!({ "type": "array", "prefixItems": items, "minItems": len, "maxItems": len }))
}

fn single(name: &str, inner: Value) -> Value {
    schema::object(Map::from_iter([(name.to_owned(), inner)]), vec![name.into()]).into()
}

/// The type as WIT writes it; what has a name there is shown by its parts.
pub(crate) fn name(one: &Type) -> String {
    let names = |types: &mut dyn Iterator<Item = String>| types.collect::<Vec<_>>().join(", ");
    match one {
        Type::List(list) => format!("list<{}>", name(&list.ty())),
        Type::FixedLengthList(list) => format!("list<{}, {}>", name(&list.ty()), list.len()),
        Type::Map(map) => format!("map<{}, {}>", name(&map.key()), name(&map.value())),
        Type::Record(record) => {
            let fields = names(&mut record.fields().map(|field| format!("{}: {}", field.name, name(&field.ty))));
            format!("record {{ {fields} }}")
        }
        Type::Tuple(tuple) => format!("tuple<{}>", names(&mut tuple.types().map(|one| name(&one)))),
        Type::Variant(variant) => {
            let cases = names(&mut variant.cases().map(|case| match &case.ty {
                None => case.name.to_owned(),
                Some(one) => format!("{}({})", case.name, name(one)),
            }));
            format!("variant {{ {cases} }}")
        }
        Type::Enum(cases) => format!("enum {{ {} }}", names(&mut cases.names().map(str::to_owned))),
        Type::Flags(flags) => format!("flags {{ {} }}", names(&mut flags.names().map(str::to_owned))),
        Type::Option(option) => format!("option<{}>", name(&option.ty())),
        Type::Result(result) => match (result.ok(), result.err()) {
            (None, None) => "result".into(),
            (Some(ok), None) => format!("result<{}>", name(&ok)),
            (ok, Some(err)) => {
                format!("result<{}, {}>", ok.as_ref().map_or_else(|| "_".into(), name), name(&err))
            }
        },
        Type::Float32 => "f32".into(),
        Type::Float64 => "f64".into(),
        plain => format!("{plain:?}").to_lowercase(),
    }
}
