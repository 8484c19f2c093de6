//! Calls the policy with what the engine knows: the call, the real files behind its paths, and the remembered answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use roost_model::approval::ApprovalScope;
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::pattern::{CallPattern, RememberedRule, Touches};
use roost_model::payload::ToolCallRequestedPayload;
use roost_model::runtime::RuntimeName;
use roost_model::tool::{PolicyDecision, PolicyResult, ToolPolicyEvaluation};
use roost_policy::{
    Call, Context, ControlFiles, Effect, Memory, NO_APPROVER, Pattern, Remembered, RuleSet, RuntimePermissions, Scope,
    Toolset,
};

pub use roost_policy::Approver;

use crate::path_lookup::Lookup;
use crate::shell_folders::ShellFolders;

/// The reason that an agent reads if nobody was there to approve its tool call.
const NOBODY: &str = "nobody is there to approve it";

/// The policy's result for a call. The last evaluation decides.
pub(crate) struct Judgement {
    pub(crate) evaluations: Vec<ToolPolicyEvaluation>,
    /// The reason that the agent reads if the call is denied.
    pub(crate) reason: String,
    /// The pattern that an answer with a longer scope than "once" would remember.
    pub(crate) offer: Option<CallPattern>,
}

impl Judgement {
    /// The stricter of two judgements; this one if they are equal. If the other one wins, its evaluations come last,
    /// and nothing can be remembered, because no pattern describes both calls.
    pub(crate) fn or_stricter(self, other: Self) -> Self {
        let strictness = |judgement: &Self| match judgement.evaluations.last().map(|word| word.result) {
            Some(PolicyResult::Allow) => 0,
            Some(PolicyResult::Ask) => 1,
            Some(PolicyResult::Deny) | None => 2,
        };
        if strictness(&other) <= strictness(&self) {
            return self;
        }
        let evaluations = self.evaluations.into_iter().chain(other.evaluations).collect();
        Self { evaluations, reason: other.reason, offer: None }
    }
}

/// The session in which a call is made, as far as the policy needs it.
pub(crate) struct CallSite<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) runtime: RuntimeName,
    /// What the runtime's tools do.
    pub(crate) tools: &'a Toolset,
    /// The session's working directory; absolute and without links.
    pub(crate) workspace: &'a Path,
    /// The possible current folders of the runtime's shell.
    pub(crate) folders: &'a ShellFolders,
    /// The user's home; `None` if the runtime has a home of its own.
    pub(crate) home: Option<&'a Path>,
    pub(crate) mode: Mode,
    pub(crate) approver: Approver,
    /// The rules of the runtime's own settings.
    pub(crate) permissions: &'a RuntimePermissions,
}

/// The policy of this host: its rules and the remembered answers.
pub(crate) struct Judge {
    rules: Arc<RuleSet>,
    /// The files that steer any of the registered runtimes; writing them is never a plain edit.
    control: Vec<ControlFiles>,
    /// The remembered answers, and the same compiled for lookups.
    answers: RwLock<(Vec<RememberedRule>, Arc<Memory>)>,
}

impl Judge {
    /// A policy with these rules, guarded files and remembered answers.
    pub(crate) fn new(rules: Arc<RuleSet>, control: Vec<ControlFiles>, remembered: Vec<RememberedRule>) -> Self {
        let memory = Arc::new(memory(&remembered));
        Self { rules, control, answers: RwLock::new((remembered, memory)) }
    }

    /// Judges a call: resolves its paths, then evaluates the rules, the remembered answers and the mode.
    pub(crate) async fn judge(&self, site: &CallSite<'_>, request: &ToolCallRequestedPayload) -> Judgement {
        let call = call_of(&site.runtime, site.tools, request);
        let classified = roost_policy::classify(&call);
        let lookup = Lookup {
            workspace: site.workspace.to_owned(),
            folders: site.folders.clone(),
            home: site.home.map(Path::to_owned),
            git_folders: classified.git_folders.clone(),
        };
        let (resolved, unresolved) = lookup.resolve(classified.paths()).await;
        let memory = self.answers.read().1.clone();
        let context = Context {
            mode: site.mode,
            approver: site.approver,
            session: site.session,
            workspace: site.workspace,
            resolved: &resolved,
            unresolved,
            control: &self.control,
            rules: &self.rules,
            memory: &memory,
            permissions: site.permissions,
        };
        let evaluation = roost_policy::evaluate(&call, &context);
        let rule = evaluation.words.last().and_then(|word| word.rule.as_deref()).unwrap_or_default();
        let reason = if rule == NO_APPROVER { NOBODY.into() } else { format!("the rule {rule} denies it") };
        let asks = evaluation.words.iter().any(|word| word.result == PolicyResult::Ask);
        let offer = evaluation.remember.into_iter().next().filter(|_| asks).map(pattern);
        Judgement { evaluations: evaluation.words, reason, offer }
    }

    /// Remembers an answer. It replaces an earlier one with the same scope and pattern.
    pub(crate) fn remember(&self, rule: RememberedRule) {
        let mut answers = self.answers.write();
        let (rules, ready) = &mut *answers;
        let about =
            |rule: &RememberedRule| (rule.scope, rule.session_id.clone(), rule.workspace.clone(), rule.pattern.clone());
        rules.retain(|known| about(known) != about(&rule));
        rules.push(rule);
        *ready = Arc::new(memory(rules));
    }
}

/// A request as the policy sees it.
pub(crate) fn call_of<'a>(
    runtime: &'a RuntimeName,
    tools: &'a Toolset,
    request: &'a ToolCallRequestedPayload,
) -> Call<'a> {
    Call {
        runtime: runtime.id(),
        tools,
        name: &request.name,
        kind: request.kind,
        input: &request.input,
        input_hash: &request.identity.input_hash,
    }
}

fn memory(rules: &[RememberedRule]) -> Memory {
    let answers: Vec<_> = rules.iter().filter_map(answer).collect();
    Memory::new(&answers).unwrap_or_else(|error| {
        // Only answers that the policy itself offered are ever stored; without them more is asked, never less denied.
        tracing::error!(%error, "The remembered answers cannot be used.");
        Memory::default()
    })
}

fn answer(rule: &RememberedRule) -> Option<Remembered> {
    let scope = match rule.scope {
        ApprovalScope::Once => return None,
        ApprovalScope::Session => Scope::Session(rule.session_id.clone()?),
        ApprovalScope::Workspace => Scope::Workspace(PathBuf::from(rule.workspace.as_ref()?)),
        ApprovalScope::Always => Scope::Always,
    };
    let effect = match rule.decision {
        PolicyDecision::Allow => Effect::Allow,
        PolicyDecision::Deny => Effect::Deny,
    };
    let pattern = rule.pattern.touches.clone().map(|touches| match touches {
        Touches::Command(argv) => Pattern::Command(argv),
        Touches::File(glob) => Pattern::File(glob),
        Touches::Host(host) => Pattern::Host(host),
        Touches::Exact(hash) => Pattern::Exact(hash),
    });
    Some(Remembered { scope, effect, runtime: rule.pattern.runtime.clone(), tool: rule.pattern.tool.clone(), pattern })
}

fn pattern(offer: Remembered) -> CallPattern {
    let touches = offer.pattern.map(|pattern| match pattern {
        Pattern::Command(argv) => Touches::Command(argv),
        Pattern::File(glob) => Touches::File(glob),
        Pattern::Host(host) => Touches::Host(host),
        Pattern::Exact(hash) => Touches::Exact(hash),
    });
    CallPattern { runtime: offer.runtime, tool: offer.tool, touches }
}
