//! Asks whoever sits at the terminal about what waits, one thing at a time.

mod answer;
mod card;
mod change;
mod explain;
mod response;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use roost_model::approval::{Answerer, ApprovalEnd, ApprovalScope, Pending, PendingAsk, PendingChange};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::ArtifactId;
use roost_model::payload::{ApprovalRequestedPayload, QuestionAskedPayload};
use serde_json::Value;

use crate::keyboard::Typed;
use crate::screen::{exact, one_line};
use crate::style::Style;
use answer::{Choice, DECLINE, said, values};
use card::field;
pub(crate) use card::{Against, Extent, card, content};
pub(crate) use explain::explain;
pub(crate) use response::{CallDecision, QuestionAnswer, UserResponse};

/// What waits for whoever sits at the terminal.
pub(crate) struct Asker {
    style: Style,
    cwd: PathBuf,
    waiting: VecDeque<Pending>,
    asking: Option<Asking>,
}

/// What is being asked.
struct Asking {
    pending: Pending,
    step: Step,
    /// Not all of it was shown.
    cut: bool,
}

/// What exactly is asked about it.
enum Step {
    Decide,
    Why,
    /// The first fields of a question are answered.
    Field(BTreeMap<String, Vec<String>>, usize),
}

/// What comes of a line.
pub(crate) enum Reaction {
    /// It is an answer.
    Respond(UserResponse),
    /// There is more to say before it is.
    Say(String),
}

impl Asker {
    pub(crate) fn new(style: Style, cwd: &Path) -> Self {
        Self { style, cwd: cwd.to_owned(), waiting: VecDeque::new(), asking: None }
    }

    /// Asks about this too.
    pub(crate) fn add(&mut self, pending: Pending) {
        self.waiting.push_back(pending);
    }

    /// Takes note of an event; says why what is being asked no longer needs an answer.
    pub(crate) fn note(&mut self, event: &NormalizedEvent) -> Option<String> {
        match PendingChange::of(event)? {
            PendingChange::Opened(pending) => {
                self.waiting.push_back(*pending);
                None
            }
            PendingChange::Closed(id) => {
                self.waiting.retain(|pending| pending.id() != id);
                self.asking.take_if(|asking| asking.pending.id() == id)?;
                Some(format!("  {}\n", self.style.yellow(format!("no longer asked: {}", ending(&event.body)))))
            }
        }
    }

    /// Something is being asked.
    pub(crate) fn is_asking(&self) -> bool {
        self.asking.is_some()
    }

    /// Something waits and nothing is being asked.
    pub(crate) fn is_due(&self) -> bool {
        self.asking.is_none() && !self.waiting.is_empty()
    }

    /// Where the whole input of the next call is, if it was too big for its event.
    pub(crate) fn input_elsewhere(&self) -> Option<ArtifactId> {
        match &self.waiting.front()?.ask {
            PendingAsk::Approval(asked) => Some(asked.input_ref.as_ref()?.artifact_id.clone()),
            PendingAsk::Question(_) => None,
        }
    }

    /// Takes the whole input of the next call.
    pub(crate) fn put_input(&mut self, input: Value) {
        if let Some(Pending { ask: PendingAsk::Approval(asked), .. }) = self.waiting.front_mut() {
            (asked.input, asked.input_ref) = (input, None);
        }
    }

    /// Begins with the next thing that waits; gives what is to be shown of it. Reads files, so it may take a while.
    pub(crate) fn begin(&mut self) -> Option<String> {
        let pending = self.waiting.pop_front()?;
        let (text, step, cut) = match &pending.ask {
            PendingAsk::Approval(asked) => {
                let card = card(self.style, asked, &self.cwd, Extent::Beginning);
                (card.text, Step::Decide, card.cut)
            }
            PendingAsk::Question(asked) => {
                let message = format!("{} {}\n", self.style.yellow("?"), exact(&asked.message));
                let first = asked.fields.first().map(|first| field(self.style, first)).unwrap_or_default();
                (message + &first, Step::Field(BTreeMap::new(), 0), false)
            }
        };
        self.asking = Some(Asking { pending, step, cut });
        Some(text)
    }

    /// What stands before the cursor while something is asked.
    pub(crate) fn prompt(&self) -> Option<String> {
        let asking = self.asking.as_ref()?;
        let prompt = match (&asking.pending.ask, &asking.step) {
            (_, Step::Why) => "  why, for the agent to read (may be left empty): ".to_owned(),
            (PendingAsk::Approval(asked), _) => choices(asked, asking.cut),
            (PendingAsk::Question(asked), step) => match asked.fields.get(step.at()) {
                Some(field) if field.options.is_empty() => format!("  words, or {DECLINE}: "),
                Some(field) if field.multiple => format!("  numbers with commas between, or {DECLINE}: "),
                Some(_) => format!("  a number, or {DECLINE}: "),
                None => format!("  Enter to go on, or {DECLINE}: "),
            },
        };
        let more = match self.waiting.len() {
            0 => String::new(),
            more => format!("  ({more} more after this one)\n"),
        };
        Some(more + &prompt)
    }

