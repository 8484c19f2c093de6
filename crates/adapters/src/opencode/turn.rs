//! The state of one turn.

use std::collections::{HashMap, HashSet};

use roost_engine::adapter::{Draft, TaskEnd};
use roost_model::ids::QuestionId;

use super::failure;
use super::map::PartMapper;
use super::questions::PendingQuestion;
use super::wire::{MessageInfo, NamedError};
use crate::host::Task;

/// The request that starts a turn.
pub(super) const PROMPT_METHOD: &str = "prompt_async";

/// The progress of the answer to the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerProgress {
    None,
    Begun,
    Done,
}

/// One turn: its task, its mapper, and what OpenCode waits for.
pub(super) struct OpencodeTurn {
    pub(super) task: Task,
    pub(super) mapper: PartMapper,
    pub(super) questions: HashMap<QuestionId, PendingQuestion>,
    pub(super) cancelled: bool,
    /// OpenCode has reported that the session is busy.
    pub(super) busy: bool,
    /// The ids of the prompts of this turn.
    pub(super) prompts: HashSet<String>,
    /// The ids of the answers to these prompts.
    answers: HashSet<String>,
    answer: AnswerProgress,
    error: Option<NamedError>,
}

impl OpencodeTurn {
    /// A turn that is starting for a task.
    pub(super) fn new(task: Task) -> Self {
        Self {
            task,
            mapper: PartMapper::default(),
            questions: HashMap::new(),
            cancelled: false,
            busy: false,
            prompts: HashSet::new(),
            answers: HashSet::new(),
            answer: AnswerProgress::None,
            error: None,
        }
    }

    /// Called when an assistant message changes; ignored unless it answers a prompt of this turn.
    pub(super) fn on_answer(&mut self, info: MessageInfo) {
        if info.parent.is_some_and(|parent| self.prompts.contains(&parent)) {
            let done = info.time.completed.is_some() || info.error.is_some();
            self.answer = if done { AnswerProgress::Done } else { AnswerProgress::Begun };
            self.answers.insert(info.id);
            self.error = info.error.or(self.error.take());
        }
    }

    /// Whether this message id is an answer of this turn.
    pub(super) fn is_ours(&self, message: &str) -> bool {
        self.answers.contains(message)
    }

    /// Whether the turn was cancelled and its answer is not complete.
    pub(super) fn wants_stop(&self) -> bool {
        self.cancelled && self.answer != AnswerProgress::Done
    }

    /// Called when OpenCode reports an error; the end of the turn will carry it.
    pub(super) fn on_error(&mut self, error: NamedError) {
        self.error = Some(error);
    }

    /// Called when OpenCode is idle: how the turn has ended, or `None` if it has not. A stop and an error bring two
    /// idle events. The first comes before the answer is complete; the second can come when the next turn has already
    /// started.
    pub(super) fn end_if_idle(&self) -> Option<TaskEnd> {
        let is_over = match self.answer {
            AnswerProgress::Done => true,
            AnswerProgress::Begun => false,
            // A stop can arrive between the prompt and the work; then OpenCode never starts.
            AnswerProgress::None => self.error.is_some() || (self.cancelled && (self.busy || !self.prompts.is_empty())),
        };
        is_over.then(|| match &self.error {
            Some(error) => failure::task_end(error),
            None if self.cancelled => TaskEnd::Stopped("interrupted".into()),
            None => TaskEnd::Completed("end_turn".into()),
        })
    }

    /// Completes everything that is open and reports the end; only once.
    pub(super) fn finish(&mut self, end: TaskEnd, outbox: &mut Vec<Draft>) {
        if self.task.is_over() {
            return;
        }
        self.mapper.on_turn_end(outbox);
        self.task.complete(end, outbox);
    }
}

impl AsRef<Task> for OpencodeTurn {
    fn as_ref(&self) -> &Task {
        &self.task
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[test]
    fn an_idle_opencode_ends_a_turn_that_was_stopped_once_it_has_the_prompt_and_none_before() {
        let is_over = |cancelled: bool, busy: bool, prompted: bool| {
            let mut turn = OpencodeTurn::new(Task::new(PROMPT_METHOD, mpsc::channel(1).0));
            (turn.cancelled, turn.busy) = (cancelled, busy);
            turn.prompts.extend(prompted.then(|| "msg_1".to_owned()));
            turn.end_if_idle().is_some()
        };
        for (cancelled, busy, prompted, over) in [
            (true, true, true, true),
            // The stop arrived between the prompt and the work, which never starts.
            (true, false, true, true),
            // The second idle event of the turn before.
            (true, false, false, false),
            (false, false, true, false),
            (false, true, true, false),
        ] {
            assert_eq!(is_over(cancelled, busy, prompted), over, "{cancelled} {busy} {prompted}");
        }
    }
}
