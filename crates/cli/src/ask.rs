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

use crate::keyboard::KeyboardInput;
use crate::screen::{self, exact, one_line};
use crate::style::Style;
pub(crate) use answer::parse_field;
use answer::{Choice, DECLINE, parse_decision};
use card::field;
pub(crate) use card::{Against, Extent, card, content};
pub(crate) use explain::explain;
pub(crate) use response::{CallDecision, QuestionAnswer, UserResponse};

/// The approvals and questions that wait for the person at the terminal, asked one at a time.
pub(crate) struct Asker {
    style: Style,
    cwd: PathBuf,
    waiting: VecDeque<Pending>,
    asking: Option<Asking>,
}

/// The approval or question that is shown now.
struct Asking {
    pending: Pending,
    step: Step,
    /// The card did not show all of the call; `v` does.
    cut: bool,
}

/// Which input the prompt is waiting for.
enum Step {
    Decide,
    Why,
    /// The answers so far, and the index of the field that is asked now.
    Field(BTreeMap<String, Vec<String>>, usize),
}

/// What a line of input leads to.
pub(crate) enum Reaction {
    /// The answer is complete and is to be sent.
    Respond(UserResponse),
    /// Text to print; the same thing is asked again.
    Say(String),
}

impl Asker {
    pub(crate) fn new(style: Style, cwd: &Path) -> Self {
        Self { style, cwd: cwd.to_owned(), waiting: VecDeque::new(), asking: None }
    }

    /// Queues something to be asked after everything that waits already. What is known already is not asked twice: it
    /// may be told by its event and by a list of what waits.
    pub(crate) fn add(&mut self, pending: Pending) {
        let mut known = self.waiting.iter().chain(self.asking.iter().map(|asking| &asking.pending));
        if !known.any(|known| (known.id(), known.asked_at) == (pending.id(), pending.asked_at)) {
            self.waiting.push_back(pending);
        }
    }

    /// Updates the queue from an event. If that resolves what is being asked, returns a line that says why.
    pub(crate) fn note(&mut self, event: &NormalizedEvent) -> Option<String> {
        match PendingChange::from_event(event)? {
            PendingChange::Opened(pending) => {
                self.add(*pending);
                None
            }
            PendingChange::Closed(id) => {
                self.waiting.retain(|pending| pending.id() != id);
                self.asking.take_if(|asking| asking.pending.id() == id)?;
                Some(format!("  {}\n", self.style.yellow(format!("no longer asked: {}", ending(&event.body)))))
            }
        }
    }

    /// True if this event ends what is being asked.
    pub(crate) fn is_resolved_by(&self, event: &NormalizedEvent) -> bool {
        let Some(asking) = &self.asking else { return false };
        matches!(PendingChange::from_event(event), Some(PendingChange::Closed(id)) if id == asking.pending.id())
    }

    /// True while an answer is being typed.
    pub(crate) fn is_asking(&self) -> bool {
        self.asking.is_some()
    }

    /// True while words are asked for, so that no line may mean anything but itself.
    pub(crate) fn wants_words(&self) -> bool {
        self.asking.as_ref().is_some_and(|asking| !matches!(asking.step, Step::Decide))
    }

    /// True if [`Asker::begin`] has something to show.
    pub(crate) fn is_due(&self) -> bool {
        self.asking.is_none() && !self.waiting.is_empty()
    }

    /// The artifact with the full input of the next call, if it was too big for its event.
    pub(crate) fn input_elsewhere(&self) -> Option<ArtifactId> {
        match &self.waiting.front()?.ask {
            PendingAsk::Approval(asked) => Some(asked.input_ref.as_ref()?.artifact_id.clone()),
            PendingAsk::Question(_) => None,
        }
    }

    /// Replaces the input of the next call by the full one.
    pub(crate) fn put_input(&mut self, input: Value) {
        if let Some(Pending { ask: PendingAsk::Approval(asked), .. }) = self.waiting.front_mut() {
            (asked.input, asked.input_ref) = (input, None);
        }
    }

    /// Takes the next thing from the queue and returns what to show of it. Reads files to compare changes, so it blocks.
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

    /// The prompt to show before the cursor; `None` if nothing is asked.
    pub(crate) fn prompt(&self) -> Option<String> {
        let asking = self.asking.as_ref()?;
        let prompt = match (&asking.pending.ask, &asking.step) {
            (_, Step::Why) => "  why, for the agent to read (may be left empty): ".to_owned(),
            (PendingAsk::Approval(asked), _) => choices(asked, asking.cut),
            (PendingAsk::Question(asked), step) => match asked.fields.get(step.at()) {
                Some(field) if field.options.is_empty() => format!("  words, or {DECLINE}: "),
                Some(field) if field.multiple => format!("  numbers with commas between, other words, or {DECLINE}: "),
                Some(_) => format!("  a number, other words, or {DECLINE}: "),
                None => format!("  Enter to go on, or {DECLINE}: "),
            },
        };
        let more = match self.waiting.len() {
            0 => String::new(),
            more => format!("  ({more} more after this one)\n"),
        };
        Some(more + &prompt)
    }

