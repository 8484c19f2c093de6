//! The agent's models, offered in the way that the environment names.

use serde_json::{Value, json};

use super::{MODELS, MODELS_BY};

/// The models to choose from; the first one is the default.
const OFFERED: [&str; 2] = ["small", "big"];

/// The model of a session.
pub(super) struct Models {
    by: Option<String>,
    pub(super) chosen: String,
}

impl Default for Models {
    fn default() -> Self {
        Self { by: std::env::var(MODELS).ok(), chosen: OFFERED[0].into() }
    }
}

impl Models {
    /// The fields about models in the response to `session/new` and `session/resume`.
    pub(super) fn offer(&self) -> Value {
        let [option, request] = MODELS_BY;
        match self.by.as_deref() {
            Some(by) if by == option => json!({ "configOptions": self.options() }),
            Some(by) if by == request => {
                let models = OFFERED.map(|model| json!({ "modelId": model, "name": model }));
                json!({ "models": { "currentModelId": self.chosen, "availableModels": models } })
            }
            _ => json!({}),
        }
    }

    /// Takes a request for another model; `None` if it is not one that is offered.
    pub(super) fn choose(&mut self, method: &str, params: &Value) -> Option<Result<Value, String>> {
        let [option, request] = MODELS_BY;
        let wanted = match (method, self.by.as_deref()?) {
            ("session/set_config_option", by) if by == option && params["configId"] == "llm" => &params["value"],
            ("session/set_model", by) if by == request => &params["modelId"],
            _ => return None,
        };
        let wanted = wanted.as_str().unwrap_or_default();
        if !OFFERED.contains(&wanted) {
            return Some(Err("Invalid params".into()));
        }
        self.chosen = wanted.into();
        Some(Ok(json!({ "configOptions": self.options() })))
    }

    fn options(&self) -> Value {
        let models = OFFERED.map(|model| json!({ "value": model, "name": model }));
        json!([
            { "id": "tone", "name": "Tone", "category": "_tone", "type": "select", "currentValue": "dry",
              "options": [{ "value": "dry", "name": "Dry" }] },
            { "id": "llm", "name": "Model", "category": "model", "type": "select", "currentValue": self.chosen,
              "options": models },
        ])
    }
}
