//! Types as people write them: `Int64`, `List<String>`, `Option<T>`, `Result<T, E>`, `{ name: T }`, and names of records.

use std::collections::BTreeMap;

use serde_json::Value;

use super::value_type::ValueType;

/// Types may be nested this deeply.
const MAX_DEPTH: usize = 32;

/// What the types of one signature may cost together.
pub(crate) const SIGNATURE_BUDGET: usize = 32 << 10;
/// What each type costs; the name of a field costs its length on top.
const TYPE_COST: usize = 32;

/// Records by the names that a source gives them, as they are written.
pub(crate) type NamedTypes<'a> = BTreeMap<&'a str, &'a str>;

/// Bounds what types may cost when all names of records are written out: a record of four fields that name the next such
/// record makes four times as many types with each line.
#[derive(Debug)]
pub(crate) struct TypeBudget {
    left: usize,
    is_exceeded: bool,
}

impl TypeBudget {
    pub(crate) fn new(left: usize) -> Self {
        Self { left, is_exceeded: false }
    }

    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Whether a type was refused because it cost more than was left.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }

    fn spend(&mut self, cost: usize) -> Option<()> {
        let left = self.left.checked_sub(cost);
        self.is_exceeded |= left.is_none();
        self.left = left.unwrap_or_default();
        left.map(drop)
    }
}

/// Reads a type; `None` if it is not one that we know, such as a union or a map, or costs more than is left.
pub(crate) fn parse<'a>(text: &'a str, named: &NamedTypes<'a>, budget: &mut TypeBudget) -> Option<ValueType> {
    let mut reader = TypeReader { rest: text, named, budget, depth: 0 };
    let parsed = reader.value_type()?;
    reader.rest.trim().is_empty().then_some(parsed)
}

/// Reads a type in which no record has a name.
pub(crate) fn parse_unnamed(text: &str, budget: &mut TypeBudget) -> Option<ValueType> {
    parse(text, &NamedTypes::new(), budget)
}

/// Reads a type as clients send it: as people write it, or as an object with its `kind`.
pub(crate) fn from_json(value: &Value) -> Option<ValueType> {
    from_json_at(value, 0, &mut TypeBudget::new(SIGNATURE_BUDGET))
}

fn from_json_at(value: &Value, depth: usize, budget: &mut TypeBudget) -> Option<ValueType> {
    if depth > MAX_DEPTH {
        return None;
    }
    let Value::Object(object) = value else { return parse_unnamed(value.as_str()?, budget) };
    let mut inner = |key: &str| from_json_at(object.get(key)?, depth + 1, budget).map(Box::new);
    match object.get("kind")?.as_str()? {
        "List" => Some(ValueType::List(inner("element")?)),
        "Option" => Some(ValueType::Option(inner("inner")?)),
        "Result" => Some(ValueType::Result(inner("ok")?, inner("err")?)),
        "Record" => {
            let mut field =
                |name: &str, field: &Value| Some((name.to_owned(), from_json_at(field, depth + 1, budget)?));
            let fields = match object.get("fields")? {
                Value::Object(fields) => fields.iter().map(|(name, one)| field(name, one)).collect(),
                Value::Array(fields) => {
                    let mut named = |one: &Value| field(one.get("name")?.as_str()?, one.get("type")?);
                    fields.iter().map(&mut named).collect()
                }
                _ => None,
            };
            fields.map(ValueType::Record)
        }
        plain => parse_unnamed(plain, budget),
    }
}

struct TypeReader<'a, 'b> {
    rest: &'a str,
    named: &'b NamedTypes<'a>,
    budget: &'b mut TypeBudget,
    depth: usize,
}

