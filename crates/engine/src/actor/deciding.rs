//! Decides about tool calls and questions: by the policy, or by a person whom it asks. A decision is written to the log
//! first and sent to the runtime second.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use roost_model::approval::{Answerer, ApprovalEnd, ApprovalScope};
use roost_model::event::EventBody;
use roost_model::ids::{QuestionId, ToolCallId};
use roost_model::pattern::{CallPattern, RememberedRule, Touches};
use roost_model::payload::{NoticeLevel, NoticeSource, QuestionOutcome, RuntimeNoticePayload};
use roost_model::time::Timestamp;
use roost_model::tool::{PolicyDecision, PolicyResult, PolicySource, ToolPolicyEvaluation};
use roost_process::Isolation;
use tokio::time::timeout;

use super::Actor;
use super::drafts::CONTROL_TIMEOUT;
use crate::adapter::{AdapterError, Answer};
use crate::command::{Decision, Response, ResponseTo};
use crate::error::Error;
use crate::gateway_calls::{ALWAYS_ASKS, ONLY_LOOKS};
use crate::ledger::{Asked, PendingApproval, REPLACED, Resolution, Terms, Verdict};
use crate::policy_context::{Approver, CallSite, Judgement, call_of};
use crate::runtime::Profile;
use crate::session_client;
use crate::task::{Phase, RecordedAnswer, Task};

/// The reason that an agent reads if somebody denied its tool call without giving one.
const REFUSED: &str = "the user refused it";
/// The rule that allows what carries out a call that was allowed before.
const PART_OF_ALLOWED_CALL: &str = "part_of_allowed_call";

impl Actor {
    /// Decides what the runtime waits for, or asks a person.
    pub(super) async fn decide(&mut self, asked: Asked) -> Result<(), Error> {
        let sent = match asked {
            Asked::Tool(call) => {
                self.refuse_void_questions().await?;
                self.judge(&call).await?;
                if self.run_on_host(&call).await? {
                    return Ok(());
                }
                self.send_decision(&call).await
            }
            Asked::Question(question) => {
                let Some(task) = &mut self.task else { return Ok(()) };
                if task.approver == Approver::Present && task.stop.is_none() && task.ledger.is_open(&question) {
                    task.wait(Asked::Question(question), self.shared.config.approval_timeout);
                    return Ok(());
                }
                let declined = Resolution::unanswered(QuestionOutcome::Declined, roost_policy::NO_APPROVER);
                let resolved = task.ledger.resolve(&question, declined);
                self.write(resolved.into_iter().collect()).await?.await?;
                self.send_answer_to_runtime(&question, Answer::Declined).await
            }
        };
        self.report_undelivered(sent).await
    }

    /// Refuses questions about calls that have changed while the runtime waited.
    async fn refuse_void_questions(&mut self) -> Result<(), Error> {
        let void = self.task.as_mut().map(|task| task.ledger.take_void()).unwrap_or_default();
        for question in void {
            let Some(Task { phase: Phase::Running(running), unresponsive, .. }) = &self.task else { return Ok(()) };
            let sent =
                timeout(delivery_timeout(*unresponsive), running.control.send_tool_denied(&question, REPLACED)).await;
            let sent = self.note_delivery(sent);
            self.report_undelivered(sent).await?;
        }
        Ok(())
    }

