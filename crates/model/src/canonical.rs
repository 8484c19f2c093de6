//! Canonical JSON (RFC 8785) and the hashes made of it.

use serde::Serialize;
use sha2::{Digest, Sha256};

/// The RFC 8785 text of a value, or why it has none (numbers that JSON cannot carry).
pub fn to_string<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    serde_jcs::to_string(value)
}

/// `sha256:<hex>` of a JSON value's canonical text.
///
/// ```
/// use roost_model::canonical::hash;
/// use serde_json::json;
///
/// assert_eq!(hash(&json!({ "a": 1, "b": 2.0 })), hash(&json!({ "b": 2, "a": 1 })));
/// ```
pub fn hash(value: &serde_json::Value) -> String {
    // A `Value` holds no NaN, no infinity and only string keys, so its canonical form always exists.
    let text = to_string(value).unwrap_or_default();
    hash_bytes(text.as_bytes())
}

/// `sha256:<hex>` of bytes.
pub fn hash_bytes(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::from("sha256:"), |mut text, byte| {
        // Writing into a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn message() -> Value {
        json!([{ "role": "user", "content": [{ "type": "text", "text": "Respond with the exact phrase: FIXTURE OK." }] }])
    }

    #[test]
    fn input_hashes_match_the_golden_vectors() {
        let none = json!({ "strategy": "none" });
        let codex = json!({ "workingDirectory": "<CWD>", "skipGitRepoCheck": true, "sandboxMode": "read-only",
            "networkAccessEnabled": false, "webSearchEnabled": false, "approvalPolicy": "never" });
        let claude = json!({ "permissionMode": "dontAsk", "settingSources": [], "tools": [] });
        let cases = [
            (
                json!({ "messages": message(), "context_window": none }),
                "9ab769e25997c0491c5e8ac9637c5bc8fd96ac2981b6cc07503f77511c6437d6",
            ),
            (
                json!({ "messages": message(), "context_window": none, "runtime_config": codex }),
                "e047dd6af10433edb437e2321062727b074ebb70370327fbab3e5191274282a9",
            ),
            (
                json!({ "messages": message(), "context_window": none, "runtime_config": claude }),
                "d220055e8b6983e26d9cae9274e0a859b82be4c482806cc28ddb38da7b4070af",
            ),
        ];
        for (value, expected) in cases {
            assert_eq!(hash(&value), format!("sha256:{expected}"), "{value}");
        }
    }

    #[test]
    fn artifact_hashes_match_the_golden_vectors() {
        let cases = [
            (
                json!({ "messages": message(), "context_window": { "strategy": "none" } }),
                243,
                "a29e77afb4fe06ec765893b6d478467c37240d98eb45819012c533956e8cdcc0",
            ),
            (
                json!({ "disabled": true, "reason": "capture disabled", "sources": [] }),
                71,
                "f2e7f3c3b2fd6429772c7742f22fb605b539c747010921a789f3102cdde8fd28",
            ),
            (
                json!({ "disabled": true, "reason": "disabled", "sources": [] }),
                63,
                "6e7fbec28f82377827d73be7ba6b5dca66ed22dd5dad6c4466e3c88b7ab370fe",
            ),
            (
                json!({ "disabled": true, "reason": "settingSources empty", "sources": [], "precedence": [] }),
                95,
                "40f05741e9b90e843184a9a6b029462845af58c3dcbf6d7b7d8827cee6e22dbd",
            ),
        ];
        for (value, size, expected) in cases {
            let text = serde_json::to_string_pretty(&value).unwrap();
            assert_eq!(text.len(), size, "{text}");
            assert_eq!(hash_bytes(text.as_bytes()), format!("sha256:{expected}"));
        }
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter("JSON has no NaN", |n| n.is_finite()).prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(".{0,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn reversed(value: &Value) -> Value {
        match value {
            Value::Object(map) => Value::Object(map.iter().rev().map(|(k, v)| (k.clone(), reversed(v))).collect()),
            Value::Array(items) => Value::Array(items.iter().map(reversed).collect()),
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn key_order_never_changes_a_hash(value in json_value()) {
            prop_assert_eq!(hash(&value), hash(&reversed(&value)));
        }

        #[test]
        fn every_json_value_has_a_canonical_text(value in json_value()) {
            prop_assert!(to_string(&value).is_ok());
        }
    }
}
