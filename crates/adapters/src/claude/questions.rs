//! Converts calls of Claude Code's tool `AskUserQuestion` into questions, and answers into the tool's response.

use roost_engine::adapter::Answer;
use roost_model::ids::QuestionId;
use roost_model::payload::{QuestionAskedPayload, QuestionField, QuestionOption};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The name of the tool.
const TOOL: &str = "AskUserQuestion";

#[derive(Deserialize)]
struct Form {
    questions: Vec<FormQuestion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FormQuestion {
    question: String,
    #[serde(default)]
    header: Option<String>,
    #[serde(default)]
    options: Vec<Choice>,
    #[serde(default)]
    multi_select: bool,
}

#[derive(Deserialize)]
struct Choice {
    label: String,
    #[serde(default)]
    description: Option<String>,
}

/// Whether a call of this tool is reported as a question.
pub(super) fn is_question(tool: &str) -> bool {
    tool == TOOL
}

/// The question in a call's input, with one field for each of the form's questions; `None` if the input is no form.
pub(super) fn question(input: &Value) -> Option<QuestionAskedPayload> {
    let Form { questions } = Form::deserialize(input).ok()?;
    let message = questions.iter().map(|question| question.question.as_str()).collect::<Vec<_>>().join("\n");
    let fields = questions.into_iter().enumerate().map(|(number, question)| QuestionField {
        id: field(number),
        label: question.header.unwrap_or(question.question),
        options: question.options.into_iter().map(option).collect(),
        multiple: question.multi_select,
        required: true,
    });
    Some(QuestionAskedPayload { question_id: QuestionId::new(), message, fields: fields.collect(), tool_call_id: None })
}

/// The response to the tool call: the input with the answers added, or a denial if the user did not answer.
pub(super) fn response(input: &Value, answer: Answer) -> Value {
    let given = match answer {
        Answer::Given(given) => given,
        Answer::Declined => return json!({ "behavior": "deny", "message": "the user did not answer" }),
        Answer::Cancelled => return json!({ "behavior": "deny", "message": "the task is being stopped" }),
    };
    let questions = input.get("questions").and_then(Value::as_array).into_iter().flatten().enumerate();
    // The CLI identifies an answer by the text of its question.
    let answers: Map<_, _> = questions
        .filter_map(|(number, question)| {
            let words = question.get("question")?.as_str()?;
            Some((words.to_owned(), given.get(&field(number))?.join(", ").into()))
        })
        .collect();
    let mut input = input.clone();
    input["answers"] = answers.into();
    json!({ "behavior": "allow", "updatedInput": input })
}

fn field(number: usize) -> String {
    format!("q{}", number + 1)
}

fn option(choice: Choice) -> QuestionOption {
    QuestionOption { value: choice.label.clone(), label: choice.label, description: choice.description }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Value {
        json!({ "questions": [
            { "question": "Which colour?", "header": "Colour", "options": [{ "label": "Red" }, { "label": "Blue" }] },
            { "question": "Which sizes?", "options": [{ "label": "S" }, { "label": "L" }], "multiSelect": true },
        ] })
    }

    #[test]
    fn a_form_is_asked_field_by_field() {
        let question = question(&form()).unwrap();
        assert_eq!(question.message, "Which colour?\nWhich sizes?");
        let fields: Vec<_> =
            question.fields.iter().map(|field| (field.id.as_str(), field.label.as_str(), field.multiple)).collect();
        assert_eq!(fields, [("q1", "Colour", false), ("q2", "Which sizes?", true)]);
    }

    #[test]
    fn answers_go_back_under_the_words_of_their_questions() {
        let given = [("q1".to_owned(), vec!["Blue".to_owned()]), ("q2".to_owned(), vec!["S".into(), "L".into()])];
        let allowed = response(&form(), Answer::Given(given.into()));
        assert_eq!(allowed["updatedInput"]["answers"], json!({ "Which colour?": "Blue", "Which sizes?": "S, L" }));
        assert_eq!(allowed["updatedInput"]["questions"], form()["questions"]);
        assert_eq!(response(&form(), Answer::Declined)["behavior"], "deny");
    }

    #[test]
    fn a_call_that_asks_nothing_is_no_question() {
        assert_eq!(question(&json!({ "questions": "?" })), None);
    }
}
