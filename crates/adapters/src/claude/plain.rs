//! The settings of Claude Code that a device may choose for a session.
//!
//! All others are excluded because they can run programs or permit that: `hooks`, `apiKeyHelper`, `env`, `permissions`,
//! `statusLine`, `mcpServers`, plugins.

use roost_engine::plain::{PlainSetting, Takes};

pub(super) const SETTINGS: &[PlainSetting] = &[
    PlainSetting { path: &["model"], takes: Takes::Name },
    PlainSetting { path: &["effortLevel"], takes: Takes::OneOf(&["low", "medium", "high", "xhigh", "max"]) },
    PlainSetting { path: &["alwaysThinkingEnabled"], takes: Takes::Flag },
    PlainSetting { path: &["language"], takes: Takes::Name },
    PlainSetting { path: &["includeCoAuthoredBy"], takes: Takes::Flag },
    PlainSetting { path: &["spinnerTipsEnabled"], takes: Takes::Flag },
];
