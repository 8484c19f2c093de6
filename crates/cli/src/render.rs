//! Shows events to people as a conversation; `roost run` and `roost log` look the same.

mod fold;
mod message;
mod network;
mod outcome;
mod plan;
mod status;
mod tools;

use std::collections::BTreeMap;
use std::io::{self, Write};

use roost_model::content::AssistantContentBlock;
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::payload::{
    ModelOutputDeltaKind as Delta, NoticeLevel, QuestionOutcome, RuntimeNoticePayload, TaskFailedPayload,
    UsageReportedPayload,
};
use roost_model::time::Timestamp;
use roost_rpc::conversation::Message;

use crate::screen::{one_line, visible, visible_after};
use crate::style::Style;
use plan::Plan;
use status::Activity;
pub(crate) use status::FRAME_MILLIS;
use tools::ToolCalls;

/// Which optional parts of a conversation are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Show {
    /// The user's prompts and the line about the session.
    pub(crate) prompts: bool,
    /// Notices of level info, and events about the session itself.
    pub(crate) all: bool,
    /// Approvals and questions; false where the reader is asked about them anyway.
    pub(crate) asks: bool,
    /// Calls and their output whole, and not only their beginning; and what the runtime said that Roost does not know.
    pub(crate) full: bool,
    /// How the reader gets to see output that is hidden.
    pub(crate) unfold: Option<&'static str>,
}

/// What the unfinished line on the screen belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenLine {
    Nothing,
    Answer,
    Thought,
    /// A prompt, behind which a person may be typing.
    Prompt,
}

/// Writes events as a conversation. Keeps track of the line that is open, of tool calls and of the plan.
pub(crate) struct Renderer {
    style: Style,
    show: Show,
    open: OpenLine,
    /// The last character of the text whose line is open: the next piece may hold the other half of an emoji.
    last: Option<char>,
    /// Pieces of the current answer were shown, so that the whole of it need not be.
    streamed: bool,
    tools: ToolCalls,
    plan: Plan,
    usage: Option<UsageReportedPayload>,
    activity: Activity,
    /// How often the runtime said in this task what Roost does not know.
    unknown: BTreeMap<String, u64>,
}

impl Renderer {
    pub(crate) fn new(style: Style, show: Show) -> Self {
        Self {
            style,
            show,
            open: OpenLine::Nothing,
            last: None,
            streamed: false,
            tools: ToolCalls::new(style, show),
            plan: Plan::default(),
            usage: None,
            activity: Activity::default(),
            unknown: BTreeMap::new(),
        }
    }

    /// A line about what the session does now and for how long; `None` where nothing runs or a line is open.
    pub(crate) fn status(&self, now: Timestamp) -> Option<String> {
        let is_free = self.open == OpenLine::Nothing;
        self.activity.line(self.tools.running(), now).filter(|_| is_free)
    }

    /// True if output is hidden that [`Renderer::unfold`] shows.
    pub(crate) fn is_folded(&self) -> bool {
        self.tools.is_folded()
    }

    /// Shows the output that was hidden.
    pub(crate) fn unfold(&mut self, out: &mut impl Write) -> io::Result<()> {
        let lines = self.tools.unfold();
        self.say(out, &lines)
    }

    /// Writes a message that an agent keeps of a conversation.
    pub(crate) fn message(&mut self, out: &mut impl Write, message: &Message) -> io::Result<()> {
        let lines = message::lines(self.style, self.show, message);
        self.say(out, &lines)
    }

    /// Writes one event; some print nothing.
    pub(crate) fn event(&mut self, out: &mut impl Write, event: &NormalizedEvent) -> io::Result<()> {
        self.activity.note(event);
        match &event.body {
            EventBody::ModelOutputDelta(delta) => match delta.kind {
                Delta::TextDelta | Delta::CodeDelta => {
                    self.streamed = true;
                    self.text(out, OpenLine::Answer, &delta.delta)
                }
                Delta::ReasoningDelta => self.text(out, OpenLine::Thought, &delta.delta),
                Delta::JsonDelta | Delta::UnknownDelta => Ok(()),
            },
            EventBody::ModelOutputCompleted(_) if std::mem::take(&mut self.streamed) => Ok(()),
            EventBody::ModelOutputCompleted(whole) => whole.content.iter().try_for_each(|block| self.block(out, block)),
            body => {
                let lines = self.lines(event, body);
                if lines.is_empty() { Ok(()) } else { self.say(out, &lines) }
            }
        }
    }

