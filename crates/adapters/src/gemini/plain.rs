//! The settings of the Gemini CLI that a device may choose for a session.
//!
//! All others are excluded because they can run programs or read files: `mcpServers`, `tools`, `hooks`,
//! `context.fileName`, `ui.theme` (a path), `advanced`.

use roost_engine::plain::{PlainSetting, Takes};

pub(super) const SETTINGS: &[PlainSetting] = &[
    PlainSetting { path: &["model", "name"], takes: Takes::Name },
    PlainSetting { path: &["model", "maxSessionTurns"], takes: Takes::Count },
    PlainSetting { path: &["ui", "hideTips"], takes: Takes::Flag },
    PlainSetting { path: &["ui", "hideBanner"], takes: Takes::Flag },
];
