//! The versions of each agent that Roost is tested with. Written by `cargo xtask fixtures --update` from the lock files
//! in `xtask/fixtures`; do not edit it.

use roost_engine::facts::TestedVersions;

pub(crate) const CLAUDE: TestedVersions = TestedVersions { pinned: "2.1.197", newest: "2.1.325" };

pub(crate) const CODEX: TestedVersions = TestedVersions { pinned: "0.166.0", newest: "0.166.0" };

pub(crate) const GEMINI: TestedVersions = TestedVersions { pinned: "0.61.0", newest: "0.61.0" };

pub(crate) const OPENCODE: TestedVersions = TestedVersions { pinned: "1.18.33", newest: "1.18.34" };

pub(crate) const CLAUDE_AGENT_ACP: TestedVersions = TestedVersions { pinned: "0.49.0", newest: "0.99.1" };

pub(crate) const CODEX_ACP: TestedVersions = TestedVersions { pinned: "0.16.0", newest: "0.16.0" };