    /// Shows whole lines that are no event's; none at all still ends the line that is open.
    pub(crate) fn say(&mut self, out: &mut impl Write, lines: &str) -> io::Result<()> {
        self.end_line(out)?;
        out.write_all(lines.as_bytes())
    }

    /// Shows what somebody is to type behind, unless it is there already.
    pub(crate) fn prompt(&mut self, out: &mut impl Write, prompt: &str) -> io::Result<()> {
        if self.open == OpenLine::Prompt {
            return Ok(());
        }
        self.end_line(out)?;
        self.open = OpenLine::Prompt;
        out.write_all(prompt.as_bytes())
    }

    /// Must be called after a line was typed: the terminal has shown it, with its line end.
    pub(crate) fn typed(&mut self) {
        self.open = OpenLine::Nothing;
    }

    /// The complete lines for an event; empty if it prints nothing.
    fn lines(&mut self, event: &NormalizedEvent, body: &EventBody) -> String {
        let style = self.style;
        match body {
            EventBody::SessionCreated(made) if self.show.prompts => {
                let text = format!(
                    "session {} · {} · {} · {}",
                    event.trace.session_id,
                    made.runtime.id(),
                    made.mode,
                    visible(&made.cwd)
                );
                format!("{}\n", style.dim(text))
            }
            EventBody::TaskStarted(started) if self.show.prompts => {
                let prompt = started.messages.iter().map(|message| message.text()).collect::<Vec<_>>().join("\n");
                format!("{}\n", message::prompt(style, &prompt))
            }
            EventBody::PlanUpdated(plan) => self.plan.update(style, plan),
            EventBody::QuestionAsked(_) | EventBody::QuestionResolved(_) if !self.show.asks => String::new(),
            EventBody::QuestionAsked(question) => {
                format!("{} {}\n", style.yellow("?"), visible(&question.message))
            }
            EventBody::QuestionResolved(resolved) => {
                let outcome = match resolved.outcome {
                    QuestionOutcome::Answered => "answered",
                    QuestionOutcome::Declined => "declined",
                    QuestionOutcome::Cancelled => "cancelled",
                };
                let reason = resolved.reason.as_deref().map(|reason| format!(" ({})", visible(reason)));
                format!("  {}\n", style.dim(format!("{outcome}{}", reason.unwrap_or_default())))
            }
            // Newer versions of an agent send such messages in every turn: they are counted, and the log has them.
            EventBody::RuntimeNotice(notice) if event.is_unknown_message() && !self.show.all => {
                *self.unknown.entry(notice.message.clone()).or_default() += 1;
                String::new()
            }
            EventBody::RuntimeNotice(notice) => self.notice(notice),
            EventBody::UsageReported(usage) => {
                self.usage = Some(usage.clone());
                String::new()
            }
            EventBody::TaskCompleted(done) => {
                self.end(format!("{} completed ({})", style.green("✓"), visible(&done.reason)))
            }
            EventBody::TaskStopped(stopped) => {
                self.end(format!("{} stopped ({})", style.yellow("■"), visible(&stopped.reason)))
            }
            EventBody::TaskFailed(failed) => {
                let text = failure(style, failed);
                self.end(text)
            }
            EventBody::SessionClosed(closed) if self.show.all => {
                format!("{}\n", style.dim(format!("session closed: {}", visible(&closed.reason))))
            }
            EventBody::SessionUpdated(_)
            | EventBody::ModelInput(_)
            | EventBody::RuntimeRequestStarted(_)
            | EventBody::RuntimeRequestCompleted(_)
            | EventBody::Other { .. }
                if self.show.all =>
            {
                format!("{}\n", style.dim(format!("{} {}", event.seq, visible(body.name()))))
            }
            body => self.tools.lines(event.time, body),
        }
    }

