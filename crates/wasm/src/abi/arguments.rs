//! The arguments of a call in the order of the function's parameters: by name, or in a list as Clarity's clients send them.

use serde_json::{Map, Value, json};

use crate::schema;

/// The member that holds all arguments in order.
const POSITIONAL: &str = "args";
/// Members that clients of Clarity send beside [`POSITIONAL`]: the types that they assume.
pub(crate) const ARGUMENT_TYPES: &str = "argTypes";
pub(crate) const RESULT_TYPE: &str = "resultType";

/// A parameter as far as finding its argument goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParameterName<'a> {
    pub(crate) name: &'a str,
    pub(crate) optional: bool,
}

/// The schema of arguments: by name, or all in order. It requires none, because a client that checks arguments would refuse
/// the one form for lack of the other's; a choice of two schemas (`anyOf`) at the top is refused by APIs of models.
pub(crate) fn input_schema(parameters: Vec<(ParameterName<'_>, Value)>) -> Map<String, Value> {
    let count = parameters.len();
    let takes_args = parameters.iter().any(|(parameter, _)| parameter.name == POSITIONAL);
    let required = parameters.iter().filter(|(parameter, _)| !parameter.optional);
    let required: Vec<_> = required.map(|(parameter, _)| parameter.name.to_owned()).collect();
    let mut properties: Map<_, _> =
        parameters.into_iter().map(|(parameter, schema)| (parameter.name.to_owned(), schema)).collect();
    let is_needed = if required.is_empty() {
        String::new()
    } else {
        format!(" Unless it is given, {} are required.", required.join(", "))
    };
    if !takes_args && count > 0 {
        let text = format!("All arguments in order, instead of naming them.{is_needed}");
        properties
            .insert(POSITIONAL.into(), json!({ "type": "array", "items": {}, "maxItems": count, "description": text }));
    }
    let mut schema = schema::object(properties, if takes_args { required } else { Vec::new() });
    // What clients of Clarity send beside them.
    schema.remove("additionalProperties");
    schema
}

/// One value for each parameter; `Null` for an optional one that is not given.
pub(crate) fn in_order<'a>(
    parameters: &[ParameterName<'_>],
    arguments: &'a Map<String, Value>,
) -> Result<Vec<&'a Value>, String> {
    let is_named = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
    if let Some(list) = arguments.get(POSITIONAL)
        && !is_named(POSITIONAL)
    {
        return positional(parameters, arguments, list);
    }
    let passes = |name: &str| is_named(name) || matches!(name, ARGUMENT_TYPES | RESULT_TYPE);
    if let Some(unknown) = arguments.keys().find(|name| !passes(name)) {
        let known: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(format!("there is no parameter \"{unknown}\"; its parameters: {known}"));
    }
    let find = |parameter: &ParameterName<'_>| match arguments.get(parameter.name) {
        Some(value) => Ok(value),
        None if parameter.optional => Ok(&Value::Null),
        None => Err(format!("\"{}\" is missing", parameter.name)),
    };
    parameters.iter().map(find).collect()
}

fn positional<'a>(
    parameters: &[ParameterName<'_>],
    arguments: &'a Map<String, Value>,
    list: &'a Value,
) -> Result<Vec<&'a Value>, String> {
    let Value::Array(values) = list else { return Err(format!("\"{POSITIONAL}\" must be a list of arguments")) };
    let beside = |name: &&String| !matches!(name.as_str(), POSITIONAL | ARGUMENT_TYPES | RESULT_TYPE);
    if let Some(other) = arguments.keys().find(beside) {
        return Err(format!("give the arguments either by name or in \"{POSITIONAL}\", not \"{other}\" beside it"));
    }
    let required = parameters.iter().rposition(|parameter| !parameter.optional).map_or(0, |last| last + 1);
    if values.len() < required || values.len() > parameters.len() {
        return Err(format!("it takes {} arguments, and {} were given", parameters.len(), values.len()));
    }
    Ok(values.iter().chain(std::iter::repeat(&Value::Null)).take(parameters.len()).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_come_by_name_or_in_order() {
        let parameters = [("a", false), ("b", false), ("c", true)];
        let parameters = parameters.map(|(name, optional)| ParameterName { name, optional });
        for (arguments, expected) in [
            (json!({ "b": 2, "a": 1 }), Ok(json!([1, 2, null]))),
            (json!({ "a": 1, "b": 2, "c": 3 }), Ok(json!([1, 2, 3]))),
            (json!({ "args": [1, 2] }), Ok(json!([1, 2, null]))),
            (json!({ "args": [1, 2, 3], "argTypes": [], "resultType": "Int64" }), Ok(json!([1, 2, 3]))),
            (json!({ "a": 1 }), Err("\"b\" is missing")),
            (json!({ "a": 1, "b": 2, "d": 3 }), Err("there is no parameter \"d\"; its parameters: a, b, c")),
            (json!({ "args": [1] }), Err("it takes 3 arguments, and 1 were given")),
            (json!({ "args": [1, 2, 3, 4] }), Err("it takes 3 arguments, and 4 were given")),
            (json!({ "args": "1" }), Err("\"args\" must be a list of arguments")),
            (
                json!({ "args": [1, 2], "a": 1 }),
                Err("give the arguments either by name or in \"args\", not \"a\" beside it"),
            ),
        ] {
            let ordered = in_order(&parameters, arguments.as_object().unwrap());
            let ordered = ordered.map(|values| values.into_iter().cloned().collect());
            assert_eq!(ordered, expected.map_err(str::to_owned), "{arguments}");
        }
    }

    #[test]
    fn a_parameter_may_be_named_args() {
        let parameters = [ParameterName { name: "args", optional: false }];
        let arguments = json!({ "args": "x" });
        assert_eq!(in_order(&parameters, arguments.as_object().unwrap()), Ok(vec![&json!("x")]));
    }
}
