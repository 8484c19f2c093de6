//! Shows events to people as a conversation; `roost run` and `roost log` look the same.

mod fold;
mod markdown;
mod message;
mod network;
mod outcome;
mod plan;
mod status;
mod text;
mod tools;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use roost_model::content::AssistantContentBlock;
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::payload::{
    ModelOutputDeltaKind as Delta, NoticeLevel, QuestionOutcome, RuntimeNoticePayload, TaskFailedPayload,
    UsageReportedPayload,
};
use roost_model::time::Timestamp;
use roost_rpc::conversation::Message;

use crate::ask::answerer_name;
use crate::screen::{one_line, visible};
use crate::style::Style;
use plan::Plan;
use status::Activity;
pub(crate) use status::FRAME_MILLIS;
pub(crate) use text::TextForm;
use text::{OpenText, TextKind};
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
    /// Only answers, and why a task failed.
    pub(crate) quiet: bool,
    /// How the reader gets to see output that is hidden.
    pub(crate) unfold: Option<&'static str>,
    /// The form of answers and thoughts.
    pub(crate) text: TextForm,
}

/// Where a conversation is written: answers apart from everything else, or all of it in one stream.
pub(crate) trait ConversationSink {
    /// The stream for answers.
    fn answer(&mut self) -> io::Result<&mut dyn Write>;
    /// The stream for everything else: thoughts, tools, notices and outcomes.
    fn notes(&mut self) -> io::Result<&mut dyn Write>;
    /// True if answers have a stream of their own.
    fn is_apart(&self) -> bool;
}

/// A file or a test: all of it in one stream.
impl ConversationSink for Vec<u8> {
    fn answer(&mut self) -> io::Result<&mut dyn Write> {
        Ok(self)
    }

    fn notes(&mut self) -> io::Result<&mut dyn Write> {
        Ok(self)
    }

    fn is_apart(&self) -> bool {
        false
    }
}

