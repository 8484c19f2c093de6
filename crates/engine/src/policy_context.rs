//! The policy, fed with what the engine knows: the call, where its paths really lead, and what persons said before.

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
    Call, Context, ControlFiles, Effect, Memory, NO_APPROVER, Pattern, Remembered, RuleSet, Scope, Toolset,
};

pub use roost_policy::Approver;

use crate::path_lookup::Lookup;
use crate::shell_folders::ShellFolders;

/// What is said to an agent whose tool call nobody could approve.
const NOBODY: &str = "nobody is there to approve it";

/// What the policy says about a call.
pub(crate) struct Judgement {
    pub(crate) words: Vec<ToolPolicyEvaluation>,
    /// Why it is denied, if it is; for the agent to read.
    pub(crate) reason: String,
    /// The calls that an answer for longer than once would cover.
    pub(crate) offer: Option<CallPattern>,
}

impl Judgement {
    /// This, or the other one if it is stricter: then its words come last, and no answer is offered for longer than once,
    /// because no pattern stands for both.
    pub(crate) fn or_stricter(self, other: Self) -> Self {
        let strictness = |judgement: &Self| match judgement.words.last().map(|word| word.result) {
            Some(PolicyResult::Allow) => 0,
            Some(PolicyResult::Ask) => 1,
            Some(PolicyResult::Deny) | None => 2,
        };
        if strictness(&other) <= strictness(&self) {
            return self;
        }
        let words = self.words.into_iter().chain(other.words).collect();
        Self { words, reason: other.reason, offer: None }
    }
}

/// The session that a call is made in.
pub(crate) struct Place<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) runtime: RuntimeName,
    /// What that runtime's tools do.
    pub(crate) tools: &'a Toolset,
    /// Its root; absolute and without links.
    pub(crate) workspace: &'a Path,
    /// Where the runtime's shell may stand.
    pub(crate) folders: &'a ShellFolders,
    /// The user's home, where it is the runtime's too.
    pub(crate) home: Option<&'a Path>,
    pub(crate) mode: Mode,
    pub(crate) approver: Approver,
}

/// The rules, and the answers that count for longer than once.
pub(crate) struct Judge {
    rules: Arc<RuleSet>,
    /// The files that steer a runtime, of all that are registered.
    control: Vec<ControlFiles>,
    answers: RwLock<(Vec<RememberedRule>, Arc<Memory>)>,
}

impl Judge {
    /// The policy with these rules and remembered answers, which guards these files.
    pub(crate) fn new(rules: Arc<RuleSet>, control: Vec<ControlFiles>, remembered: Vec<RememberedRule>) -> Self {
        let memory = Arc::new(memory(&remembered));
        Self { rules, control, answers: RwLock::new((remembered, memory)) }
    }

    /// What the policy says about a call.
    pub(crate) async fn judge(&self, place: &Place<'_>, request: &ToolCallRequestedPayload) -> Judgement {
        let call = call_of(&place.runtime, place.tools, request);
        let classified = roost_policy::classify(&call);
        let lookup = Lookup {
            workspace: place.workspace.to_owned(),
            folders: place.folders.clone(),
            home: place.home.map(Path::to_owned),
            git_folders: classified.git_folders.clone(),
        };
        let (resolved, unresolved) = lookup.resolve(classified.paths()).await;
        let memory = self.answers.read().1.clone();
        let context = Context {
            mode: place.mode,
            approver: place.approver,
            session: place.session,
            workspace: place.workspace,
            resolved: &resolved,
            unresolved,
            control: &self.control,
            rules: &self.rules,
            memory: &memory,
        };
        let evaluation = roost_policy::evaluate(&call, &context);
        let rule = evaluation.words.last().and_then(|word| word.rule.as_deref()).unwrap_or_default();
        let reason = if rule == NO_APPROVER { NOBODY.into() } else { format!("the rule {rule} denies it") };
        let asks = evaluation.words.iter().any(|word| word.result == PolicyResult::Ask);
        let offer = evaluation.remember.into_iter().next().filter(|_| asks).map(pattern);
        Judgement { words: evaluation.words, reason, offer }
    }

    /// From now on this counts, and what was said about the same before does not.
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
        title: request.title.as_deref(),
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
