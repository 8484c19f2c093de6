//! Plain exports: schemas from the real signature, numbers in and out.

use roost_wasm::abi::Abi;
use roost_wasm::tool::ToolAnnotations;
use serde_json::json;

use crate::kit::{Stage, call, failure, input_property, object, refusal, result, tool_names};

const MATH: &str = r#"(module
    (func (export "add") (param i64 i64) (result i64) local.get 0 local.get 1 i64.add)
    (func (export "add32") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add)
    (func (export "half") (param f64) (result f64) local.get 0 f64.const 2 f64.div)
    (func (export "single") (param f32) (result f32) local.get 0)
    (func (export "nothing"))
    (func (export "swap") (param i32 i64) (result i64 i32) local.get 1 local.get 0)
    (func (export "not a name") (result i32) i32.const 1)
    (func (export "vector") (param v128))
    (func (export "__hidden"))
    (global (export "counter") (mut i32) (i32.const 0))
    (func $count (export "count") (result i32)
        (global.set 0 (i32.add (global.get 0) (i32.const 1)))
        (global.get 0))
    (func (export "divide") (param i32 i32) (result i32) (drop (call $count)) local.get 0 local.get 1 i32.div_s)
)"#;

#[tokio::test]
async fn every_exported_function_is_a_tool_after_the_two_that_every_service_has() {
    let stage = Stage::new();
    let service = stage.load(MATH).await;
    assert_eq!(service.abi(), Abi::Core);
    let names = tool_names(&service);
    assert_eq!(names[..2], ["health_check", "describe_service"]);
    let functions: Vec<_> = names[2..].iter().filter(|name| !name.starts_with("fn__not_a_name_")).copied().collect();
    assert_eq!(
        functions,
        ["fn__add", "fn__add32", "fn__count", "fn__divide", "fn__half", "fn__nothing", "fn__single", "fn__swap"]
    );
    assert_eq!(names.len(), 11);
}

#[tokio::test]
async fn schemas_follow_from_the_signature() {
    let stage = Stage::new();
    let service = stage.load(MATH).await;
    let add = service.tools().iter().find(|tool| tool.name == "fn__add32").unwrap();
    let integer = json!({ "type": "integer", "minimum": -2_147_483_648_i64, "maximum": 4_294_967_295_u64 });
    // Neither form is required, so a client that checks arguments lets both pass.
    let args = json!({
        "type": "array", "items": {}, "maxItems": 2,
        "description": "All arguments in order, instead of naming them. Unless it is given, a0, a1 are required.",
    });
    let input = json!({ "type": "object", "properties": { "a0": integer, "a1": integer, "args": args } });
    assert_eq!(add.input_schema, object(input));
    let nothing = service.tools().iter().find(|tool| tool.name == "fn__nothing").unwrap();
    assert_eq!(nothing.input_schema, object(json!({ "type": "object", "properties": {} })));
    let output = json!({
        "type": "object", "properties": { "result": integer }, "required": ["result"], "additionalProperties": false,
    });
    assert_eq!(add.output_schema, object(output));
    assert_eq!(add.annotations, ToolAnnotations::PURE);
    assert_eq!(input_property(&service, "fn__half", "a0")["anyOf"][0], json!({ "type": "number" }));
}

#[tokio::test]
async fn functions_take_arguments_by_name_and_in_order() {
    let stage = Stage::new();
    let service = stage.load(MATH).await;
    for (tool, arguments, expected) in [
        ("fn__add", json!({ "a0": 2, "a1": 3 }), json!(5)),
        ("fn__add", json!({ "args": [2, 3] }), json!(5)),
        ("fn__add", json!({ "args": ["2", "3"], "argTypes": ["Int64", "Int64"], "resultType": "Int64" }), json!(5)),
        ("fn__add", json!({ "a0": "9223372036854775806", "a1": 1 }), json!("9223372036854775807")),
        ("fn__add", json!({ "a0": 9_007_199_254_740_991_i64, "a1": 1 }), json!("9007199254740992")),
        ("fn__add32", json!({ "a0": 4_294_967_295_u64, "a1": 0 }), json!(-1)),
        ("fn__add32", json!({ "a0": true, "a1": 1 }), json!(2)),
        ("fn__half", json!({ "a0": 3 }), json!(1.5)),
        ("fn__half", json!({ "a0": "NaN" }), json!("NaN")),
        ("fn__half", json!({ "a0": "-Infinity" }), json!("-Infinity")),
        ("fn__single", json!({ "a0": 0.5 }), json!(0.5)),
        ("fn__nothing", json!({}), json!(null)),
        ("fn__swap", json!({ "a0": 1, "a1": 2 }), json!([2, 1])),
    ] {
        assert_eq!(result(&service, tool, arguments.clone()).await, expected, "{tool} {arguments}");
    }
}

