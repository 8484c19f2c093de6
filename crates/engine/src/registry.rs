//! The registered runtimes, and which of them the configuration allows (seed 000).

use std::sync::Arc;

use roost_model::registry::{
    RuntimeEntry, RuntimeMethods, RuntimeRegistry, RuntimeStatus, SessionListSource, SessionSource,
};
use roost_model::runtime::{PermissionModel, ResumeModel, RuntimeName};
use roost_model::time::Timestamp;

use crate::adapter::RuntimeAdapter;
use crate::error::Error;
use crate::facts::ControlFiles;
use crate::plain::PlainSetting;

/// A runtime's adapter and its configured status.
#[derive(Clone)]
pub struct RegisteredRuntime {
    /// Shared by all sessions of the runtime.
    pub adapter: Arc<dyn RuntimeAdapter>,
    /// A disabled runtime is listed but refuses new work.
    pub status: RuntimeStatus,
}

/// All registered runtimes, in the order in which they were registered.
#[derive(Clone, Default)]
pub struct Runtimes {
    entries: Vec<RegisteredRuntime>,
    default: Option<String>,
}

impl Runtimes {
    /// Adds a runtime. It replaces one of the same name.
    pub fn register(&mut self, adapter: Arc<dyn RuntimeAdapter>, status: RuntimeStatus) {
        self.entries.retain(|entry| entry.adapter.name() != adapter.name());
        self.entries.push(RegisteredRuntime { adapter, status });
    }

    /// Sets the runtime of sessions that name none; the configuration's `default_runtime`.
    pub fn set_default(&mut self, id: &str) {
        self.default = Some(RuntimeName::from_id(id).id().to_owned());
    }

    /// The id that was set as the default, if any.
    pub(crate) fn named_default(&self) -> Option<&str> {
        self.default.as_deref()
    }

    /// The id that was set as the default, else the first registered one. Does not check whether it is installed.
    pub fn default_id(&self) -> Option<String> {
        self.default.clone().or_else(|| self.entries.first().map(|entry| entry.adapter.name().id().to_owned()))
    }

    /// All registered runtimes, disabled ones too.
    pub fn iter(&self) -> impl Iterator<Item = &RegisteredRuntime> {
        self.entries.iter()
    }

    /// The settings of this runtime that a device may choose; empty if it is not registered.
    pub fn plain_settings(&self, id: &str) -> &'static [PlainSetting] {
        self.find(&RuntimeName::from_id(id)).map_or(&[], |entry| entry.adapter.facts().plain_settings)
    }

    /// The setting of this runtime for how much its model thinks, and its values; `None` if it has no such setting or is
    /// not registered.
    pub fn thought_levels(&self, id: &str) -> Option<(&'static str, &'static [&'static str])> {
        self.find(&RuntimeName::from_id(id))?.adapter.facts().thought_levels()
    }

    /// Whether a task of this runtime takes messages while it runs.
    pub fn steers(&self, id: &str) -> bool {
        self.find(&RuntimeName::from_id(id)).is_some_and(|entry| entry.adapter.facts().steers)
    }

    /// The files that steer any of the runtimes. Disabled ones count too, because people may run them outside of Roost.
    pub(crate) fn control_files(&self) -> Vec<ControlFiles> {
        self.entries.iter().map(|entry| entry.adapter.facts().control_files).collect()
    }

    /// The adapter of this id, or of another name of the same runtime; an error if it is unknown or disabled.
    pub fn usable(&self, id: &str) -> Result<Arc<dyn RuntimeAdapter>, Error> {
        self.usable_by_name(&RuntimeName::from_id(id))
    }

    /// The adapter of this name; an error if it is unknown or disabled.
    pub fn usable_by_name(&self, name: &RuntimeName) -> Result<Arc<dyn RuntimeAdapter>, Error> {
        let id = || name.id().to_owned();
        match self.find(name) {
            Some(entry) if entry.status == RuntimeStatus::Disabled => Err(Error::RuntimeDisabled(id())),
            Some(entry) => Ok(entry.adapter.clone()),
            None => Err(Error::UnknownRuntime { id: id(), known: self.ids() }),
        }
    }

    fn find(&self, name: &RuntimeName) -> Option<&RegisteredRuntime> {
        self.entries.iter().find(|entry| entry.adapter.name() == *name)
    }

    /// The registry as clients see it, without availability.
    pub fn registry(&self, now: Timestamp) -> RuntimeRegistry {
        let entries = self.entries.iter().map(entry).collect();
        RuntimeRegistry::new(now, &self.default_id().unwrap_or_default(), entries)
    }

    /// The ids of all registered runtimes, in the order of registration.
    pub fn ids(&self) -> Vec<String> {
        self.entries.iter().map(|entry| entry.adapter.name().id().to_owned()).collect()
    }
}

fn entry(registered: &RegisteredRuntime) -> RuntimeEntry {
    let adapter = &registered.adapter;
    let mut capabilities = adapter.capabilities();
    // What counts for clients is whether a session can go on, by its runtime or by Roost: `resume_model` says by whom.
    capabilities.supports_session_resume = capabilities.resume_model != ResumeModel::None;
    // Roost's own ids are permanent from the first moment, but cdev's app waits for `session_id_resolved` of Claude's
    // sessions and passes over the event where it is not told to wait.
    let is_claude = adapter.name().id() == "claude";
    RuntimeEntry {
        id: adapter.name().id().into(),
        display_name: adapter.display_name().into(),
        status: registered.status,
        session_list_source: SessionListSource::WorkspaceHistory,
        session_messages_source: SessionSource::WorkspaceScoped,
        session_watch_source: SessionSource::WorkspaceScoped,
        requires_workspace_activation_on_resume: is_claude,
        requires_session_resolution_on_new_session: is_claude,
        supports_resume: capabilities.supports_session_resume,
        supports_interactive_questions: adapter.asks_questions(),
        supports_permissions: capabilities.permission_model != PermissionModel::Runtime,
        methods: RuntimeMethods::default(),
        capabilities,
        availability: None,
    }
}