    /// Asks the policy about a call that is not decided yet, and writes its result.
    pub(super) async fn judge(&mut self, call: &ToolCallId) -> Result<(), Error> {
        let Some(task) = &mut self.task else { return Ok(()) };
        if task.ledger.decision(call).is_some() || task.ledger.is_pending(call) {
            return Ok(());
        }
        let Some(request) = task.ledger.request_of(call).cloned() else { return Ok(()) };
        let judgement = match task.stop {
            None => {
                let runtime = self.profile.adapter.name();
                let config = &self.shared.config;
                let shares_home = config.isolation_of(self.profile.isolation, &runtime) == Isolation::Shared;
                let home = config.environments.base.get("HOME").filter(|_| shares_home).map(Path::new);
                let site = CallSite {
                    session: &self.profile.id,
                    runtime,
                    tools: &self.profile.adapter.facts().tools,
                    workspace: self.profile.cwd.as_ref(),
                    folders: &self.shell_folders,
                    home,
                    mode: task.mode,
                    approver: task.approver,
                    permissions: &task.permissions,
                };
                let claimed = task.ledger.claim_of(call).cloned();
                let carries_out = task.ledger.allowed_and_open(call).any(|allowed| {
                    let paths = roost_policy::classify(&call_of(&site.runtime, site.tools, allowed)).paths();
                    let files: Vec<_> = paths.iter().map(|path| site.workspace.join(&path.text)).collect();
                    session_client::carries_out(&request, allowed, &files, site.workspace)
                });
                let judgement = self.shared.judge.judge(&site, &request).await;
                let judgement = match claimed {
                    // What the runtime announced before it asked can only make the result stricter.
                    Some(claimed) => judgement.or_stricter(self.shared.judge.judge(&site, &claimed).await),
                    None => judgement,
                };
                match (carries_out, self.gateway_calls.only_looks(call)) {
                    _ if self.gateway_calls.always_asks(call) && !judgement.is_denial() => {
                        judgement.asking(ALWAYS_ASKS)
                    }
                    (true, _) => judgement.allowed_if_asking(PART_OF_ALLOWED_CALL),
                    (false, true) => judgement.allowed_as_read(ONLY_LOOKS),
                    (false, false) => judgement,
                }
            }
            Some(_) => stopping(),
        };
        let judgement = self.judge_spending(judgement).await?;
        let expires_at = self.shared.config.approval_timeout.and_then(|timeout| {
            Some(Timestamp::from_millis(Timestamp::now().as_millis() + i64::try_from(timeout.as_millis()).ok()?))
        });
        let terms = Terms { class: judgement.class, offer: judgement.offer, expires_at };
        let Some(task) = &mut self.task else { return Ok(()) };
        let events = task.ledger.decide(call, judgement.evaluations, &judgement.reason, terms);
        let is_asked = task.ledger.is_pending(call);
        if is_asked {
            task.wait(Asked::Tool(call.clone()), self.shared.config.approval_timeout);
        }
        let written = self.write(events).await?;
        // A decision must be committed before it is sent; while a person is asked, nothing is sent yet.
        if !is_asked {
            written.await?;
        }
        Ok(())
    }

    /// Records a person's answer and sends it to the runtime. Safe to repeat with the same key.
    pub(super) async fn respond(&mut self, response: Response) -> Result<(), Error> {
        let Response { to, by, key } = response;
        let id = to.id().to_owned();
        let Some(task) = &mut self.task else { return Err(Error::NotPending(id)) };
        if let Some(before) = task.answered.get(&id) {
            let repeated = key.is_some() && before.key == key;
            match repeated {
                // A repetition, because the client got no acknowledgement.
                true if before.taken => return Ok(()),
                true => return self.deliver(id, to.into()).await,
                // Another attempt waits, to which the old answer does not belong.
                false if task.ledger.waits(&to) => {}
                false => return Err(Error::AlreadyAnswered { id, by: before.by.clone() }),
            }
        }
        if task.stop.is_some() {
            // Nothing begins in a task that is being stopped.
            return Err(Error::NotPending(id));
        }
        let (events, reply, allowed_rule) = match to {
            ResponseTo::Approval { call, attempt, input_hash, decision } => {
                let asked = task.ledger.pending_approval(&call).ok_or_else(|| Error::NotPending(id.clone()))?;
                if attempt.is_some_and(|attempt| attempt != asked.request.identity.attempt) {
                    return Err(Error::AttemptMismatch(id));
                }
                if input_hash.is_some_and(|hash| hash != asked.request.identity.input_hash) {
                    return Err(Error::InputHashMismatch(id));
                }
                // Only the runtime's own question can be answered with another input.
                let editable = task.ledger.question_about(&call).is_some()
                    && matches!(&task.phase, Phase::Running(running) if running.control.takes_edited_input());
                if matches!(decision, Decision::AllowEdited { .. }) && !editable {
                    return Err(AdapterError::Unsupported("take an edited input").into());
                }
                let allowed_rule =
                    Some(asked).filter(|_| decision.allows()).and_then(|asked| asked.rule.map(str::to_owned));
                let verdict = verdict(&self.profile, asked, decision, by.clone())?;
                (task.ledger.answer(&call, verdict), RuntimeReply::Decision(call), allowed_rule)
            }
            ResponseTo::Question { question, answer } => {
                let resolved = task.ledger.resolve(&question, resolution(&answer, by.clone()));
                let event = resolved.ok_or_else(|| Error::NotPending(id.clone()))?;
                (vec![event], RuntimeReply::Answer(question, answer), None)
            }
        };
        task.answered.insert(id.clone(), RecordedAnswer { key, by, taken: false });
        let remembered = remembered(&events);
        self.write(events).await?.await?;
        if let Some(rule) = remembered {
            self.shared.judge.remember(rule);
        }
        self.note_allowed(allowed_rule.as_deref()).await;
        self.deliver(id, reply).await
    }

