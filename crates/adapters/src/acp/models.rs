//! How an agent lets its model be chosen, as it says when a session is made or opened.

use roost_engine::adapter::AdapterError;
use serde_json::{Value, json};

use crate::host::json_rpc::CallResult;

/// How the model of a session is chosen, and the models that are offered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Models {
    /// By the session's option of this id.
    Option { id: String, offered: Vec<String> },
    /// By the request that agents took before there were options.
    Request { offered: Vec<String> },
    /// Not at all.
    Fixed,
}

impl Models {
    /// What the agent offers in its answer to a request for a session.
    pub(super) fn offered_in(answer: &Value) -> Self {
        let texts = |list: Option<&Value>, name: &str| {
            let all = list.and_then(Value::as_array).into_iter().flatten();
            all.filter_map(|one| one[name].as_str().map(Into::into)).collect::<Vec<String>>()
        };
        let options = answer.get("configOptions").and_then(Value::as_array).into_iter().flatten();
        let model = options.into_iter().find(|option| option["category"] == "model");
        if let Some((option, id)) = model.and_then(|option| Some((option, option["id"].as_str()?))) {
            // Choices can stand in groups.
            let groups =
                option["options"].as_array().into_iter().flatten().map(|group| texts(group.get("options"), "value"));
            let grouped = groups.flatten().collect::<Vec<_>>();
            let offered = [texts(option.get("options"), "value"), grouped].concat();
            return Self::Option { id: id.into(), offered };
        }
        match answer.get("models").filter(|models| models.is_object()) {
            Some(models) => Self::Request { offered: texts(models.get("availableModels"), "modelId") },
            None => Self::Fixed,
        }
    }

    /// The request by which this model is chosen.
    pub(super) fn request(&self, session: &str, model: &str) -> Result<(&'static str, Value), AdapterError> {
        match self {
            Self::Option { id, .. } => {
                Ok(("session/set_config_option", json!({ "sessionId": session, "configId": id, "value": model })))
            }
            Self::Request { .. } => Ok(("session/set_model", json!({ "sessionId": session, "modelId": model }))),
            Self::Fixed => Err(AdapterError::Unsupported(
                "choose a model, because the agent offers none; name it in the agent's own `args` or `env` in roost.toml",
            )),
        }
    }

    /// What came of the request; a refusal says what else there is.
    pub(super) fn taken(&self, model: &str, answered: CallResult) -> Result<(), AdapterError> {
        let Err(error) = answered else { return Ok(()) };
        let (Self::Option { offered, .. } | Self::Request { offered }) = self else { return Ok(()) };
        let message = format!("the agent does not take the model {model}; it offers {}", offered.join(", "));
        Err(AdapterError::Runtime { message, raw: serde_json::to_value(error).ok() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_counts_before_the_older_request_and_groups_are_looked_into() {
        let models = json!({ "currentModelId": "a", "availableModels": [{ "modelId": "a" }, { "modelId": "b" }] });
        let flat = json!([{ "id": "mode", "category": "mode" },
            { "id": "m", "category": "model", "options": [{ "value": "x" }, { "value": "y" }] }]);
        let grouped =
            json!([{ "id": "m", "category": "model", "options": [{ "group": "g", "options": [{ "value": "z" }] }] }]);
        let option = |offered: &[&str]| Models::Option {
            id: "m".into(),
            offered: offered.iter().map(|&one| one.into()).collect(),
        };
        let table = [
            (json!({ "configOptions": flat, "models": models }), option(&["x", "y"])),
            (json!({ "configOptions": grouped }), option(&["z"])),
            (json!({ "models": models }), Models::Request { offered: vec!["a".into(), "b".into()] }),
            (json!({ "models": null, "configOptions": [{ "id": "model" }] }), Models::Fixed),
            (json!({}), Models::Fixed),
        ];
        for (answer, expected) in table {
            assert_eq!(Models::offered_in(&answer), expected, "{answer}");
        }
    }
}
