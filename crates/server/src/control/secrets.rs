//! Tools about the secrets of services. None of them shows one.

use roost_model::secret::Secret;
use roost_rpc::{NoParams, SecretParams, SecretSetParams};
use serde::Deserialize;
use serde_json::{Value, to_value};

use super::schema::{object, text};
use super::{Call, ToolResult, internal};
use crate::handlers::secret;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference {
    auth_ref: String,
}

pub(super) fn of_reference() -> Value {
    let forms = "NAME, env:VARIABLE, file:RELATIVE/PATH, keyring:NAME or header_env:Header-Name:VARIABLE";
    object(&[("auth_ref", text(forms))], &["auth_ref"])
}

pub(super) async fn validate_auth_ref(call: Call<'_>) -> ToolResult {
    let Reference { auth_ref } = call.parse()?;
    to_value(secret::validate(&call.context(), SecretParams { auth_ref }).await?).map_err(internal)
}

pub(super) async fn auth_provider_health(call: Call<'_>) -> ToolResult {
    to_value(secret::providers(&call.context(), NoParams {}).await?).map_err(internal)
}

pub(super) async fn list_auth_secrets(call: Call<'_>) -> ToolResult {
    to_value(secret::list(&call.context(), NoParams {}).await?).map_err(internal)
}

pub(super) async fn set_auth_secret(call: Call<'_>) -> ToolResult {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        auth_ref: String,
        secret: String,
    }
    let Arguments { auth_ref, secret: text } = call.parse()?;
    let params = SecretSetParams { auth_ref, secret: Secret::from(text) };
    to_value(secret::set(&call.context(), params).await?).map_err(internal)
}

pub(super) async fn delete_auth_secret(call: Call<'_>) -> ToolResult {
    let Reference { auth_ref } = call.parse()?;
    to_value(secret::delete(&call.context(), SecretParams { auth_ref }).await?).map_err(internal)
}
