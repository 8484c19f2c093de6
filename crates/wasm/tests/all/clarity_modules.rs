//! Clarity's conventions: values in memory, names and types from the source, and the pure host functions.

use std::time::Duration;

use roost_model::service::wasm::WasmLimits;
use roost_wasm::Limits;
use roost_wasm::abi::Abi;
use roost_wasm::outcome::FailureKind;
use serde_json::{Value, json};

use crate::kit::{Stage, failure, input_property, object, refusal, result};

/// A module that exports one function for each import, which calls it, and the source that declares them.
fn forwarding(headers: &[&str]) -> (String, String) {
    let wasm_type = |text: &str| match text.trim() {
        "Unit" => None,
        "Int64" | "Timestamp" => Some("i64"),
        "Float64" => Some("f64"),
        _ => Some("i32"),
    };
    let (mut imports, mut functions, mut source) = (String::new(), String::new(), String::from("module Test\n"));
    for header in headers {
        let (name, rest) = header.split_once('(').unwrap();
        let (parameters, result) = rest.split_once(") -> ").unwrap();
        let types = parameters.split(", ").filter(|text| !text.is_empty());
        let types: Vec<_> = types.map(|text| wasm_type(text.split_once(": ").unwrap().1).unwrap()).collect();
        let passed: String = (0..types.len()).map(|at| format!("local.get {at} ")).collect();
        let types = types.join(" ");
        let returned = wasm_type(result).map(|one| format!("(result {one})")).unwrap_or_default();
        imports += &format!("(import \"env\" \"{name}\" (func ${name} (param {types}) {returned}))\n");
        functions += &format!("(func (export \"{name}\") (param {types}) {returned} {passed} call ${name})\n");
        source += &format!("function {header} {{ x }}\n");
    }
    let memory = "(memory (export \"memory\") 1) (global (export \"__heap_base\") i32 (i32.const 64))";
    (format!("(module {imports} {memory} {functions})"), source)
}

/// Calls each import with arguments in order and compares its result.
async fn check(cases: &[(&str, Value, Value)]) {
    let headers: Vec<_> = cases.iter().map(|(header, ..)| *header).collect();
    let mut unique = headers.clone();
    unique.sort_unstable();
    unique.dedup();
    let (module, source) = forwarding(&unique);
    let stage = Stage::new();
    let service = stage.load_clarity(&module, &source).await;
    assert_eq!(service.abi(), Abi::Clarity);
    for (header, arguments, expected) in cases {
        let tool = format!("fn__{}", header.split_once('(').unwrap().0);
        let actual = result(&service, &tool, json!({ "args": arguments })).await;
        assert_eq!(actual, *expected, "{header} {arguments}");
    }
}

