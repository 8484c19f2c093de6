//! What the rest of Roost must know about a runtime besides how to talk to it. Each adapter supplies it, so that
//! nothing outside the adapter's folder names a runtime.

pub use roost_policy::{Action, ControlFiles, Toolset};

use crate::plain::PlainSetting;

/// The facts about one runtime. Whatever an adapter leaves as in [`RuntimeFacts::UNKNOWN`] is as strict as possible.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeFacts {
    /// Its rank in the choice of the default runtime: the lowest rank wins among those that are ready. A runtime
    /// without a rank is used only if it is named.
    pub preference: Option<u32>,
    /// Which keys its section of `roost.toml` may have.
    pub config: ConfigKeys,
    /// Which of its own settings a paired device may choose; all others need more rights than to steer agents.
    pub plain_settings: &'static [PlainSetting],
    /// What its tools do, for the policy.
    pub tools: Toolset,
    /// The files of a workspace that steer it. Once it is registered, the policy guards them in the sessions of every
    /// runtime.
    pub control_files: ControlFiles,
}

impl RuntimeFacts {
    /// A runtime of which nothing is known: it is started by a command, takes no settings, and every use of its tools
    /// is asked about.
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