    /// Handles a line of input. May read files to show a change, so it blocks.
    pub(crate) fn answer(&mut self, typed: KeyboardInput) -> Option<Reaction> {
        let asking = self.asking.as_mut()?;
        let reaction = match &asking.pending.ask {
            PendingAsk::Approval(asked) => match decision(&mut asking.step, &typed, asked) {
                Choice::Yes(scope) => Reaction::Respond(respond(asked, CallDecision::Allow { scope })),
                Choice::No(reason) => {
                    let decision = CallDecision::Deny { scope: ApprovalScope::Once, reason };
                    Reaction::Respond(respond(asked, decision))
                }
                Choice::NoReason => Reaction::Say(String::new()),
                Choice::Explain => Reaction::Say(explain(self.style, asked, screen::columns().unwrap_or(usize::MAX))),
                Choice::ShowAll => {
                    Reaction::Say(content(self.style, (&**asked).into(), Against::Files(&self.cwd), Extent::All).text)
                }
                Choice::Unclear => {
                    Reaction::Say("  not understood (? explains); nothing runs until you answer\n".into())
                }
            },
            PendingAsk::Question(asked) => answer_field(self.style, asked, &mut asking.step, &typed),
        };
        if let Reaction::Respond(_) = reaction {
            self.asking = None;
        }
        Some(reaction)
    }
}

impl Step {
    /// The index of the field that is asked about.
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

fn decision(step: &mut Step, typed: &KeyboardInput, asked: &ApprovalRequestedPayload) -> Choice {
    let line = match typed {
        // Whoever leaves has not allowed anything.
        KeyboardInput::End => return Choice::No(None),
        KeyboardInput::Line(line) => line,
    };
    if let Step::Why = step {
        return Choice::No(Some(line.trim()).filter(|why| !why.is_empty()).map(str::to_owned));
    }
    match parse_decision(line) {
        Choice::Yes(scope) if scope != ApprovalScope::Once && asked.offer.is_none() => Choice::Unclear,
        Choice::NoReason => {
            *step = Step::Why;
            Choice::NoReason
        }
        choice => choice,
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

/// Handles a line about the current field of a question.
fn answer_field(style: Style, asked: &QuestionAskedPayload, step: &mut Step, typed: &KeyboardInput) -> Reaction {
    let respond = |answer| Reaction::Respond(UserResponse::Question { question: asked.question_id.clone(), answer });
    let line = match typed {
        KeyboardInput::End => return respond(QuestionAnswer::Declined),
        KeyboardInput::Line(line) if line.trim() == DECLINE => return respond(QuestionAnswer::Declined),
        KeyboardInput::Line(line) => line,
    };
    let Step::Field(answers, at) = step else { return respond(QuestionAnswer::Declined) };
    if let Some(field) = asked.fields.get(*at) {
        match parse_field(field, line) {
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

/// A question with all of its fields and choices.
pub(crate) fn question(style: Style, asked: &QuestionAskedPayload) -> String {
    let fields = asked.fields.iter().map(|one| field(style, one)).collect::<String>();
    format!("{} {}\n{fields}", style.yellow("?"), exact(&asked.message))
}

/// The reason in words why something needs no answer any more.
fn ending(body: &EventBody) -> String {
    match body {
        EventBody::ApprovalResolved(resolved) => match resolved.end {
            ApprovalEnd::Answered => format!("answered by {}", answerer_name(resolved.answered_by.as_ref())),
            ApprovalEnd::Expired => "nobody answered in time".into(),
            ApprovalEnd::Stopped => "the task was stopped".into(),
            ApprovalEnd::TaskEnded => "the task has ended".into(),
            ApprovalEnd::Withdrawn => "the agent took it back".into(),
            ApprovalEnd::HostRestarted => "Roost was restarted".into(),
        },
        EventBody::QuestionResolved(resolved) => match (&resolved.answered_by, &resolved.reason) {
            (Some(by), _) => format!("answered by {}", answerer_name(Some(by))),
            (None, Some(reason)) => one_line(reason).into_owned(),
            (None, None) => "it is over".into(),
        },
        _ => "it is over".into(),
    }
}

/// A short name of who answered: the paired device, else how the answer came.
pub(crate) fn answerer_name(by: Option<&Answerer>) -> String {
    let device = by.and_then(|by| by.user_id.as_ref());
    match (device, by.and_then(|by| by.from.as_deref())) {
        (Some(device), _) => one_line(device.as_str()).into_owned(),
        // Only the user can use the local socket, and no process of an agent can answer there.
        (None, Some("local")) => "you on this computer".into(),
        (None, Some(transport)) => format!("a client over {}", one_line(transport)),
        (None, None) => "somebody".into(),
    }
}

#[cfg(test)]
#[path = "ask_tests.rs"]
mod tests;