#[tokio::test]
async fn strings_are_joined_cut_searched_and_changed() {
    check(&[
        ("string_concat(a: String, b: String) -> String", json!(["añ", "😀"]), json!("añ😀")),
        ("string_eq(a: String, b: String) -> Bool", json!(["a", "a"]), json!(true)),
        ("string_length(a: String) -> Int64", json!(["añ😀"]), json!(4)),
        ("substring(a: String, s: Int64, l: Int64) -> String", json!(["añ😀z", 1, 3]), json!("ñ😀")),
        ("char_at(a: String, i: Int64) -> String", json!(["abc", 1]), json!("b")),
        ("char_at(a: String, i: Int64) -> String", json!(["abc", -1]), json!("")),
        ("contains(a: String, b: String) -> Bool", json!(["abc", "bc"]), json!(true)),
        ("string_starts_with(a: String, b: String) -> Bool", json!(["abc", "bc"]), json!(false)),
        ("string_ends_with(a: String, b: String) -> Bool", json!(["abc", "bc"]), json!(true)),
        ("index_of(a: String, b: String) -> Int64", json!(["😀bc", "c"]), json!(3)),
        ("index_of(a: String, b: String) -> Int64", json!(["abc", "x"]), json!(-1)),
        ("trim(a: String) -> String", json!([" a \n"]), json!("a")),
        ("trim_start(a: String) -> String", json!([" a "]), json!("a ")),
        ("trim_end(a: String) -> String", json!([" a "]), json!(" a")),
        ("to_uppercase(a: String) -> String", json!(["aß"]), json!("ASS")),
        ("to_lowercase(a: String) -> String", json!(["ÄB"]), json!("äb")),
        ("split(a: String, b: String) -> List<String>", json!(["a,b,", ","]), json!(["a", "b", ""])),
        ("split(a: String, b: String) -> List<String>", json!(["ab", ""]), json!(["a", "b"])),
        ("split_lines(a: String) -> List<String>", json!(["a\r\nb\nc\rd"]), json!(["a", "b", "c", "d"])),
        ("chars(a: String) -> List<String>", json!(["a😀"]), json!(["a", "😀"])),
        ("string_replace(a: String, b: String, c: String) -> String", json!(["aXbX", "X", "--"]), json!("a--b--")),
        ("string_repeat(a: String, n: Int64) -> String", json!(["ab", 3]), json!("ababab")),
        ("string_repeat(a: String, n: Int64) -> String", json!(["ab", -1]), json!("")),
        ("pad_left(a: String, w: Int64, f: String) -> String", json!(["7", 3, "0"]), json!("007")),
        ("pad_right(a: String, w: Int64, f: String) -> String", json!(["7", 3, ""]), json!("7  ")),
        ("char_code(a: String) -> Int64", json!(["😀"]), json!(0x1F600)),
        ("char_from_code(c: Int64) -> String", json!([0x1F600]), json!("😀")),
        ("eval_exact(a: String, b: String) -> Bool", json!(["a", "b"]), json!(false)),
        ("eval_contains(a: String, b: String) -> Bool", json!(["ab", "b"]), json!(true)),
    ])
    .await;
}

#[tokio::test]
async fn numbers_are_computed_and_converted() {
    check(&[
        ("abs_int(a: Int64) -> Int64", json!([-3]), json!(3)),
        ("min_int(a: Int64, b: Int64) -> Int64", json!([1, 2]), json!(1)),
        ("max_int(a: Int64, b: Int64) -> Int64", json!([1, 2]), json!(2)),
        ("int_clamp(a: Int64, b: Int64, c: Int64) -> Int64", json!([9, 1, 5]), json!(5)),
        ("float_clamp(a: Float64, b: Float64, c: Float64) -> Float64", json!([0.5, 1.0, 5.0]), json!(1.0)),
        ("sqrt(a: Float64) -> Float64", json!([9.0]), json!(3.0)),
        ("sqrt(a: Float64) -> Float64", json!([-1.0]), json!("NaN")),
        ("pow(a: Float64, b: Float64) -> Float64", json!([2.0, 10.0]), json!(1024.0)),
        ("floor(a: Float64) -> Float64", json!([1.9]), json!(1.0)),
        ("ceil(a: Float64) -> Float64", json!([1.1]), json!(2.0)),
        ("log(a: Float64) -> Float64", json!([0.0]), json!("-Infinity")),
        ("log2(a: Float64) -> Float64", json!([8.0]), json!(3.0)),
        ("log10(a: Float64) -> Float64", json!([1000.0]), json!(3.0)),
        ("exp(a: Float64) -> Float64", json!([0.0]), json!(1.0)),
        ("sin(a: Float64) -> Float64", json!([0.0]), json!(0.0)),
        ("cos(a: Float64) -> Float64", json!([0.0]), json!(1.0)),
        ("tan(a: Float64) -> Float64", json!([0.0]), json!(0.0)),
        ("atan2(a: Float64, b: Float64) -> Float64", json!([0.0, 1.0]), json!(0.0)),
        ("f64_rem(a: Float64, b: Float64) -> Float64", json!([7.5, 2.0]), json!(1.5)),
        ("int_to_float(a: Int64) -> Float64", json!([3]), json!(3.0)),
        ("float_to_int(a: Float64) -> Int64", json!([-3.7]), json!(-3)),
        ("int_to_string(a: Int64) -> String", json!(["-9223372036854775808"]), json!("-9223372036854775808")),
        ("float_to_string(a: Float64) -> String", json!([1.0]), json!("1")),
        ("string_to_int(a: String) -> Option<Int64>", json!([" 42 "]), json!(42)),
        ("string_to_int(a: String) -> Option<Int64>", json!(["4.2"]), json!(null)),
        ("string_to_float(a: String) -> Option<Float64>", json!(["4.25"]), json!(4.25)),
        ("string_to_float(a: String) -> Option<Float64>", json!([""]), json!(null)),
    ])
    .await;
}

