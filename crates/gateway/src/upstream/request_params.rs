//! The parameters of a request as a server gets them: what an era adds to `_meta`, and a progress token of our own.
//!
//! Two clients may choose the same progress token and share a connection. So a server is given the id of our request as
//! the token, and the client's own is put back into what the server reports.

use std::borrow::Cow;

use memchr::memmem;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::client_profile::ClientProfile;
use crate::era::MODERN;
use crate::raw_object::RawObject;

const META: &str = "_meta";
const PROGRESS_TOKEN: &str = "progressToken";

/// What Roost calls itself where it speaks for itself.
#[derive(Serialize)]
pub(super) struct OwnInfo {
    name: &'static str,
    version: &'static str,
}

pub(super) const OWN_INFO: OwnInfo = OwnInfo { name: "roost", version: env!("CARGO_PKG_VERSION") };

/// The parameters to be sent, and the client's progress token if it has one.
pub(super) struct SentParams<'a> {
    pub(super) params: Option<Cow<'a, RawValue>>,
    pub(super) progress_token: Option<Box<RawValue>>,
}

/// The parameters of request `id`. A modern server is told about the client that asks.
pub(super) fn sent_params<'a>(
    params: Option<&'a RawValue>,
    modern_client: Option<&ClientProfile>,
    id: u64,
) -> SentParams<'a> {
    let has_token = params.is_some_and(|params| memmem::find(params.get().as_bytes(), b"progressToken").is_some());
    if modern_client.is_none() && !has_token {
        return SentParams { params: params.map(Cow::Borrowed), progress_token: None };
    }
    let object = params.map_or_else(|| Some(RawObject::default()), RawObject::parse);
    let Some(mut object) = object else {
        // No method has parameters that are no object; the server refuses them better than we do.
        return SentParams { params: params.map(Cow::Borrowed), progress_token: None };
    };
    let old_meta = object.get(META).map(ToOwned::to_owned);
    let mut meta = old_meta.as_deref().and_then(RawObject::parse).unwrap_or_default();
    let progress_token = meta.get(PROGRESS_TOKEN).map(ToOwned::to_owned);
    if progress_token.is_some() {
        set(&mut meta, PROGRESS_TOKEN, &id);
    }
    if let Some(client) = modern_client {
        set(&mut meta, "io.modelcontextprotocol/protocolVersion", &MODERN);
        set(&mut meta, "io.modelcontextprotocol/clientCapabilities", &client.capabilities);
        match &client.info {
            Some(info) => set(&mut meta, "io.modelcontextprotocol/clientInfo", info),
            None => set(&mut meta, "io.modelcontextprotocol/clientInfo", &OWN_INFO),
        }
    }
    let meta = meta.to_raw();
    object.set(META, meta);
    SentParams { params: Some(Cow::Owned(object.to_raw())), progress_token }
}

fn set(meta: &mut RawObject<'_>, name: &'static str, value: &impl Serialize) {
    // Texts, numbers and JSON values can always be written.
    if let Ok(value) = to_raw_value(value) {
        meta.set(name, value);
    }
}

/// The id of our request that a progress notification is about.
pub(super) fn progress_id(params: Option<&RawValue>) -> Option<u64> {
    RawObject::parse(params?)?.get(PROGRESS_TOKEN)?.get().parse().ok()
}

/// The parameters of a progress notification with the client's own token.
pub(super) fn with_progress_token(params: &RawValue, token: &RawValue) -> Box<RawValue> {
    let Some(mut object) = RawObject::parse(params) else { return params.to_owned() };
    object.set(PROGRESS_TOKEN, token.to_owned());
    object.to_raw()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::era::Era;

    fn raw(value: &Value) -> Box<RawValue> {
        to_raw_value(value).unwrap()
    }

    #[test]
    fn a_legacy_server_gets_what_the_client_wrote() {
        let params = RawValue::from_string(r#"{ "name": "a",  "arguments": {"x": 1.0} }"#.into()).unwrap();
        assert_eq!(sent_params(Some(&params), None, 7).params.unwrap().get(), params.get());
        assert!(sent_params(None, None, 7).params.is_none());
    }

    #[test]
    fn a_progress_token_becomes_our_own_and_back() {
        let params = raw(&json!({ "name": "a", "_meta": { "other": 1, "progressToken": "t" } }));
        let sent = sent_params(Some(&params), None, 7);
        assert_eq!(sent.params.unwrap().get(), r#"{"name":"a","_meta":{"other":1,"progressToken":7}}"#);
        let report = raw(&json!({ "progressToken": 7, "progress": 0.5 }));
        assert_eq!(progress_id(Some(&report)), Some(7));
        let told = with_progress_token(&report, &sent.progress_token.unwrap());
        assert_eq!(told.get(), r#"{"progressToken":"t","progress":0.5}"#);
    }

    #[test]
    fn a_modern_server_is_told_who_asks() {
        let mut client = ClientProfile { era: Era::Modern, capabilities: Default::default(), info: None };
        client.capabilities.insert("sampling".into(), json!({}));
        let sent = sent_params(None, Some(&client), 7).params.unwrap();
        let expected = json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "sampling": {} },
            "io.modelcontextprotocol/clientInfo": { "name": "roost", "version": env!("CARGO_PKG_VERSION") },
        } });
        assert_eq!(serde_json::from_str::<Value>(sent.get()).unwrap(), expected);
    }
}
