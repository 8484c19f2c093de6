//! The settings of OpenCode that a device may choose.
//!
//! Everything else in its config document can run something or allow it to run: `mcp`, `plugin`, `provider`, `agent`,
//! `command`, `formatter`, `lsp`, `instructions`, `permission`.

use roost_engine::plain::{PlainSetting, Takes};

pub(super) const SETTINGS: &[PlainSetting] = &[
    PlainSetting { path: &["model"], takes: Takes::Name },
    PlainSetting { path: &["small_model"], takes: Takes::Name },
    PlainSetting { path: &["username"], takes: Takes::Name },
];
