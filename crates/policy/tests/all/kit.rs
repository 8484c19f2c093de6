//! Short ways to ask the policy.

// Helpers of tests are tests, but clippy sees only functions.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::payload::ToolKind;
use roost_model::tool::PolicyResult;
use roost_policy::*;
use serde_json::{Value, json};

pub(crate) const WORKSPACE: &str = "/home/ada/project";

/// The tools of a runtime that told about them; those of the real ones are tested with their adapters.
static KNOWN: Toolset = Toolset {
    actions: &[
        (Action::Read, &["Read"]),
        (Action::Edit, &["Edit", "apply_patch"]),
        (Action::Shell, &["Bash", "bash", "shell", "exec_command"]),
        (Action::Fetch, &["WebFetch", "WebSearch"]),
    ],
    ..Toolset::UNKNOWN
};

/// The files of two runtimes that told about theirs.
const CONTROL: [ControlFiles; 2] = [
    ControlFiles { folders: &[".claude", ".codex"], files: &[] },
    ControlFiles { folders: &[".gemini"], files: &["opencode.json"] },
];

/// A question to the policy, with the usual answers to everything that a test does not care about.
pub(crate) struct Ask {
    pub(crate) runtime: String,
    pub(crate) tools: &'static Toolset,
    pub(crate) control: &'static [ControlFiles],
    pub(crate) name: String,
    pub(crate) kind: Option<ToolKind>,
    pub(crate) input: Value,
    pub(crate) mode: Mode,
    pub(crate) approver: Approver,
    pub(crate) session: SessionId,
    pub(crate) workspace: PathBuf,
    pub(crate) resolved: Vec<ResolvedPath>,
    pub(crate) unresolved: Unresolved,
    pub(crate) rules: Vec<Rule>,
    pub(crate) remembered: Vec<Remembered>,
    pub(crate) permissions: RuntimePermissions,
}

impl Ask {
    /// A call of this runtime, which is one that told about its tools unless it is `goose`.
    pub(crate) fn tool(runtime: &str, name: &str, input: Value) -> Self {
        Self {
            runtime: runtime.into(),
            tools: if runtime == "goose" { &Toolset::UNKNOWN } else { &KNOWN },
            control: &CONTROL,
            name: name.into(),
            kind: None,
            input,
            mode: Mode::Ask,
            approver: Approver::Present,
            session: "one".into(),
            workspace: WORKSPACE.into(),
            resolved: vec![folder(".", WORKSPACE)],
            unresolved: Unresolved::Nothing,
            rules: Vec::new(),
            remembered: Vec::new(),
            permissions: RuntimePermissions::default(),
        }
    }

    pub(crate) fn bash(command: &str) -> Self {
        Self::tool("claude", "Bash", json!({ "command": command }))
    }

    pub(crate) fn edit(path: &str) -> Self {
        Self::tool("claude", "Edit", json!({ "file_path": path, "old_string": "a", "new_string": "b" }))
    }

    pub(crate) fn kind(mut self, kind: ToolKind) -> Self {
        self.kind = Some(kind);
        self
    }

    pub(crate) fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    pub(crate) fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    pub(crate) fn remember(mut self, answers: &[Remembered]) -> Self {
        self.remembered.extend_from_slice(answers);
        self
    }

    /// Says where a path really leads.
    pub(crate) fn leads(mut self, given: &str, real: &str) -> Self {
        let inside_workspace = Path::new(real).starts_with(WORKSPACE);
        let real = Some(real.into());
        self.resolved.push(ResolvedPath { given: given.into(), real, inside_workspace, in_own_repository: false });
        self
    }

    /// Says that a folder belongs to the workspace's own repository.
    pub(crate) fn own_folder(mut self, given: &str, real: &str) -> Self {
        self.resolved.push(folder(given, real));
        self
    }

    /// Says where the runtime's shell stands.
    pub(crate) fn stands_in(mut self, real: &str) -> Self {
        self.resolved.retain(|path| path.given != ".");
        self.leads(".", real)
    }

    pub(crate) fn evaluation(&self) -> Evaluation {
        let hash = roost_model::canonical::hash(&self.input);
        let call = self.call(&hash);
        let (rules, memory) = (RuleSet::new(&self.rules).unwrap(), Memory::new(&self.remembered).unwrap());
        evaluate(
            &call,
            &Context {
                mode: self.mode,
                approver: self.approver,
                session: &self.session,
                workspace: &self.workspace,
                resolved: &self.resolved,
                unresolved: self.unresolved,
                control: self.control,
                rules: &rules,
                memory: &memory,
                permissions: &self.permissions,
            },
        )
    }

    fn call<'a>(&'a self, hash: &'a str) -> Call<'a> {
        let Self { runtime, tools, name, kind, input, .. } = self;
        Call { runtime, tools, name, kind: *kind, input, input_hash: hash }
    }

    pub(crate) fn class(&self) -> ToolClass {
        classify(&self.call("")).classes.worst()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        classify(&self.call("")).paths().into_iter().map(|path| path.text).collect()
    }

    pub(crate) fn subject(&self) -> Subject {
        classify(&self.call("")).subject
    }

    /// The last word and its rule.
    pub(crate) fn verdict(&self) -> (PolicyResult, String) {
        let word = self.evaluation().words.pop().unwrap();
        (word.result, word.rule.unwrap())
    }

    pub(crate) fn result(&self) -> PolicyResult {
        self.verdict().0
    }
}

fn folder(given: &str, real: &str) -> ResolvedPath {
    let inside_workspace = Path::new(real).starts_with(WORKSPACE);
    ResolvedPath { given: given.into(), real: Some(real.into()), inside_workspace, in_own_repository: true }
}

pub(crate) fn allow(pattern: Pattern) -> Rule {
    Rule { pattern: Some(pattern), ..Rule::new(Effect::Allow) }
}

pub(crate) fn deny(pattern: Pattern) -> Rule {
    Rule { pattern: Some(pattern), ..Rule::new(Effect::Deny) }
}

pub(crate) fn command(words: &[&str]) -> Pattern {
    Pattern::Command(words.iter().map(|word| (*word).to_owned()).collect())
}
