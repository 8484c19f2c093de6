//! What a call may take, and that nobody else pays when one takes too much.

use std::time::{Duration, Instant};

use roost_model::service::wasm::WasmLimits;
use roost_wasm::outcome::FailureKind;
use roost_wasm::{CallError, Limits, WasmService};
use serde_json::{Value, json};

use crate::kit::{Stage, call, failure, object, result};

const GREEDY: &str = r#"(module
    (memory (export "memory") 1)
    (table (export "table") 1 funcref)
    (func $forever (export "forever") (loop br 0))
    (func (export "grow") (param i32) (result i32) local.get 0 memory.grow)
    (func (export "grow_table") (param i32) (result i32) ref.null func local.get 0 table.grow 0)
    (func $deep (export "deep") (param i64) (result i64)
        local.get 0 i64.const 1 i64.add call $deep i64.const 1 i64.add)
    (func (export "add") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add)
    (func (export "bomb") (result i32)
        (loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
        i32.const 0)
)"#;

async fn with_limits(stage: &Stage, limits: WasmLimits) -> WasmService {
    let mut declaration = stage.declare(GREEDY);
    declaration.limits = limits;
    stage.try_load(&declaration).await.unwrap()
}

#[tokio::test]
async fn an_endless_loop_ends_when_its_fuel_is_used_up() {
    let stage = Stage::new();
    let service = with_limits(&stage, WasmLimits { fuel: Some(1_000_000), ..WasmLimits::default() }).await;
    let failed = failure(&service, "fn__forever", json!({})).await;
    assert_eq!((failed.kind, failed.fuel_used), (FailureKind::OutOfFuel, 1_000_000));
    assert_eq!(failed.message, "it used up its fuel; raise limits.fuel in its manifest in forever");
}

#[tokio::test]
async fn an_endless_loop_ends_when_its_time_is_up() {
    let stage = Stage::new();
    let limits = WasmLimits { fuel: Some(u64::MAX), timeout_ms: Some(500), ..WasmLimits::default() };
    let service = with_limits(&stage, limits).await;
    let failed = failure(&service, "fn__forever", json!({})).await;
    assert_eq!(failed.kind, FailureKind::Timeout);
    assert_eq!(failed.message, "it ran for longer than 500ms; raise limits.timeoutMs in its manifest");
    assert!(failed.fuel_used > 0, "{failed}");
}

#[tokio::test(flavor = "current_thread")]
async fn a_busy_module_lets_others_run_on_the_same_thread() {
    let stage = Stage::new();
    let limits = WasmLimits { fuel: Some(u64::MAX), timeout_ms: Some(2_000), ..WasmLimits::default() };
    let service = with_limits(&stage, limits).await;
    let busy = call(&service, "fn__forever", json!({}));
    let others = async {
        for _ in 0..20 {
            assert_eq!(result(&service, "fn__add", json!({ "args": [1, 2] })).await, json!(3));
        }
    };
    tokio::pin!(busy);
    tokio::select! {
        biased;
        ended = &mut busy => panic!("the loop ended before the others: {ended:?}"),
        () = others => {}
    }
}

#[tokio::test]
async fn a_caller_may_ask_for_less_than_a_service_has_and_not_for_more() {
    let stage = Stage::new();
    let service = with_limits(&stage, WasmLimits { fuel: Some(10_000), ..WasmLimits::default() }).await;
    for (asked, expected) in [(100, 100), (u64::MAX, 10_000)] {
        let limits = Limits { fuel: asked, ..Limits::default() };
        let report = service.call("fn__forever", &object(json!({})), &limits).await.unwrap();
        assert_eq!(report.fuel_used, expected);
    }
}

#[tokio::test]
async fn memory_and_tables_do_not_grow_beyond_their_limits() {
    let stage = Stage::new();
    let limits = WasmLimits { memory_bytes: Some(2 << 16), table_elements: Some(10), ..WasmLimits::default() };
    let service = with_limits(&stage, limits).await;
    assert_eq!(result(&service, "fn__grow", json!({ "a0": 1 })).await, json!(1));
    assert_eq!(result(&service, "fn__grow_table", json!({ "a0": 9 })).await, json!(1));
    for (tool, by) in [("fn__grow", 2), ("fn__grow_table", 10)] {
        let failed = failure(&service, tool, json!({ "a0": by })).await;
        assert_eq!(failed.kind, FailureKind::OutOfMemory, "{failed}");
    }
}

