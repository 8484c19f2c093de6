//! Takes the vendor's own texts out of a recording.

use serde_json::Value;

/// The longest text, in bytes, that stays in a recording; no script of the model says more.
const LONGEST: usize = 1000;
/// What stands in place of a longer one.
const LEFT_OUT: &str = "(text left out)";
/// Lists of what the vendor ships with the agent.
const SHIPPED: [&str; 9] = [
    "agents",
    "availableCommands",
    "commands",
    "models",
    "plugins",
    "skills",
    "slash_commands",
    "terminal_slash_commands",
    "tools",
];

/// The recording as it is kept.
pub(super) fn clean(recording: &str) -> serde_json::Result<String> {
    let mut kept = String::new();
    for line in recording.lines() {
        let mut record: Value = serde_json::from_str(line)?;
        if let Value::String(line) = &mut record["line"] {
            *line = clean_line(line);
        }
        kept.push_str(&record.to_string());
        kept.push('\n');
    }
    Ok(kept)
}

/// The words before the JSON, if any, as they are, and the JSON without the vendor's texts.
fn clean_line(line: &str) -> String {
    let (words, json) = line.split_at(line.find(['{', '[']).unwrap_or(line.len()));
    match serde_json::from_str(json) {
        Ok(mut value) => {
            shorten(&mut value);
            format!("{words}{value}")
        }
        Err(_) if line.len() > LONGEST => format!("{words}{LEFT_OUT}"),
        Err(_) => line.to_owned(),
    }
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LONGEST => *text = LEFT_OUT.to_owned(),
        Value::Array(values) => values.iter_mut().for_each(shorten),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::Array(list) if SHIPPED.contains(&name.as_str()) => list.clear(),
                    member => shorten(member),
                }
            }
        }
        _ => {}
    }
}
