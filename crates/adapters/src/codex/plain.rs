//! The settings of Codex that a device may choose.
//!
//! Every other `-c` key can run something or allow it to run: `mcp_servers`, `notify`, `model_providers`,
//! `sandbox_*`, `shell_environment_policy`, `profile`.

use roost_engine::plain::{PlainSetting, Takes};

const EFFORTS: Takes = Takes::OneOf(&["none", "minimal", "low", "medium", "high", "xhigh"]);

pub(super) const SETTINGS: &[PlainSetting] = &[
    PlainSetting { path: &["model"], takes: Takes::Name },
    PlainSetting { path: &["model_reasoning_effort"], takes: EFFORTS },
    PlainSetting { path: &["model_reasoning_summary"], takes: Takes::OneOf(&["auto", "concise", "detailed", "none"]) },
    PlainSetting { path: &["model_verbosity"], takes: Takes::OneOf(&["low", "medium", "high"]) },
    PlainSetting { path: &["hide_agent_reasoning"], takes: Takes::Flag },
    PlainSetting { path: &["show_raw_agent_reasoning"], takes: Takes::Flag },
];
