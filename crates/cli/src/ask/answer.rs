//! Parses what a person types as an answer.

use roost_model::approval::ApprovalScope;
use roost_model::payload::QuestionField;

/// What a person types to decline a question.
pub(super) const DECLINE: &str = "/decline";

/// A parsed answer to "may this run?".
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Yes(ApprovalScope),
    No(Option<String>),
    /// A refusal; the reason is asked for next.
    NoReason,
    ShowAll,
    /// Show the possible answers and why it is asked.
    Explain,
    Unclear,
}

/// Parses an answer to "may this run?". Only what cannot be misunderstood counts as a yes.
pub(super) fn parse_decision(line: &str) -> Choice {
    let line = line.trim();
    if line == "?" {
        return Choice::Explain;
    }
    let (word, rest) = line.split_at(line.find(|at: char| !at.is_alphabetic()).unwrap_or(line.len()));
    let rest = rest.trim_start_matches([',', ':', ';', '.', ' ', '\t']).trim();
    match (word.to_ascii_lowercase().as_str(), rest) {
        ("y" | "yes", "") => Choice::Yes(ApprovalScope::Once),
        ("s", "") => Choice::Yes(ApprovalScope::Session),
        ("w", "") => Choice::Yes(ApprovalScope::Workspace),
        ("v", "") => Choice::ShowAll,
        ("n" | "no", "") => Choice::NoReason,
        ("n" | "no", why) => Choice::No(Some(without_because(why).to_owned())),
        _ => Choice::Unclear,
    }
}

fn without_because(why: &str) -> &str {
    why.strip_prefix("because ").map_or(why, str::trim_start)
}

/// Parses an answer to one field of a question into the values to send: choices by number or name, else words. The error
/// says what is wrong with it.
pub(crate) fn parse_field(field: &QuestionField, line: &str) -> Result<Vec<String>, String> {
    let line = line.trim();
    if line.is_empty() {
        return if field.required { Err("this needs an answer".into()) } else { Ok(Vec::new()) };
    }
    if field.options.is_empty() {
        return Ok(vec![line.to_owned()]);
    }
    let words: Vec<_> = match field.multiple {
        true => line.split(',').map(str::trim).filter(|word| !word.is_empty()).collect(),
        false => vec![line],
    };
    let choices: Option<Vec<_>> = words.iter().map(|word| choice(field, word)).collect();
    match choices {
        Some(choices) => Ok(choices),
        None if line.chars().all(|at| at.is_ascii_digit() || [',', ' '].contains(&at)) => {
            Err(format!("there is no choice {line:?}; type a number from 1 to {}, or words", field.options.len()))
        }
        // Something that is not offered, in words.
        None => Ok(vec![line.to_owned()]),
    }
}

fn choice(field: &QuestionField, word: &str) -> Option<String> {
    let by_number = word.parse::<usize>().ok().and_then(|number| field.options.get(number.checked_sub(1)?));
    let named = |name: &str| name.to_lowercase() == word.to_lowercase();
    let by_name = || field.options.iter().find(|option| named(&option.value) || named(&option.label));
    by_number.or_else(by_name).map(|option| option.value.clone())
}

#[cfg(test)]
mod tests {
    use roost_model::payload::QuestionOption;

    use super::*;

    #[test]
    fn only_what_cannot_be_misunderstood_is_a_yes() {
        let no = |why: &str| Choice::No(Some(why.into()));
        let table = [
            ("y", Choice::Yes(ApprovalScope::Once)),
            (" YES ", Choice::Yes(ApprovalScope::Once)),
            ("s", Choice::Yes(ApprovalScope::Session)),
            ("w", Choice::Yes(ApprovalScope::Workspace)),
            ("v", Choice::ShowAll),
            (" ? ", Choice::Explain),
            ("y?", Choice::Unclear),
            ("? y", Choice::Unclear),
            ("n", Choice::NoReason),
            ("no.", Choice::NoReason),
            ("n too risky", no("too risky")),
            ("no, because it is late", no("it is late")),
            ("No: use git mv", no("use git mv")),
            ("", Choice::Unclear),
            ("yes but not there", Choice::Unclear),
            ("yn", Choice::Unclear),
            ("y n", Choice::Unclear),
            ("never", Choice::Unclear),
            ("ok", Choice::Unclear),
        ];
        for (line, meant) in table {
            assert_eq!(parse_decision(line), meant, "{line:?}");
        }
    }

    #[test]
    fn an_answer_is_a_choice_by_number_or_name_or_words() {
        let option =
            |value: &str, label: &str| QuestionOption { value: value.into(), label: label.into(), description: None };
        let options = vec![option("owl", "Owl"), option("robin", "Robin red")];
        let field = |multiple, required, options: &[QuestionOption]| QuestionField {
            id: "bird".into(),
            label: "Bird".into(),
            options: options.to_vec(),
            multiple,
            required,
        };
        let one = field(false, true, &options);
        let many = field(true, false, &options);
        let free = field(false, false, &[]);
        let table: [(&QuestionField, &str, Option<&[&str]>); 13] = [
            (&one, "1", Some(&["owl"])),
            (&one, "robin RED", Some(&["robin"])),
            (&one, "0", None),
            (&one, "3", None),
            (&one, "1,2", None),
            (&one, "", None),
            (&one, "neither, a wren", Some(&["neither, a wren"])),
            (&many, "1, a wren", Some(&["1, a wren"])),
            (&many, "1, 3", None),
            (&many, "2, 1", Some(&["robin", "owl"])),
            (&many, "", Some(&[])),
            (&free, " any words ", Some(&["any words"])),
            (&free, "", Some(&[])),
        ];
        for (field, line, expected) in table {
            let expected = expected.map(|values| values.iter().map(|&value| value.to_owned()).collect());
            assert_eq!(parse_field(field, line).ok(), expected, "{line:?}");
        }
    }
}