    /// Sends a recorded answer to the runtime. Fails if the runtime did not take it, so that the client can repeat.
    async fn deliver(&mut self, id: String, reply: RuntimeReply) -> Result<(), Error> {
        match reply {
            RuntimeReply::Decision(call) if self.run_on_host(&call).await? => {}
            RuntimeReply::Decision(call) => self.send_decision(&call).await?,
            RuntimeReply::Answer(question, answer) => self.send_answer_to_runtime(&question, answer).await?,
        }
        if let Some(answered) = self.task.as_mut().and_then(|task| task.answered.get_mut(&id)) {
            answered.taken = true;
        }
        Ok(())
    }

    /// Denies or declines what nobody answered in time.
    pub(super) async fn expire_decision(&mut self, asked: Asked) -> Result<(), Error> {
        const REASON: &str = "nobody answered in time";
        let Some(task) = &mut self.task else { return Ok(()) };
        let sent = match asked {
            Asked::Tool(call) => {
                let events = task.ledger.answer(&call, Verdict::denied(ApprovalEnd::Expired, REASON));
                if events.is_empty() {
                    return Ok(());
                }
                self.write(events).await?.await?;
                self.send_decision(&call).await
            }
            Asked::Question(question) => {
                let expired = Resolution::unanswered(QuestionOutcome::Declined, REASON);
                let Some(event) = task.ledger.resolve(&question, expired) else { return Ok(()) };
                self.write(vec![event]).await?.await?;
                self.send_answer_to_runtime(&question, Answer::Declined).await
            }
        };
        self.report_undelivered(sent).await
    }

    /// Sends the decision about a call to the runtime, if there is one and the runtime asked.
    async fn send_decision(&mut self, call: &ToolCallId) -> Result<(), AdapterError> {
        let Some(Task { ledger, phase: Phase::Running(running), unresponsive, .. }) = &self.task else {
            return Ok(());
        };
        let timeout_after = delivery_timeout(*unresponsive);
        let Some(question) = ledger.question_about(call) else { return Ok(()) };
        let sent = match ledger.decision(call) {
            Some(PolicyDecision::Allow) => match ledger.edited_input(call) {
                Some(input) => timeout(timeout_after, running.control.send_tool_edited(question, input.clone())).await,
                None => timeout(timeout_after, running.control.send_tool_approved(question)).await,
            },
            Some(PolicyDecision::Deny) => {
                let reason = ledger.denial(call).unwrap_or(REFUSED);
                timeout(timeout_after, running.control.send_tool_denied(question, reason)).await
            }
            None => return Ok(()),
        };
        self.note_delivery(sent)
    }

    async fn send_answer_to_runtime(&mut self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        if self.gateway_questions.answer(question, &answer) {
            return Ok(());
        }
        let Some(Task { phase: Phase::Running(running), unresponsive, .. }) = &self.task else { return Ok(()) };
        let sent = timeout(delivery_timeout(*unresponsive), running.control.send_answer(question, answer)).await;
        self.note_delivery(sent)
    }

    /// Notes whether the runtime took a message in time, and turns a timeout into an error.
    pub(super) fn note_delivery(
        &mut self,
        sent: Result<Result<(), AdapterError>, tokio::time::error::Elapsed>,
    ) -> Result<(), AdapterError> {
        if let Some(task) = &mut self.task {
            task.unresponsive = sent.is_err();
        }
        let not_read = || AdapterError::Runtime { message: "the runtime does not read its input".into(), raw: None };
        sent.unwrap_or_else(|_| Err(not_read()))
    }

