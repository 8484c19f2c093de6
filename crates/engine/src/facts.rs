//! What the rest of Roost must know of a runtime besides how to talk to it. It comes with the runtime's adapter, so
//! that nothing outside the adapter's folder names a runtime.

pub use roost_policy::{Action, ControlFiles, Toolset};

use crate::plain::PlainSetting;

/// The facts about one runtime. Whatever an adapter leaves as in [`RuntimeFacts::UNKNOWN`] is as strict as possible.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeFacts {
    /// Its rank where no runtime is named: of those that are ready, the one with the lowest is used. One without a rank
    /// is only used by its name.
    pub preference: Option<u32>,
    /// What its section of `roost.toml` may say.
    pub config: ConfigKeys,
    /// Those of its own settings that a device may choose; all others need more than to steer agents.
    pub plain_settings: &'static [PlainSetting],
    /// What its tools do, for the policy.
    pub tools: Toolset,
    /// The files of a workspace that steer it. They are guarded in the sessions of every runtime, as soon as this one is
    /// registered.
    pub control_files: ControlFiles,
}

impl RuntimeFacts {
    /// A runtime of which nothing is known: it is started by a command, takes no settings, and everybody is asked about
    /// its tools.
    pub const UNKNOWN: Self = Self {
        preference: None,
        config: ConfigKeys { command: true, settings: false, url: false },
        plain_settings: &[],
        tools: Toolset::UNKNOWN,
        control_files: ControlFiles::NONE,
    };
}

/// Which keys of its `[runtimes.<id>]` mean something to a runtime.
#[derive(Clone, Copy, Debug)]
pub struct ConfigKeys {
    /// Those about its program: `command`, `args`, `env`, `display_name` and `model`.
    pub command: bool,
    /// `config`: settings of its own, passed on as they are.
    pub settings: bool,
    /// `url`: the address of a server that runs already.
    pub url: bool,
}
