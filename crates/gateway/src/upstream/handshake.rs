//! How a server introduces itself, in both eras.

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::connector::ConnectError;
use super::request_params::OWN_INFO;
use super::{ServerAnswer, ServerProfile};
use crate::client_profile::ClientProfile;
use crate::era::{Era, LEGACY, MODERN, NEWEST_LEGACY};

/// The method by which a modern server introduces itself.
pub(super) const DISCOVER: &str = "server/discover";
/// The method by which a legacy server introduces itself.
pub(super) const INITIALIZE: &str = "initialize";
/// What a legacy server is told after it has introduced itself.
pub(super) const INITIALIZED: &str = "notifications/initialized";

/// The error of a modern server that does not speak our revision.
const UNSUPPORTED_VERSION: i64 = -32022;

/// The parameters of `initialize`. The connection may serve several clients that can do the same, so it is Roost that
/// introduces itself, with what the clients can do.
pub(super) fn initialize_params(client: &ClientProfile) -> Option<Box<RawValue>> {
    let params = json!({
        "protocolVersion": NEWEST_LEGACY,
        "capabilities": client.capabilities,
        "clientInfo": serde_json::to_value(OWN_INFO).ok()?,
    });
    to_raw_value(&params).ok()
}

/// What a server that answered `initialize` said about itself.
pub(super) fn initialized(answer: &ServerAnswer) -> Result<ServerProfile, ConnectError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialized {
        protocol_version: String,
        #[serde(default)]
        capabilities: Map<String, Value>,
        server_info: Option<Value>,
        instructions: Option<String>,
    }
    let result = answer
        .as_ref()
        .map_err(|error| ConnectError::broken(format!("it refused the handshake: {}", message(error))))?;
    let said: Initialized = serde_json::from_str(result.get())
        .map_err(|error| ConnectError::broken(format!("its answer to the handshake is not valid: {error}")))?;
    if !LEGACY.contains(&said.protocol_version.as_str()) {
        let revision = said.protocol_version;
        return Err(ConnectError::broken(format!(
            "it wants to speak MCP {revision:?}, which this version of Roost does not know"
        )));
    }
    Ok(ServerProfile {
        era: Era::Legacy(said.protocol_version),
        capabilities: said.capabilities,
        info: said.server_info,
        instructions: said.instructions,
    })
}

/// What a server's answer to `server/discover` says about its era.
pub(super) enum Discovered {
    /// It is a modern one, and this is what it said about itself.
    Modern(ServerProfile),
    /// It speaks modern revisions only, and none of them is ours.
    Unknown(ConnectError),
    /// It does not know the question, so it may be a legacy one.
    Legacy,
}

/// Reads the answer to `server/discover`.
pub(super) fn discovered(answer: &ServerAnswer) -> Discovered {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Discovery {
        supported_versions: Vec<String>,
        #[serde(default)]
        capabilities: Map<String, Value>,
        instructions: Option<String>,
        #[serde(default, rename = "_meta")]
        meta: Map<String, Value>,
    }
    let mut said: Discovery = match answer {
        Err(error) => return after_refusal(error),
        Ok(result) => match serde_json::from_str(result.get()) {
            Ok(said) => said,
            Err(_) => return Discovered::Legacy,
        },
    };
    if !said.supported_versions.iter().any(|version| version == MODERN) {
        return without_common_revision(&said.supported_versions);
    }
    Discovered::Modern(ServerProfile {
        era: Era::Modern,
        capabilities: said.capabilities,
        info: said.meta.remove("io.modelcontextprotocol/serverInfo"),
        instructions: said.instructions,
    })
}

fn after_refusal(error: &RawValue) -> Discovered {
    let error: Value = serde_json::from_str(error.get()).unwrap_or_default();
    if error["code"].as_i64() != Some(UNSUPPORTED_VERSION) {
        return Discovered::Legacy;
    }
    let supported = error["data"]["supported"].as_array().cloned().unwrap_or_default();
    let supported: Vec<String> = supported.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
    without_common_revision(&supported)
}

/// A server that does not speak the modern revision may still speak one with a handshake.
fn without_common_revision(supported: &[String]) -> Discovered {
    match supported.is_empty() || supported.iter().any(|revision| LEGACY.contains(&revision.as_str())) {
        true => Discovered::Legacy,
        false => {
            let supported = supported.join(", ");
            Discovered::Unknown(ConnectError::broken(format!(
                "it speaks only MCP {supported}, which this version of Roost does not know"
            )))
        }
    }
}

/// The text of an error object, for people.
pub(super) fn message(error: &RawValue) -> String {
    let error: Value = serde_json::from_str(error.get()).unwrap_or_default();
    error["message"].as_str().unwrap_or("without a reason").chars().take(500).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(value: &Value) -> Box<RawValue> {
        to_raw_value(value).unwrap()
    }

    fn era(answer: Result<Value, Value>) -> String {
        match discovered(&answer.map(|value| raw(&value)).map_err(|error| raw(&error))) {
            Discovered::Modern(profile) => format!("modern {:?}", profile.info),
            Discovered::Unknown(error) => format!("unknown: {error}"),
            Discovered::Legacy => "legacy".into(),
        }
    }

    #[test]
    fn the_answer_to_discover_tells_the_era() {
        let supported = |versions: &[&str]| json!({ "supportedVersions": versions, "capabilities": {} });
        assert_eq!(era(Ok(supported(&["2025-11-25", "2026-07-28"]))), "modern None");
        assert_eq!(era(Ok(supported(&["2025-11-25"]))), "legacy");
        assert!(era(Ok(supported(&["2030-01-01"]))).starts_with("unknown: it speaks only MCP 2030-01-01"));
        assert_eq!(era(Ok(json!({}))), "legacy");
        assert_eq!(era(Err(json!({ "code": -32601, "message": "?" }))), "legacy");
        assert_eq!(era(Err(json!({ "code": -32022, "data": { "supported": ["2025-06-18"] } }))), "legacy");
        assert!(era(Err(json!({ "code": -32022, "data": { "supported": ["2030-01-01"] } }))).starts_with("unknown"));
    }

    #[test]
    fn a_handshake_agrees_on_a_revision_that_both_know() {
        let answer = |revision: &str| Ok(raw(&json!({ "protocolVersion": revision, "serverInfo": { "name": "s" } })));
        assert_eq!(initialized(&answer("2024-11-05")).unwrap().era, Era::Legacy("2024-11-05".into()));
        assert!(initialized(&answer("2020-01-01")).unwrap_err().message.contains("2020-01-01"));
        assert!(initialized(&Ok(raw(&json!([])))).unwrap_err().message.contains("not valid"));
        assert!(initialized(&Err(raw(&json!({ "message": "no" })))).unwrap_err().message.ends_with(": no"));
    }
}