#[tokio::test]
async fn lists_and_bytes_are_read_and_made_anew() {
    check(&[
        ("list_length(a: List<Int64>) -> Int64", json!([[1, 2, 3]]), json!(3)),
        ("list_get_i64(a: List<Int64>, i: Int64) -> Int64", json!([[1, 2, 3], 1]), json!(2)),
        ("list_get_i64(a: List<Int64>, i: Int64) -> Int64", json!([[1, 2, 3], 3]), json!(0)),
        ("list_get_i32(a: List<String>, i: Int64) -> String", json!([["a", "b"], 1]), json!("b")),
        ("list_head_i64(a: List<Int64>) -> Int64", json!([[7]]), json!(7)),
        ("list_head_i64(a: List<Int64>) -> Int64", json!([[]]), json!(0)),
        ("list_tail(a: List<Bool>, size: Int32) -> List<Bool>", json!([[true, false], 4]), json!([false])),
        ("list_append_i64(a: List<Int64>, v: Int64) -> List<Int64>", json!([[1], 2]), json!([1, 2])),
        ("list_append_i32(a: List<String>, v: String) -> List<String>", json!([["a"], "b"]), json!(["a", "b"])),
        ("list_concat(a: List<Int64>, b: List<Int64>, s: Int32) -> List<Int64>", json!([[1], [2], 8]), json!([1, 2])),
        ("list_reverse(a: List<Int64>, s: Int32) -> List<Int64>", json!([[1, 2, 3], 8]), json!([3, 2, 1])),
        ("list_set_i64(a: List<Int64>, i: Int64, v: Int64) -> List<Int64>", json!([[1, 2], 1, 9]), json!([1, 9])),
        ("list_set_i32(a: List<Bool>, i: Int64, v: Bool) -> List<Bool>", json!([[true], 5, false]), json!([true])),
        ("bytes_new(n: Int64) -> Bytes", json!([3]), json!("AAAA")),
        ("bytes_length(b: Bytes) -> Int64", json!(["AQID"]), json!(3)),
        ("bytes_get(b: Bytes, i: Int64) -> Int64", json!(["AQID", 2]), json!(3)),
        ("bytes_get(b: Bytes, i: Int64) -> Int64", json!(["AQID", 9]), json!(0)),
        ("bytes_set(b: Bytes, i: Int64, v: Int64) -> Bytes", json!(["AQID", 0, 257]), json!("AQID")),
        ("bytes_slice(b: Bytes, s: Int64, l: Int64) -> Bytes", json!(["AQID", 1, 99]), json!("AgM=")),
        ("bytes_concat(a: Bytes, b: Bytes) -> Bytes", json!(["AQ==", "Ag=="]), json!("AQI=")),
        ("bytes_from_string(a: String) -> Bytes", json!(["hi"]), json!("aGk=")),
        ("bytes_to_string(a: Bytes) -> String", json!(["aGk="]), json!("hi")),
        (
            "sha256(a: String) -> String",
            json!(["abc"]),
            json!("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ),
    ])
    .await;
}

#[tokio::test]
async fn json_patterns_addresses_and_times_are_understood() {
    let document = r#"{"a":{"b":[1,"x"]},"n":null,"t":true}"#;
    check(&[
        ("json_get(d: String, k: String) -> Option<String>", json!([document, "t"]), json!("true")),
        ("json_get(d: String, k: String) -> Option<String>", json!([document, "n"]), json!(null)),
        ("json_get(d: String, k: String) -> Option<String>", json!(["[", "n"]), json!(null)),
        ("json_get_path(d: String, k: String) -> Option<String>", json!([document, "a.b"]), json!("[1,\"x\"]")),
        ("json_get_nested(d: String, k: String) -> Option<String>", json!([document, "a.b.1"]), json!("x")),
        ("json_array_length(d: String) -> Option<Int64>", json!(["[1,2]"]), json!(2)),
        ("json_array_get(d: String, i: Int64) -> Option<String>", json!(["[1,\"y\"]", 1]), json!("y")),
        ("json_keys(d: String) -> Option<List<String>>", json!([document]), json!(["a", "n", "t"])),
        ("json_escape_string(a: String) -> String", json!(["a\"\n"]), json!("a\\\"\\n")),
        ("regex_match(p: String, a: String) -> Bool", json!(["^a+$", "aaa"]), json!(true)),
        ("regex_match(p: String, a: String) -> Bool", json!(["(", "("]), json!(false)),
        (
            "regex_captures(p: String, a: String) -> Option<List<String>>",
            json!(["(a)(b)?", "xa"]),
            json!(["a", "a", ""]),
        ),
        ("url_encode(a: String) -> String", json!(["a b/ü"]), json!("a%20b%2F%C3%BC")),
        ("url_decode(a: String) -> String", json!(["a%20b%2F%C3%BC"]), json!("a b/ü")),
        ("timestamp_to_string(t: Timestamp) -> String", json!([0]), json!("1970-01-01T00:00:00.000Z")),
        ("timestamp_parse_iso(a: String) -> Option<Timestamp>", json!(["1970-01-01T00:00:01Z"]), json!(1000)),
        ("timestamp_parse_iso(a: String) -> Option<Timestamp>", json!(["yesterday"]), json!(null)),
        ("timestamp_add(t: Timestamp, m: Int64) -> Timestamp", json!([5, 6]), json!(11)),
        ("timestamp_diff(t: Timestamp, u: Timestamp) -> Int64", json!([5, 6]), json!(-1)),
        ("timestamp_to_int(t: Timestamp) -> Int64", json!([5]), json!(5)),
        ("timestamp_from_int(t: Int64) -> Timestamp", json!([5]), json!(5)),
        ("read_all_stdin() -> String", json!([]), json!("")),
        ("read_line_or_eof() -> Option<String>", json!([]), json!(null)),
        ("stdin_eof_detected() -> Bool", json!([]), json!(true)),
        ("tty_is_tty() -> Bool", json!([]), json!(false)),
        ("get_args() -> List<String>", json!([]), json!([])),
        ("policy_is_effect_allowed(e: String) -> Bool", json!(["Network"]), json!(false)),
        ("policy_is_effect_allowed(e: String) -> Bool", json!(["Log"]), json!(true)),
        ("policy_is_url_allowed(u: String) -> Bool", json!(["https://example.com"]), json!(false)),
    ])
    .await;
}

#[tokio::test]
async fn maps_keep_their_older_versions() {
    let stage = Stage::new();
    let service = stage
        .load_clarity(
            r#"(module
            (import "env" "map_new" (func $new (result i32)))
            (import "env" "map_set_str_i64" (func $set (param i32 i32 i64) (result i32)))
            (import "env" "map_remove_str" (func $remove (param i32 i32) (result i32)))
            (import "env" "map_keys_str" (func $keys (param i32) (result i32)))
            (import "env" "map_values_i64" (func $values (param i32) (result i32)))
            (import "env" "map_get_str_i64" (func $get (param i32 i32) (result i32)))
            (import "env" "map_size" (func $size (param i32) (result i64)))
            (import "env" "json_parse_object" (func $parse (param i32) (result i32)))
            (import "env" "json_stringify" (func $stringify (param i32) (result i32)))
            (memory (export "memory") 1)
            (global (export "__heap_base") i32 (i32.const 64))
            (func $two (param i32 i32) (result i32)
                (call $set (call $set (call $new) (local.get 0) (i64.const 1)) (local.get 1) (i64.const 2)))
            (func (export "keys") (param i32 i32) (result i32) (call $keys (call $two (local.get 0) (local.get 1))))
            (func (export "values") (param i32 i32) (result i32) (call $values (call $two (local.get 0) (local.get 1))))
            (func (export "older") (param i32 i32) (result i64)
                (local $whole i32)
                (local.set $whole (call $two (local.get 0) (local.get 1)))
                (drop (call $remove (local.get $whole) (local.get 0)))
                (call $size (local.get $whole)))
            (func (export "missing") (param i32 i32) (result i32) (call $get (call $new) (local.get 0)))
            (func (export "again") (param i32) (result i32)
                (call $stringify (i32.load (i32.add (call $parse (local.get 0)) (i32.const 8)))))
        )"#,
            "function keys(a: String, b: String) -> List<String> { x }
            function values(a: String, b: String) -> List<Int64> { x }
            function older(a: String, b: String) -> Int64 { x }
            function missing(a: String, b: String) -> Option<Int64> { x }
            function again(a: String) -> String { x }",
        )
        .await;
    let two = json!({ "a": "z", "b": "y" });
    assert_eq!(result(&service, "fn__keys", two.clone()).await, json!(["z", "y"]));
    assert_eq!(result(&service, "fn__values", two.clone()).await, json!([1, 2]));
    assert_eq!(result(&service, "fn__older", two.clone()).await, json!(2));
    assert_eq!(result(&service, "fn__missing", two).await, json!(null));
    let document = r#"{"a":1,"b":"x","c":true}"#;
    assert_eq!(result(&service, "fn__again", json!({ "a": document })).await, json!(document));
}

#[tokio::test]
async fn maps_with_numbers_as_keys_and_the_host_s_heap_work() {
    let stage = Stage::new();
    let service = stage
        .load_clarity(
            r#"(module
            (import "env" "map_new" (func $new (result i32)))
            (import "env" "map_set_i64_i64" (func $set (param i32 i64 i64) (result i32)))
            (import "env" "map_set_i64_i32" (func $set32 (param i32 i64 i32) (result i32)))
            (import "env" "map_get_i64_i64" (func $get (param i32 i64) (result i32)))
            (import "env" "map_get_i64_i32" (func $get32 (param i32 i64) (result i32)))
            (import "env" "map_has_i64" (func $has (param i32 i64) (result i32)))
            (import "env" "map_remove_i64" (func $remove (param i32 i64) (result i32)))
            (import "env" "map_keys_i64" (func $keys (param i32) (result i32)))
            (import "env" "__alloc" (func $alloc (param i32) (result i32)))
            (import "env" "arena_save" (func $save (result i64)))
            (import "env" "arena_restore" (func $restore (param i64)))
            (import "env" "arena_restore_keeping_str" (func $keep (param i64 i32) (result i32)))
            (memory (export "memory") 1)
            (global (export "__heap_base") i32 (i32.const 64))
            (func $two (result i32)
                (call $set (call $set (call $new) (i64.const 9) (i64.const 1)) (i64.const -4) (i64.const 2)))
            (func (export "keys") (result i32) (call $keys (call $two)))
            (func (export "get") (param i64) (result i32) (call $get (call $two) (local.get 0)))
            (func (export "text") (param i32) (result i32)
                (call $get32 (call $set32 (call $new) (i64.const 1) (local.get 0)) (i64.const 1)))
            (func (export "has") (param i64) (result i32) (call $has (call $remove (call $two) (i64.const 9)) (local.get 0)))
            (func (export "kept") (param i32) (result i32)
                (local $mark i64)
                (local.set $mark (call $save))
                (drop (call $alloc (i32.const 50000)))
                (call $keep (local.get $mark) (local.get 0)))
            (func (export "reused") (result i32)
                (local $mark i64) (local $first i32)
                (local.set $mark (call $save))
                (local.set $first (call $alloc (i32.const 100)))
                (call $restore (local.get $mark))
                (i32.eq (local.get $first) (call $alloc (i32.const 100))))
        )"#,
            "function keys() -> List<Int64> { x }
            function get(k: Int64) -> Option<Int64> { x }
            function text(a: String) -> Option<String> { x }
            function has(k: Int64) -> Bool { x }
            function kept(a: String) -> String { x }
            function reused() -> Bool { x }",
        )
        .await;
    for (tool, arguments, expected) in [
        ("fn__keys", json!([]), json!([9, -4])),
        ("fn__get", json!([-4]), json!(2)),
        ("fn__get", json!([0]), json!(null)),
        ("fn__text", json!(["a"]), json!("a")),
        ("fn__has", json!([9]), json!(false)),
        ("fn__has", json!([-4]), json!(true)),
        ("fn__kept", json!(["stays"]), json!("stays")),
        ("fn__reused", json!([]), json!(true)),
    ] {
        assert_eq!(result(&service, tool, json!({ "args": arguments })).await, expected, "{tool}");
    }
}

