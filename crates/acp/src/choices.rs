//! What an editor can choose about a session: its mode, its model, and the runtime that it was made with.

use agent_client_protocol_schema::v1 as acp;
use roost_model::mode::Mode;
use roost_model::session::SessionRecord;

/// Ids of the options that `session/set_config_option` takes.
pub(crate) const MODE: &str = "mode";
pub(crate) const MODEL: &str = "model";
pub(crate) const RUNTIME: &str = "runtime";
/// The value of [`MODEL`] that leaves the choice to the runtime.
pub(crate) const DEFAULT_MODEL: &str = "default";

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
}

impl SessionChoices {
    pub(crate) fn from_record(record: &SessionRecord) -> Self {
        Self { mode: record.mode, model: record.model.clone(), runtime: record.runtime.id().to_string() }
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
        let mut models = vec![value(DEFAULT_MODEL, "Default of the runtime")];
        models.extend(self.model.iter().map(|model| value(model, model)));
        let model = self.model.as_deref().unwrap_or(DEFAULT_MODEL).to_owned();
        vec![
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
        ]
    }
}
