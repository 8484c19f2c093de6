//! Who decides: the policy, or a person whom it asks. A decision is written first and told to the runtime second.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use roost_model::approval::{Answerer, ApprovalEnd, ApprovalScope};
use roost_model::event::EventBody;
use roost_model::ids::{QuestionId, ToolCallId};
use roost_model::pattern::RememberedRule;
use roost_model::payload::{NoticeLevel, NoticeSource, QuestionOutcome, RuntimeNoticePayload};
use roost_model::time::Timestamp;
use roost_model::tool::{PolicyDecision, PolicyResult, PolicySource, ToolPolicyEvaluation};
use roost_process::Isolation;
use tokio::time::timeout;

use super::Actor;
use super::listening::CONTROL_PATIENCE;
use crate::adapter::{AdapterError, Answer};
use crate::command::{Decision, Response, ResponseTo};
use crate::error::Error;
use crate::ledger::{Asked, AskedAbout, REPLACED, Resolution, Terms, Verdict};
use crate::policy_context::{Approver, Judgement, Place};
use crate::runtime::Profile;
use crate::task::{Answered, Phase, Task};

/// What is said to an agent whose tool call somebody refused without a word.
const REFUSED: &str = "the user refused it";

impl Actor {
    /// Decides what the runtime waits for, or asks somebody who does.
    pub(super) async fn decide(&mut self, asked: Asked) -> Result<(), Error> {
        let told = match asked {
            Asked::Tool(call) => {
                self.refuse_void().await?;
                self.judge(&call).await?;
                if self.run_on_host(&call).await? {
                    return Ok(());
                }
                self.tell(&call).await
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
                self.tell_answer(&question, Answer::Declined).await
            }
        };
        self.note_untold(told).await
    }

    /// Refuses the questions whose calls became others while the runtime waited.
    async fn refuse_void(&mut self) -> Result<(), Error> {
        let void = self.task.as_mut().map(|task| task.ledger.take_void()).unwrap_or_default();
        for question in void {
            let Some(Task { phase: Phase::Running(running), deaf, .. }) = &self.task else { return Ok(()) };
            let told = timeout(patience(*deaf), running.control.send_tool_denied(&question, REPLACED)).await;
            let told = self.heard(told);
            self.note_untold(told).await?;
        }
        Ok(())
    }

