//! Components: schemas and values as WIT types them.

use roost_wasm::abi::Abi;
use roost_wasm::outcome::FailureKind;
use serde_json::json;

use crate::kit::{Stage, failure, input_property, object, refusal, result, tool_names};

/// A component whose functions give their argument back; the core module copies nothing, because what it is passed lies in
/// its own memory.
pub(crate) fn identity(definitions: &str, value_type: &str, core_parameters: &str, body: &str) -> String {
    format!(
        r#"(component
        (core module $m
            (memory (export "memory") 2)
            (global $next (mut i32) (i32.const 1024))
            (func (export "realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
                (local $start i32)
                (local.set $start (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
                (global.set $next (i32.add (local.get $start) (local.get $size)))
                (local.get $start))
            (func (export "same") {core_parameters} {body})
        )
        (core instance $i (instantiate $m))
        {definitions}
        (func (export "same") (param "value" {value_type}) (result {value_type})
            (canon lift (core func $i "same") (memory $i "memory") (realloc (func $i "realloc"))))
    )"#
    )
}

/// The body of a function that stores two flat values and returns where.
pub(crate) const STORE_TWO: &str =
    "(i32.store (i32.const 16) (local.get 0)) (i32.store (i32.const 20) (local.get 1)) (i32.const 16)";
pub(crate) const TWO: &str = "(param i32 i32) (result i32)";

#[tokio::test]
async fn strings_and_lists_pass_and_their_schemas_say_so() {
    let stage = Stage::new();
    let service = stage.load(identity("", "string", TWO, STORE_TWO)).await;
    assert_eq!(service.abi(), Abi::Component);
    assert_eq!(tool_names(&service)[2..], ["fn__same"]);
    assert_eq!(input_property(&service, "fn__same", "value"), json!({ "type": "string" }));
    assert_eq!(result(&service, "fn__same", json!({ "value": "añ😀" })).await, json!("añ😀"));
    assert_eq!(result(&service, "fn__same", json!({ "args": ["x"] })).await, json!("x"));
    assert_eq!(refusal(&service, "fn__same", json!({ "value": 1 })).await, "value: expected a string, not 1");

    let service = stage.load(identity("", "(list u16)", TWO, STORE_TWO)).await;
    assert_eq!(result(&service, "fn__same", json!({ "value": [1, 65_535] })).await, json!([1, 65_535]));
    assert_eq!(
        refusal(&service, "fn__same", json!({ "value": [1, 65_536] })).await,
        "value: [1]: 65536 does not fit into u16"
    );
}

#[tokio::test]
async fn integers_floats_and_characters_keep_their_bounds() {
    let stage = Stage::new();
    for (value_type, core, accepted, refused) in [
        ("u64", "(param i64) (result i64)", vec![json!(5), json!("18446744073709551615")], vec![json!(-1), json!("x")]),
        (
            "s64",
            "(param i64) (result i64)",
            vec![json!("-9223372036854775808")],
            vec![json!(9_223_372_036_854_775_808_u64)],
        ),
        ("s8", "(param i32) (result i32)", vec![json!(-128), json!(127)], vec![json!(128), json!(1.5)]),
        ("float64", "(param f64) (result f64)", vec![json!(0.5), json!("NaN"), json!("Infinity")], vec![json!("nan")]),
        ("char", "(param i32) (result i32)", vec![json!("😀")], vec![json!(""), json!("ab"), json!(1)]),
        ("bool", "(param i32) (result i32)", vec![json!(true), json!(false)], vec![json!(1), json!("true")]),
    ] {
        let value_type = if value_type == "float64" { "f64" } else { value_type };
        let service = stage.load(identity("", value_type, core, "local.get 0")).await;
        for value in accepted {
            assert_eq!(result(&service, "fn__same", json!({ "value": value })).await, value, "{value_type}");
        }
        for value in refused {
            refusal(&service, "fn__same", json!({ "value": value })).await;
        }
    }
}

#[tokio::test]
async fn records_variants_enums_flags_and_options_pass() {
    let stage = Stage::new();
    let store = |values: &[&str]| -> String {
        let stores = values.iter().enumerate();
        let stores: String = stores
            .map(|(at, size)| format!("(i32.store{size} (i32.const {}) (local.get {at})) ", 16 + at * 4))
            .collect();
        stores + "(i32.const 16)"
    };
    let record = r#"(type $t' (record (field "x" u32) (field "y" u32))) (export $t "t" (type $t'))"#;
    let service = stage.load(identity(record, "$t", TWO, STORE_TWO)).await;
    let point = json!({ "x": 1, "y": 2 });
    assert_eq!(result(&service, "fn__same", json!({ "value": point })).await, point);
    assert_eq!(
        refusal(&service, "fn__same", json!({ "value": { "x": 1 } })).await,
        "value: .y: expected an integer, not null"
    );
    assert_eq!(
        refusal(&service, "fn__same", json!({ "value": { "x": 1, "y": 2, "z": 3 } })).await,
        "value: there is no field \"z\""
    );

    let variant = r#"(type $t' (variant (case "none") (case "some" u32))) (export $t "t" (type $t'))"#;
    let service = stage.load(identity(variant, "$t", TWO, &store(&["8", ""]))).await;
    for value in [json!("none"), json!({ "some": 7 })] {
        assert_eq!(result(&service, "fn__same", json!({ "value": value })).await, value);
    }
    for value in [json!("some"), json!({ "none": 1 }), json!("other"), json!({})] {
        refusal(&service, "fn__same", json!({ "value": value })).await;
    }

    let one = "(param i32) (result i32)";
    let cases = r#"(type $t' (enum "red" "green")) (export $t "t" (type $t'))"#;
    let service = stage.load(identity(cases, "$t", one, "local.get 0")).await;
    assert_eq!(input_property(&service, "fn__same", "value"), json!({ "enum": ["red", "green"] }));
    assert_eq!(result(&service, "fn__same", json!({ "value": "green" })).await, json!("green"));
    refusal(&service, "fn__same", json!({ "value": "blue" })).await;

    let flags = r#"(type $t' (flags "read" "write")) (export $t "t" (type $t'))"#;
    let service = stage.load(identity(flags, "$t", one, "local.get 0")).await;
    assert_eq!(result(&service, "fn__same", json!({ "value": ["write"] })).await, json!(["write"]));
    refusal(&service, "fn__same", json!({ "value": ["fly"] })).await;

    let service = stage.load(identity("", "(option u32)", TWO, &store(&["8", ""]))).await;
    for value in [json!(null), json!(3)] {
        assert_eq!(result(&service, "fn__same", json!({ "value": value })).await, value);
    }
    assert_eq!(result(&service, "fn__same", json!({})).await, json!(null));
}

#[tokio::test]
async fn the_error_of_a_result_is_an_error_of_the_tool() {
    let stage = Stage::new();
    let service = stage
        .load(
            r#"(component
            (core module $m
                (memory (export "memory") 1)
                (data (i32.const 100) "no luck")
                (func (export "try") (param i32) (result i32)
                    (if (local.get 0)
                        (then (i32.store8 (i32.const 16) (i32.const 0)) (i32.store (i32.const 20) (i32.const 42)))
                        (else (i32.store8 (i32.const 16) (i32.const 1)) (i32.store (i32.const 20) (i32.const 100))
                            (i32.store (i32.const 24) (i32.const 7))))
                    (i32.const 16)))
            (core instance $i (instantiate $m))
            (func (export "try") (param "works" bool) (result (result u32 (error string)))
                (canon lift (core func $i "try") (memory $i "memory")))
        )"#,
        )
        .await;
    assert_eq!(result(&service, "fn__try", json!({ "works": true })).await, json!(42));
    let failed = failure(&service, "fn__try", json!({ "works": false })).await;
    assert_eq!((failed.kind, failed.message.as_str()), (FailureKind::Returned, "no luck"));
    let tool = service.tools().iter().find(|tool| tool.name == "fn__try").unwrap();
    assert_eq!(tool.description, "try: func(works: bool) -> result<u32, string>");
    let integer = json!({ "type": "integer", "minimum": 0, "maximum": 4_294_967_295_u64 });
    assert_eq!(tool.output_schema["properties"], json!({ "result": integer }));
}

#[tokio::test]
async fn functions_of_interfaces_have_short_names_unless_two_share_one() {
    let stage = Stage::new();
    let service = stage
        .load(
            r#"(component
            (core module $m (func (export "f") (result i32) i32.const 1) (func (export "g") (result i32) i32.const 2))
            (core instance $i (instantiate $m))
            (func $f (result u32) (canon lift (core func $i "f")))
            (func $g (result u32) (canon lift (core func $i "g")))
            (instance $one (export "get" (func $f)) (export "only" (func $g)))
            (instance $other (export "get" (func $g)))
            (export "demo:x/one@1.0.0" (instance $one))
            (export "demo:x/other@1.0.0" (instance $other))
        )"#,
        )
        .await;
    let names = tool_names(&service);
    assert!(names.contains(&"fn__only"), "{names:?}");
    let find = |part: &str| names.iter().find(|name| name.contains(part)).copied().unwrap();
    assert_eq!(result(&service, find("one_1_0_0_get"), json!({})).await, json!(1));
    assert_eq!(result(&service, find("other_1_0_0_get"), json!({})).await, json!(2));
}

