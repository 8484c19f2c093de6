//! Questions that somebody asks the people of this session through the MCP gateway; each is answered exactly once.

use std::future::poll_fn;
use std::task::Poll;

use roost_model::ids::QuestionId;
use roost_model::payload::QuestionAskedPayload;

use super::Actor;
use crate::adapter::Answer;
use crate::command::Reply;
use crate::error::Error;
use crate::ledger::{Asked, Resolution};

/// The questions whose senders wait for an answer.
#[derive(Default)]
pub(super) struct WaitingQuestions(Vec<(QuestionId, Reply<Answer>)>);

impl WaitingQuestions {
    /// Waits until the sender of a question no longer does, and returns that question. Cancel safe.
    pub(super) async fn withdrawn(&mut self) -> QuestionId {
        poll_fn(|context| {
            let gone = self.0.iter_mut().position(|(_, reply)| reply.poll_closed(context).is_ready());
            gone.map_or(Poll::Pending, |at| Poll::Ready(self.0.remove(at).0))
        })
        .await
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives the answer to whoever asked; false if the question came from elsewhere.
    pub(super) fn answer(&mut self, question: &QuestionId, answer: &Answer) -> bool {
        let Some(at) = self.0.iter().position(|(waiting, _)| waiting == question) else { return false };
        // A sender that has gone meanwhile needs no answer.
        let _ = self.0.remove(at).1.send(Some(Ok(answer.clone())));
        true
    }
}

impl Actor {
    /// Asks the people of this session. The sender is answered when one of them has, or when nobody can any more.
    pub(super) async fn on_gateway_question(
        &mut self,
        question: QuestionAskedPayload,
        reply: Reply<Answer>,
    ) -> Result<(), Error> {
        if self.task.is_none() && self.is_mcp_client() {
            self.begin_client_task("a tool that asks a question").await?;
        }
        let Some(task) = &mut self.task else {
            let _ = reply.send(Some(Ok(Answer::Cancelled)));
            return Ok(());
        };
        let id = question.question_id.clone();
        let asked = task.ledger.ask(question);
        self.gateway_questions.0.push((id.clone(), reply));
        self.write(vec![asked]).await?;
        self.decide(Asked::Question(id)).await
    }

    /// Tells those who still wait that their task has ended. To be called after everything that may end one.
    pub(super) fn cancel_ended_questions(&mut self) {
        let Self { task, gateway_questions, .. } = self;
        let is_open = |id: &QuestionId| task.as_ref().is_some_and(|task| task.ledger.is_open(id));
        let ended = gateway_questions.0.extract_if(.., |(id, _)| !is_open(id));
        ended.for_each(|(_, reply)| drop(reply.send(Some(Ok(Answer::Cancelled)))));
    }

    /// The sender of a question no longer waits, so nobody needs to answer it.
    pub(super) async fn on_gateway_question_withdrawn(&mut self, question: &QuestionId) -> Result<(), Error> {
        let Some(task) = &mut self.task else { return Ok(()) };
        let withdrawn = Resolution::cancelled("the tool that asked no longer waits for it");
        let events = task.ledger.resolve(question, withdrawn);
        self.write(events.into_iter().collect()).await?.await?;
        Ok(())
    }
}