    /// Asks the policy about a call that nobody has decided yet.
    async fn judge(&mut self, call: &ToolCallId) -> Result<(), Error> {
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
                let place = Place {
                    session: &self.profile.id,
                    runtime,
                    tools: &self.profile.adapter.facts().tools,
                    workspace: self.profile.cwd.as_ref(),
                    folders: &self.shell_folders,
                    home,
                    mode: task.mode,
                    approver: task.approver,
                };
                let claimed = task.ledger.claim_of(call).cloned();
                let judgement = self.shared.judge.judge(&place, &request).await;
                match claimed {
                    // What a runtime says of its call beside what it asks can only make it stricter.
                    Some(claimed) => judgement.or_stricter(self.shared.judge.judge(&place, &claimed).await),
                    None => judgement,
                }
            }
            Some(_) => stopping(),
        };
        let expires_at = self.shared.config.approval_timeout.and_then(|timeout| {
            Some(Timestamp::from_millis(Timestamp::now().as_millis() + i64::try_from(timeout.as_millis()).ok()?))
        });
        let terms = Terms { offer: judgement.offer, expires_at };
        let Some(task) = &mut self.task else { return Ok(()) };
        let events = task.ledger.decide(call, judgement.words, &judgement.reason, terms);
        let is_asked = task.ledger.is_pending(call);
        if is_asked {
            task.wait(Asked::Tool(call.clone()), self.shared.config.approval_timeout);
        }
        let written = self.write(events).await?;
        // Only what the runtime is told must be kept first; it is told nothing while somebody is asked.
        if !is_asked {
            written.await?;
        }
        Ok(())
    }

    /// Somebody answers.
    pub(super) async fn respond(&mut self, response: Response) -> Result<(), Error> {
        let Response { to, by, key } = response;
        let id = to.id().to_owned();
        let Some(task) = &mut self.task else { return Err(Error::NotPending(id)) };
        if let Some(before) = task.answered.get(&id) {
            let repeated = key.is_some() && before.key == key;
            match repeated {
                // The same answer, sent again because its acknowledgement was lost or never came.
                true if before.taken => return Ok(()),
                true => return self.pass_on(id, to.into()).await,
                // What waits again is another attempt, and no old answer is one to that.
                false if task.ledger.waits(&to) => {}
                false => return Err(Error::AlreadyAnswered { id, by: before.by.clone() }),
            }
        }
        if task.stop.is_some() {
            // Nothing begins in a task that is being stopped.
            return Err(Error::NotPending(id));
        }
        let (events, tell) = match to {
            ResponseTo::Approval { call, attempt, input_hash, decision } => {
                let asked = task.ledger.asked_about(&call).ok_or_else(|| Error::NotPending(id.clone()))?;
                if attempt.is_some_and(|attempt| attempt != asked.request.identity.attempt) {
                    return Err(Error::AttemptMismatch(id));
                }
                if input_hash.is_some_and(|hash| hash != asked.request.identity.input_hash) {
                    return Err(Error::InputHashMismatch(id));
                }
                let editable = matches!(&task.phase, Phase::Running(running) if running.control.takes_edited_input());
                if matches!(decision, Decision::AllowEdited { .. }) && !editable {
                    return Err(AdapterError::Unsupported("take an edited input").into());
                }
                let verdict = verdict(&self.profile, asked, decision, by.clone())?;
                (task.ledger.answer(&call, verdict), Tell::Decision(call))
            }
            ResponseTo::Question { question, answer } => {
                let resolved = task.ledger.resolve(&question, resolution(&answer, by.clone()));
                let event = resolved.ok_or_else(|| Error::NotPending(id.clone()))?;
                (vec![event], Tell::Answer(question, answer))
            }
        };
        task.answered.insert(id.clone(), Answered { key, by, taken: false });
        let remembered = remembered(&events);
        self.write(events).await?.await?;
        if let Some(rule) = remembered {
            self.shared.judge.remember(rule);
        }
        self.pass_on(id, tell).await
    }

    /// Tells the runtime what somebody said; acknowledged only when its side has taken it.
    async fn pass_on(&mut self, id: String, tell: Tell) -> Result<(), Error> {
        match tell {
            Tell::Decision(call) if self.run_on_host(&call).await? => {}
            Tell::Decision(call) => self.tell(&call).await?,
            Tell::Answer(question, answer) => self.tell_answer(&question, answer).await?,
        }
        if let Some(answered) = self.task.as_mut().and_then(|task| task.answered.get_mut(&id)) {
            answered.taken = true;
        }
        Ok(())
    }

    /// Nobody answered in time.
    pub(super) async fn ask_due(&mut self, asked: Asked) -> Result<(), Error> {
        const REASON: &str = "nobody answered in time";
        let Some(task) = &mut self.task else { return Ok(()) };
        let told = match asked {
            Asked::Tool(call) => {
                let events = task.ledger.answer(&call, Verdict::denied(ApprovalEnd::Expired, REASON));
                if events.is_empty() {
                    return Ok(());
                }
                self.write(events).await?.await?;
                self.tell(&call).await
            }
            Asked::Question(question) => {
                let expired = Resolution::unanswered(QuestionOutcome::Declined, REASON);
                let Some(event) = task.ledger.resolve(&question, expired) else { return Ok(()) };
                self.write(vec![event]).await?.await?;
                self.tell_answer(&question, Answer::Declined).await
            }
        };
        self.note_untold(told).await
    }

    /// Tells the runtime what was decided about a call, if it was and if the runtime asked.
    async fn tell(&mut self, call: &ToolCallId) -> Result<(), AdapterError> {
        let Some(Task { ledger, phase: Phase::Running(running), deaf, .. }) = &self.task else {
            return Ok(());
        };
        let patience = patience(*deaf);
        let Some(question) = ledger.question_about(call) else { return Ok(()) };
        let told = match ledger.decision(call) {
            Some(PolicyDecision::Allow) => match ledger.edited_input(call) {
                Some(input) => timeout(patience, running.control.send_tool_edited(question, input.clone())).await,
                None => timeout(patience, running.control.send_tool_approved(question)).await,
            },
            Some(PolicyDecision::Deny) => {
                let reason = ledger.denial(call).unwrap_or(REFUSED);
                timeout(patience, running.control.send_tool_denied(question, reason)).await
            }
            None => return Ok(()),
        };
        self.heard(told)
    }

    async fn tell_answer(&mut self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        let Some(Task { phase: Phase::Running(running), deaf, .. }) = &self.task else { return Ok(()) };
        let told = timeout(patience(*deaf), running.control.send_answer(question, answer)).await;
        self.heard(told)
    }

    pub(super) fn heard(
        &mut self,
        told: Result<Result<(), AdapterError>, tokio::time::error::Elapsed>,
    ) -> Result<(), AdapterError> {
        if let Some(task) = &mut self.task {
            task.deaf = told.is_err();
        }
        let deaf = || AdapterError::Runtime { message: "the runtime does not read its input".into(), raw: None };
        told.unwrap_or_else(|_| Err(deaf()))
    }

    pub(super) async fn note_untold(&mut self, told: Result<(), AdapterError>) -> Result<(), Error> {
        if let Err(error) = told {
            let message = format!("the runtime did not take a decision: {error}");
            let notice = RuntimeNoticePayload { level: NoticeLevel::Warning, source: NoticeSource::Engine, message };
            self.write(vec![notice.into()]).await?;
        }
        Ok(())
    }
}