#[tokio::test]
async fn a_table_that_is_refused_is_given_once_the_manifest_asks_for_it_as_the_error_says() {
    let stage = Stage::new();
    let service = with_limits(&stage, WasmLimits::default()).await;
    let wanted = json!({ "a0": 500_000 });
    let failed = failure(&service, "fn__grow_table", wanted.clone()).await;
    assert!(failed.message.contains("raise limits.tableElements"), "{failed}");
    let service = with_limits(&stage, WasmLimits { table_elements: Some(600_000), ..WasmLimits::default() }).await;
    assert_eq!(result(&service, "fn__grow_table", wanted).await, json!(1));
}

#[tokio::test]
async fn a_memory_bomb_ends_at_its_limit() {
    let stage = Stage::new();
    let service = with_limits(&stage, WasmLimits::default()).await;
    let failed = failure(&service, "fn__bomb", json!({})).await;
    assert_eq!(failed.kind, FailureKind::OutOfMemory);
    assert!(failed.message.contains("and may have 67108864; raise limits.memoryBytes"), "{failed}");
}

#[tokio::test]
async fn deep_recursion_ends_with_the_stack() {
    let stage = Stage::new();
    let service = with_limits(&stage, WasmLimits::default()).await;
    let failed = failure(&service, "fn__deep", json!({ "a0": 0 })).await;
    assert_eq!(
        (failed.kind, failed.message.as_str()),
        (FailureKind::StackOverflow, "it called itself too deeply in deep")
    );
}

#[tokio::test]
async fn a_result_that_refers_to_itself_again_and_again_is_refused() {
    let stage = Stage::new();
    // A list of a hundred thousand pointers to the same string of a hundred bytes.
    let service = stage
        .load_clarity(
            r#"(module
            (memory (export "memory") 16)
            (global (export "__heap_base") i32 (i32.const 1024))
            (func (export "many") (result i32)
                (local $at i32)
                (i32.store (i32.const 0) (i32.const 100))
                (i32.store (i32.const 512) (i32.const 100000))
                (loop $more
                    (i32.store (i32.add (i32.const 516) (i32.mul (local.get $at) (i32.const 4))) (i32.const 0))
                    (local.set $at (i32.add (local.get $at) (i32.const 1)))
                    (br_if $more (i32.lt_u (local.get $at) (i32.const 100000))))
                (i32.const 512))
            (func (export "lie") (result i32) (i32.store (i32.const 8) (i32.const -1)) (i32.const 8))
        )"#,
            "function many() -> List<String> { x }\nfunction lie() -> List<Int64> { x }",
        )
        .await;
    assert_eq!(failure(&service, "fn__many", json!({})).await.kind, FailureKind::OutputTooLarge);
    assert_eq!(failure(&service, "fn__lie", json!({})).await.kind, FailureKind::OutputTooLarge);
}

#[tokio::test]
async fn calls_wait_for_their_turn_and_too_many_are_turned_away() {
    let stage = Stage::new();
    let limits = WasmLimits {
        fuel: Some(u64::MAX),
        timeout_ms: Some(60_000),
        max_concurrency: Some(1),
        ..WasmLimits::default()
    };
    let service = with_limits(&stage, limits).await;
    let mut calls: Vec<_> = (0..66).map(|_| Box::pin(call(&service, "fn__forever", json!({})))).collect();
    let mut busy = Vec::new();
    for pending in &mut calls {
        // One poll begins a call; those that are turned away end at once.
        if let Some(ended) = futures_poll(pending.as_mut()).await {
            busy.push(ended);
        }
    }
    assert_eq!(busy, [Err(CallError::Busy(64))]);
    drop(calls);
    assert_eq!(result(&service, "fn__add", json!({ "args": [1, 2] })).await, json!(3));
}