#[tokio::test]
async fn functions_with_resources_are_left_out_and_named() {
    let stage = Stage::new();
    let service = stage
        .load(
            r#"(component
            (type $r' (resource (rep i32)))
            (export $r "r" (type $r'))
            (core func $new (canon resource.new $r'))
            (core module $m
                (import "" "new" (func $new (param i32) (result i32)))
                (func (export "make") (result i32) (call $new (i32.const 1)))
                (func (export "plain") (result i32) i32.const 5))
            (core instance $i (instantiate $m (with "" (instance (export "new" (func $new))))))
            (func (export "make") (result (own $r)) (canon lift (core func $i "make")))
            (func (export "plain") (result u32) (canon lift (core func $i "plain")))
        )"#,
        )
        .await;
    assert_eq!(tool_names(&service)[2..], ["fn__plain"]);
    let described = service.call("describe_service", &object(json!({})), service.limits()).await.unwrap();
    let unsupported = described.outcome.unwrap().structured["unsupportedExports"].clone();
    assert_eq!(
        unsupported,
        json!([{ "export": "make", "reason": "it passes resources, which live in one instance only" }])
    );
}

#[tokio::test]
async fn a_component_that_returns_too_much_is_refused() {
    let stage = Stage::new();
    // A hundred thousand strings that are all the same hundred bytes.
    let service = stage
        .load(
            r#"(component
            (core module $m
                (memory (export "memory") 16)
                (func (export "many") (result i32)
                    (local $at i32)
                    (loop $more
                        (i32.store (i32.add (i32.const 1024) (i32.mul (local.get $at) (i32.const 8))) (i32.const 0))
                        (i32.store (i32.add (i32.const 1028) (i32.mul (local.get $at) (i32.const 8))) (i32.const 100))
                        (local.set $at (i32.add (local.get $at) (i32.const 1)))
                        (br_if $more (i32.lt_u (local.get $at) (i32.const 100000))))
                    (i32.store (i32.const 512) (i32.const 1024))
                    (i32.store (i32.const 516) (i32.const 100000))
                    (i32.const 512)))
            (core instance $i (instantiate $m))
            (func (export "many") (result (list string)) (canon lift (core func $i "many") (memory $i "memory")))
        )"#,
        )
        .await;
    let failed = failure(&service, "fn__many", json!({})).await;
    assert!(failed.kind.is_fault(), "{failed}");
    assert_eq!(failed.kind, FailureKind::OutputTooLarge, "{failed}");
}
