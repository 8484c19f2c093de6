//! The types of a core module's functions: what the signature tells, or what its author wrote.

use std::fmt;

use serde_json::{Map, Value, json};
use wasmtime::ValType;

use super::arguments::{self, ParameterName};
use crate::schema;

/// The type of a parameter or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
    /// An i32 of which nothing more is known.
    Int32,
    Int64,
    Float32,
    Float64,
    Bool,
    /// Milliseconds since 1970 as an i64.
    Timestamp,
    String,
    Bytes,
    /// No value at all.
    Unit,
    List(Box<ValueType>),
    Record(Vec<(String, ValueType)>),
    Option(Box<ValueType>),
    Result(Box<ValueType>, Box<ValueType>),
}

/// A function's parameters and result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) parameters: Vec<Parameter>,
    /// One for each value that the function returns.
    pub(crate) results: Vec<ValueType>,
    pub(crate) description: Option<String>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) value_type: ValueType,
    pub(crate) description: Option<String>,
}

impl Signature {
    /// What the module itself tells; `None` if it uses types that JSON has nothing for.
    pub(crate) fn from_wasm(parameters: &[ValType], results: &[ValType]) -> Option<Self> {
        let numbered = parameters.iter().enumerate().map(|(at, wasm)| {
            let value_type = ValueType::from_wasm(wasm)?;
            Some(Parameter { name: format!("a{at}"), value_type, description: None })
        });
        let results = results.iter().map(ValueType::from_wasm).collect::<Option<_>>()?;
        Some(Self { parameters: numbered.collect::<Option<_>>()?, results, description: None })
    }

    /// Whether a function with this signature is compiled to these wasm types.
    pub(crate) fn fits(&self, parameters: &[ValType], results: &[ValType]) -> bool {
        let same = |declared: &mut dyn Iterator<Item = &ValueType>, actual: &[ValType]| {
            let mut actual = actual.iter();
            let values = declared.filter_map(ValueType::wasm);
            values.zip(actual.by_ref()).all(|(one, other)| ValType::eq(&one, other)) && actual.next().is_none()
        };
        let counted = |declared: &mut dyn Iterator<Item = &ValueType>| declared.filter_map(ValueType::wasm).count();
        let declared_parameters = || self.parameters.iter().map(|parameter| &parameter.value_type);
        counted(&mut declared_parameters()) == parameters.len()
            && counted(&mut self.results.iter()) == results.len()
            && same(&mut declared_parameters(), parameters)
            && same(&mut self.results.iter(), results)
    }

    /// The schema of the arguments.
    pub(crate) fn input_schema(&self) -> Map<String, Value> {
        let described = |parameter: &Parameter| {
            let mut schema = parameter.value_type.schema();
            if let (Some(text), Some(schema)) = (&parameter.description, schema.as_object_mut()) {
                schema.insert("description".into(), text.as_str().into());
            }
            schema
        };
        arguments::input_schema(self.parameters.iter().map(|one| (one.as_name(), described(one))).collect())
    }

    /// The schema of the result's value.
    pub(crate) fn result_schema(&self) -> Value {
        match self.results.as_slice() {
            [] => json!({ "type": "null" }),
            // The error of a result is an error of the tool.
            [ValueType::Result(ok, _)] => ok.schema(),
            [one] => one.schema(),
            many => {
                let items: Vec<_> = many.iter().map(ValueType::schema).collect();
                json!({ "type": "array", "prefixItems": items, "minItems": items.len(), "maxItems": items.len() })
            }
        }
    }
}

impl Parameter {
    pub(crate) fn as_name(&self) -> ParameterName<'_> {
        ParameterName { name: &self.name, optional: self.is_optional() }
    }

    pub(crate) fn is_optional(&self) -> bool {
        matches!(self.value_type, ValueType::Option(_))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.parameters.iter().map(|one| format!("{}: {}", one.name, one.value_type));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        match self.results.as_slice() {
            [] => write!(f, "({parameters}) -> Unit"),
            [one] => write!(f, "({parameters}) -> {one}"),
            many => {
                let results: Vec<_> = many.iter().map(ValueType::to_string).collect();
                write!(f, "({parameters}) -> ({})", results.join(", "))
            }
        }
    }
}

