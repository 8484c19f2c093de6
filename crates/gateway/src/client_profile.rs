//! What a client of the gateway said about itself.

use serde_json::{Map, Value};

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
}
