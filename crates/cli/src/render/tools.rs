//! Tool calls in short lines: what was asked for, what was decided, a little of the output, how it ended.

use std::collections::HashMap;

use roost_model::approval::{ApprovalEnd, ApprovalScope};
use roost_model::event::EventBody;
use roost_model::ids::ToolCallId;
use roost_model::payload::{ToolCallCompletedPayload, ToolCallDeniedPayload, ToolCallRequestedPayload};
use roost_model::time::Timestamp;
use roost_model::tool::{PolicyResult, PolicySource};
use roost_rpc::call::{ToolCallView, other_title};

use super::Show;
use super::fold::FoldedOutput;
use super::outcome::CallOutcome;
use crate::ask::{Against, Extent, answerer_name, content};
use crate::screen::{one_line, visible};
use crate::style::Style;

/// Characters shown of one line.
const LINE_CHARS: usize = 200;
/// The rule of a call that its runtime ran without asking Roost.
const UNASKED: &str = "runtime:unasked";

/// The tool calls of a task that have not completed yet.
pub(super) struct ToolCalls {
    style: Style,
    show: Show,
    calls: HashMap<ToolCallId, CallProgress>,
    /// The call that the last printed line was about.
    last: Option<ToolCallId>,
    /// The output of the last call that ended and was not shown whole.
    folded: Option<FoldedOutput>,
}

/// What was shown of one call so far.
#[derive(Default)]
struct CallProgress {
    headline: String,
    /// The call, until its content was shown once: with the question about it, else with the decision.
    unshown: Option<Box<ToolCallRequestedPayload>>,
    /// The rules that allowed it.
    rules: Vec<String>,
    /// When it began to run.
    running_since: Option<Timestamp>,
    output: FoldedOutput,
}

impl ToolCalls {
    pub(super) fn new(style: Style, show: Show) -> Self {
        Self { style, show, calls: HashMap::new(), last: None, folded: None }
    }

    /// Forgets the calls of a task that has ended; what is folded can still be opened.
    pub(super) fn end_task(&mut self) {
        self.calls.clear();
        self.last = None;
    }

    /// The call that runs and began last, in one line, and since when.
    pub(super) fn running(&self) -> Option<(&str, Timestamp)> {
        let running = self.calls.values().filter_map(|call| Some((call.headline.as_str(), call.running_since?)));
        running.max_by_key(|(_, since)| *since)
    }

    /// True if output is hidden that [`ToolCalls::unfold`] shows.
    pub(super) fn is_folded(&self) -> bool {
        self.folded.is_some() || self.calls.values().any(|call| call.output.is_folded())
    }

    /// Shows what was hidden: of the calls that run, whose further output is then shown as it comes, else of the last
    /// one that ended.
    pub(super) fn unfold(&mut self) -> String {
        let mut text = String::new();
        for call in self.calls.values_mut().filter(|call| call.output.is_folded()) {
            text.push_str(&format!("{}:\n{}", call.headline, call.output.unfold(self.style)));
        }
        if text.is_empty() {
            text.extend(self.folded.take().map(|mut output| output.unfold(self.style)));
        }
        text
    }