#[tokio::test]
async fn maps_that_grow_without_end_count_as_memory() {
    let stage = Stage::new();
    let mut declaration = stage.declare(
        r#"(module
            (import "env" "map_new" (func $new (result i32)))
            (import "env" "map_set_i64_i64" (func $set (param i32 i64 i64) (result i32)))
            (memory (export "memory") 1)
            (func (export "grow") (local $map i32) (local $key i64)
                (local.set $map (call $new))
                (loop $more
                    (local.set $map (call $set (local.get $map) (local.get $key) (i64.const 0)))
                    (local.set $key (i64.add (local.get $key) (i64.const 1)))
                    br $more))
        )"#,
    );
    declaration.limits = WasmLimits { memory_bytes: Some(1 << 20), timeout_ms: Some(60_000), ..WasmLimits::default() };
    let service = stage.try_load(&declaration).await.unwrap();
    assert_eq!(failure(&service, "fn__grow", json!({})).await.kind, FailureKind::OutOfMemory);
}

const SHAPES: &str = r#"(module
    (memory (export "memory") 1)
    (global (export "__heap_base") i32 (i32.const 64))
    (func (export "same") (param i32) (result i32) local.get 0)
    (func (export "optional") (param i32) (result i32) local.get 0)
    (func (export "either") (param i32) (result i32) local.get 0)
)"#;

