//! What modules print is in the log of their service, with a bound.

use serde_json::json;

use crate::kit::{Stage, result};

#[tokio::test]
async fn what_a_module_prints_is_in_the_log_of_its_service() {
    let stage = Stage::new();
    let service = stage
        .load_clarity(
            r#"(module
            (import "env" "print_string" (func $print (param i32)))
            (import "env" "print_no_newline" (func $stream (param i32)))
            (import "env" "print_int" (func $int (param i64)))
            (import "env" "print_float" (func $float (param f64)))
            (import "env" "log_warn" (func $warn (param i32)))
            (memory (export "memory") 1)
            (func (export "greet") (param i32)
                (call $print (local.get 0)) (call $stream (local.get 0)) (call $stream (local.get 0))
                (call $int (i64.const 7)) (call $float (f64.const 1)) (call $warn (local.get 0)))
        )"#,
            "function greet(name: String) -> Unit { x }",
        )
        .await;
    result(&service, "fn__greet", json!({ "name": "hi" })).await;
    assert_eq!(stage.log_texts(), ["hi", "7", "1", "hi", "hihi"]);
}

#[tokio::test]
async fn a_module_that_prints_without_end_fills_neither_memory_nor_log() {
    let stage = Stage::new();
    let service = stage
        .load(
            r#"(module
            (import "env" "print_int" (func $int (param i64)))
            (func (export "chatter") (local $at i64)
                (loop $more
                    (call $int (local.get $at))
                    (local.set $at (i64.add (local.get $at) (i64.const 1)))
                    (br_if $more (i64.lt_u (local.get $at) (i64.const 10000)))))
        )"#,
        )
        .await;
    result(&service, "fn__chatter", json!({})).await;
    let lines = stage.log_texts();
    assert_eq!(lines.len(), 501);
    assert_eq!(lines[500], "9500 more lines of this call were left out");
}

#[tokio::test]
async fn arguments_are_not_in_the_log() {
    let stage = Stage::new();
    let service = stage.load(r#"(module (func (export "f") (param i64) unreachable))"#).await;
    let arguments = crate::kit::object(json!({ "a0": "424242" }));
    let report = service.call("fn__f", &arguments, service.limits()).await.unwrap();
    assert!(!report.outcome.unwrap_err().to_string().contains("424242"));
    assert_eq!(stage.log_texts(), [] as [&str; 0]);
}
