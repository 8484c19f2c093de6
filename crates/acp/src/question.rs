//! Questions of an agent as forms of the editor, and filled-in forms as the daemon takes them.

use std::collections::BTreeMap;

use agent_client_protocol_schema::v1 as acp;
use roost_model::payload::{QuestionAskedPayload, QuestionField};
use roost_rpc::{PermissionDecision, PermissionRespondParams};
use serde_json::json;

/// The form for a question, with one property for each of its fields.
pub(crate) fn request(session: &str, question: &QuestionAskedPayload) -> acp::CreateElicitationRequest {
    let form = question.fields.iter().fold(acp::ElicitationSchema::new(), |form, field| {
        form.property(field.id.clone(), property(field), field.required)
    });
    let tool_call = question.tool_call_id.as_ref().map(|id| acp::ToolCallId::new(id.as_str()));
    let scope = acp::ElicitationSessionScope::new(session.to_owned()).tool_call_id(tool_call);
    let mode = acp::ElicitationFormMode::new(acp::ElicitationScope::Session(scope), form);
    acp::CreateElicitationRequest::new(acp::ElicitationMode::Form(mode), question.message.clone())
}

fn property(field: &QuestionField) -> acp::ElicitationPropertySchema {
    let choices = || field.options.iter().map(|option| acp::EnumOption::new(&option.value, &option.label)).collect();
    match (field.options.is_empty(), field.multiple) {
        (false, true) => acp::MultiSelectPropertySchema::titled(choices()).title(field.label.clone()).into(),
        (false, false) => acp::StringPropertySchema::new().title(field.label.clone()).one_of(choices()).into(),
        (true, _) => acp::StringPropertySchema::new().title(field.label.clone()).into(),
    }
}

/// The answer for the daemon. A form that is not accepted declines the question.
pub(crate) fn respond(
    session: &str,
    question: &QuestionAskedPayload,
    action: acp::ElicitationAction,
) -> PermissionRespondParams {
    let answers = match action {
        acp::ElicitationAction::Accept(accepted) => Some(accepted.content.unwrap_or_default()),
        _ => None,
    };
    let values = |value: &acp::ElicitationContentValue| match value {
        acp::ElicitationContentValue::String(text) => vec![text.clone()],
        acp::ElicitationContentValue::Integer(number) => vec![number.to_string()],
        acp::ElicitationContentValue::Number(number) => vec![number.to_string()],
        acp::ElicitationContentValue::Boolean(is_true) => vec![is_true.to_string()],
        acp::ElicitationContentValue::StringArray(texts) => texts.clone(),
        _ => Vec::new(),
    };
    let answers = answers
        .map(|answers| answers.iter().map(|(id, value)| (id.clone(), values(value))).collect::<BTreeMap<_, _>>());
    PermissionRespondParams {
        tool_use_id: question.question_id.to_string(),
        decision: if answers.is_some() { PermissionDecision::Allow } else { PermissionDecision::Deny },
        scope: None,
        session_id: Some(session.to_owned()),
        reason: None,
        updated_input: answers.map(|answers| json!(answers)),
        attempt: None,
        input_hash: None,
        key: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> QuestionAskedPayload {
        serde_json::from_value(json!({
            "question_id": "q", "message": "What next?",
            "fields": [
                { "id": "colour", "label": "Colour", "required": true, "options": [{ "value": "r", "label": "red" }] },
                { "id": "sizes", "label": "Sizes", "multiple": true, "options": [{ "value": "s", "label": "small" }] },
                { "id": "why", "label": "Why?" },
            ],
        }))
        .unwrap()
    }

    #[test]
    fn a_question_becomes_a_form() {
        insta::assert_json_snapshot!(request("session", &question()));
    }

    #[test]
    fn only_an_accepted_form_answers() {
        let accept = json!({ "action": "accept", "content": { "colour": "r", "sizes": ["s"], "why": "so" } });
        let answers = json!({ "colour": ["r"], "sizes": ["s"], "why": ["so"] });
        for (action, decision, answers) in [
            (accept, PermissionDecision::Allow, Some(answers)),
            (json!({ "action": "decline" }), PermissionDecision::Deny, None),
            (json!({ "action": "cancel" }), PermissionDecision::Deny, None),
        ] {
            let response: acp::CreateElicitationResponse = serde_json::from_value(action.clone()).unwrap();
            let answer = respond("session", &question(), response.action);
            assert_eq!((answer.decision, answer.updated_input), (decision, answers), "{action}");
        }
    }
}