/// The output of a future that is ready when it is looked at once.
async fn futures_poll<T>(mut future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_ends() {
    let stage = Stage::with_config(|config| config.max_instances = 1);
    let limits = WasmLimits { fuel: Some(u64::MAX), timeout_ms: Some(60_000), ..WasmLimits::default() };
    let service = with_limits(&stage, limits).await;
    let started = Instant::now();
    let given_up = tokio::time::timeout(Duration::from_millis(20), call(&service, "fn__forever", json!({}))).await;
    assert!(given_up.is_err());
    // The only instance is free again.
    let sum: Value = result(&service, "fn__add", json!({ "args": [1, 2] })).await;
    assert_eq!(sum, json!(3));
    assert!(started.elapsed() < Duration::from_secs(60));
}

/// `match` searches, `digest` hashes and `count` parses, each between the lines "begin" and "end".
const LONG_WORK: &str = r#"(module
    (import "env" "print_string" (func $print (param i32)))
    (import "env" "regex_match" (func $match (param i32 i32) (result i32)))
    (import "env" "sha256" (func $sha256 (param i32) (result i32)))
    (import "env" "json_array_length" (func $count (param i32) (result i32)))
    (memory (export "memory") 1)
    (global (export "__heap_base") i32 (i32.const 4096))
    (data (i32.const 1024) "\05\00\00\00begin")
    (data (i32.const 1040) "\03\00\00\00end")
    (func (export "match") (param i32 i32) (result i32)
        (call $print (i32.const 1024))
        (call $match (local.get 0) (local.get 1))
        (call $print (i32.const 1040)))
    (func (export "digest") (param i32) (result i32)
        (call $print (i32.const 1024))
        (call $sha256 (local.get 0))
        (call $print (i32.const 1040)))
    (func (export "count") (param i32) (result i32)
        (call $print (i32.const 1024))
        (call $count (local.get 0))
        (call $print (i32.const 1040))))"#;
const LONG_WORK_SOURCE: &str = "function match(p: String, a: String) -> Bool { x }
function digest(a: String) -> String { x }
function count(a: String) -> Option<Int64> { x }";

#[tokio::test(flavor = "current_thread")]
async fn long_work_of_the_host_lets_others_run_on_the_same_thread() {
    for (tool, arguments) in [
        ("fn__match", json!(["[01]*1[01]{300}x", "01".repeat(20_000)])),
        ("fn__digest", json!(["a".repeat(8 << 20)])),
        ("fn__count", json!([format!("[{}1]", "1,".repeat(200_000))])),
    ] {
        let stage = Stage::new();
        let service = stage.load_clarity(LONG_WORK, LONG_WORK_SOURCE).await;
        let begun = async {
            while stage.log_texts().is_empty() {
                tokio::task::yield_now().await;
            }
            stage.log_texts()
        };
        let (report, seen) = tokio::join!(call(&service, tool, json!({ "args": arguments })), begun);
        assert!(report.unwrap().outcome.is_ok(), "{tool}");
        assert_eq!(seen, ["begin"], "{tool}: nobody else ran before it had ended");
        assert_eq!(stage.log_texts(), ["begin", "end"], "{tool}");
    }
}

#[tokio::test]
async fn work_of_the_host_without_a_loop_ends_when_its_time_is_up() {
    let stage = Stage::new();
    // Seconds of copying, if only the module's own code looked at the clock.
    let reverse = "(local.set 0 (call $reverse (local.get 0) (i32.const 8))) (call $restore (i64.const 4096))";
    let module = format!(
        r#"(module
            (import "env" "list_reverse" (func $reverse (param i32 i32) (result i32)))
            (import "env" "arena_restore" (func $restore (param i64)))
            (memory (export "memory") 64)
            (global (export "__heap_base") i32 (i32.const 2097152))
            (func (export "copy") (param i32) {}))"#,
        reverse.replace("4096", "2097152").repeat(2_000)
    );
    let mut declaration = stage.declare(module);
    declaration.limits = WasmLimits { fuel: Some(u64::MAX), timeout_ms: Some(50), ..WasmLimits::default() };
    let source = stage.path("main.clarity");
    std::fs::write(&source, "function copy(l: List<Int64>) -> Unit { x }").unwrap();
    declaration.source_file = Some(source);
    let service = stage.try_load(&declaration).await.unwrap();
    let failed = failure(&service, "fn__copy", json!({ "l": vec![0; 100_000] })).await;
    assert_eq!(failed.kind, FailureKind::Timeout, "{failed}");
}
