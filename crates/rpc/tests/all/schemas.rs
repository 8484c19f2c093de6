//! The committed schemas are the generated ones.

use std::path::PathBuf;

use roost_rpc::{PROTOCOL_VERSION, openrpc, schema};
use testkit::committed::assert_all_committed;

#[test]
fn the_committed_schemas_are_the_generated_ones() {
    let schemas = schema::all().into_iter().map(|(name, schema)| (name, serde_json::to_value(schema).unwrap()));
    let generated = schemas.chain([("openrpc", openrpc::generate(PROTOCOL_VERSION))]);
    assert_all_committed(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("schemas"), generated);
}

#[test]
fn every_schema_is_a_valid_schema() {
    for (name, schema) in schema::all() {
        let schema = serde_json::to_value(schema).unwrap();
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
