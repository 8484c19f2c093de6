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
use roost_model::tool::{PolicyDecision, PolicyResult, PolicySource, ToolClass, ToolPolicyEvaluation};
use roost_policy::{
    Call, Context, ControlFiles, Effect, Memory, NO_APPROVER, PLAN_ONLY, Pattern, Remembered, RuleSet,
    RuntimePermissions, Scope, Toolset,
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
    /// How much harm the call can do; `None` if nobody looked.
    pub(crate) class: Option<ToolClass>,
    /// The pattern that an answer with a longer scope than "once" would remember.
    pub(crate) offer: Option<CallPattern>,
}

impl Judgement {
    /// The same, with this rule allowing where a person would be asked or is missing; a denial by a rule stays.
    pub(crate) fn allowed_if_asking(self, rule: &str) -> Self {
        self.allowed_despite(&[NO_APPROVER], rule)
    }

    /// The same for what only reads, although the policy cannot tell so: a plan may read, too.
    pub(crate) fn allowed_as_read(self, rule: &str) -> Self {
        self.allowed_despite(&[NO_APPROVER, PLAN_ONLY], rule)
    }

    fn allowed_despite(self, denials: &[&str], rule: &str) -> Self {
        let yields = |word: &ToolPolicyEvaluation| match word.result {
            PolicyResult::Ask => true,
            PolicyResult::Deny => word.rule.as_deref().is_some_and(|rule| denials.contains(&rule)),
            PolicyResult::Allow => false,
        };
        if self.evaluations.last().is_some_and(yields) {
            return self.but(PolicyResult::Allow, rule);
        }
        self
    }

    /// The same, with this rule asking a person once where the call would be allowed; nothing of the answer is remembered.
    pub(crate) fn asking(self, rule: &str) -> Self {
        self.but(PolicyResult::Ask, rule)
    }

    /// The same, with this rule denying the call for this reason.
    pub(crate) fn denying(self, rule: &str, reason: String) -> Self {
        Self { reason, ..self.but(PolicyResult::Deny, rule) }
    }

    /// The same, with a rule of the host having the last word.
    fn but(mut self, result: PolicyResult, rule: &str) -> Self {
        let source = PolicySource::Codesdk;
        self.evaluations.push(ToolPolicyEvaluation { source, result, rule: Some(rule.into()) });
        Self { offer: None, ..self }
    }

    pub(crate) fn is_denial(&self) -> bool {
        self.evaluations.last().is_none_or(|last| last.result == PolicyResult::Deny)
    }

    /// The stricter of two judgements; this one if they are equal. If the other one wins, its evaluations come last,
    /// and nothing can be remembered, because no pattern describes both calls.
    pub(crate) fn or_stricter(self, other: Self) -> Self {
        let strictness = |judgement: &Self| match judgement.evaluations.last().map(|word| word.result) {
            Some(PolicyResult::Allow) => 0,
            Some(PolicyResult::Ask) => 1,
            Some(PolicyResult::Deny) | None => 2,
        };
        let class = self.class.max(other.class);
        if strictness(&other) <= strictness(&self) {
            return Self { class, ..self };
        }
        let evaluations = self.evaluations.into_iter().chain(other.evaluations).collect();
        Self { evaluations, reason: other.reason, class, offer: None }
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
        let offer = asks.then(|| offered(evaluation.remember)).flatten();
        let class = Some(evaluation.classified.classes.worst());
        Judgement { evaluations: evaluation.words, reason, class, offer }
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

    /// Forgets the answer of this id.
    pub(crate) fn forget(&self, id: &str) {
        let mut answers = self.answers.write();
        let (rules, ready) = &mut *answers;
        rules.retain(|rule| rule.id() != id);
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
    let answers: Vec<_> = rules.iter().flat_map(answers).collect();
    Memory::new(&answers).unwrap_or_else(|error| {
        // Only answers that the policy itself offered are ever stored; without them more is asked, never less denied.
        tracing::error!(%error, "The remembered answers cannot be used.");
        Memory::default()
    })
}

/// What the policy makes of a remembered answer: one for each command that it names. None if it counts nowhere.
fn answers(rule: &RememberedRule) -> Vec<Remembered> {
    let scope = match (rule.scope, &rule.session_id, &rule.workspace) {
        (ApprovalScope::Session, Some(session), _) => Scope::Session(session.clone()),
        (ApprovalScope::Workspace, _, Some(workspace)) => Scope::Workspace(PathBuf::from(workspace)),
        (ApprovalScope::Always, ..) => Scope::Always,
        (ApprovalScope::Once | ApprovalScope::Session | ApprovalScope::Workspace, ..) => return Vec::new(),
    };
    let effect = match rule.decision {
        PolicyDecision::Allow => Effect::Allow,
        PolicyDecision::Deny => Effect::Deny,
    };
    let patterns = match rule.pattern.touches.clone() {
        None => vec![None],
        Some(Touches::Command(words)) => vec![Some(Pattern::Command(words))],
        Some(Touches::Commands(commands)) => commands.into_iter().map(Pattern::Command).map(Some).collect(),
        Some(Touches::File(glob)) => vec![Some(Pattern::File(glob))],
        Some(Touches::Host(host)) => vec![Some(Pattern::Host(host))],
        Some(Touches::Exact(hash)) => vec![Some(Pattern::Exact(hash))],
    };
    let CallPattern { runtime, tool, .. } = &rule.pattern;
    let answer = |pattern| {
        let (scope, runtime, tool) = (scope.clone(), runtime.clone(), tool.clone());
        Remembered { scope, effect, runtime, tool, pattern }
    };
    patterns.into_iter().map(answer).collect()
}

/// The offers of one scope as one pattern; the other scopes offer the same.
fn offered(mut offers: Vec<Remembered>) -> Option<CallPattern> {
    let scope = offers.first()?.scope.clone();
    offers.retain(|offer| offer.scope == scope);
    let Remembered { runtime, tool, pattern, .. } = offers.first()?.clone();
    let command = |offer: Remembered| match offer.pattern {
        Some(Pattern::Command(words)) => Some(words),
        _ => None,
    };
    let touches = match pattern {
        None => None,
        Some(Pattern::Command(_)) if offers.len() > 1 => {
            Some(Touches::Commands(offers.into_iter().filter_map(command).collect()))
        }
        Some(Pattern::Command(words)) => Some(Touches::Command(words)),
        Some(Pattern::File(glob)) => Some(Touches::File(glob)),
        Some(Pattern::Host(host)) => Some(Touches::Host(host)),
        Some(Pattern::Exact(hash)) => Some(Touches::Exact(hash)),
    };
    Some(CallPattern { runtime, tool, touches })
}
