//! Files that are no modules, modules that cannot run, and what their authors are told.

use std::os::unix::fs::symlink;
use std::path::Path;

use roost_model::service::wasm::WasmLimits;
use roost_wasm::LoadError;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use crate::kit::{Stage, refusal, result, tool_names};

const ADD: &str = r#"(module (func (export "add") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add))"#;

/// What somebody is told who wants to load these bytes; else the tools that they got.
async fn told(stage: &Stage, bytes: &[u8]) -> String {
    let declaration = stage.declare(ADD);
    std::fs::write(&declaration.wasm_path, bytes).unwrap();
    match stage.try_load(&declaration).await {
        Ok(service) => tool_names(&service).join(" "),
        Err(error) => error.to_string().replace(&stage.folder.path().display().to_string(), ""),
    }
}

#[tokio::test]
async fn files_that_are_no_wasm_are_refused() {
    let (stage, no_wasm) = (Stage::new(), "/module.wasm is no wasm binary");
    for bytes in [&b""[..], b"\0asm", b"#!/bin/sh\n", b"\0asm\x02\0\0\0", &[0; 64]] {
        assert!(told(&stage, bytes).await.starts_with(no_wasm), "{bytes:?}");
    }
}

#[tokio::test]
async fn truncated_and_broken_modules_are_refused() {
    let (stage, whole) = (Stage::new(), wat::parse_str(ADD).unwrap());
    for end in 8..whole.len() {
        let told = told(&stage, &whole[..end]).await;
        // A module that ends between two sections, before its functions, is whole and does nothing.
        let is_empty = told == "health_check describe_service";
        assert!(is_empty || told.starts_with("/module.wasm cannot be compiled: "), "{end}: {told}");
    }
    let wrong_type = wat::parse_str("(module (func (result i32) i64.const 1))").unwrap();
    assert!(told(&stage, &wrong_type).await.contains("type mismatch"));
}

#[tokio::test]
async fn a_file_that_is_too_large_is_not_read_whole() {
    let stage = Stage::with_config(|config| config.max_artifact_bytes = 1000);
    let declaration = stage.declare(ADD);
    let file = std::fs::File::create(&declaration.wasm_path).unwrap();
    file.set_len(1 << 40).unwrap();
    let error = stage.try_load(&declaration).await.err().unwrap().to_string();
    assert!(
        error.ends_with("is larger than 1000 bytes; make it smaller, or raise the host's limit for artifacts"),
        "{error}"
    );
}

#[tokio::test]
async fn a_file_that_is_not_there_is_named() {
    let stage = Stage::new();
    let mut declaration = stage.declare(ADD);
    declaration.wasm_path = stage.path("none.wasm");
    let error = stage.try_load(&declaration).await.err().unwrap().to_string();
    assert!(error.starts_with("cannot read ") && error.contains("none.wasm"), "{error}");
}

#[tokio::test]
async fn the_hash_of_the_manifest_must_be_that_of_the_file() {
    let stage = Stage::new();
    let mut declaration = stage.declare(ADD);
    let sha256 = stage.try_load(&declaration).await.unwrap().artifact_sha256().to_owned();
    declaration.artifact_sha256 = Some(sha256.to_uppercase());
    assert!(stage.try_load(&declaration).await.is_ok());
    declaration.artifact_sha256 = Some("0".repeat(64));
    let error = stage.try_load(&declaration).await.err().unwrap().to_string();
    assert!(error.contains(&format!("has the SHA-256 {sha256}, and the manifest says 0000")), "{error}");
}

