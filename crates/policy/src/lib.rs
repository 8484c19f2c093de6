//! The one policy: rules and context in, a decision with its rule's name out. Pure: no I/O, no clock.
//!
//! It knows no runtime by its name. What a runtime's tools do ([`Toolset`]) and which files steer it ([`ControlFiles`])
//! comes with its registration. Tools of which nothing is known are asked about.
//!
//! [`classify`] finds out what a call would do and touch, the caller looks up the paths that it names
//! ([`Classified::paths`]), and [`evaluate`] decides. The first step that has something to say decides:
//!
//! | step | result | rule |
//! |---|---|---|
//! | 1. a deny rule | deny | `override:deny_tool`, `override:deny_permission`, `rule:<name>` |
//! | 2. a remembered "no" | deny | `remembered:<scope>` |
//! | 3. a deny rule of the runtime's own settings | deny | the adapter's label, `claude_settings:deny …` |
//! | 4. mode `Plan`, not a read | deny | `permission_mode:plan` |
//! | 5. an allow rule | allow | `override:allow_tool`, `override:allow_permission`, `rule:<name>` |
//! | 6. a remembered "yes" | allow | `remembered:<scope>` |
//! | 7. an ask rule of the runtime's own settings, below `Yolo` | ask | the adapter's label |
//! | 8. the mode and the class | see below | `permission_mode:…` |
//! | 9. where that asks: an allow rule of the runtime's own settings | allow | the adapter's label |
//!
//! | mode | read-only | write | network | dangerous |
//! |---|---|---|---|---|
//! | `Plan` | allow | deny | deny | deny |
//! | `Ask` | allow | ask | ask | ask |
//! | `AcceptEdits` | allow | allow in the workspace, else ask | ask | ask |
//! | `Auto` | allow | allow | allow | ask |
//! | `Yolo` | allow | allow | allow | allow |
//!
//! Where the result is ask and nobody can answer, a second evaluation denies with [`NO_APPROVER`].
//!
//! **Dangerous calls** run unasked below `Yolo` only if a rule or an answer names them exactly: the input's hash, the
//! command with all its arguments, or the name of a tool of which nothing else is known (an MCP tool, say). A class, a
//! glob, a command with `*`, or the name of the shell tool is not enough.
//!
//! **A runtime's own settings** ([`RuntimePermissions`]) never allow a dangerous call, however exactly they name it, and
//! an edit only where it is one of the workspace's plain files.
//!
//! **What runs unasked in `Plan` and `Ask` is a closed list.** A shell line only reads if the small grammar of
//! `shell/plain.rs` accepts it and the tables of `commands/read_only` know every argument of every command; the whole
//! input counts, so a field that is not understood (`env`, `stdin`, a second command) makes the call ask. Git only
//! reads in the workspace's own repository.
//!
//! **Allowing is strict, denying is eager.** A line is allowed if every command of it is: because it only reads, or by a
//! rule or a remembered answer for it ([`line_parts`]), without redirection to a file, substitution, background or
//! anything not understood. It is denied if any part of it might be the denied one, behind `sudo`, `xargs` or `sh -c`
//! too. A file is allowed by the path it really has. A host is allowed by the one reading of its address.
//!
//! What a class or a rule cannot see is what a program does: `cargo test` is a write that runs the project's own code.

mod assignments;
mod class;
mod commands;
mod control_files;
mod decide;
mod entry;
mod fields;
mod folder_effect;
mod index;
mod line_parts;
mod named_paths;
mod open_commands;
mod pattern;
mod redact;
mod remembered;
mod rules;
mod runtime_permissions;
pub mod shell;
mod subject;
mod toolset;

pub use class::{Call, Classes, Classified, ToolClass, classify};
pub use control_files::ControlFiles;
pub use decide::{Approver, Context, Evaluation, NO_APPROVER, PLAN_ONLY, ResolvedPath, Unresolved, evaluate};
pub use folder_effect::{FolderEffect, folder_effect};
pub use named_paths::{MOST_PATHS, NamedPath};
pub use pattern::Pattern;
pub use redact::{REDACTED, is_secret_name, redact, redact_json, redact_settings};
pub use remembered::{Memory, Remembered, Scope};
pub use rules::{Effect, Error, Rule, RuleSet};
pub use runtime_permissions::{PermissionEffect, PermissionRule, PermissionScope, RuntimePermissions};
pub use subject::{ParsedCommand, Subject};
pub use toolset::{Action, Toolset};
