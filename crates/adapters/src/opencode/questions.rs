//! OpenCode's questions to the user, and the answers as it expects them.

use roost_engine::adapter::Answer;
use roost_model::ids::QuestionId;
use roost_model::payload::{QuestionAskedPayload, QuestionField, QuestionOption};
use serde_json::{Value, json};
use uuid::Uuid;

use super::wire::{OneQuestion, Question};

/// A question that OpenCode waits for.
pub(super) struct Asked {
    /// OpenCode's id for it.
    pub(super) native: String,
    /// How many answers it wants.
    fields: usize,
}

/// The question in our words; its fields are named by their order.
pub(super) fn of(question: Question) -> (QuestionAskedPayload, Asked) {
    let Question { id, questions, .. } = question;
    let asked = Asked { native: id.clone(), fields: questions.len() };
    let message = questions.iter().map(|one| one.question.as_str()).collect::<Vec<_>>().join("\n");
    let fields = questions.into_iter().enumerate().map(|(number, one)| field(number, one)).collect();
    let question_id: QuestionId = format!("q_{}", Uuid::new_v5(&Uuid::NAMESPACE_OID, id.as_bytes()).simple()).into();
    (QuestionAskedPayload { question_id, message, fields, tool_call_id: None }, asked)
}

fn field(number: usize, one: OneQuestion) -> QuestionField {
    let options = one.options.into_iter().map(|choice| QuestionOption {
        value: choice.label.clone(),
        label: choice.label,
        description: choice.description,
    });
    QuestionField {
        id: name(number),
        label: if one.header.is_empty() { one.question } else { one.header },
        options: options.collect(),
        multiple: one.multiple,
        required: true,
    }
}

fn name(number: usize) -> String {
    format!("q{}", number + 1)
}

impl Asked {
    /// The answer in OpenCode's words. Nobody answering is an empty answer: a rejection would end the turn.
    pub(super) fn answer(&self, answer: Answer) -> Value {
        let mut given = match answer {
            Answer::Given(given) => given,
            Answer::Declined | Answer::Cancelled => Default::default(),
        };
        let answers: Vec<_> = (0..self.fields).map(|number| given.remove(&name(number)).unwrap_or_default()).collect();
        json!({ "answers": answers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[test]
    fn answers_go_back_in_the_order_of_the_questions() {
        let asked = json!({ "id": "que_1", "sessionID": "ses_1", "questions": [
            { "question": "Which colour?", "header": "Colour", "options": [{ "label": "Red" }, { "label": "Blue" }] },
            { "question": "Why?" },
        ] });
        let (question, asked) = of(Question::deserialize(asked).unwrap());
        let labels: Vec<_> = question.fields.iter().map(|field| (field.id.as_str(), field.label.as_str())).collect();
        assert_eq!(labels, [("q1", "Colour"), ("q2", "Why?")]);
        let given = [("q2".to_owned(), vec!["so".to_owned()]), ("q1".to_owned(), vec!["Blue".to_owned()])];
        assert_eq!(asked.answer(Answer::Given(given.into())), json!({ "answers": [["Blue"], ["so"]] }));
        assert_eq!(asked.answer(Answer::Declined), json!({ "answers": [[], []] }));
    }
}