#[tokio::test]
async fn all_imports_that_are_not_offered_are_named() {
    let stage = Stage::new();
    for (module, expected) in [
        (
            r#"(module (import "env" "trim" (func (param i32) (result i32))) (import "env" "a2a_submit" (func))
                (import "wasi_snapshot_preview1" "fd_write" (func)) (import "env" "memory" (memory 1)))"#,
            vec!["env.a2a_submit", "wasi_snapshot_preview1.fd_write", "env.memory"],
        ),
        (
            r#"(component (import "wasi:http/types@0.2.0" (instance)) (import "my:own/thing" (func)))"#,
            vec!["wasi:http/types@0.2.0", "my:own/thing"],
        ),
    ] {
        let declaration = stage.declare(module);
        // Both before it is compiled and when it is.
        let checked = stage.host.check_imports(&declaration.wasm_path).await;
        for refused in [checked.err(), stage.try_load(&declaration).await.err()] {
            match refused {
                Some(LoadError::Imports { imports, .. }) => assert_eq!(imports, expected),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn an_import_with_another_type_than_ours_is_refused() {
    let stage = Stage::new();
    let module = r#"(module (import "env" "trim" (func (param f64))))"#;
    let error = stage.try_load(&stage.declare(module)).await.err().unwrap().to_string();
    assert!(error.contains("incompatible import type for `env::trim`"), "{error}");
}

#[tokio::test]
async fn a_module_that_cannot_start_is_refused_when_it_is_loaded() {
    let stage = Stage::new();
    for (module, expected) in [
        (r#"(module (memory 2000))"#, "131072000 bytes of memory and may have 67108864"),
        (r#"(module (func $f unreachable) (start $f))"#, "unreachable"),
        (r#"(module (func $f (loop br 0)) (start $f))"#, "used up its fuel"),
        (r#"(module (memory 1) (data (i32.const 65536) "x"))"#, "out of bounds memory access"),
    ] {
        let mut declaration = stage.declare(module);
        declaration.limits = WasmLimits { fuel: Some(1_000_000), ..WasmLimits::default() };
        let error = stage.try_load(&declaration).await.err().unwrap_or_else(|| panic!("{module}"));
        assert!(matches!(error, LoadError::Start { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_sidecar_that_does_not_fit_is_refused_with_the_reason() {
    let stage = Stage::new();
    let declaration = stage.declare(ADD);
    for (sidecar, expected) in [
        ("{".to_owned(), "EOF"),
        (json!({ "functions": {}, "more": 1 }).to_string(), "unknown field `more`"),
        (json!({ "functions": { "sub": {} } }).to_string(), "the module exports no function \"sub\""),
        (
            json!({ "functions": { "add": { "params": [{ "name": "a", "type": "Number" }] } } }).to_string(),
            "add: \"Number\" is no type",
        ),
        (
            json!({ "functions": { "add": { "params": [{ "name": "a", "type": "Int64" }], "result": "Int64" } } })
                .to_string(),
            "add(a: Int64) -> Int64 does not fit the module: it is (a0: Int32, a1: Int32) -> Int32",
        ),
    ] {
        std::fs::write(stage.path("module.tools.json"), &sidecar).unwrap();
        let error = stage.try_load(&declaration).await.err().unwrap().to_string();
        assert!(error.contains("module.tools.json: ") && error.contains(expected), "{sidecar}: {error}");
    }
}

#[tokio::test]
async fn deeply_nested_json_is_an_error_and_no_crash() {
    let stage = Stage::new();
    let service = stage
        .load_clarity(
            r#"(module
            (import "env" "json_get" (func $get (param i32 i32) (result i32)))
            (memory (export "memory") 1)
            (func (export "get") (param i32 i32) (result i32) (call $get (local.get 0) (local.get 1)))
            (func (export "list") (param i32) (result i32) local.get 0)
        )"#,
            "function get(d: String, k: String) -> Option<String> { x }\nfunction list(l: List<List<Int64>>) -> Unit { x }",
        )
        .await;
    let deep = "[".repeat(100_000);
    assert_eq!(result(&service, "fn__get", json!({ "d": deep, "k": "a" })).await, json!(null));
    let nested = (0..100).fold(json!(1), |inner, _| json!([inner]));
    assert!(refusal(&service, "fn__list", json!({ "a0": nested })).await.contains("expected an integer"));
}

#[tokio::test]
async fn a_rebuilt_artifact_is_noticed_and_introspected_anew() {
    let stage = Stage::new();
    let declaration = stage.declare(ADD);
    let service = stage.try_load(&declaration).await.unwrap();
    assert!(!service.changed_on_disk());
    stage
        .declare(r#"(module (func (export "subtract") (param i64 i64) (result i64) local.get 0 local.get 1 i64.sub))"#);
    assert!(service.changed_on_disk());
    // What was loaded goes on until it is loaded anew.
    assert_eq!(result(&service, "fn__add", json!({ "args": [1, 2] })).await, json!(3));
    let rebuilt = stage.try_load(&declaration).await.unwrap();
    assert_eq!(result(&rebuilt, "fn__subtract", json!({ "args": [1, 2] })).await, json!(-1));
    assert_ne!(rebuilt.artifact_sha256(), service.artifact_sha256());
}

#[tokio::test]
async fn what_people_write_about_a_module_is_read_again_when_it_changes() {
    let stage = Stage::new();
    let (sidecar, source) = (stage.path("module.tools.json"), stage.path("main.clarity"));
    let mut declaration = stage.declare(ADD);
    declaration.source_file = Some(source.clone());
    let described = |text: &str| {
        let parameter = |name| json!({ "name": name, "type": "Int32" });
        let parameters = [parameter("a"), parameter("b")];
        json!({ "functions": { "add": { "description": text, "params": parameters, "result": "Int32" } } }).to_string()
    };
    let steps: [(&Path, Option<String>, &str); 4] = [
        (&source, Some("function add(x: Int32, y: Int32) -> Int32 { x }".into()), "add(x: Int32, y: Int32) -> Int32"),
        (&sidecar, Some(described("First.")), "First.\n\nadd(a: Int32, b: Int32) -> Int32"),
        (&sidecar, Some(described("Second, longer.")), "Second, longer.\n\nadd(a: Int32, b: Int32) -> Int32"),
        (&sidecar, None, "add(x: Int32, y: Int32) -> Int32"),
    ];
    let mut service = stage.try_load(&declaration).await.unwrap();
    for (file, text, expected) in steps {
        assert!(!service.changed_on_disk());
        match text {
            Some(text) => std::fs::write(file, text).unwrap(),
            None => std::fs::remove_file(file).unwrap(),
        }
        assert!(service.changed_on_disk(), "{expected}");
        service = stage.try_load(&declaration).await.unwrap();
        let add = service.tools().iter().find(|tool| tool.name == "fn__add").unwrap();
        assert_eq!(add.description, expected);
    }
}

/// Makes a pipe, or a link to something that has no end.
fn make_special(path: &Path, kind: &str) {
    match kind {
        "pipe" => mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap(),
        _ => symlink("/dev/zero", path).unwrap(),
    }
}

#[tokio::test]
async fn pipes_and_devices_are_no_files_of_a_module() {
    for kind in ["pipe", "device"] {
        let stage = Stage::new();
        let mut declaration = stage.declare(ADD);
        let source = stage.path("main.clarity");
        make_special(&source, kind);
        declaration.source_file = Some(source);
        assert!(stage.try_load(&declaration).await.is_ok(), "{kind}: a service runs without its source");
        let log = stage.log_texts().join("\n");
        assert!(log.contains("main.clarity: its names and types are not used: it is a folder, a pipe"), "{log}");
        make_special(&stage.path("module.tools.json"), kind);
        let error = stage.try_load(&declaration).await.err().unwrap().to_string();
        assert!(error.contains("module.tools.json: it is a folder, a pipe or a device"), "{error}");
        declaration.wasm_path = stage.path("special.wasm");
        make_special(&declaration.wasm_path, kind);
        let error = stage.try_load(&declaration).await.err().unwrap().to_string();
        assert!(error.contains("special.wasm: it is a folder, a pipe or a device"), "{error}");
        assert!(stage.host.check_imports(&declaration.wasm_path).await.is_ok());
    }
}

#[tokio::test]
async fn a_source_whose_types_grow_without_bound_leaves_the_function_without_names() {
    let stage = Stage::new();
    let records = (0..14).map(|at| {
        let next = at + 1;
        format!("type R{at} = {{ a: R{next}, b: R{next}, c: R{next}, d: R{next} }}\n")
    });
    let source = records.collect::<String>() + "type R14 = { a: Bool }\nfunction add(r: R0, s: R0) -> Int32 { 0 }\n";
    let service = stage.load_clarity(ADD, &source).await;
    assert_eq!(result(&service, "fn__add", json!({ "a0": 1, "a1": 2 })).await, json!(3));
    let log = stage.log_texts().join("\n");
    assert!(log.contains("main.clarity: the types of 1 functions are too large to be described (add)"), "{log}");
}
