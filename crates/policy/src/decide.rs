//! The decision: lists, remembered answers, and what the mode says about the call's class.

use std::path::{Path, PathBuf};

use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::tool::{PolicyResult, PolicySource, ToolPolicyEvaluation};

use crate::class::{Call, Classified, ToolClass, classify};
use crate::control_files::{self, ControlFiles};
use crate::entry::Question;
use crate::remembered::{Memory, Remembered, offers};
use crate::rules::RuleSet;
use crate::subject::Subject;

/// Whether somebody can answer when the policy says ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approver {
    /// Somebody watches and may answer.
    Present,
    /// The session is alone; asking would wait for ever.
    Nobody,
}

/// The rule that denies a call which nobody could approve.
pub const NO_APPROVER: &str = "no_approver";

/// A path that a call names, and where it really leads. A path has several entries if it stands for several files, or
/// if its runtime's shell may stand in several folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The path as the call names it ([`NamedPath::text`](crate::NamedPath)).
    pub given: String,
    /// The absolute path without links; for a file that does not exist yet, its folder's with the name added. `None`
    /// if it leads nowhere.
    pub real: Option<PathBuf>,
    /// The real path is inside the workspace.
    pub inside_workspace: bool,
    /// It is a folder, and git started there uses the repository of the workspace: not one that lies inside the
    /// workspace, and no folder that only looks like a repository, which an agent could have written.
    pub in_own_repository: bool,
}

/// What the caller could not look up of a call's paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unresolved {
    /// It looked up every path.
    #[default]
    Nothing,
    /// It does not know where the runtime's shell stands, so a shell line is never only a read.
    Folder,
    /// The call names more files than it looked up, so every rule about files might be about one of them.
    TooMany,
}

/// Where and when a call is made.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// How much may be done unasked.
    pub mode: Mode,
    /// Whether somebody can answer.
    pub approver: Approver,
    /// The session.
    pub session: &'a SessionId,
    /// The workspace's absolute path without links.
    pub workspace: &'a Path,
    /// Every path of [`Classified::paths`], looked up.
    pub resolved: &'a [ResolvedPath],
    /// What could not be looked up.
    pub unresolved: Unresolved,
    /// The files that steer some runtime, of every runtime that is registered: an agent must not change another's
    /// unasked either.
    pub control: &'a [ControlFiles],
    /// The lists.
    pub rules: &'a RuleSet,
    /// The answers.
    pub memory: &'a Memory,
}

impl Context<'_> {
    pub(crate) fn resolved<'a>(&'a self, given: &'a str) -> impl Iterator<Item = &'a ResolvedPath> {
        self.resolved.iter().filter(move |path| path.given == given)
    }

    /// Where these files really are, if there are any and all are inside the workspace.
    pub(crate) fn resolved_inside(&self, files: &[String]) -> Option<Vec<&ResolvedPath>> {
        let inside = |path: &ResolvedPath| {
            path.inside_workspace && path.real.as_deref().is_some_and(|real| real.starts_with(self.workspace))
        };
        let mut all = Vec::new();
        for file in files {
            let before = all.len();
            all.extend(self.resolved.iter().filter(|path| path.given == *file));
            if all.len() == before {
                return None;
            }
        }
        (!all.is_empty() && all.iter().all(|path| inside(path))).then_some(all)
    }

    /// Whether git, started in this folder, uses the workspace's own repository.
    fn owns_repository(&self, folder: &str) -> bool {
        let mut found = self.resolved(folder).peekable();
        found.peek().is_some() && found.all(|path| path.in_own_repository)
    }
}

/// What the policy says about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// Roost's words in order; the last one decides, and is `Ask` only if somebody can answer.
    pub words: Vec<ToolPolicyEvaluation>,
    /// What was found out about the call.
    pub classified: Classified,
    /// What an answer could stand for beyond this call.
    pub remember: Vec<Remembered>,
}

/// Judges a call: the first of the steps that the crate's documentation lists decides.
pub fn evaluate(call: &Call<'_>, context: &Context<'_>) -> Evaluation {
    let mut classified = classify(call);
    let is_shell = matches!(classified.subject, Subject::Shell(_));
    // Git runs what the configuration of a repository says, so reading another one is not only reading.
    if is_shell
        && (context.unresolved != Unresolved::Nothing
            || !classified.git_folders.iter().all(|folder| context.owns_repository(folder)))
    {
        classified.classes.add(ToolClass::Write);
    }
    let (result, rule) = decide(&Question { call, classified: &classified, context });
    let asks = result == PolicyResult::Ask;
    let mut words = vec![word(result, rule)];
    if asks && context.approver == Approver::Nobody {
        words.push(word(PolicyResult::Deny, NO_APPROVER.to_owned()));
    }
    let remember = if asks { offers(call, &classified, context) } else { Vec::new() };
    Evaluation { words, classified, remember }
}

fn word(result: PolicyResult, rule: String) -> ToolPolicyEvaluation {
    ToolPolicyEvaluation { source: PolicySource::Codesdk, result, rule: Some(rule) }
}

fn decide(question: &Question<'_>) -> (PolicyResult, String) {
    let Question { classified, context, .. } = question;
    let denied = context.rules.deny.denies(question).or_else(|| context.memory.deny.denies(question));
    if let Some(entry) = denied {
        return (PolicyResult::Deny, entry.label.clone());
    }
    let mode = context.mode;
    let class = classified.classes.worst();
    // Nobody expects a plan to change anything, whatever was allowed for the work that follows.
    if mode == Mode::Plan && class != ToolClass::ReadOnly {
        return (PolicyResult::Deny, "permission_mode:plan".to_owned());
    }
    let allowed = context.rules.allow.allows(question).or_else(|| context.memory.allow.allows(question));
    if let Some(entry) = allowed {
        return (PolicyResult::Allow, entry.label.clone());
    }
    match (mode, class) {
        (Mode::Yolo | Mode::Auto, ToolClass::ReadOnly | ToolClass::Write | ToolClass::Network)
        | (Mode::Yolo, ToolClass::Dangerous) => (PolicyResult::Allow, format!("permission_mode:{mode}")),
        (_, ToolClass::ReadOnly) => (PolicyResult::Allow, format!("permission_mode:{mode}:read_only")),
        (_, ToolClass::Dangerous) => (PolicyResult::Ask, "permission_mode:dangerous".to_owned()),
        (Mode::AcceptEdits, ToolClass::Write) if is_an_edit(classified, context) => {
            (PolicyResult::Allow, format!("permission_mode:{mode}"))
        }
        (_, ToolClass::Write | ToolClass::Network) => (PolicyResult::Ask, format!("permission_mode:{mode}")),
    }
}

/// Whether a call changes files of the workspace and nothing else, and none that makes other programs run something.
fn is_an_edit(classified: &Classified, context: &Context<'_>) -> bool {
    let Subject::Files(files) = &classified.subject else { return false };
    let Some(paths) = context.resolved_inside(files) else { return false };
    let relative = |path: &ResolvedPath| Some(path.real.as_deref()?.strip_prefix(context.workspace).ok()?.to_owned());
    paths.into_iter().all(|path| relative(path).is_some_and(|path| !control_files::contains(&path, context.control)))
}