    /// The lines of an event, if it is about a tool call.
    pub(super) fn lines(&mut self, time: Timestamp, body: &EventBody) -> String {
        let style = self.style;
        match body {
            EventBody::ToolCallRequested(requested) => self.requested(requested),
            EventBody::ToolCallPolicyEvaluated(word) => {
                if word.result == PolicyResult::Allow {
                    self.call(&word.identity.tool_call_id).rules.extend(word.rule.clone());
                }
                String::new()
            }
            EventBody::ToolCallApproved(approved) => self.approved(&approved.identity.tool_call_id),
            EventBody::ToolCallStarted(started) => {
                self.call(&started.identity.tool_call_id).running_since = Some(time);
                String::new()
            }
            EventBody::ToolCallDenied(denied) => self.denied(denied),
            EventBody::ApprovalRequested(asked) => {
                self.call(&asked.identity.tool_call_id).unshown = None;
                if !self.show.asks {
                    return String::new();
                }
                let rule = asked.rule.as_ref().map(|rule| format!(" (rule {})", visible(rule)));
                let whose = self.whose(&asked.identity.tool_call_id);
                let waits = style.yellow("waits for an answer");
                let extent = if self.show.full { Extent::All } else { Extent::Beginning };
                let what = content(style, asked.into(), Against::Nothing, extent);
                let all = if what.cut {
                    format!("  {}\n", style.dim("`roost log --full` shows all of it"))
                } else {
                    String::new()
                };
                format!("  {whose}{waits}{}\n{}{all}", style.dim(rule.unwrap_or_default()), what.text)
            }
            EventBody::ApprovalResolved(resolved) if resolved.end == ApprovalEnd::Answered && self.show.asks => {
                let whose = self.whose(&resolved.identity.tool_call_id);
                let remembered = resolved.remembered.as_ref().map(|rule| {
                    let scope = match rule.scope {
                        ApprovalScope::Once => "once",
                        ApprovalScope::Session => "this session",
                        ApprovalScope::Workspace => "this workspace",
                        ApprovalScope::Always => "always",
                    };
                    format!(", for {scope}: {}", visible(&rule.pattern.to_string()))
                });
                let by = answerer_name(resolved.answered_by.as_ref());
                let text = format!("answered by {by}{}", remembered.unwrap_or_default());
                format!("  {whose}{}\n", style.dim(text))
            }
            EventBody::ToolOutputDelta(output) => self.output(&output.identity.tool_call_id, [&output.delta]),
            EventBody::ToolOutputCompleted(output) => {
                let id = &output.identity.tool_call_id;
                if self.call(id).output.is_empty() {
                    self.output(id, [&output.stdout, &output.stderr].into_iter().flatten())
                } else {
                    String::new()
                }
            }
            EventBody::ToolCallCompleted(completed) => self.completed(completed),
            _ => String::new(),
        }
    }

    fn requested(&mut self, requested: &ToolCallRequestedPayload) -> String {
        let headline = headline(requested);
        let line = format!("{} {}\n", self.style.yellow("→"), self.style.bold(&headline));
        let call = self.call(&requested.identity.tool_call_id);
        call.headline = headline;
        call.unshown = Some(Box::new(requested.clone()));
        self.last = Some(requested.identity.tool_call_id.clone());
        line
    }

    fn approved(&mut self, id: &ToolCallId) -> String {
        let what = self.content(id);
        let call = self.call(id);
        if call.is_unasked() {
            // Whether the runtime ran it or refused it is known when it ends.
            return what;
        }
        let rules = call.rules.join(", ");
        let by = if rules.is_empty() { String::new() } else { format!(" (rule {})", visible(&rules)) };
        let whose = self.whose(id);
        format!("{what}  {whose}{}\n", self.style.dim(format!("approved{by}")))
    }

    fn denied(&mut self, denied: &ToolCallDeniedPayload) -> String {
        let id = &denied.identity.tool_call_id;
        let what = self.content(id);
        let against = denied.policy_snapshot.sources.iter().filter(|source| source.result != PolicyResult::Allow);
        let against: Vec<_> = against.collect();
        let rules: Vec<_> = against.iter().filter_map(|source| source.rule.as_deref()).collect();
        let by = if rules.is_empty() { String::new() } else { format!(" (rule {})", visible(&rules.join(", "))) };
        let word = match against.last().map(|source| source.source) {
            Some(PolicySource::Runtime) => "refused by the agent itself",
            _ => "denied",
        };
        let whose = self.whose(id);
        format!("{what}  {whose}{}{}: {}\n", self.style.red(word), self.style.dim(by), visible(&denied.reason))
    }