#[tokio::test]
async fn wrong_arguments_are_named_and_nothing_is_called() {
    let stage = Stage::new();
    let service = stage.load(MATH).await;
    for (tool, arguments, expected) in [
        ("fn__add", json!({ "a0": 1 }), "\"a1\" is missing"),
        ("fn__add", json!({ "args": [1] }), "it takes 2 arguments, and 1 were given"),
        ("fn__add", json!({ "args": [1, 2, 3] }), "it takes 2 arguments, and 3 were given"),
        ("fn__add", json!({ "a0": 1, "a1": 2, "x": 3 }), "there is no parameter \"x\"; its parameters: a0, a1"),
        ("fn__add", json!({ "a0": 1.5, "a1": 2 }), "a0: expected an integer, not 1.5"),
        ("fn__add", json!({ "a0": [], "a1": 2 }), "a0: expected an integer, not a list of 0"),
        (
            "fn__add",
            json!({ "a0": 18_446_744_073_709_551_615_u64, "a1": 2 }),
            "a0: 18446744073709551615 does not fit into 64 bits with a sign",
        ),
        (
            "fn__add",
            json!({ "a0": 1e20, "a1": 2 }),
            "a0: 1e+20 is beyond what a JSON number keeps; give its digits as a string",
        ),
        ("fn__add32", json!({ "a0": 4_294_967_296_u64, "a1": 2 }), "a0: 4294967296 does not fit into 32 bits"),
        ("fn__half", json!({ "a0": "abc" }), "a0: expected a number, not \"abc\""),
        ("fn__half", json!({ "a0": null }), "a0: expected a number, not null"),
        (
            "fn__add",
            json!({ "args": [1, 2], "argTypes": ["String", "Int64"] }),
            "(a0: String, a1: Int64) -> Int64 does not fit the function, which is (a0: Int64, a1: Int64) -> Int64",
        ),
    ] {
        assert_eq!(refusal(&service, tool, arguments.clone()).await, expected, "{tool} {arguments}");
    }
    let unknown = call(&service, "fn__none", json!({})).await.unwrap_err();
    assert_eq!(unknown.to_string(), "the service has no tool \"fn__none\"; tools/list names those it has");
}

#[tokio::test]
async fn every_call_gets_an_instance_of_its_own() {
    let stage = Stage::new();
    let service = stage.load(MATH).await;
    for _ in 0..3 {
        assert_eq!(result(&service, "fn__count", json!({})).await, json!(1));
    }
}

#[tokio::test]
async fn a_trap_is_an_error_of_the_tool_with_function_trap_and_fuel() {
    let stage = Stage::new();
    let service = stage.load(MATH).await;
    let failed = failure(&service, "fn__divide", json!({ "a0": 1, "a1": 0 })).await;
    assert_eq!(failed.function, "divide");
    assert!(failed.message.contains("divide by zero"), "{failed}");
    assert!(failed.fuel_used > 0 && failed.kind.is_fault(), "{failed:?}");
}

#[tokio::test]
async fn a_service_is_described_and_checked_by_its_own_tools() {
    let stage = Stage::new();
    let service = stage.load(MATH).await;
    let health = call(&service, "health_check", json!({})).await.unwrap().outcome.unwrap();
    assert_eq!(health.structured, object(json!({ "status": "ok", "functions": 9 })));
    let described = call(&service, "describe_service", json!({})).await.unwrap().outcome.unwrap().structured;
    let verbose = call(&service, "health_check", json!({ "verbose": true })).await.unwrap().outcome.unwrap();
    assert_eq!(verbose.structured, object(json!({ "status": "ok", "functions": 9, "service": described })));
    assert_eq!(described["abi"], "core");
    assert_eq!(described["artifactSha256"], service.artifact_sha256());
    assert_eq!(described["entry"], json!({ "name": "mcp_main", "exported": false }));
    assert_eq!(
        described["unsupportedExports"],
        json!([{ "export": "vector", "reason": "it passes vectors or references" }])
    );
}

#[tokio::test]
async fn names_types_and_descriptions_come_from_a_file_beside_the_module() {
    let stage = Stage::new();
    let declaration = stage.declare(MATH);
    let sidecar = json!({ "functions": { "add": {
        "description": "Adds.",
        "params": [{ "name": "left", "type": "Int64", "description": "The first." }, { "name": "right", "type": "Int64" }],
        "result": "Int64",
    } } });
    std::fs::write(stage.path("module.tools.json"), sidecar.to_string()).unwrap();
    let service = stage.try_load(&declaration).await.unwrap();
    assert_eq!(result(&service, "fn__add", json!({ "left": 1, "right": 2 })).await, json!(3));
    assert_eq!(input_property(&service, "fn__add", "left")["description"], "The first.");
    let tool = service.tools().iter().find(|tool| tool.name == "fn__add").unwrap();
    assert_eq!(tool.description, "Adds.\n\nadd(left: Int64, right: Int64) -> Int64");
}

#[tokio::test]
async fn a_module_that_prepares_itself_is_prepared_before_each_call() {
    let stage = Stage::new();
    let service = stage
        .load(
            r#"(module
            (global $ready (mut i32) (i32.const 0))
            (func (export "_initialize") (global.set $ready (i32.const 7)))
            (func (export "ready") (result i32) global.get $ready)
        )"#,
        )
        .await;
    assert_eq!(tool_names(&service)[2..], ["fn__ready"]);
    assert_eq!(result(&service, "fn__ready", json!({})).await, json!(7));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_run_side_by_side_on_tasks_of_their_own() {
    let stage = Stage::new();
    let service = stage.load(MATH).await;
    let calls: Vec<_> = (0..60)
        .map(|number| {
            let service = service.clone();
            tokio::spawn(async move { result(&service, "fn__add", json!({ "args": [number, 1] })).await })
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), json!(number + 1));
    }
}
