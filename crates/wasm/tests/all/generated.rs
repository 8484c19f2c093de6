//! Modules and components that nobody wrote: whatever comes of a generator, or of bytes that were changed, is loaded and
//! called, or refused, and harms nobody.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use roost_model::service::wasm::WasmLimits;
use serde_json::{Value, json};
use wasm_smith::{Config, Module};

use crate::components::{STORE_TWO, TWO, identity};
use crate::kit::{Stage, call, result};

/// Modules with a start function, odd memories and whatever else there is.
fn module(bytes: &[u8], is_lawless: bool) -> Option<Vec<u8>> {
    let config = Config {
        // Nothing offers them, so a lawful module has none.
        max_imports: if is_lawless { 2 } else { 0 },
        min_types: 1,
        min_funcs: 1,
        min_exports: 1,
        export_everything: true,
        allow_start_export: true,
        allow_invalid_funcs: is_lawless,
        // The host has no garbage collector, which references to the outside and exceptions need.
        exceptions_enabled: is_lawless,
        gc_enabled: is_lawless,
        reference_types_enabled: is_lawless,
        threads_enabled: is_lawless,
        memory64_enabled: is_lawless,
        ..Config::default()
    };
    let mut unstructured = arbitrary::Unstructured::new(bytes);
    Module::new(config, &mut unstructured).ok().map(|module| module.to_bytes())
}

#[test]
fn no_module_breaks_the_host() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stage = Stage::new();
    let mut runner = TestRunner::default();
    let strategy = (prop::collection::vec(any::<u8>(), 64..2048), any::<bool>());
    let (lawful, loaded, called) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let outcome = runner.run(&strategy, |(bytes, is_lawless)| {
        if let Some(wasm) = module(&bytes, is_lawless) {
            let functions = runtime.block_on(load_and_call(&stage, &wasm));
            if !is_lawless {
                lawful.set(lawful.get() + 1);
                loaded.set(loaded.get() + usize::from(functions.is_some()));
                called.set(called.get() + functions.unwrap_or_default());
            }
        }
        Ok(())
    });
    outcome.unwrap();
    // Else the test says nothing, because nothing of them runs.
    let shares = (lawful.get(), loaded.get(), called.get());
    assert!(loaded.get() * 2 >= lawful.get() && called.get() > 0, "of the lawful ones: {shares:?}");
    // And after all of them it still works.
    let service = runtime.block_on(stage.load("(module (func (export \"f\") (result i32) i32.const 1))"));
    assert_eq!(runtime.block_on(result(&service, "fn__f", json!({}))), json!(1));
}

#[test]
fn no_damaged_component_breaks_the_host() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stage = Stage::new();
    let record = r#"(type $t' (record (field "x" u32) (field "y" string))) (export $t "t" (type $t'))"#;
    let store_three = format!("(i32.store (i32.const 24) (local.get 2)) {STORE_TWO}");
    let three = "(param i32 i32 i32) (result i32)";
    let whole = [
        wat::parse_str(identity("", "string", TWO, STORE_TWO)).unwrap(),
        wat::parse_str(identity("", "(list u16)", TWO, STORE_TWO)).unwrap(),
        wat::parse_str(identity(record, "$t", three, &store_three)).unwrap(),
    ];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    let cut = prop::option::weighted(0.2, any::<prop::sample::Index>());
    let mut runner = TestRunner::default();
    let (loaded, called, refused) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let outcome = runner.run(&(0..whole.len(), changes, cut), |(which, changes, cut)| {
        let mut wasm = whole[which].clone();
        for (at, byte) in changes {
            // What kind of file it is stays as it was.
            let at = 8 + at.index(wasm.len() - 8);
            wasm[at] = byte;
        }
        if let Some(cut) = cut {
            wasm.truncate(8 + cut.index(wasm.len() - 8));
        }
        match runtime.block_on(load_and_call(&stage, &wasm)) {
            Some(functions) => {
                loaded.set(loaded.get() + 1);
                called.set(called.get() + functions);
            }
            None => refused.set(refused.get() + 1),
        }
        Ok(())
    });
    outcome.unwrap();
    let shares = (loaded.get(), called.get(), refused.get());
    assert!(called.get() > 0 && refused.get() > 0, "loaded, called, refused: {shares:?}");
    let service = runtime.block_on(stage.load(identity("", "string", TWO, STORE_TWO)));
    assert_eq!(runtime.block_on(result(&service, "fn__same", json!({ "value": "x" }))), json!("x"));
}

/// How many functions of it were called; `None` if it was refused.
async fn load_and_call(stage: &Stage, wasm: &[u8]) -> Option<usize> {
    let mut declaration = stage.declare("(module)");
    std::fs::write(&declaration.wasm_path, wasm).unwrap();
    declaration.limits = WasmLimits { fuel: Some(100_000), ..WasmLimits::default() };
    let Ok(service) = stage.try_load(&declaration).await else { return None };
    for tool in service.tools() {
        let parameters = tool.input_schema["properties"].as_object().unwrap().keys();
        let arguments: Value = parameters
            .filter(|name| !matches!(name.as_str(), "verbose" | "args"))
            .map(|name| (name.clone(), json!(7)))
            .collect();
        // Whatever it does, it comes back.
        let _ = call(&service, &tool.name, arguments).await;
    }
    // Without the two tools that every service has.
    Some(service.tools().len() - 2)
}
