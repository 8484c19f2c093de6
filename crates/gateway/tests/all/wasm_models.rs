//! Modules that ask a model: only one that both sides name, and only with a key that is configured.

use roost_gateway::upstream::{ModelServer as Configured, ModelSettings};
use roost_model::service::Lifecycle;
use serde_json::{Value, json};
use testkit::model::ModelServer;

use crate::wasm::{Stage, text};

/// `ask(model, prompt)` in the conventions of Clarity.
const ASKS: &str = r#"(module
    (import "env" "call_model" (func $call (param i32 i32) (result i32)))
    (memory (export "memory") 1)
    (global (export "__heap_base") i32 (i32.const 4096))
    (func (export "ask") (param i32 i32) (result i32) (call $call (local.get 0) (local.get 1))))"#;

/// What a module is told that asks this model, where the manifest names `claude-*` and `gpt-*`.
async fn ask(allowed: &[&str], servers: ModelSettings, model: &str) -> Value {
    let allowed = allowed.iter().map(|&name| name.into()).collect();
    let stage = Stage::with(|wasm| (wasm.policy.models, wasm.models) = (allowed, servers)).await;
    let source = "module M\n\nfunction ask(m: String, p: String) -> Result<String, String> {\n  x\n}\n";
    std::fs::write(stage.path("m.clarity"), source).unwrap();
    let mut declared = stage.module("m", ASKS);
    declared["metadata"]["sourceFile"] = json!(stage.path("m.clarity"));
    declared["spec"]["origin"]["capabilities"] = json!({ "models": ["claude-*", "gpt-*"] });
    let view = stage.run(&declared).await;
    assert_eq!(view.life.lifecycle, Lifecycle::Running, "{:?}", view.life.last_error);
    stage.call(&view.id, "fn__ask", json!({ "m": model, "p": "hello" })).await
}

fn servers(model: &ModelServer, key: Option<&str>) -> ModelSettings {
    let server = || Configured { url: model.url(), key: key.map(Into::into) };
    ModelSettings { anthropic: server(), openai: server(), names: Vec::new() }
}

#[tokio::test]
async fn a_model_is_asked_in_the_way_of_its_server() {
    let model = ModelServer::start();
    for (name, line) in [("claude-small", "POST /v1/messages"), ("gpt-small", "POST /v1/chat/completions")] {
        let result = ask(&["*"], servers(&model, Some("env:TEST_TOKEN")), name).await;
        // What the scripted model says to whoever offers no tools.
        assert!(result.to_string().contains("ok title"), "{name}: {result}");
        let asked = model.requests().pop().unwrap();
        assert_eq!((asked.line.as_str(), asked.model.as_str()), (line, name));
    }
}

#[tokio::test]
async fn without_a_grant_or_a_key_no_model_is_asked() {
    let model = ModelServer::start();
    for (allowed, key, says) in [
        (&["claude-*"][..], Some("env:TEST_TOKEN"), "the policy of this server does not allow it"),
        (&["*"], None, "set wasm.openai_key"),
        (&["*"], Some("env:NOT_THERE"), "cannot be read"),
    ] {
        let refused = ask(allowed, servers(&model, key), "gpt-small").await;
        assert!(refused["isError"] == true && text(&refused).contains(says), "{refused}");
        assert!(!refused.to_string().contains("NOT_THERE"), "{refused}");
    }
    assert_eq!(model.requests().len(), 0);
}