impl<'a> TypeReader<'a, '_> {
    fn value_type(&mut self) -> Option<ValueType> {
        self.budget.spend(TYPE_COST)?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let parsed = if self.take('{') { self.record() } else { self.plain_type() };
        self.depth -= 1;
        parsed
    }

    fn record(&mut self) -> Option<ValueType> {
        let mut fields = Vec::new();
        while !self.take('}') {
            let name = self.word()?.to_owned();
            self.budget.spend(name.len())?;
            self.take(':').then_some(())?;
            fields.push((name, self.value_type()?));
            // The last comma may be left out.
            let _ = self.take(',');
        }
        Some(ValueType::Record(fields))
    }

    fn plain_type(&mut self) -> Option<ValueType> {
        let plain = match self.word()? {
            "Int64" | "Int" => ValueType::Int64,
            "Int32" => ValueType::Int32,
            "Float64" | "Float" => ValueType::Float64,
            "Float32" => ValueType::Float32,
            "Bool" => ValueType::Bool,
            "Timestamp" => ValueType::Timestamp,
            "String" => ValueType::String,
            "Bytes" => ValueType::Bytes,
            "Unit" => ValueType::Unit,
            "List" => ValueType::List(self.type_argument()?.into()),
            "Option" => ValueType::Option(self.type_argument()?.into()),
            "Result" => {
                let (ok, err) = self.type_pair()?;
                ValueType::Result(ok.into(), err.into())
            }
            name => {
                // A record that contains itself ends at the greatest depth.
                let text = self.named.get(name)?;
                let mut inner =
                    TypeReader { rest: text, named: self.named, budget: &mut *self.budget, depth: self.depth };
                inner.value_type().filter(|_| inner.rest.trim().is_empty())?
            }
        };
        Some(plain)
    }

    fn type_argument(&mut self) -> Option<ValueType> {
        self.take('<').then_some(())?;
        let inner = self.value_type()?;
        self.take('>').then_some(inner)
    }

    fn type_pair(&mut self) -> Option<(ValueType, ValueType)> {
        self.take('<').then_some(())?;
        let first = self.value_type()?;
        self.take(',').then_some(())?;
        let second = self.value_type()?;
        self.take('>').then_some((first, second))
    }

    fn take(&mut self, wanted: char) -> bool {
        match self.rest.trim_start().strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> Option<&'a str> {
        let text = self.rest.trim_start();
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_read_as_they_are_written() {
        let named = NamedTypes::from([("Point", "{ x: Float64, y: Float64 }"), ("Loop", "{ next: Option<Loop> }")]);
        for (text, expected) in [
            ("Int64", Some("Int64")),
            (" List< Option<String> > ", Some("List<Option<String>>")),
            ("Result<List<Int64>, String>", Some("Result<List<Int64>, String>")),
            ("{ a: Int64, b: Bool, }", Some("{ a: Int64, b: Bool }")),
            ("List<Point>", Some("List<{ x: Float64, y: Float64 }>")),
            ("Map<String, Int64>", None),
            ("Loop", None),
            ("List<Int64", None),
            ("Int64 x", None),
            ("", None),
        ] {
            let parsed = parse(text, &named, &mut TypeBudget::new(SIGNATURE_BUDGET)).map(|one| one.to_string());
            assert_eq!(parsed.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn types_of_clients_are_read_as_objects() {
        for (value, expected) in [
            (json!("Bool"), Some("Bool")),
            (json!({ "kind": "Int64" }), Some("Int64")),
            (json!({ "kind": "List", "element": { "kind": "String" } }), Some("List<String>")),
            (json!({ "kind": "Result", "ok": "Int64", "err": "String" }), Some("Result<Int64, String>")),
            (json!({ "kind": "Record", "fields": { "a": "Int64" } }), Some("{ a: Int64 }")),
            (json!({ "kind": "Record", "fields": [{ "name": "a", "type": "Int64" }] }), Some("{ a: Int64 }")),
            (json!({ "kind": "List" }), None),
            (json!(3), None),
        ] {
            assert_eq!(from_json(&value).map(|one| one.to_string()).as_deref(), expected, "{value}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_fail(text in "[A-Za-z<>{},: ]{0,60}") {
            let _ = parse_unnamed(&text, &mut TypeBudget::new(SIGNATURE_BUDGET));
        }
    }
}