/// Writes events as a conversation. Keeps track of the line that is open, of tool calls and of the plan.
pub(crate) struct Renderer {
    style: Style,
    show: Show,
    /// The text that may go on.
    text: Option<OpenText>,
    /// The open line is a prompt, behind which a person may be typing.
    is_prompting: bool,
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
            text: None,
            is_prompting: false,
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
        let is_free = !self.is_prompting && !self.text.as_ref().is_some_and(OpenText::is_line_open);
        self.activity.line(self.tools.running(), now).filter(|_| is_free)
    }

    /// True if output is hidden that [`Renderer::unfold`] shows.
    pub(crate) fn is_folded(&self) -> bool {
        self.tools.is_folded()
    }

    /// Shows the output that was hidden.
    pub(crate) fn unfold(&mut self, out: &mut impl ConversationSink) -> io::Result<()> {
        let lines = self.tools.unfold();
        self.say(out, &lines)
    }

    /// Writes a message that an agent keeps of a conversation.
    pub(crate) fn message(&mut self, out: &mut impl ConversationSink, message: &Message) -> io::Result<()> {
        let lines = message::lines(self.style, self.show, message);
        self.say(out, &lines)
    }

    /// True if an event is a further piece of the text that was written last.
    pub(crate) fn continues(&self, event: &NormalizedEvent) -> bool {
        let EventBody::ModelOutputDelta(delta) = &event.body else { return false };
        let kind = if delta.kind == Delta::ReasoningDelta { TextKind::Thought } else { TextKind::Answer };
        self.text.as_ref().is_some_and(|text| text.is(kind, &delta.block_id))
    }

    /// Writes what can be shown of the text so far. Must be called after the last event of a batch.
    pub(crate) fn settle(&mut self, out: &mut impl ConversationSink) -> io::Result<()> {
        self.text.as_mut().map_or(Ok(()), |text| text.settle(out))
    }

    /// Writes one event; some print nothing.
    pub(crate) fn event(&mut self, out: &mut impl ConversationSink, event: &NormalizedEvent) -> io::Result<()> {
        self.activity.note(event);
        match &event.body {
            EventBody::ModelOutputDelta(delta) => match delta.kind {
                Delta::TextDelta | Delta::CodeDelta => {
                    self.streamed = true;
                    self.text(out, TextKind::Answer, &delta.block_id, &delta.delta)
                }
                Delta::ReasoningDelta if self.show.quiet => Ok(()),
                Delta::ReasoningDelta => self.text(out, TextKind::Thought, &delta.block_id, &delta.delta),
                Delta::JsonDelta | Delta::UnknownDelta => Ok(()),
            },
            EventBody::ModelOutputCompleted(whole) => {
                self.finish_text(out)?;
                match std::mem::take(&mut self.streamed) {
                    true => Ok(()),
                    false => whole.content.iter().try_for_each(|block| self.block(out, block)),
                }
            }
            body => {
                if ends_text(body) {
                    self.finish_text(out)?;
                }
                let lines = self.lines(event, body);
                let is_wanted = !self.show.quiet || matches!(body, EventBody::TaskFailed(_));
                if lines.is_empty() || !is_wanted { Ok(()) } else { self.say(out, &lines) }
            }
        }
    }

    /// Shows whole lines that are no event's; none at all still ends the line that is open.
    pub(crate) fn say(&mut self, out: &mut impl ConversationSink, lines: &str) -> io::Result<()> {
        self.interrupt(out)?;
        out.notes()?.write_all(lines.as_bytes())
    }

    /// Shows what somebody is to type behind, unless it is there already.
    pub(crate) fn prompt(&mut self, out: &mut impl ConversationSink, prompt: &str) -> io::Result<()> {
        if self.is_prompting {
            return Ok(());
        }
        self.interrupt(out)?;
        self.is_prompting = true;
        out.notes()?.write_all(prompt.as_bytes())
    }

    /// Must be called after a line was typed: the terminal has shown it, with its line end.
    pub(crate) fn typed(&mut self) {
        self.is_prompting = false;
    }

    /// A prompt, after the name of the device that it came from.
    fn prompt_lines(&self, event: &NormalizedEvent, prompt: &str) -> String {
        let shown = message::prompt(self.style, self.show.text, prompt);
        match &event.trace.user_id {
            Some(device) => format!("{}\n{shown}\n", self.style.dim(format!("from {}", visible(device.as_str())))),
            None => format!("{shown}\n"),
        }
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
                    made.cwd
                );
                format!("{}\n", style.dim(self.show.text.prose(&text)))
            }
            EventBody::TaskStarted(started) if self.show.prompts => {
                let prompt = started.messages.iter().map(|message| message.text()).collect::<Vec<_>>().join("\n");
                self.prompt_lines(event, &prompt)
            }
            EventBody::TaskSteered(steered) if self.show.prompts => self.prompt_lines(event, &steered.message.text()),
            EventBody::PlanUpdated(plan) => self.plan.update(style, plan),
            EventBody::QuestionAsked(_) | EventBody::QuestionResolved(_) if !self.show.asks => String::new(),
            EventBody::QuestionAsked(question) => {
                format!("{} {}\n", style.yellow("?"), self.show.text.prose(&question.message))
            }
            EventBody::QuestionResolved(resolved) => {
                let outcome = match resolved.outcome {
                    QuestionOutcome::Answered => "answered",
                    QuestionOutcome::Declined => "declined",
                    QuestionOutcome::Cancelled => "cancelled",
                };
                let by = resolved.answered_by.as_ref().map(|by| format!(" by {}", answerer_name(Some(by))));
                let reason = resolved.reason.as_deref().map(|reason| format!(" ({})", visible(reason)));
                let text = format!("{outcome}{}{}", by.unwrap_or_default(), reason.unwrap_or_default());
                format!("  {}\n", style.dim(text))
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
                let text = failure(style, self.show.text, failed);
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
        format!("{sign} {}\n", self.style.dim(self.show.text.prose(&notice.message)))
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

    /// Writes a block of an answer that did not come in pieces.
    fn block(&mut self, out: &mut impl ConversationSink, block: &AssistantContentBlock) -> io::Result<()> {
        let text = match block {
            AssistantContentBlock::Text { text } => text,
            AssistantContentBlock::Code { code, .. } => code,
            AssistantContentBlock::ArtifactRef { name, artifact_id, .. } => {
                &format!("[{}]\n", name.as_deref().unwrap_or(artifact_id.as_str()))
            }
        };
        self.text(out, TextKind::Answer, &"".into(), text)?;
        self.finish_text(out)
    }

    /// Writes a piece of text where the last one of its block ended.
    fn text(
        &mut self,
        out: &mut impl ConversationSink,
        kind: TextKind,
        block: &Arc<str>,
        piece: &str,
    ) -> io::Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        if !self.text.as_ref().is_some_and(|text| text.is(kind, block)) {
            self.finish_text(out)?;
        }
        self.end_prompt(out)?;
        let (style, form) = (self.style, self.show.text);
        self.text.get_or_insert_with(|| OpenText::new(kind, block.clone(), style, form)).push(out, piece)
    }

    /// Writes what was held back of a text, and ends its line.
    pub(crate) fn finish_text(&mut self, out: &mut impl ConversationSink) -> io::Result<()> {
        self.text.take().map_or(Ok(()), |text| text.finish(out))
    }

    /// Ends the open line for something else.
    fn interrupt(&mut self, out: &mut impl ConversationSink) -> io::Result<()> {
        self.end_prompt(out)?;
        self.text.as_mut().map_or(Ok(()), |text| text.interrupt(out))
    }

    fn end_prompt(&mut self, out: &mut impl ConversationSink) -> io::Result<()> {
        if std::mem::take(&mut self.is_prompting) { out.notes()?.write_all(b"\n") } else { Ok(()) }
    }
}

/// True if no text that was begun goes on after this event. Others, such as notices, come between the pieces of a text.
fn ends_text(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::TaskStarted(_)
            | EventBody::TaskSteered(_)
            | EventBody::TaskCompleted(_)
            | EventBody::TaskStopped(_)
            | EventBody::TaskFailed(_)
            | EventBody::ToolCallRequested(_)
            | EventBody::ApprovalRequested(_)
            | EventBody::QuestionAsked(_)
    )
}

fn failure(style: Style, form: TextForm, failed: &TaskFailedPayload) -> String {
    let error = &failed.error;
    let code = serde_json::to_value(error.code).ok();
    let code = code.as_ref().and_then(|code| code.as_str()).unwrap_or_default();
    let mut text = format!("{} {}", style.red("✗"), form.prose(&format!("failed ({code}): {}", error.message)));
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
