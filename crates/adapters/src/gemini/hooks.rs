//! The hooks in Gemini's settings. In its ACP mode Gemini runs some of them and leaves out others, among them those that
//! guard tool calls, and says so nowhere.

use std::collections::BTreeSet;
use std::path::PathBuf;

use roost_engine::adapter::Draft;
use roost_model::payload::{NoticeLevel, NoticeSource};
use serde_json::{Map, Value};

use super::home;
use crate::host;

/// The events whose hooks Gemini 0.61 runs only in its terminal and in `gemini -p`.
const NOT_RUN: [&str; 4] = ["AfterTool", "BeforeTool", "Notification", "SessionStart"];

/// The notice about hooks that do not run; `None` if the settings of the user, the project and the session have none.
pub(super) async fn notice(home: PathBuf, cwd: PathBuf, session: &Map<String, Value>) -> Option<Draft> {
    let session = session.clone();
    let read = move || {
        // Gemini itself complains about settings that cannot be read.
        let files = [home, cwd.join(home::FOLDER)].map(|folder| home::read_settings(&folder).unwrap_or_default());
        message(files.iter().chain([&session]))
    };
    let message = tokio::task::spawn_blocking(read).await.ok()??;
    Some(host::notice(NoticeLevel::Warning, NoticeSource::Engine, message))
}

fn message<'a>(settings: impl Iterator<Item = &'a Map<String, Value>>) -> Option<String> {
    let hooks = settings.filter_map(|settings| settings.get("hooks")?.as_object()).flatten();
    let has_any = |value: &Value| value.as_array().is_some_and(|hooks| !hooks.is_empty());
    let names: BTreeSet<_> = hooks.filter(|(_, value)| has_any(value)).map(|(name, _)| name.as_str()).collect();
    let left_out: Vec<_> = names.into_iter().filter(|name| NOT_RUN.contains(name)).collect();
    (!left_out.is_empty()).then(|| {
        format!(
            "Gemini's hooks for {} do not run under Roost, because Gemini leaves them out when it is hosted; a hook that \
             guards tool calls has to become one of the `policy.rules` in roost.toml",
            left_out.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hooks_that_do_not_run_are_named_wherever_they_are_set() {
        let settings = |value: Value| value.as_object().cloned().unwrap();
        let hook = json!([{ "hooks": [{ "type": "command", "command": "true" }] }]);
        let user = settings(json!({ "hooks": { "BeforeTool": hook, "BeforeAgent": hook, "AfterTool": [] } }));
        let project = settings(json!({ "hooks": { "SessionStart": hook, "disabled": ["x"] } }));
        let message = message([&user, &project].into_iter()).unwrap();
        assert!(message.starts_with("Gemini's hooks for BeforeTool, SessionStart do not run"), "{message}");
        let runs = settings(json!({ "hooks": { "BeforeAgent": hook } }));
        assert_eq!(super::message([&runs, &settings(json!({}))].into_iter()), None);
    }
}