    /// Takes what was typed. Reads files, so it may take a while.
    pub(crate) fn answer(&mut self, typed: Typed) -> Option<Reaction> {
        let asking = self.asking.as_mut()?;
        let reaction = match &asking.pending.ask {
            PendingAsk::Approval(asked) => match decision(&mut asking.step, &typed, asked) {
                Choice::Yes(scope) => Reaction::Respond(respond(asked, CallDecision::Allow { scope })),
                Choice::No(reason) => {
                    let decision = CallDecision::Deny { scope: ApprovalScope::Once, reason };
                    Reaction::Respond(respond(asked, decision))
                }
                Choice::NoReason => Reaction::Say(String::new()),
                Choice::Explain => Reaction::Say(explain(self.style, asked)),
                Choice::ShowAll => {
                    Reaction::Say(content(self.style, asked, Against::Files(&self.cwd), Extent::All).text)
                }
                Choice::Unclear => {
                    Reaction::Say("  not understood (? explains); nothing runs until you answer\n".into())
                }
            },
            PendingAsk::Question(asked) => answered(self.style, asked, &mut asking.step, &typed),
        };
        if let Reaction::Respond(_) = reaction {
            self.asking = None;
        }
        Some(reaction)
    }
}

impl Step {
    /// The field that is asked about.
    fn at(&self) -> usize {
        match self {
            Self::Field(_, at) => *at,
            Self::Decide | Self::Why => 0,
        }
    }
}

fn choices(asked: &ApprovalRequestedPayload, cut: bool) -> String {
    let longer = if asked.offer.is_some() { "[s] for this session  [w] for this workspace  " } else { "" };
    let all = if cut { "[v] all of it  " } else { "" };
    format!("  [y]es  {longer}{all}[?] explain  [n]o: ")
}

fn decision(step: &mut Step, typed: &Typed, asked: &ApprovalRequestedPayload) -> Choice {
    let line = match typed {
        // Whoever leaves has not allowed anything.
        Typed::End => return Choice::No(None),
        Typed::Line(line) => line,
    };
    if let Step::Why = step {
        return Choice::No(Some(line.trim()).filter(|why| !why.is_empty()).map(str::to_owned));
    }
    match said(line) {
        Choice::Yes(scope) if scope != ApprovalScope::Once && asked.offer.is_none() => Choice::Unclear,
        Choice::NoReason => {
            *step = Step::Why;
            Choice::NoReason
        }
        said => said,
    }
}

fn respond(asked: &ApprovalRequestedPayload, decision: CallDecision) -> UserResponse {
    let identity = &asked.identity;
    UserResponse::Approval {
        call: identity.tool_call_id.clone(),
        attempt: identity.attempt,
        input_hash: identity.input_hash.clone(),
        decision,
    }
}

fn answered(style: Style, asked: &QuestionAskedPayload, step: &mut Step, typed: &Typed) -> Reaction {
    let respond = |answer| Reaction::Respond(UserResponse::Question { question: asked.question_id.clone(), answer });
    let line = match typed {
        Typed::End => return respond(QuestionAnswer::Declined),
        Typed::Line(line) if line.trim() == DECLINE => return respond(QuestionAnswer::Declined),
        Typed::Line(line) => line,
    };
    let Step::Field(answers, at) = step else { return respond(QuestionAnswer::Declined) };
    if let Some(field) = asked.fields.get(*at) {
        match values(field, line) {
            Err(wrong) => return Reaction::Say(format!("  {}\n", one_line(&wrong))),
            Ok(values) if values.is_empty() => {}
            Ok(values) => _ = answers.insert(field.id.clone(), values),
        }
        *at += 1;
    }
    match asked.fields.get(*at) {
        Some(next) => Reaction::Say(field(style, next)),
        None => respond(QuestionAnswer::Given(std::mem::take(answers))),
    }
}

/// Why something needs no answer any more.
fn ending(body: &EventBody) -> String {
    match body {
        EventBody::ApprovalResolved(resolved) => match resolved.end {
            ApprovalEnd::Answered => format!("answered by {}", named(resolved.answered_by.as_ref())),
            ApprovalEnd::Expired => "nobody answered in time".into(),
            ApprovalEnd::Stopped => "the task was stopped".into(),
            ApprovalEnd::TaskEnded => "the task has ended".into(),
            ApprovalEnd::Withdrawn => "the agent took it back".into(),
            ApprovalEnd::HostRestarted => "Roost was restarted".into(),
        },
        EventBody::QuestionResolved(resolved) => match (&resolved.answered_by, &resolved.reason) {
            (Some(by), _) => format!("answered by {}", named(Some(by))),
            (None, Some(reason)) => one_line(reason).into_owned(),
            (None, None) => "it is over".into(),
        },
        _ => "it is over".into(),
    }
}

/// Who answered, in as few words as possible.
pub(crate) fn named(by: Option<&Answerer>) -> String {
    let name = by.and_then(|by| {
        let client = by.client_id.as_ref().map(|client| client.as_str());
        by.user_id.as_ref().map(|user| user.as_str()).or(client).or(by.from.as_deref())
    });
    one_line(name.unwrap_or("somebody")).into_owned()
}

#[cfg(test)]
#[path = "ask_tests.rs"]
mod tests;
