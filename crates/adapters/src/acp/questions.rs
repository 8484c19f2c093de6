//! Converts ACP's elicitation forms into questions, and answers into elicitation results.

use std::collections::BTreeMap;

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::Answer;
use roost_model::ids::QuestionId;
use roost_model::payload::{QuestionAskedPayload, QuestionField, QuestionOption};

/// The form of a question, kept because the types of the answer's values depend on it.
pub(super) type Form = acp::ElicitationSchema;

/// The question to the user, with one field for each property of the form.
pub(super) fn question(message: String, form: &Form) -> QuestionAskedPayload {
    let required = form.required.clone().unwrap_or_default();
    let fields = form.properties.iter().map(|(id, property)| QuestionField {
        id: id.clone(),
        label: label(property).unwrap_or_else(|| id.clone()),
        options: options(property),
        multiple: matches!(property, acp::ElicitationPropertySchema::Array(_)),
        required: required.contains(id),
    });
    QuestionAskedPayload { question_id: QuestionId::new(), message, fields: fields.collect(), tool_call_id: None }
}

/// The answer in the agent's terms; a value that does not parse as its property's type is left out.
pub(super) fn response(form: &Form, answer: Answer) -> acp::CreateElicitationResponse {
    acp::CreateElicitationResponse::new(match answer {
        Answer::Declined => acp::ElicitationAction::Decline,
        Answer::Cancelled => acp::ElicitationAction::Cancel,
        Answer::Given(answers) => {
            let typed = answers.into_iter().filter_map(|(id, values)| Some((id.clone(), value(form, &id, values)?)));
            let content: BTreeMap<_, _> = typed.collect();
            acp::ElicitationAction::Accept(acp::ElicitationAcceptAction::new().content(content))
        }
    })
}

fn label(property: &acp::ElicitationPropertySchema) -> Option<String> {
    use acp::ElicitationPropertySchema as Property;
    match property {
        Property::String(string) => string.title.clone().or(string.description.clone()),
        Property::Number(number) => number.title.clone().or(number.description.clone()),
        Property::Integer(number) => number.title.clone().or(number.description.clone()),
        Property::Boolean(boolean) => boolean.title.clone().or(boolean.description.clone()),
        Property::Array(array) => array.title.clone().or(array.description.clone()),
        _ => None,
    }
}

fn options(property: &acp::ElicitationPropertySchema) -> Vec<QuestionOption> {
    use acp::ElicitationPropertySchema as Property;
    match property {
        Property::String(string) => match (&string.one_of, &string.enum_values) {
            (Some(titled), _) => titled.iter().map(titled_option).collect(),
            (None, Some(values)) => values.iter().map(|value| plain_option(value)).collect(),
            (None, None) => Vec::new(),
        },
        Property::Boolean(_) => vec![plain_option("true"), plain_option("false")],
        Property::Array(array) => match &array.items {
            acp::MultiSelectItems::String(items) => items.values.iter().map(|value| plain_option(value)).collect(),
            acp::MultiSelectItems::Titled(items) => items.options.iter().map(titled_option).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn titled_option(option: &acp::EnumOption) -> QuestionOption {
    let (value, label) = (option.value.clone(), option.title.clone());
    QuestionOption { value, label, description: option.description.clone() }
}

fn plain_option(value: &str) -> QuestionOption {
    QuestionOption { value: value.to_owned(), label: value.to_owned(), description: None }
}

fn value(form: &Form, id: &str, values: Vec<String>) -> Option<acp::ElicitationContentValue> {
    use acp::ElicitationContentValue as Value;
    use acp::ElicitationPropertySchema as Property;
    if let Some(Property::Array(_)) = form.properties.get(id) {
        return Some(Value::StringArray(values));
    }
    let first = values.into_iter().next()?;
    Some(match form.properties.get(id) {
        Some(Property::Boolean(_)) => Value::Boolean(first.parse().ok()?),
        Some(Property::Integer(_)) => Value::Integer(first.parse().ok()?),
        Some(Property::Number(_)) => Value::Number(first.parse().ok()?),
        _ => Value::String(first),
    })
}
