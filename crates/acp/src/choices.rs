//! What an editor can choose about a session: its mode, its model, how much that thinks, and the runtime that it was made
//! with.

use agent_client_protocol_schema::v1 as acp;
use roost_model::mode::Mode;
use roost_rpc::{SessionInfo, ThoughtLevel};

/// Ids of the options that `session/set_config_option` takes.
pub(crate) const MODE: &str = "mode";
pub(crate) const MODEL: &str = "model";
pub(crate) const RUNTIME: &str = "runtime";
pub(crate) const THOUGHT_LEVEL: &str = "thought_level";
/// The value of [`MODEL`] and [`THOUGHT_LEVEL`] that leaves the choice to the runtime.
pub(crate) const DEFAULT: &str = "default";

const MODES: [(Mode, &str, &str); 5] = [
    (Mode::Plan, "Plan", "Reads run; every other call is denied"),
    (Mode::Ask, "Ask", "Reads run; every other call asks first"),
    (Mode::AcceptEdits, "Accept edits", "Reads and edits inside the workspace run; every other call asks first"),
    (Mode::Auto, "Auto", "Reads, writes and network run; dangerous calls ask first"),
    (Mode::Yolo, "Yolo", "Every call runs without asking"),
];

/// The current choices of a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SessionChoices {
    pub(crate) mode: Mode,
    pub(crate) model: Option<String>,
    pub(crate) runtime: String,
    /// `None` if the runtime has no such setting.
    pub(crate) thought_level: Option<ThoughtLevel>,
}

impl SessionChoices {
    pub(crate) fn from_info(info: &SessionInfo) -> Self {
        Self {
            mode: info.record.mode,
            model: info.model.clone(),
            runtime: info.agent_type.clone(),
            thought_level: info.thought_level.clone(),
        }
    }

    /// The modes, as clients without options for the configuration read them.
    pub(crate) fn modes(&self) -> acp::SessionModeState {
        let modes = MODES.map(|(mode, name, description)| {
            acp::SessionMode::new(mode.as_str(), name).description(description.to_owned())
        });
        acp::SessionModeState::new(self.mode.as_str(), modes.into())
    }

    /// All options. The runtime of a session never changes, so it has one value.
    pub(crate) fn options(&self) -> Vec<acp::SessionConfigOption> {
        let value = |id: &str, name: &str| acp::SessionConfigSelectOption::new(id.to_owned(), name);
        let modes = MODES
            .map(|(mode, name, description)| value(mode.as_str(), name).description(description.to_owned()))
            .to_vec();
        let default = value(DEFAULT, "Default of the runtime");
        let mut models = vec![default.clone()];
        models.extend(self.model.iter().map(|model| value(model, model)));
        let model = self.model.as_deref().unwrap_or(DEFAULT).to_owned();
        let mut options = vec![
            acp::SessionConfigOption::select(MODE, "Mode", self.mode.as_str(), modes)
                .description("How much the session may do without asking".to_owned())
                .category(acp::SessionConfigOptionCategory::Mode),
            acp::SessionConfigOption::select(MODEL, "Model", model, models)
                .description("The model of the next task; any name that the runtime knows is accepted".to_owned())
                .category(acp::SessionConfigOptionCategory::Model),
            acp::SessionConfigOption::select(
                RUNTIME,
                "Runtime",
                self.runtime.clone(),
                vec![value(&self.runtime, &self.runtime)],
            )
            .description("The agent that runs the session; chosen when the session is made".to_owned())
            .category(acp::SessionConfigOptionCategory::Other("_runtime".into())),
        ];
        options.extend(self.thought_level.as_ref().map(|thought| {
            let levels = [default].into_iter().chain(thought.levels.iter().map(|level| value(level, level)));
            let current = thought.current.as_deref().unwrap_or(DEFAULT).to_owned();
            acp::SessionConfigOption::select(THOUGHT_LEVEL, "Thought level", current, levels.collect::<Vec<_>>())
                .description("How much the model thinks before it answers, from the next task on".to_owned())
                .category(acp::SessionConfigOptionCategory::ThoughtLevel)
        }));
        options
    }
}