impl ValueType {
    fn from_wasm(wasm: &ValType) -> Option<Self> {
        match wasm {
            ValType::I32 => Some(Self::Int32),
            ValType::I64 => Some(Self::Int64),
            ValType::F32 => Some(Self::Float32),
            ValType::F64 => Some(Self::Float64),
            ValType::V128 | ValType::Ref(_) => None,
        }
    }

    /// How a value of the type is passed; `None` for no value. What does not fit into a number is a pointer.
    pub(crate) fn wasm(&self) -> Option<ValType> {
        match self {
            Self::Unit => None,
            Self::Int64 | Self::Timestamp => Some(ValType::I64),
            Self::Float32 => Some(ValType::F32),
            Self::Float64 => Some(ValType::F64),
            _ => Some(ValType::I32),
        }
    }

    /// The bytes that a value takes in a list, a record or an option.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Int64 | Self::Timestamp | Self::Float64 => 8,
            _ => 4,
        }
    }

    /// Whether values live in the module's memory.
    pub(crate) fn is_pointer(&self) -> bool {
        !matches!(
            self,
            Self::Int32 | Self::Int64 | Self::Float32 | Self::Float64 | Self::Bool | Self::Timestamp | Self::Unit
        )
    }

    /// The JSON schema of a value.
    pub(crate) fn schema(&self) -> Value {
        match self {
            // Wasm does not say whether it is signed.
            Self::Int32 => schema::integer(i32::MIN.into(), u32::MAX.into()),
            Self::Int64 | Self::Timestamp => schema::wide_integer(true),
            Self::Float32 | Self::Float64 => schema::float(),
            Self::Bool => json!({ "type": "boolean" }),
            Self::String => json!({ "type": "string" }),
            Self::Bytes => json!({ "type": "string", "contentEncoding": "base64" }),
            Self::Unit => json!({ "type": "null" }),
            Self::List(element) => json!({ "type": "array", "items": element.schema() }),
            Self::Record(fields) => {
                let required = fields.iter().filter(|(_, field)| !matches!(field, Self::Option(_)));
                let required = required.map(|(name, _)| name.clone()).collect();
                let properties = fields.iter().map(|(name, field)| (name.clone(), field.schema())).collect();
                schema::object(properties, required).into()
            }
            Self::Option(inner) => json!({ "anyOf": [inner.schema(), { "type": "null" }] }),
            Self::Result(ok, err) => {
                let case = |name: &str, inner: &Self| {
                    let properties = Map::from_iter([(name.to_owned(), inner.schema())]);
                    Value::from(schema::object(properties, vec![name.into()]))
                };
                json!({ "anyOf": [case("ok", ok), case("err", err)] })
            }
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(element) => write!(f, "List<{element}>"),
            Self::Option(inner) => write!(f, "Option<{inner}>"),
            Self::Result(ok, err) => write!(f, "Result<{ok}, {err}>"),
            Self::Record(fields) => {
                let fields: Vec<_> = fields.iter().map(|(name, field)| format!("{name}: {field}")).collect();
                write!(f, "{{ {} }}", fields.join(", "))
            }
            plain => write!(f, "{plain:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_fits_the_wasm_types_that_it_is_compiled_to() {
        let parameter = |value_type| Parameter { name: "p".into(), value_type, description: None };
        let declared = Signature {
            parameters: vec![parameter(ValueType::String), parameter(ValueType::Int64)],
            results: vec![ValueType::Bool],
            description: None,
        };
        let unit = Signature { parameters: vec![], results: vec![ValueType::Unit], description: None };
        use ValType::{F64, I32, I64};
        for (signature, parameters, results, fits) in [
            (&declared, &[I32, I64][..], &[I32][..], true),
            (&declared, &[I32, I64], &[], false),
            (&declared, &[I32], &[I32], false),
            (&declared, &[I32, F64], &[I32], false),
            (&unit, &[], &[], true),
            (&unit, &[], &[I32], false),
        ] {
            assert_eq!(signature.fits(parameters, results), fits, "{parameters:?} {results:?}");
        }
    }

    #[test]
    fn types_without_a_json_form_give_no_signature() {
        assert_eq!(Signature::from_wasm(&[ValType::V128], &[]), None);
        assert_eq!(Signature::from_wasm(&[], &[ValType::FUNCREF]), None);
        let plain = Signature::from_wasm(&[ValType::I32, ValType::F64], &[ValType::I64]).unwrap();
        assert_eq!(plain.to_string(), "(a0: Int32, a1: Float64) -> Int64");
    }
}
