//! What kind of thing a tool call does.

use roost_model::payload::ToolKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::named_paths::{self, NamedPath};
use crate::subject::{ParsedCommand, Subject};
use crate::toolset::{self, Action, Toolset};
use crate::{commands, fields};

/// How much harm a tool call can do, the least first. A call that does several things has the worst class of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolClass {
    /// Changes nothing.
    #[serde(alias = "read_only")]
    ReadOnly,
    /// Changes files, or runs a program of which nothing worse is known.
    Write,
    /// Talks to the network.
    Network,
    /// Cannot be undone, reaches beyond the workspace, or is not known.
    Dangerous,
}

/// A tool call as the policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Whose tool: the runtime's id, which rules and remembered answers may name.
    pub runtime: &'a str,
    /// What that runtime's tools do.
    pub tools: &'a Toolset,
    /// The tool, as the runtime names it.
    pub name: &'a str,
    /// What the runtime says that it does.
    pub kind: Option<ToolKind>,
    /// Its input.
    pub input: &'a Value,
    /// The `input_hash` of its identity.
    pub input_hash: &'a str,
    /// A line for people.
    pub title: Option<&'a str>,
}

/// Every class that some part of a call has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes(u8);

impl Classes {
    /// What might do anything.
    pub(crate) const ANYTHING: Self =
        Self(1 << ToolClass::Write as u8 | 1 << ToolClass::Network as u8 | 1 << ToolClass::Dangerous as u8);

    /// Whether some part has this class.
    pub fn contains(self, class: ToolClass) -> bool {
        self.0 & 1 << class as u8 != 0
    }

    /// The worst of them.
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

/// What was found out about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    /// How much harm it can do, part by part.
    pub classes: Classes,
    /// What it would touch.
    pub subject: Subject,
    /// The folders in which a command that only reads runs git, as the call names them.
    pub git_folders: Vec<String>,
    /// Files that the input names, whatever the tool does with them.
    pub(crate) mentions: Vec<String>,
}

impl Classified {
    /// Every path that the caller should look up before it asks for a decision; some are no paths at all.
    pub fn paths(&self) -> Vec<NamedPath> {
        let mut paths = named_paths::of_subject(&self.subject, &self.git_folders);
        paths.extend(self.mentions.iter().map(|file| NamedPath { text: file.clone(), is_pattern: false }));
        paths.into_iter().collect()
    }
}

/// Finds out what a call would do, from the runtime's table of tools, else from the kind that the runtime claims.
pub fn classify(call: &Call<'_>) -> Classified {
    let action = toolset::action(call);
    let subject = Subject::from_call(call, action);
    let mut git_folders = Vec::new();
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
            Subject::Shell(ParsedCommand { reading: Some(reading), cwd, .. }) => {
                let start = cwd.as_deref().unwrap_or(".");
                git_folders = reading.git_folders.iter().map(|folder| commands::join_folder(start, folder)).collect();
                ToolClass::ReadOnly.into()
            }
            Subject::Shell(ParsedCommand { line: Ok(line), .. }) => commands::classes_of(line),
            _ => Classes::ANYTHING,
        },
    };
    // What a runtime claims can only make a call worse.
    if call.kind == Some(ToolKind::Delete) {
        classes.add(ToolClass::Dangerous);
    }
    let mentions = fields::files(call.input);
    Classified { classes, subject, git_folders, mentions }
}
