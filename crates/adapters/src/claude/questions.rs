//! `AskUserQuestion`, a tool of Claude Code's that is no tool here but a question, and its answer.

use roost_engine::adapter::Answer;
use roost_model::ids::QuestionId;
use roost_model::payload::{QuestionAskedPayload, QuestionField, QuestionOption};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The tool that asks.
const ASKS: &str = "AskUserQuestion";

#[derive(Deserialize)]
struct Form {
    questions: Vec<Question>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question {
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

/// Whether this tool puts a question to the user.
pub(super) fn is_question(tool: &str) -> bool {
    tool == ASKS
}

/// The question that a call of the tool asks; `None` if it makes no sense.
pub(super) fn question(input: &Value) -> Option<QuestionAskedPayload> {
    let Form { questions } = Form::deserialize(input).ok()?;
    let message = questions.iter().map(|question| question.question.as_str()).collect::<Vec<_>>().join("\n");
    let fields = questions.into_iter().enumerate().map(|(number, asked)| QuestionField {
        id: field(number),
        label: asked.header.unwrap_or(asked.question),
        options: asked.options.into_iter().map(option).collect(),
        multiple: asked.multi_select,
        required: true,
    });
    Some(QuestionAskedPayload { question_id: QuestionId::new(), message, fields: fields.collect(), tool_call_id: None })
}

/// What the CLI is told: the call's own input with the answers in it, or why there are none.
pub(super) fn response(input: &Value, answer: Answer) -> Value {
    let given = match answer {
        Answer::Given(given) => given,
        Answer::Declined => return json!({ "behavior": "deny", "message": "the user did not answer" }),
        Answer::Cancelled => return json!({ "behavior": "deny", "message": "the task is being stopped" }),
    };
    let questions = input.get("questions").and_then(Value::as_array).into_iter().flatten().enumerate();
    // The CLI knows an answer by the words of its question.
    let answers: Map<_, _> = questions
        .filter_map(|(number, asked)| {
            let words = asked.get("question")?.as_str()?;
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

    fn asked() -> Value {
        json!({ "questions": [
            { "question": "Which colour?", "header": "Colour", "options": [{ "label": "Red" }, { "label": "Blue" }] },
            { "question": "Which sizes?", "options": [{ "label": "S" }, { "label": "L" }], "multiSelect": true },
        ] })
    }

    #[test]
    fn a_form_is_asked_field_by_field() {
        let question = question(&asked()).unwrap();
        assert_eq!(question.message, "Which colour?\nWhich sizes?");
        let fields: Vec<_> =
            question.fields.iter().map(|field| (field.id.as_str(), field.label.as_str(), field.multiple)).collect();
        assert_eq!(fields, [("q1", "Colour", false), ("q2", "Which sizes?", true)]);
    }

    #[test]
    fn answers_go_back_under_the_words_of_their_questions() {
        let given = [("q1".to_owned(), vec!["Blue".to_owned()]), ("q2".to_owned(), vec!["S".into(), "L".into()])];
        let told = response(&asked(), Answer::Given(given.into()));
        assert_eq!(told["updatedInput"]["answers"], json!({ "Which colour?": "Blue", "Which sizes?": "S, L" }));
        assert_eq!(told["updatedInput"]["questions"], asked()["questions"]);
        assert_eq!(response(&asked(), Answer::Declined)["behavior"], "deny");
    }

    #[test]
    fn a_call_that_asks_nothing_is_no_question() {
        assert_eq!(question(&json!({ "questions": "?" })), None);
    }
}
