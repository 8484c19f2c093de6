//! One turn of OpenCode.

use std::collections::{HashMap, HashSet};

use roost_engine::adapter::{Draft, TaskEnd};
use roost_model::ids::QuestionId;

use super::failure;
use super::map::Mapper;
use super::questions::Asked;
use super::wire::{Info, NamedError};
use crate::host::Task;

/// The request that begins a turn.
pub(super) const METHOD: &str = "prompt_async";

/// How far the answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    None,
    Begun,
    Done,
}

/// One turn: what OpenCode works on, and what it waits for.
pub(super) struct Turn {
    pub(super) task: Task,
    pub(super) mapper: Mapper,
    pub(super) questions: HashMap<QuestionId, Asked>,
    pub(super) cancelled: bool,
    /// OpenCode has said that it works.
    pub(super) busy: bool,
    /// The user's messages of this turn, and the answers to them.
    pub(super) prompts: HashSet<String>,
    answers: HashSet<String>,
    answer: Answer,
    error: Option<NamedError>,
}

impl Turn {
    /// The turn of a task.
    pub(super) fn new(task: Task) -> Self {
        Self {
            task,
            mapper: Mapper::default(),
            questions: HashMap::new(),
            cancelled: false,
            busy: false,
            prompts: HashSet::new(),
            answers: HashSet::new(),
            answer: Answer::None,
            error: None,
        }
    }

    /// Takes what is known of an answer, if it is one to a prompt of this turn.
    pub(super) fn answered(&mut self, info: Info) {
        if info.parent.is_some_and(|parent| self.prompts.contains(&parent)) {
            let done = info.time.completed.is_some() || info.error.is_some();
            self.answer = if done { Answer::Done } else { Answer::Begun };
            self.answers.insert(info.id);
            self.error = info.error.or(self.error.take());
        }
    }

    /// Whether a message is an answer of this turn.
    pub(super) fn is_ours(&self, message: &str) -> bool {
        self.answers.contains(message)
    }

    /// Whether a stop has something left to stop.
    pub(super) fn wants_stop(&self) -> bool {
        self.cancelled && self.answer != Answer::Done
    }

    /// Something went wrong; the end of the turn says so.
    pub(super) fn failed(&mut self, error: NamedError) {
        self.error = Some(error);
    }

    /// How the turn has ended if OpenCode is idle now. A stop and an error are followed by two such words, the first of
    /// them before the answer is finished; the second can come when the next turn has begun.
    pub(super) fn settled(&self) -> Option<TaskEnd> {
        let settled = match self.answer {
            Answer::Done => true,
            Answer::Begun => false,
            // A stop can also come between the prompt and the work; then OpenCode never begins.
            Answer::None => self.error.is_some() || (self.cancelled && (self.busy || !self.prompts.is_empty())),
        };
        settled.then(|| match &self.error {
            Some(error) => failure::end(error),
            None if self.cancelled => TaskEnd::Stopped("interrupted".into()),
            None => TaskEnd::Completed("end_turn".into()),
        })
    }

    /// Tells the end, and closes what is open.
    pub(super) fn finish(&mut self, end: TaskEnd, outbox: &mut Vec<Draft>) {
        if self.task.is_over() {
            return;
        }
        self.mapper.end(outbox);
        self.task.complete(end, outbox);
    }
}

impl AsRef<Task> for Turn {
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
            let mut turn = Turn::new(Task::new(METHOD, mpsc::channel(1).0));
            (turn.cancelled, turn.busy) = (cancelled, busy);
            turn.prompts.extend(prompted.then(|| "msg_1".to_owned()));
            turn.settled().is_some()
        };
        for (cancelled, busy, prompted, over) in [
            (true, true, true, true),
            // The stop came between the prompt and the work, which never begins.
            (true, false, true, true),
            // The second word about the turn before.
            (true, false, false, false),
            (false, false, true, false),
            (false, true, true, false),
        ] {
            assert_eq!(is_over(cancelled, busy, prompted), over, "{cancelled} {busy} {prompted}");
        }
    }
}
