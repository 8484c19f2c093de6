//! Decides about a call: by the lists, the remembered answers, the runtime's own settings, and the mode and the call's
//! class.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::tool::{PolicyResult, PolicySource, ToolPolicyEvaluation};

use crate::class::{Call, Classified, ToolClass, classify};
use crate::control_files::{self, ControlFiles};
use crate::entry::PolicyQuery;
use crate::line_parts;
use crate::remembered::{Memory, Remembered, offers};
use crate::rules::RuleSet;
use crate::runtime_permissions::RuntimePermissions;
use crate::shell::base;
use crate::subject::Subject;

/// Whether a person can answer when the policy asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approver {
    /// A person watches the session and may answer.
    Present,
    /// Nobody watches, so what would be asked is denied.
    Nobody,
}

/// The name of the rule that denies a call because nobody could approve it.
pub const NO_APPROVER: &str = "no_approver";

/// The name of the rule that denies what is more than a read in the mode `Plan`.
pub const PLAN_ONLY: &str = "permission_mode:plan";

/// A path that a call names, and the real file behind it. A path has several entries if it is a glob that matches
/// several files, or if the runtime's shell may be in several folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The path as the call names it ([`NamedPath::text`](crate::NamedPath)).
    pub given: String,
    /// The absolute path with all links resolved; for a file that does not exist yet, its folder's with the name
    /// appended. `None` if it cannot be resolved.
    pub real: Option<PathBuf>,
    /// The real path is below the workspace.
    pub inside_workspace: bool,
    /// It is a folder, and git started there uses the workspace's own repository: not a nested one, and not a folder
    /// that is laid out like a repository, which an agent could have written.
    pub in_own_repository: bool,
}

/// Which of a call's paths the caller could not resolve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unresolved {
    /// Every path was resolved.
    #[default]
    Nothing,
    /// The current folder of the runtime's shell is unknown, so no shell line counts as read-only.
    Folder,
    /// The call names too many files, so every deny rule about files counts as matching.
    TooMany,
}

/// What the decision about a call depends on, besides the call itself.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The task's permission mode.
    pub mode: Mode,
    /// Whether a person can answer.
    pub approver: Approver,
    /// The session that makes the call; answers with the scope `Session` count only there.
    pub session: &'a SessionId,
    /// The workspace's absolute path with all links resolved.
    pub workspace: &'a Path,
    /// All paths of [`Classified::paths`], resolved.
    pub resolved: &'a [ResolvedPath],
    /// Which paths could not be resolved.
    pub unresolved: Unresolved,
    /// The control files of every registered runtime: an agent must not change those of another runtime either.
    pub control: &'a [ControlFiles],
    /// The allow and deny lists of the configuration.
    pub rules: &'a RuleSet,
    /// The remembered answers.
    pub memory: &'a Memory,
    /// The rules of the runtime's own settings.
    pub permissions: &'a RuntimePermissions,
}

impl Context<'_> {
    pub(crate) fn resolved<'a>(&'a self, given: &'a str) -> impl Iterator<Item = &'a ResolvedPath> {
        self.resolved.iter().filter(move |path| path.given == given)
    }

    /// The real paths of these files, if there are any and all are below the workspace.
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

    /// Whether a remembered answer about this program holds in this folder: it must be one of the workspace's own, and
    /// git must find the workspace's own repository there.
    pub(crate) fn answer_holds_in(&self, folder: &str, program: &str) -> bool {
        let Some(paths) = self.resolved_inside(&[folder.to_owned()]) else { return false };
        // What the same words do in `.git`, or to the files of a package from elsewhere, nobody has seen.
        let is_foreign = |name: &OsStr| name == "node_modules" || name.as_encoded_bytes().starts_with(b".");
        let below = |path: &ResolvedPath| path.real.as_deref()?.strip_prefix(self.workspace).ok().map(Path::to_owned);
        let is_own = |path: &ResolvedPath| below(path).is_some_and(|below| !below.iter().any(is_foreign));
        paths.into_iter().all(is_own) && (base(program) != "git" || self.owns_repository(folder))
    }

    /// Whether git, started in this folder, uses the workspace's own repository.
    pub(crate) fn owns_repository(&self, folder: &str) -> bool {
        let mut found = self.resolved(folder).peekable();
        found.peek().is_some() && found.all(|path| path.in_own_repository)
    }
}

