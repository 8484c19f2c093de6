//! Modules of the real Clarity compiler, where `CLARITYC_BIN` names it: it is on no registry. `cargo xtask test` says when
//! it was not tried.

use std::path::PathBuf;
use std::process::Command;

use roost_wasm::ServiceDeclaration;
use serde_json::json;

use crate::kit::{Stage, failure, input_property, result};

const SOURCE: &str = "module Words

// Says hello so many times.
function greet(name: String, times: Int64) -> String {
  string_repeat(\"Hello, \" ++ name ++ \"! \", times)
}

function add(a: Int64, b: Int64) -> Int64 {
  a + b
}

function half(n: Int64) -> Result<Int64, String> {
  match n % 2 == 0 {
    True -> Ok(n / 2),
    False -> Err(\"odd\")
  }
}
";

#[tokio::test]
async fn a_module_of_the_real_compiler_is_loaded_and_called() {
    let Some(compiler) = std::env::var_os("CLARITYC_BIN") else {
        eprintln!("NOT TRIED: the real Clarity compiler; name it in CLARITYC_BIN");
        return;
    };
    let stage = Stage::new();
    let (source, wasm_path): (PathBuf, PathBuf) = (stage.path("words.clarity"), stage.path("words.wasm"));
    std::fs::write(&source, SOURCE).unwrap();
    let compiled = Command::new(compiler).arg("compile").arg(&source).arg("-o").arg(&wasm_path).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let declaration = ServiceDeclaration { wasm_path, source_file: Some(source), ..ServiceDeclaration::default() };
    let service = stage.try_load(&declaration).await.unwrap();
    assert_eq!(input_property(&service, "fn__greet", "name")["type"], "string");
    assert_eq!(result(&service, "fn__add", json!({ "a": 2, "b": 3 })).await, json!(5));
    assert_eq!(
        result(&service, "fn__greet", json!({ "name": "Ada", "times": 2 })).await,
        json!("Hello, Ada! Hello, Ada! ")
    );
    assert_eq!(result(&service, "fn__half", json!({ "n": 8 })).await, json!(4));
    assert_eq!(failure(&service, "fn__half", json!({ "n": 7 })).await.message, "odd");
}
