//! Calls that wait: for their turn, and for what they asked for.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use roost_model::service::wasm::{WasmCapabilities, WasmLimits};
use roost_wasm::effects::EffectError;
use roost_wasm::outcome::FailureKind;
use roost_wasm::{CallError, Effects, Limits, WasmService};
use serde_json::json;
use tokio::sync::Notify;

use crate::kit::{Stage, call, object, result};

/// `ask()` asks a person, and `again()` calls the tool `self__again` of the gateway.
const WAITS: &str = r#"(module
    (import "env" "hitl_ask" (func $ask (param i32 i32) (result i32)))
    (import "env" "mcp_connect" (func $connect (param i32) (result i32)))
    (import "env" "mcp_call_tool" (func $call (param i64 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (global (export "__heap_base") i32 (i32.const 4096))
    (data (i32.const 1024) "\0b\00\00\00self__again")
    (data (i32.const 1048) "\02\00\00\00{}")
    (func (export "ask") (result i32) (call $ask (i32.const 1024) (i32.const 1024)))
    (func (export "again") (result i32)
        (drop (call $connect (i32.const 1024)))
        (call $call (i64.const 1) (i32.const 1024) (i32.const 1048))))"#;
const SOURCE: &str = "function ask() -> String { x }\nfunction again() -> Result<String, String> { x }";

async fn load(stage: &Stage, limits: WasmLimits) -> WasmService {
    let mut declaration = stage.declare(WAITS);
    let source = stage.path("main.clarity");
    std::fs::write(&source, SOURCE).unwrap();
    declaration.source_file = Some(source);
    let granted = WasmCapabilities { ask: true, tools: vec!["*".into()], ..WasmCapabilities::default() };
    (declaration.capabilities, declaration.policy, declaration.limits) = (granted.clone(), granted, limits);
    stage.try_load(&declaration).await.unwrap()
}

/// A gateway whose only tool is the module that calls it.
#[derive(Clone, Default)]
struct Itself(Arc<OnceLock<WasmService>>);

#[async_trait]
impl Effects for Itself {
    async fn call_tool(&self, _: &str, _: &str) -> Result<String, EffectError> {
        let service = self.0.get().unwrap();
        let limits = Limits { wait: Duration::from_millis(20), ..service.limits().clone() };
        let called = service.call("fn__again", &object(json!({})), &limits).await.map_err(|error| error.to_string())?;
        called.outcome.map(|success| success.text).map_err(|failure| failure.to_string())
    }
}

#[tokio::test]
async fn a_module_that_calls_itself_while_all_its_turns_are_taken_ends() {
    let itself = Itself::default();
    let stage = Stage::with_effects(itself.clone());
    let service = load(&stage, WasmLimits { max_concurrency: Some(2), ..WasmLimits::default() }).await;
    itself.0.set(service.clone()).ok().unwrap();
    let calls = [call(&service, "fn__again", json!({})), call(&service, "fn__again", json!({}))];
    let [one, other] = calls;
    let (one, other) = tokio::join!(one, other);
    for ended in [one, other] {
        let failed = ended.unwrap().outcome.unwrap_err();
        assert!(failed.message.contains("no instance was free for 20ms"), "{failed}");
    }
}

#[tokio::test]
async fn a_call_whose_turn_does_not_come_is_told_so() {
    let stage = Stage::with_effects(Nobody::default());
    let service = load(&stage, WasmLimits { max_concurrency: Some(1), ..WasmLimits::default() }).await;
    let asking = call(&service, "fn__ask", json!({}));
    let limits = Limits { wait: Duration::from_millis(20), ..service.limits().clone() };
    let arguments = object(json!({}));
    let second = service.call("fn__ask", &arguments, &limits);
    tokio::select! {
        biased;
        ended = asking => panic!("{ended:?}"),
        ended = second => assert_eq!(ended, Err(CallError::NoTurn(limits.wait))),
    }
}

/// People who do not answer.
#[derive(Clone, Default)]
struct Nobody(Arc<Notify>);

#[async_trait]
impl Effects for Nobody {
    async fn ask(&self, _: &str, _: &str) -> Result<Option<String>, EffectError> {
        self.0.notify_one();
        std::future::pending().await
    }
}

#[tokio::test]
async fn calls_that_wait_for_people_leave_instances_to_others() {
    let nobody = Nobody::default();
    let stage = Stage { effects: Arc::new(nobody.clone()), ..Stage::with_config(|config| config.max_instances = 2) };
    let waits = load(&stage, WasmLimits { timeout_ms: Some(50), ..WasmLimits::default() }).await;
    let plain = stage.load(r#"(module (func (export "seven") (result i32) i32.const 7))"#).await;
    let first = call(&waits, "fn__ask", json!({}));
    let others = async {
        nobody.0.notified().await;
        // The other half of the instances: this one's time goes on while it waits.
        let second = call(&waits, "fn__ask", json!({}));
        let (second, seven) = tokio::join!(second, result(&plain, "fn__seven", json!({})));
        assert_eq!(second.unwrap().outcome.unwrap_err().kind, FailureKind::Timeout);
        assert_eq!(seven, json!(7));
    };
    tokio::select! {
        biased;
        ended = first => panic!("nobody answered: {ended:?}"),
        () = others => {}
    }
}