const SHAPES_SOURCE: &str = "module Shapes
    type Point = { flag: Bool, x: Float64, name: String, tags: List<String>, at: Timestamp }
    // Gives the point back.
    function same(point: Point) -> Point { point }
    function optional(value: Option<List<Int64>>) -> Option<List<Int64>> { value }
    function either(value: Result<Int64, String>) -> Result<Int64, String> { value }";

#[tokio::test]
async fn records_options_and_results_pass_through_memory() {
    let stage = Stage::new();
    let service = stage.load_clarity(SHAPES, SHAPES_SOURCE).await;
    let point = json!({ "flag": true, "x": 0.25, "name": "né", "tags": ["a", ""], "at": 9_007_199_254_740_991_i64 });
    assert_eq!(result(&service, "fn__same", json!({ "point": point })).await, point);
    for value in [json!(null), json!([]), json!([1, 2])] {
        assert_eq!(result(&service, "fn__optional", json!({ "value": value })).await, value);
    }
    assert_eq!(result(&service, "fn__optional", json!({})).await, json!(null));
    assert_eq!(result(&service, "fn__either", json!({ "value": { "ok": 3 } })).await, json!(3));
    let failed = failure(&service, "fn__either", json!({ "value": { "err": "no luck" } })).await;
    assert_eq!((failed.kind, failed.message.as_str()), (FailureKind::Returned, "no luck"));
    assert!(!failed.kind.is_fault());
}