/// The result of [`evaluate`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The evaluations in order. The last one decides; it is `Ask` only if a person can answer.
    pub words: Vec<ToolPolicyEvaluation>,
    /// The class and the subject of the call.
    pub classified: Classified,
    /// The answers that could be remembered for later calls, the narrowest scope first.
    pub remember: Vec<Remembered>,
}

/// Decides about a call: the first applicable step of the table in the crate's documentation decides.
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
    let query = PolicyQuery { call, classified: &classified, context };
    let (result, rule) = decide(&query);
    let asks = result == PolicyResult::Ask;
    let mut words = vec![word(result, rule)];
    if asks && context.approver == Approver::Nobody {
        words.push(word(PolicyResult::Deny, NO_APPROVER.to_owned()));
    }
    let remember = if asks { offers(&query) } else { Vec::new() };
    Evaluation { words, classified, remember }
}

fn word(result: PolicyResult, rule: String) -> ToolPolicyEvaluation {
    ToolPolicyEvaluation { source: PolicySource::Codesdk, result, rule: Some(rule) }
}

fn decide(query: &PolicyQuery<'_>) -> (PolicyResult, String) {
    let PolicyQuery { classified, context, .. } = query;
    let denied = context.rules.deny.denies(query).or_else(|| context.memory.deny.denies(query));
    let denied = denied.map(|entry| entry.label.as_str()).or_else(|| context.permissions.denies(query));
    if let Some(label) = denied {
        return (PolicyResult::Deny, label.to_owned());
    }
    let mode = context.mode;
    let class = classified.classes.worst();
    // Nobody expects a plan to change anything, whatever was allowed for the work that follows.
    if mode == Mode::Plan && class != ToolClass::ReadOnly {
        return (PolicyResult::Deny, PLAN_ONLY.to_owned());
    }
    let allowed = context.rules.allow.allows(query).or_else(|| context.memory.allow.allows(query));
    if let Some(entry) = allowed.or_else(|| line_parts::allows(query)) {
        return (PolicyResult::Allow, entry.label.clone());
    }
    if mode != Mode::Yolo
        && let Some(label) = context.permissions.asks(query)
    {
        return (PolicyResult::Ask, label.to_owned());
    }
    let by_mode = decide_by_mode(mode, class, query);
    if by_mode.0 == PolicyResult::Ask
        && let Some(label) = allowed_by_runtime(class, query)
    {
        return (PolicyResult::Allow, label.to_owned());
    }
    by_mode
}

fn decide_by_mode(mode: Mode, class: ToolClass, query: &PolicyQuery<'_>) -> (PolicyResult, String) {
    match (mode, class) {
        (Mode::Yolo | Mode::Auto, ToolClass::ReadOnly | ToolClass::Write | ToolClass::Network)
        | (Mode::Yolo, ToolClass::Dangerous) => (PolicyResult::Allow, format!("permission_mode:{mode}")),
        (_, ToolClass::ReadOnly) => (PolicyResult::Allow, format!("permission_mode:{mode}:read_only")),
        (_, ToolClass::Dangerous) => (PolicyResult::Ask, "permission_mode:dangerous".to_owned()),
        (Mode::AcceptEdits, ToolClass::Write) if is_an_edit(query.classified, query.context) => {
            (PolicyResult::Allow, format!("permission_mode:{mode}"))
        }
        (_, ToolClass::Write | ToolClass::Network) => (PolicyResult::Ask, format!("permission_mode:{mode}")),
    }
}

/// The label of the rule by which the runtime's own settings allow a call that the mode would ask about.
fn allowed_by_runtime<'a>(class: ToolClass, query: &PolicyQuery<'a>) -> Option<&'a str> {
    let PolicyQuery { classified, context, .. } = query;
    let is_file_call = matches!(classified.subject, Subject::Files(_));
    if class == ToolClass::Dangerous || (is_file_call && !is_an_edit(classified, context)) {
        return None;
    }
    context.permissions.allows(query)
}

/// Whether a call changes files of the workspace and nothing else, and none that makes other programs run something.
fn is_an_edit(classified: &Classified, context: &Context<'_>) -> bool {
    let Subject::Files(files) = &classified.subject else { return false };
    let Some(paths) = context.resolved_inside(files) else { return false };
    let relative = |path: &ResolvedPath| Some(path.real.as_deref()?.strip_prefix(context.workspace).ok()?.to_owned());
    paths.into_iter().all(|path| relative(path).is_some_and(|path| !control_files::contains(&path, context.control)))
}
