//! The settings of the Gemini CLI that a device may choose.
//!
//! Everything else in its settings document can run something or read it: `mcpServers`, `tools`, `hooks`,
//! `context.fileName`, `ui.theme` (a path), `advanced`.

use roost_engine::plain::{PlainSetting, Takes};

pub(super) const SETTINGS: &[PlainSetting] = &[
    PlainSetting { path: &["model", "name"], takes: Takes::Name },
    PlainSetting { path: &["model", "maxSessionTurns"], takes: Takes::Count },
    PlainSetting { path: &["ui", "hideTips"], takes: Takes::Flag },
    PlainSetting { path: &["ui", "hideBanner"], takes: Takes::Flag },
];
