//! OpenCode's questions to the user, and the replies that it expects.

use roost_engine::adapter::Answer;
use roost_model::ids::QuestionId;
use roost_model::payload::{QuestionAskedPayload, QuestionField, QuestionOption};
use serde_json::{Value, json};
use uuid::Uuid;

use super::wire::{QuestionItem, QuestionRequest};

/// A question that OpenCode waits for an answer to.
pub(super) struct PendingQuestion {
    /// OpenCode's id of the request.
    pub(super) native: String,
    /// The number of questions in the request, which is the number of answers in the reply.
    fields: usize,
}

/// Converts a request to our payload. Fields are named by their order; the question id is derived from OpenCode's.
pub(super) fn from_request(question: QuestionRequest) -> (QuestionAskedPayload, PendingQuestion) {
    let QuestionRequest { id, questions, .. } = question;
    let pending = PendingQuestion { native: id.clone(), fields: questions.len() };
    let message = questions.iter().map(|item| item.question.as_str()).collect::<Vec<_>>().join("\n");
    let fields = questions.into_iter().enumerate().map(|(number, item)| field(number, item)).collect();
    let question_id: QuestionId = format!("q_{}", Uuid::new_v5(&Uuid::NAMESPACE_OID, id.as_bytes()).simple()).into();
    (QuestionAskedPayload { question_id, message, fields, tool_call_id: None }, pending)
}

fn field(number: usize, item: QuestionItem) -> QuestionField {
    let options = item.options.into_iter().map(|choice| QuestionOption {
        value: choice.label.clone(),
        label: choice.label,
        description: choice.description,
    });
    QuestionField {
        id: field_id(number),
        label: if item.header.is_empty() { item.question } else { item.header },
        options: options.collect(),
        multiple: item.multiple,
        required: true,
    }
}

fn field_id(number: usize) -> String {
    format!("q{}", number + 1)
}

impl PendingQuestion {
    /// The body of the reply. A declined question gets empty answers, because a rejection would end the turn.
    pub(super) fn answer(&self, answer: Answer) -> Value {
        let mut given = match answer {
            Answer::Given(given) => given,
            Answer::Declined | Answer::Cancelled => Default::default(),
        };
        let answers: Vec<_> =
            (0..self.fields).map(|number| given.remove(&field_id(number)).unwrap_or_default()).collect();
        json!({ "answers": answers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[test]
    fn answers_go_back_in_the_order_of_the_questions() {
        let request = json!({ "id": "que_1", "sessionID": "ses_1", "questions": [
            { "question": "Which colour?", "header": "Colour", "options": [{ "label": "Red" }, { "label": "Blue" }] },
            { "question": "Why?" },
        ] });
        let (question, pending) = from_request(QuestionRequest::deserialize(request).unwrap());
        let labels: Vec<_> = question.fields.iter().map(|field| (field.id.as_str(), field.label.as_str())).collect();
        assert_eq!(labels, [("q1", "Colour"), ("q2", "Why?")]);
        let given = [("q2".to_owned(), vec!["so".to_owned()]), ("q1".to_owned(), vec!["Blue".to_owned()])];
        assert_eq!(pending.answer(Answer::Given(given.into())), json!({ "answers": [["Blue"], ["so"]] }));
        assert_eq!(pending.answer(Answer::Declined), json!({ "answers": [[], []] }));
    }
}
