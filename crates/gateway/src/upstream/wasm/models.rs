//! The models that modules may ask: those of two kinds of servers, with keys that the configuration refers to.

use std::path::Path;
use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use roost_wasm::effects::{EffectError, ModelRequest};
use serde_json::{Value, json};

use super::effects::read_limited;
use crate::auth_ref::AuthRef;
use crate::upstream::{ReadVariable, http_client};

/// Models whose names begin with this are asked in the way of Anthropic, all others in the way of OpenAI.
const ANTHROPIC_MODELS: &str = "claude-";
/// The version of Anthropic's interface that is spoken here.
const ANTHROPIC_VERSION: &str = "2023-06-01";
/// What a model may write in one answer.
const MAX_TOKENS: u32 = 4096;
/// How long a model may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The servers of models, as they are configured.
#[derive(Clone, Debug, Default)]
pub struct ModelSettings {
    /// For models whose names begin with `claude-`.
    pub anthropic: ModelServer,
    /// For all others.
    pub openai: ModelServer,
    /// The names that modules see when they list models.
    pub names: Vec<String>,
}

/// What a model answered, and what that used.
pub(super) struct ModelAnswer {
    pub(super) text: String,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
}

/// A server of models.
#[derive(Clone, Debug, Default)]
pub struct ModelServer {
    /// Its address, before `/v1`.
    pub url: String,
    /// A reference to its key, as manifests write it. Without one no model of this server is asked.
    pub key: Option<String>,
}

impl ModelSettings {
    /// Asks a model.
    pub(super) async fn ask(
        &self,
        client: &Client,
        (variable, secrets): (&ReadVariable, &Path),
        request: ModelRequest,
    ) -> Result<ModelAnswer, EffectError> {
        let ModelRequest { model, system, prompt } = request;
        let is_anthropic = model.starts_with(ANTHROPIC_MODELS);
        let (server, name) = if is_anthropic { (&self.anthropic, "anthropic") } else { (&self.openai, "openai") };
        let unknown = || format!("no key for the model \"{model}\" is configured: set wasm.{name}_key");
        let key = read_key(server.key.as_deref().ok_or_else(unknown)?, variable, secrets).await?;
        let url = server.url.trim_end_matches('/');
        let user = json!({ "role": "user", "content": prompt });
        let (sent, body, pointer) = if is_anthropic {
            let mut body = json!({ "model": model, "max_tokens": MAX_TOKENS, "messages": [user] });
            if let Some(system) = system {
                body["system"] = system.into();
            }
            let sent = client.post(format!("{url}/v1/messages")).header("x-api-key", key);
            (sent.header("anthropic-version", ANTHROPIC_VERSION), body, "/content")
        } else {
            let system = system.map(|system| json!({ "role": "system", "content": system }));
            let messages: Vec<_> = system.into_iter().chain([user]).collect();
            let body = json!({ "model": model, "max_tokens": MAX_TOKENS, "messages": messages });
            let sent = client.post(format!("{url}/v1/chat/completions")).bearer_auth(key);
            (sent, body, "/choices/0/message/content")
        };
        let sent = sent.header("content-type", "application/json").body(body.to_string());
        let answer = answer(sent).await.map_err(|why| format!("the model \"{model}\" did not answer: {why}"))?;
        let text = answer.pointer(pointer).and_then(text_of);
        let text = text.ok_or_else(|| format!("the model \"{model}\" answered without a text"))?;
        // The names of Anthropic's interface, else those of OpenAI's.
        let used = |names: [&str; 2]| names.iter().find_map(|name| answer["usage"][name].as_u64()).unwrap_or(0);
        let input_tokens = used(["input_tokens", "prompt_tokens"]);
        Ok(ModelAnswer { text, input_tokens, output_tokens: used(["output_tokens", "completion_tokens"]) })
    }
}

/// A text, or what of a list of parts is text; a model may think first.
fn text_of(content: &Value) -> Option<String> {
    let parts = || content.as_array()?.iter().find_map(|part| part["text"].as_str());
    content.as_str().or_else(parts).map(str::to_owned)
}

/// The key, without the word that a header needs.
async fn read_key(reference: &str, variable: &ReadVariable, secrets: &Path) -> Result<String, EffectError> {
    let reference = AuthRef::parse(reference).map_err(|error| error.to_string())?;
    let (variable, secrets) = (variable.clone(), secrets.to_owned());
    let read = tokio::task::spawn_blocking(move || reference.read(|name| variable(name), &secrets));
    let read = read.await.map_err(|_| "the daemon is shutting down".to_owned())?;
    // Which key is missing is for whoever configured it, and not for the module.
    let (_, secret) = read.map_err(|error| {
        tracing::warn!(%error, "The key of a model cannot be read.");
        "the key of the model's server cannot be read; the log of the daemon says why".to_owned()
    })?;
    let text = secret.expose();
    Ok(text.strip_prefix("Bearer ").unwrap_or(text).to_owned())
}

async fn answer(sent: RequestBuilder) -> Result<Value, EffectError> {
    let response = sent.timeout(PATIENCE).send().await.map_err(|error| http_client::reason(&error))?;
    let status = response.status();
    let body = read_limited(response).await?;
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    match status.is_success() {
        true => Ok(answer),
        false => Err(format!("{status} {}", answer["error"]["message"].as_str().unwrap_or_default())),
    }
}
