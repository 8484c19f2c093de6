//! What a client of the gateway said about itself.

use serde_json::{Map, Value, json};

use crate::era::Era;

/// What a client said about itself: at its handshake, or with each request if it is a modern one.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientProfile {
    /// How it speaks.
    pub era: Era,
    /// What it can do for a server (`elicitation`, `sampling`, `roots`, …), as it wrote it.
    pub capabilities: Map<String, Value>,
    /// Its name and version, as it wrote them.
    pub info: Option<Value>,
}

impl ClientProfile {
    /// Whether it answers requests of this method for a server.
    pub fn answers(&self, method: &str) -> bool {
        let capability = match method {
            "elicitation/create" => "elicitation",
            "sampling/createMessage" => "sampling",
            "roots/list" => "roots",
            _ => return false,
        };
        self.capabilities.contains_key(capability)
    }

    /// What a server is told at a handshake on behalf of all clients that can do the same: what a server may ask of a client
    /// through the gateway, and in which ways. What else a client says would only make connections that nobody else can use.
    pub(crate) fn reduced(&self) -> Self {
        const KNOWN: [(&str, &[&str]); 3] =
            [("elicitation", &["form", "url"]), ("sampling", &["context", "tools"]), ("roots", &["listChanged"])];
        let known = KNOWN.into_iter().filter_map(|(capability, ways)| {
            let said = self.capabilities.get(capability)?;
            let ways = ways.iter().filter_map(|way| match said.get(way)? {
                Value::Object(_) => Some(((*way).to_owned(), json!({}))),
                Value::Bool(true) => Some(((*way).to_owned(), true.into())),
                _ => None,
            });
            Some((capability.to_owned(), Value::Object(ways.collect())))
        });
        Self { era: self.era.clone(), capabilities: known.collect(), info: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_that_differ_only_in_what_no_server_can_ask_for_are_the_same_to_a_server() {
        let reduced = |capabilities: Value| {
            let capabilities = capabilities.as_object().unwrap().clone();
            let info = Some(json!({ "name": "one of many" }));
            Value::Object(ClientProfile { era: Era::Modern, capabilities, info }.reduced().capabilities)
        };
        let plain = json!({ "elicitation": {}, "roots": { "listChanged": true } });
        let decorated = json!({
            "elicitation": { "n": 1, "url": 7 }, "roots": { "listChanged": true, "n": {} }, "experimental": { "n": 1 },
        });
        assert_eq!(reduced(decorated), plain);
        assert_eq!(reduced(plain.clone()), plain);
        let ways = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} } });
        assert_eq!(
            reduced(json!({ "elicitation": { "url": { "x": 1 }, "form": {} }, "sampling": { "tools": {} } })),
            ways
        );
        assert_eq!(reduced(json!({ "extensions": {} })), json!({}));
    }
}
