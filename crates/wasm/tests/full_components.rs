//! Components of JavaScript and Python, of more than ten megabytes each, as `cargo xtask fixtures --full` builds them.

// Clippy's leave for unwrap in tests covers test functions, not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "all/kit.rs"]
#[allow(dead_code, reason = "the small tests use the rest")]
mod kit;
#[path = "../../../xtask/src/fixtures/wasm_modules.rs"]
#[allow(dead_code, reason = "the small tests use the rest")]
mod wasm_modules;

use std::path::PathBuf;

use kit::{Stage, failure, result};
use roost_model::service::wasm::WasmLimits;
use roost_wasm::outcome::FailureKind;
use roost_wasm::{HostConfig, ServiceDeclaration, WasmHost};
use serde_json::json;

fn built(name: &str) -> PathBuf {
    let path = wasm_modules::COMPONENTS.folder(&kit::project_cache()).join(name);
    assert!(path.is_file(), "{} is missing: run `cargo xtask fixtures --full`", path.display());
    path
}

async fn greets(name: &str) {
    let mut stage = Stage::new();
    let mut declaration = ServiceDeclaration { wasm_path: built(name), ..ServiceDeclaration::default() };
    declaration.limits = WasmLimits { timeout_ms: Some(30_000), ..WasmLimits::default() };
    for round in 0..2 {
        let service = stage.try_load(&declaration).await.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(stage.host.cache_use(), if round == 0 { (0, 1) } else { (1, 0) });
        assert_eq!(result(&service, "fn__greet", json!({ "name": "Ada" })).await, json!("Hello, Ada!"));
        let failed = failure(&service, "fn__greet", json!({ "name": "" })).await;
        assert_eq!((failed.kind, failed.message.as_str()), (FailureKind::Returned, "nobody is there"));
        // As after a restart.
        let host = WasmHost::new(HostConfig::new(stage.path("cache"))).unwrap();
        stage = Stage { host, ..stage };
    }
}

#[tokio::test]
async fn a_component_of_javascript_is_called_and_cached() {
    greets("javascript.wasm").await;
}

#[tokio::test]
async fn a_component_of_python_is_called_and_cached() {
    greets("python.wasm").await;
}