    fn completed(&mut self, completed: &ToolCallCompletedPayload) -> String {
        let id = &completed.identity.tool_call_id;
        let mut text = self.content(id);
        let mut call = self.calls.remove(id).unwrap_or_default();
        let outcome = CallOutcome::from_completed(completed);
        // What the agent was told of a failure, unless that was its output.
        if let CallOutcome::Failed { exit_code, text: said } = &outcome
            && call.output.is_empty()
            && (exit_code.is_some() || said.trim_end().contains('\n'))
        {
            text.push_str(&call.output.add(self.style, self.show, said));
        }
        text.push_str(&call.output.end(self.style, self.show));
        let headline = match call.headline.as_str() {
            "" => one_line(&completed.name).into_owned(),
            headline => headline.to_owned(),
        };
        let (red, green) = (self.style.red("✗"), self.style.green("✓"));
        let end = match &outcome {
            CallOutcome::Done if call.is_unasked() => format!("{green} {headline}{}", self.style.dim(" (unasked)")),
            CallOutcome::Done => format!("{green} {headline}"),
            CallOutcome::Failed { exit_code: Some(code), .. } => format!("{red} {headline}: exit code {code}"),
            CallOutcome::Failed { text: said, .. } if said.trim_end().contains('\n') => {
                format!("{red} {headline}: failed")
            }
            CallOutcome::Failed { text: said, .. } => format!("{red} {headline}: {}", first_line(said)),
        };
        text.push_str(&format!("{end}\n"));
        if call.output.is_folded() {
            self.folded = Some(call.output);
        }
        text
    }

    fn output<'a>(&mut self, id: &ToolCallId, pieces: impl IntoIterator<Item = &'a String>) -> String {
        let (style, show) = (self.style, self.show);
        let output = &mut self.call(id).output;
        pieces.into_iter().map(|piece| output.add(style, show, piece)).collect()
    }

    /// What a call really does, where its headline does not say all of it; shown once.
    fn content(&mut self, id: &ToolCallId) -> String {
        let Some(wanted) = self.call(id).unshown.take() else { return String::new() };
        let call = ToolCallView { name: &wanted.name, kind: wanted.kind, input: &wanted.input };
        let display = call.display();
        let is_said = !call.edits() && display.lines().count() <= 1 && display.chars().count() <= LINE_CHARS;
        if is_said && call.folder().is_none() {
            return String::new();
        }
        let extent = if self.show.full { Extent::All } else { Extent::Glance };
        content(self.style, (&*wanted).into(), Against::Nothing, extent).text
    }

    /// The call's headline, unless the line before was about it already.
    fn whose(&mut self, id: &ToolCallId) -> String {
        let known = self.last.replace(id.clone()).as_ref() == Some(id);
        let headline = &self.call(id).headline;
        if known || headline.is_empty() { String::new() } else { format!("{headline}: ") }
    }

    fn call(&mut self, id: &ToolCallId) -> &mut CallProgress {
        self.calls.entry(id.clone()).or_default()
    }
}

impl CallProgress {
    /// True if the runtime decided about it by its own rules.
    fn is_unasked(&self) -> bool {
        self.rules.iter().any(|rule| rule == UNASKED)
    }
}

/// A call in one line: what it would do, and the agent's title if that says more. How much there is of a command of many
/// lines is said where its lines are shown.
fn headline(requested: &ToolCallRequestedPayload) -> String {
    let shown = ToolCallView { name: &requested.name, kind: requested.kind, input: &requested.input }.display();
    let line = match shown.split_once('\n') {
        Some((first, _)) => format!("{} …)", first_line(first)),
        None => first_line(&shown),
    };
    match other_title(&shown, requested.title.as_deref(), &requested.name) {
        Some(title) => format!("{line} · {}", first_line(title)),
        None => line,
    }
}

/// The first line of a text, and how much more there is of it.
pub(super) fn first_line(text: &str) -> String {
    let mut lines = text.trim_end().lines();
    let line = lines.next().unwrap_or_default();
    let shown: String = line.chars().take(LINE_CHARS).collect();
    let cut = if shown.len() < line.len() { "…" } else { "" };
    let more = match lines.count() {
        0 => String::new(),
        1 => " … 1 more line".into(),
        more => format!(" … {more} more lines"),
    };
    format!("{}{cut}{more}", visible(&shown))
}