    fn notice(&mut self, notice: &RuntimeNoticePayload) -> String {
        let sign = match notice.level {
            NoticeLevel::Info if !self.show.all => return String::new(),
            NoticeLevel::Info => self.style.dim("·"),
            NoticeLevel::Warning => self.style.yellow("!"),
            NoticeLevel::Error => self.style.red("!"),
        };
        format!("{sign} {}\n", self.style.dim(visible(&notice.message)))
    }

    /// The end of a task and what it took.
    fn end(&mut self, text: String) -> String {
        let unknown = std::mem::take(&mut self.unknown).into_iter().filter(|_| self.show.full);
        let unknown = unknown
            .map(|(message, count)| format!("{}\n", self.style.dim(format!("· {count} × {}", one_line(&message)))));
        let unknown: String = unknown.collect();
        self.streamed = false;
        self.plan = Plan::default();
        self.tools.end_task();
        match self.usage.take().map(|usage| spent(&usage)).filter(|spent| !spent.is_empty()) {
            Some(spent) => format!("{unknown}{text}  {}\n", self.style.dim(spent)),
            None => format!("{unknown}{text}\n"),
        }
    }

    fn block(&mut self, out: &mut impl Write, block: &AssistantContentBlock) -> io::Result<()> {
        match block {
            AssistantContentBlock::Text { text } => self.text(out, OpenLine::Answer, text),
            AssistantContentBlock::Code { code, .. } => self.text(out, OpenLine::Answer, code),
            AssistantContentBlock::ArtifactRef { name, artifact_id, .. } => {
                let name = name.as_deref().unwrap_or(artifact_id.as_str());
                self.text(out, OpenLine::Answer, &format!("[{name}]\n"))
            }
        }
    }

    /// Shows a piece of text where the last one ended.
    fn text(&mut self, out: &mut impl Write, kind: OpenLine, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.open != kind {
            self.end_line(out)?;
        }
        let before = self.last.filter(|_| self.open == kind);
        self.last = text.chars().next_back();
        let text = visible_after(text, before);
        match kind {
            OpenLine::Thought => write!(out, "{}", self.style.dim(&text))?,
            OpenLine::Answer | OpenLine::Nothing | OpenLine::Prompt => out.write_all(text.as_bytes())?,
        }
        self.open = if text.ends_with('\n') { OpenLine::Nothing } else { kind };
        Ok(())
    }

    fn end_line(&mut self, out: &mut impl Write) -> io::Result<()> {
        match std::mem::replace(&mut self.open, OpenLine::Nothing) {
            OpenLine::Nothing => Ok(()),
            OpenLine::Answer | OpenLine::Thought | OpenLine::Prompt => out.write_all(b"\n"),
        }
    }
}

fn failure(style: Style, failed: &TaskFailedPayload) -> String {
    let error = &failed.error;
    let code = serde_json::to_value(error.code).ok();
    let code = code.as_ref().and_then(|code| code.as_str()).unwrap_or_default();
    let mut text = format!("{} failed ({code}): {}", style.red("✗"), visible(&error.message));
    if network::is_down(&error.message) || error.stderr_tail.as_deref().is_some_and(network::is_down) {
        text.push_str(
            "\n  the network is down, or the model's provider cannot be reached; check both, then send it again",
        );
    }
    for line in error.stderr_tail.iter().flat_map(|tail| tail.trim_end().lines()) {
        text.push_str(&format!("\n  {}", style.dim(format!("stderr: {}", visible(line)))));
    }
    text
}

fn spent(usage: &UsageReportedPayload) -> String {
    let counts =
        [(usage.input_tokens, "tokens in"), (usage.output_tokens, "out"), (usage.reasoning_tokens, "thinking")];
    let mut parts: Vec<_> =
        counts.iter().filter_map(|(count, name)| count.map(|count| format!("{count} {name}"))).collect();
    parts.extend(usage.cost_usd.map(|cost| format!("${cost:.4}")));
    parts.extend(usage.context.map(|context| format!("context {} of {}", context.used, context.size)));
    parts.join(", ")
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
