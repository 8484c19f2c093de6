//! The OpenRPC document is one, and its examples are what it says.

use jsonschema::{Draft, Registry, Validator};
use roost_rpc::openrpc::generate;
use roost_rpc::{Method, PROTOCOL_VERSION};
use serde_json::{Value, json};

const META: &str = include_str!("../fixtures/openrpc/openrpc-meta-schema.json");
const JSON_SCHEMA_META: &str = include_str!("../fixtures/openrpc/json-schema-tools-meta-schema.json");
/// The meta-schema refers to the other one without the slash that its own id has.
const JSON_SCHEMA_META_IDS: [&str; 2] = ["https://meta.json-schema.tools", "https://meta.json-schema.tools/"];

fn openrpc() -> Value {
    generate(PROTOCOL_VERSION)
}

#[test]
fn the_document_satisfies_the_meta_schema() {
    let json_schema: Value = serde_json::from_str(JSON_SCHEMA_META).unwrap();
    let resources = JSON_SCHEMA_META_IDS.map(|id| (id, json_schema.clone()));
    let registry = Registry::new().draft(Draft::Draft7).extend(resources).unwrap().prepare().unwrap();
    let meta = serde_json::from_str(META).unwrap();
    let validator = jsonschema::options().with_draft(Draft::Draft7).with_registry(&registry).build(&meta).unwrap();
    let document = openrpc();
    let errors: Vec<_> =
        validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, [""; 0]);
    let mut wrong = document;
    wrong["methods"][0]["params"][0]["schema"]["type"] = json!("text");
    assert!(!validator.is_valid(&wrong), "the meta-schema does not look into the schemas");
}

/// The validator of a schema within the document.
fn validator(document: &Value, mut schema: Value) -> Validator {
    schema["components"] = document["components"].clone();
    jsonschema::options().with_draft(Draft::Draft7).build(&schema).unwrap()
}

#[test]
fn the_examples_satisfy_the_schemas_beside_them() {
    let document = openrpc();
    let methods = document["methods"].as_array().unwrap();
    assert_eq!(methods.len(), Method::ALL.len());
    for method in methods {
        let name = method["name"].as_str().unwrap();
        let example = &method["examples"][0];
        let given: Value = example["params"].as_array().unwrap().iter().map(named).collect();
        let params = method["params"].as_array().unwrap();
        let required = params.iter().filter(|param| param["required"] == true).map(|param| param["name"].clone());
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": required.collect::<Vec<_>>(),
            "properties": params.iter().map(schema_of).collect::<Value>(),
        });
        let satisfied = validator(&document, schema).validate(&given).map_err(|error| error.to_string());
        assert_eq!(satisfied, Ok(()), "the parameters of {name}: {given}");
        let result = &example["result"]["value"];
        let satisfied = validator(&document, method["result"]["schema"].clone()).validate(result);
        assert_eq!(satisfied.map_err(|error| error.to_string()), Ok(()), "the result of {name}: {result}");
    }
}

fn named(example: &Value) -> (String, Value) {
    (example["name"].as_str().unwrap().to_owned(), example["value"].clone())
}

fn schema_of(param: &Value) -> (String, Value) {
    (param["name"].as_str().unwrap().to_owned(), param["schema"].clone())
}

#[test]
fn a_parameter_that_must_be_there_is_required() {
    let document = openrpc();
    let method = |name: &str| {
        let methods = document["methods"].as_array().unwrap();
        methods.iter().find(|method| method["name"] == name).unwrap().clone()
    };
    let required = |name: &str| {
        let params = method(name)["params"].as_array().unwrap().clone();
        let required = params.into_iter().filter(|param| param["required"] == true);
        required.map(|param| param["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(required("permission/respond"), ["tool_use_id", "decision"]);
    assert_eq!(required("session/start"), [""; 0]);
    assert_eq!(method("session/send")["x-scope"], "operate");
    assert_eq!(method("session/send")["x-cost"], "start");
    assert_eq!(method("session/send")["tags"][0]["name"], "session");
}

#[test]
fn every_reference_leads_somewhere() {
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(object) => {
                found.extend(object.get("$ref").and_then(Value::as_str));
                object.values().for_each(|value| references(value, found));
            }
            Value::Array(array) => array.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let document = openrpc();
    let mut found = Vec::new();
    references(&document, &mut found);
    let lost = found.into_iter().filter(|to| document.pointer(to.trim_start_matches('#')).is_none());
    assert_eq!(lost.collect::<Vec<_>>(), [""; 0]);
}