    pub(super) async fn report_undelivered(&mut self, sent: Result<(), AdapterError>) -> Result<(), Error> {
        if let Err(error) = sent {
            let message = format!("the runtime did not take a decision: {error}");
            let notice = RuntimeNoticePayload { level: NoticeLevel::Warning, source: NoticeSource::Engine, message };
            self.write(vec![notice.into()]).await?;
        }
        Ok(())
    }
}

/// What is sent to the runtime after an answer was written.
enum RuntimeReply {
    Decision(ToolCallId),
    Answer(QuestionId, Answer),
}

impl From<ResponseTo> for RuntimeReply {
    fn from(to: ResponseTo) -> Self {
        match to {
            ResponseTo::Approval { call, .. } => Self::Decision(call),
            ResponseTo::Question { question, answer } => Self::Answer(question, answer),
        }
    }
}

/// The rule that these events add to the remembered answers, if any.
fn remembered(events: &[EventBody]) -> Option<RememberedRule> {
    events.iter().find_map(|event| match event {
        EventBody::ApprovalResolved(resolved) => resolved.remembered.clone(),
        _ => None,
    })
}

fn verdict(profile: &Profile, asked: PendingApproval<'_>, decision: Decision, by: Answerer) -> Result<Verdict, Error> {
    let mut edited_input = None;
    let (decision, scope, reason) = match decision {
        Decision::Allow { scope } => (PolicyDecision::Allow, scope, None),
        Decision::AllowEdited { input } => {
            edited_input = Some(input);
            (PolicyDecision::Allow, ApprovalScope::Once, None)
        }
        Decision::Deny { scope, reason } => (PolicyDecision::Deny, scope, reason.or_else(|| Some(REFUSED.into()))),
    };
    let remembered = match (scope, asked.offer) {
        (ApprovalScope::Once, _) => None,
        (_, None) => return Err(Error::OnlyOnce(asked.request.identity.tool_call_id.to_string())),
        (ApprovalScope::Always, Some(pattern)) if !pattern.holds_anywhere() => {
            return Err(Error::OnlyHere(asked.request.identity.tool_call_id.to_string()));
        }
        (scope, Some(pattern)) => Some(RememberedRule {
            scope,
            decision,
            pattern: match decision {
                PolicyDecision::Allow => pattern.clone(),
                PolicyDecision::Deny => denied_pattern(pattern, &asked.request.identity.input_hash),
            },
            session_id: (scope == ApprovalScope::Session).then(|| profile.id.clone()),
            workspace: (scope == ApprovalScope::Workspace).then(|| profile.cwd.clone()),
            by: Some(by.clone()),
        }),
    };
    let (end, answered_by) = (ApprovalEnd::Answered, Some(by));
    Ok(Verdict { decision, end, scope, reason, answered_by, edited_input, remembered })
}

/// The calls that a no is about. One to a line of several commands, or to one with a variable set, says nothing about
/// each command alone, so it counts for that very call.
fn denied_pattern(offer: &CallPattern, input_hash: &str) -> CallPattern {
    let is_about_more = match &offer.touches {
        Some(Touches::Commands(_)) => true,
        Some(Touches::Command(words)) => words.first().is_some_and(|word| word.contains('=')),
        _ => false,
    };
    match is_about_more {
        true => CallPattern { touches: Some(Touches::Exact(input_hash.to_owned())), ..offer.clone() },
        false => offer.clone(),
    }
}

fn resolution(answer: &Answer, by: Answerer) -> Resolution {
    let (outcome, answers) = match answer {
        Answer::Given(answers) => (QuestionOutcome::Answered, answers.clone()),
        Answer::Declined => (QuestionOutcome::Declined, BTreeMap::new()),
        Answer::Cancelled => (QuestionOutcome::Cancelled, BTreeMap::new()),
    };
    Resolution { outcome, answers, answered_by: Some(by), reason: None }
}

/// How long a message to the runtime may take. A runtime that did not take the last one is not waited for again.
pub(super) fn delivery_timeout(unresponsive: bool) -> Duration {
    if unresponsive { Duration::ZERO } else { CONTROL_TIMEOUT }
}

/// The denial of a tool that is asked for while the task is being stopped.
fn stopping() -> Judgement {
    let rule = Some("task_stopping".into());
    let evaluation = ToolPolicyEvaluation { source: PolicySource::Codesdk, result: PolicyResult::Deny, rule };
    Judgement { evaluations: vec![evaluation], reason: "the task is being stopped".into(), class: None, offer: None }
}