/// What the runtime is told after an answer was written.
enum Tell {
    Decision(ToolCallId),
    Answer(QuestionId, Answer),
}

impl From<ResponseTo> for Tell {
    fn from(to: ResponseTo) -> Self {
        match to {
            ResponseTo::Approval { call, .. } => Self::Decision(call),
            ResponseTo::Question { question, answer } => Self::Answer(question, answer),
        }
    }
}

/// What is remembered of an answer.
fn remembered(events: &[EventBody]) -> Option<RememberedRule> {
    events.iter().find_map(|event| match event {
        EventBody::ApprovalResolved(resolved) => resolved.remembered.clone(),
        _ => None,
    })
}

fn verdict(profile: &Profile, asked: AskedAbout<'_>, decision: Decision, by: Answerer) -> Result<Verdict, Error> {
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
            pattern: pattern.clone(),
            session_id: (scope == ApprovalScope::Session).then(|| profile.id.clone()),
            workspace: (scope == ApprovalScope::Workspace).then(|| profile.cwd.clone()),
        }),
    };
    let (end, answered_by) = (ApprovalEnd::Answered, Some(by));
    Ok(Verdict { decision, end, scope, reason, answered_by, edited_input, remembered })
}

fn resolution(answer: &Answer, by: Answerer) -> Resolution {
    let (outcome, answers) = match answer {
        Answer::Given(answers) => (QuestionOutcome::Answered, answers.clone()),
        Answer::Declined => (QuestionOutcome::Declined, BTreeMap::new()),
        Answer::Cancelled => (QuestionOutcome::Cancelled, BTreeMap::new()),
    };
    Resolution { outcome, answers, answered_by: Some(by), reason: None }
}

/// One that did not take the last message is not waited for again.
pub(super) fn patience(deaf: bool) -> Duration {
    if deaf { Duration::ZERO } else { CONTROL_PATIENCE }
}

/// The policy's word on a tool that is asked for after the task was asked to stop.
fn stopping() -> Judgement {
    let rule = Some("task_stopping".into());
    let word = ToolPolicyEvaluation { source: PolicySource::Codesdk, result: PolicyResult::Deny, rule };
    Judgement { words: vec![word], reason: "the task is being stopped".into(), offer: None }
}
