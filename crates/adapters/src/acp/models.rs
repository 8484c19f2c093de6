//! How an agent lets its model be chosen, according to its answer when a session is created or opened.

use roost_engine::adapter::AdapterError;
use serde_json::{Value, json};

use crate::host::json_rpc::CallResult;

/// The way to choose a session's model, with the models that the agent offers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Models {
    /// By setting the session's config option of this id.
    Option { id: String, offered: Vec<String> },
    /// By `session/set_model`, which older agents take.
    Request { offered: Vec<String> },
    /// The agent offers no choice.
    Fixed,
}

impl Models {
    /// Reads the choice from the agent's answer to `session/new`, `session/load` or `session/resume`. A config option
    /// counts before the older list of models.
    pub(super) fn from_answer(answer: &Value) -> Self {
        let texts = |list: Option<&Value>, name: &str| {
            let all = list.and_then(Value::as_array).into_iter().flatten();
            all.filter_map(|one| one[name].as_str().map(Into::into)).collect::<Vec<String>>()
        };
        let options = answer.get("configOptions").and_then(Value::as_array).into_iter().flatten();
        let model = options.into_iter().find(|option| option["category"] == "model");
        if let Some((option, id)) = model.and_then(|option| Some((option, option["id"].as_str()?))) {
            // The values can be nested in groups.
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

    /// The method and parameters of the request that chooses this model; an error if the agent offers no choice.
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

    /// Checks the agent's answer to [`Self::request`]; the error for a refusal lists the models that are offered.
    pub(super) fn check_answer(&self, model: &str, answered: CallResult) -> Result<(), AdapterError> {
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
            assert_eq!(Models::from_answer(&answer), expected, "{answer}");
        }
    }
}