#[tokio::test]
async fn values_that_do_not_fit_their_type_are_named_by_their_place() {
    let stage = Stage::new();
    let service = stage.load_clarity(SHAPES, SHAPES_SOURCE).await;
    let with = |field: &str, value: Value| {
        let mut point = json!({ "flag": true, "x": 0.25, "name": "n", "tags": [], "at": 0 });
        point[field] = value;
        json!({ "point": point })
    };
    for (arguments, expected) in [
        (with("x", json!("wide")), "point: .x: expected a number, not \"wide\""),
        (with("tags", json!(["a", 1])), "point: .tags[1]: expected String, not 1"),
        (with("flag", json!(1)), "point: .flag: expected true or false, not 1"),
        (
            json!({ "point": [] }),
            "point: expected { flag: Bool, x: Float64, name: String, tags: List<String>, \
            at: Timestamp }, not a list of 0",
        ),
    ] {
        assert_eq!(refusal(&service, "fn__same", arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn schemas_follow_from_the_source() {
    let stage = Stage::new();
    let service = stage.load_clarity(SHAPES, SHAPES_SOURCE).await;
    let point = input_property(&service, "fn__same", "point");
    assert_eq!(point["properties"]["tags"], json!({ "type": "array", "items": { "type": "string" } }));
    assert_eq!(point["required"], json!(["flag", "x", "name", "tags", "at"]));
    let tool = service.tools().iter().find(|tool| tool.name == "fn__same").unwrap();
    assert!(tool.description.starts_with("Gives the point back.\n\nsame(point: {"), "{}", tool.description);
}

#[tokio::test]
async fn without_a_source_a_client_says_which_types_it_assumes() {
    let stage = Stage::new();
    let service = stage.load(SHAPES).await;
    let typed = json!({
        "args": [["a", "b"]],
        "argTypes": [{ "kind": "List", "element": { "kind": "String" } }],
        "resultType": { "kind": "List", "element": { "kind": "String" } },
    });
    assert_eq!(result(&service, "fn__same", typed).await, json!(["a", "b"]));
}

#[tokio::test]
async fn a_source_that_is_newer_than_the_module_is_not_believed() {
    let stage = Stage::new();
    let service = stage.load_clarity(SHAPES, "function same(a: Int64, b: Int64) -> Int64 { a }").await;
    assert_eq!(input_property(&service, "fn__same", "a0")["type"], "integer");
}

#[tokio::test]
async fn a_module_without_a_heap_base_gets_new_pages_for_values() {
    let stage = Stage::new();
    // Its memory is full of its own data, which a call must not overwrite.
    let service = stage
        .load_clarity(
            r#"(module
            (memory (export "memory") 1)
            (data (i32.const 1024) "mine")
            (func (export "own") (param i32) (result i32)
                (i32.store (i32.const 2000) (i32.const 4))
                (i32.store (i32.const 2004) (i32.load (i32.const 1024)))
                (i32.const 2000))
        )"#,
            "function own(text: String) -> String { x }",
        )
        .await;
    let text = "x".repeat(100_000);
    assert_eq!(result(&service, "fn__own", json!({ "text": text })).await, json!("mine"));
}

#[tokio::test]
async fn a_failed_assertion_and_an_exit_end_the_call() {
    let (module, source) = forwarding(&[
        "assert_eq(a: Int64, b: Int64) -> Unit",
        "assert_eq_string(a: String, b: String) -> Unit",
        "assert_eq_float(a: Float64, b: Float64) -> Unit",
        "assert_true(a: Bool) -> Unit",
        "assert_false(a: Bool) -> Unit",
        "exit(code: Int64) -> Unit",
    ]);
    let stage = Stage::new();
    let service = stage.load_clarity(&module, &source).await;
    for (tool, holds, fails, message) in [
        ("fn__assert_eq", json!([1, 1]), json!([1, 2]), "an assertion failed: it is 1, not 2"),
        ("fn__assert_eq_string", json!(["a", "a"]), json!(["a", "b"]), "an assertion failed: it is \"a\", not \"b\""),
        ("fn__assert_eq_float", json!([0.3, 0.3]), json!([0.5, 0.25]), "an assertion failed: it is 0.5, not 0.25"),
        ("fn__assert_true", json!([true]), json!([false]), "an assertion failed: it is False, not True"),
        ("fn__assert_false", json!([false]), json!([true]), "an assertion failed: it is True, not False"),
        ("fn__exit", json!([0]), json!([3]), "it exited with code 3"),
    ] {
        assert_eq!(result(&service, tool, json!({ "args": holds })).await, json!(null), "{tool}");
        let failed = failure(&service, tool, json!({ "args": fails })).await;
        assert!(failed.message.starts_with(message), "{failed}");
    }
}

#[tokio::test]
async fn pointers_that_lead_out_of_the_memory_end_the_call() {
    let stage = Stage::new();
    let service = stage
        .load_clarity(
            r#"(module
            (import "env" "print_string" (func $print (param i32)))
            (import "env" "list_concat" (func $concat (param i32 i32 i32) (result i32)))
            (memory (export "memory") 1)
            (func (export "print") (param i32) (call $print (local.get 0)))
            (func (export "concat") (param i32) (result i32) (call $concat (local.get 0) (local.get 0) (i32.const 3)))
            (func (export "lie") (i32.store (i32.const 0) (i32.const 0x7fffffff)) (call $print (i32.const 0)))
            (func (export "wrong") (result i32) i32.const -8)
        )"#,
            "function wrong() -> List<Int64> { x }",
        )
        .await;
    for (tool, arguments) in [
        ("fn__print", json!({ "a0": -1 })),
        ("fn__print", json!({ "a0": 65_536 })),
        ("fn__concat", json!({ "a0": 0 })),
        ("fn__lie", json!({})),
        ("fn__wrong", json!({})),
    ] {
        assert_eq!(failure(&service, tool, arguments).await.kind, FailureKind::Trap, "{tool}");
    }
}

#[tokio::test]
async fn documents_and_patterns_take_no_more_of_the_host_than_the_module_may_have() {
    let (module, source) = forwarding(&[
        "json_array_length(a: String) -> Option<Int64>",
        "json_escape_string(a: String) -> String",
        "regex_match(p: String, a: String) -> Bool",
        "regex_captures(p: String, a: String) -> Option<List<String>>",
    ]);
    let stage = Stage::new();
    let service = stage.load_clarity(&module, &source).await;
    let cases = [
        ("fn__json_array_length", vec![format!("[{}1]", "1,".repeat(4 << 20))], FailureKind::OutOfMemory),
        ("fn__json_escape_string", vec!["\u{1}".repeat(12 << 20)], FailureKind::OutOfMemory),
        // Each byte of the text could need thousands of steps.
        ("fn__regex_match", vec!["[01]*1[01]{5000}x".into(), "01".repeat(4 << 20)], FailureKind::Trap),
        ("fn__regex_captures", vec!["(a?)".repeat(100), "a".repeat(1 << 20)], FailureKind::Trap),
        ("fn__regex_match", vec!["a".repeat(17 * 1024), "a".into()], FailureKind::Trap),
    ];
    for (tool, arguments, kind) in cases {
        let failed = failure(&service, tool, json!({ "args": arguments })).await;
        assert_eq!(failed.kind, kind, "{tool}: {failed}");
    }
    // What people write is far from it.
    let page = format!("{} ada@example.com", "word ".repeat(20_000));
    let address = json!({ "args": [r"([\w.]+)@([\w.]+)", page] });
    let found = result(&service, "fn__regex_captures", address).await;
    assert_eq!(found, json!(["ada@example.com", "ada", "example.com"]));
}

#[tokio::test]
async fn a_map_with_the_same_long_text_for_many_keys_is_not_written_out() {
    let stage = Stage::new();
    // A thousand keys, each with the same text of 512 KiB.
    let service = stage
        .load_clarity(
            r#"(module
            (import "env" "map_new" (func $new (result i32)))
            (import "env" "map_set_i64_i32" (func $set (param i32 i64 i32) (result i32)))
            (import "env" "json_stringify_object" (func $write (param i32) (result i32)))
            (memory (export "memory") 16)
            (global (export "__heap_base") i32 (i32.const 1000000))
            (func (export "many") (result i32) (local $map i32) (local $at i64)
                (i32.store (i32.const 0) (i32.const 524288))
                (memory.fill (i32.const 4) (i32.const 97) (i32.const 524288))
                (local.set $map (call $new))
                (loop $more
                    (local.set $map (call $set (local.get $map) (local.get $at) (i32.const 0)))
                    (local.set $at (i64.add (local.get $at) (i64.const 1)))
                    (br_if $more (i64.lt_u (local.get $at) (i64.const 1000))))
                (call $write (local.get $map))))"#,
            "function many() -> String { x }",
        )
        .await;
    // A busy machine takes more than the usual two seconds to come to the limit that counts here.
    let limits = Limits { time: Duration::from_mins(1), ..service.limits().clone() };
    let report = service.call("fn__many", &object(json!({})), &limits).await.unwrap();
    let failed = report.outcome.unwrap_err();
    assert_eq!(failed.kind, FailureKind::OutOfMemory, "{failed}");
    assert!(failed.message.contains("and may have 67108864"), "{failed}");
}
