//! Classifies tool calls by the harm that they can do.

use roost_model::payload::ToolKind;
pub use roost_model::tool::ToolClass;
use serde_json::Value;

use crate::line_parts::LinePart;
use crate::named_paths::{self, NamedPath};
use crate::subject::{ParsedCommand, Subject};
use crate::toolset::{self, Action, Toolset};
use crate::{commands, fields};

/// A tool call as the policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The runtime's id, which rules and remembered answers may name.
    pub runtime: &'a str,
    /// What the runtime's tools do.
    pub tools: &'a Toolset,
    /// The tool's name in the runtime.
    pub name: &'a str,
    /// What the tool does according to the runtime. Believed only if the input agrees.
    pub kind: Option<ToolKind>,
    /// The tool's arguments, as the runtime would run it with.
    pub input: &'a Value,
    /// The `input_hash` of the call's identity, which exact rules and answers name.
    pub input_hash: &'a str,
}

/// The set of classes that the parts of a call have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes(u8);

impl Classes {
    /// The classes of a call of which nothing is known.
    pub(crate) const ANYTHING: Self =
        Self(1 << ToolClass::Write as u8 | 1 << ToolClass::Network as u8 | 1 << ToolClass::Dangerous as u8);

    /// Whether some part of the call has this class.
    pub fn contains(self, class: ToolClass) -> bool {
        self.0 & 1 << class as u8 != 0
    }

    /// The most harmful class, which decides; `ReadOnly` if the set is empty.
    pub fn worst(self) -> ToolClass {
        let downwards = [ToolClass::Dangerous, ToolClass::Network, ToolClass::Write];
        downwards.into_iter().find(|class| self.contains(*class)).unwrap_or(ToolClass::ReadOnly)
    }

    pub(crate) fn add(&mut self, other: impl Into<Self>) {
        self.0 |= other.into().0;
    }
}

impl From<ToolClass> for Classes {
    fn from(class: ToolClass) -> Self {
        Self(1 << class as u8)
    }
}

/// The result of [`classify`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    /// The classes of its parts.
    pub classes: Classes,
    /// The command, files or address that it would use.
    pub subject: Subject,
    /// The folders in which the commands of a plain line run git, as the call names them.
    pub git_folders: Vec<String>,
    /// All files that the input names, whatever the tool does with them.
    pub(crate) mentions: Vec<String>,
}

impl Classified {
    /// Every path that the caller must resolve before it calls [`evaluate`](crate::evaluate). Some are words that only
    /// look like paths.
    pub fn paths(&self) -> Vec<NamedPath> {
        let mut paths = named_paths::from_subject(&self.subject, &self.git_folders);
        paths.extend(self.mentions.iter().map(|file| NamedPath { text: file.clone(), is_pattern: false }));
        paths.into_iter().collect()
    }
}

/// Classifies a call by the runtime's table of tools, else by the kind that the runtime claims.
pub fn classify(call: &Call<'_>) -> Classified {
    let action = toolset::action(call);
    let subject = Subject::from_call(call, action);
    let mut classes = match action {
        Action::Inert | Action::Read => ToolClass::ReadOnly.into(),
        Action::Edit | Action::Change => ToolClass::Write.into(),
        Action::Fetch => ToolClass::Network.into(),
        // A kind says neither whether a whole folder goes nor how; nothing brings it back.
        Action::Delete => ToolClass::Dangerous.into(),
        // What nobody knows must not run unasked in `Auto`.
        Action::Unknown => Classes::ANYTHING,
        Action::Shell => match &subject {
            Subject::Shell(ParsedCommand { understood: false, .. } | ParsedCommand { line: Err(_), .. }) => {
                Classes::ANYTHING
            }
            Subject::Shell(ParsedCommand { parts: Some(parts), .. }) if parts.iter().all(LinePart::only_reads) => {
                ToolClass::ReadOnly.into()
            }
            Subject::Shell(ParsedCommand { line: Ok(line), .. }) => commands::line_classes(line),
            _ => Classes::ANYTHING,
        },
    };
    // What a runtime claims can only make a call worse.
    if call.kind == Some(ToolKind::Delete) {
        classes.add(ToolClass::Dangerous);
    }
    let mentions = fields::files(call.input);
    let git_folders = git_folders(&subject);
    Classified { classes, subject, git_folders, mentions }
}

fn git_folders(subject: &Subject) -> Vec<String> {
    let Subject::Shell(ParsedCommand { parts: Some(parts), cwd, .. }) = subject else { return Vec::new() };
    let start = cwd.as_deref().unwrap_or(".");
    let joined = |folder: &String| commands::join_folder(start, folder);
    let mut folders: Vec<_> = parts.iter().flat_map(LinePart::git_folders).map(joined).collect();
    folders.sort();
    folders.dedup();
    folders
}
