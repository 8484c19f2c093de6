//! Modules of the compilers that people use: AssemblyScript, C and Zig, as `cargo xtask fixtures` builds them.

use roost_wasm::ServiceDeclaration;
use roost_wasm::abi::Abi;
use roost_wasm::outcome::FailureKind;
use serde_json::json;

use crate::kit::{Stage, failure, input_property, result, tool_names};
use crate::wasm_modules::MODULES;

/// The declaration of a built module.
///
/// # Panics
///
/// If it is not built.
fn built(name: &str) -> ServiceDeclaration {
    let cache = crate::kit::project_cache();
    let wasm_path = MODULES.folder(&cache).join(name);
    assert!(wasm_path.is_file(), "{} is missing: run `cargo xtask fixtures`", wasm_path.display());
    ServiceDeclaration { wasm_path, entry: "mcp_main".into(), ..ServiceDeclaration::default() }
}

#[tokio::test]
async fn assemblyscript_computes_and_an_assertion_that_fails_is_an_error() {
    let stage = Stage::new();
    let service = stage.try_load(&built("numbers.wasm")).await.unwrap();
    assert_eq!(service.abi(), Abi::Core);
    assert_eq!(tool_names(&service)[2..], ["fn__add", "fn__fib", "fn__root"]);
    assert_eq!(result(&service, "fn__add", json!({ "args": [2, 3] })).await, json!(5));
    assert_eq!(result(&service, "fn__fib", json!({ "a0": 90 })).await, json!("2880067194370816120"));
    assert_eq!(result(&service, "fn__root", json!({ "a0": 2.25 })).await, json!(1.5));
    let failed = failure(&service, "fn__root", json!({ "a0": -1 })).await;
    assert_eq!(failed.kind, FailureKind::Trap);
    assert!(failed.message.starts_with("it aborted at line 18"), "{failed}");
}

#[tokio::test]
async fn c_reads_strings_that_a_sidecar_declares() {
    let stage = Stage::new();
    let service = stage.try_load(&built("words.wasm")).await.unwrap();
    assert_eq!(result(&service, "fn__add", json!({ "args": [2, -3] })).await, json!(-1));
    assert_eq!(input_property(&service, "fn__vowels", "text")["type"], "string");
    assert_eq!(result(&service, "fn__vowels", json!({ "text": "An old OAK" })).await, json!(4));
    let long = "aeiou".repeat(200_000);
    assert_eq!(result(&service, "fn__vowels", json!({ "text": long })).await, json!(1_000_000));
}

#[tokio::test]
async fn zig_computes_and_its_stack_ends() {
    let stage = Stage::new();
    let service = stage.try_load(&built("divisors.wasm")).await.unwrap();
    assert_eq!(result(&service, "fn__gcd", json!({ "args": [48, 36] })).await, json!(12));
    assert_eq!(result(&service, "fn__depth", json!({ "a0": 100 })).await, json!(100));
    let failed = failure(&service, "fn__depth", json!({ "a0": 100_000_000 })).await;
    assert!(matches!(failed.kind, FailureKind::StackOverflow | FailureKind::Trap), "{failed}");
}
