//! A request to the model, parsed: the conversation that it brings, in whatever API it was written.

use serde_json::Value;

/// Characters kept of a tool result, which is what the model repeats of it.
const SHOWN: usize = 160;

/// The conversation of a request as the scripted model sees it. Each API's [`Dialect`](super::dialect::Dialect) parses
/// its own JSON into this.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRequest {
    /// The script that the latest prompt names.
    pub script: Option<String>,
    /// Every prompt that names a script, oldest first.
    pub prompts: Vec<String>,
    /// The first [`SHOWN`] characters of each tool result since the latest prompt.
    pub results: Vec<String>,
    /// Every `NOTE:<word>` that the user text since the latest prompt, as when a running task is steered.
    pub notes: Vec<String>,
    /// The media type of each image in the conversation.
    pub images: Vec<String>,
    /// Every `FILE:<word>` that the user's side of the conversation holds, as when files are shown with a prompt.
    pub files: Vec<String>,
    /// The tools that the model may call.
    pub tools: Vec<OfferedTool>,
    /// The JSON schema of the document that the answer must be.
    pub form: Option<Value>,
}

/// A tool that a request offers to the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfferedTool {
    /// The name by which the model calls it, without the namespace.
    pub name: String,
    /// The group that its name belongs to; only Codex's requests have groups.
    pub namespace: Option<String>,
    /// The names of its arguments.
    pub arguments: Vec<String>,
    /// True if it takes one free text instead of named arguments.
    pub takes_text: bool,
}

impl OfferedTool {
    /// A tool whose arguments are described by a JSON schema.
    pub fn new(name: &Value, schema: &Value) -> Self {
        let arguments = schema["properties"].as_object().into_iter().flat_map(|names| names.keys().cloned()).collect();
        Self { name: text(name), arguments, ..Self::default() }
    }

    /// Whether it has an argument of this name.
    pub fn takes(&self, argument: &str) -> bool {
        self.arguments.iter().any(|name| name == argument)
    }
}

impl ModelRequest {
    /// Adds a text of the user's. One that names a script is a new prompt: results and notes before it are dropped.
    pub fn add_user_text(&mut self, text: &str) {
        if let Some(script) = words_after(text, "SCRIPT:").last() {
            self.script = Some(script);
            self.prompts.push(text.to_owned());
            self.results.clear();
            self.notes.clear();
        }
        self.notes.extend(words_after(text, "NOTE:"));
        self.files.extend(words_after(text, "FILE:"));
    }

    /// Adds the result of a tool call, cut to [`SHOWN`] characters.
    pub fn add_tool_result(&mut self, result: &str) {
        self.results.push(result.chars().take(SHOWN).collect());
    }

    /// The latest prompt, or nothing if no script was named yet.
    pub fn prompt(&self) -> &str {
        self.prompts.last().map_or("", String::as_str)
    }

    /// What follows `key` in the latest prompt, up to the end of the line.
    pub fn option(&self, key: &str) -> Option<&str> {
        let (_, rest) = self.prompt().split_once(key)?;
        rest.lines().next().map(str::trim)
    }
}

/// A JSON string; empty if the value is none.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The elements of a JSON array; none if the value is no array.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn words_after(text: &str, key: &str) -> impl Iterator<Item = String> {
    text.split(key)
        .skip(1)
        .map(|rest| rest.chars().take_while(char::is_ascii_alphanumeric).collect::<String>())
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_script_that_the_user_names_counts_and_forgets_what_came_before() {
        let mut request = ModelRequest::default();
        request.add_user_text("SCRIPT:shell please");
        request.add_tool_result("old");
        request.add_user_text("<reminder>nothing of interest</reminder>");
        assert_eq!((request.script.as_deref(), request.results.len()), (Some("shell"), 1));
        request.add_user_text("not SCRIPT:text but SCRIPT:write CWD:/tmp/x\nand so on");
        assert_eq!((request.script.as_deref(), request.results.len()), (Some("write"), 0));
        assert_eq!(request.option("CWD:"), Some("/tmp/x"));
        request.add_user_text("NOTE:blue");
        assert_eq!(request.notes, ["blue"]);
        assert_eq!(request.prompts.len(), 2);
    }

    #[test]
    fn a_long_result_is_cut_between_characters() {
        let mut request = ModelRequest::default();
        request.add_tool_result(&"ü".repeat(500));
        assert_eq!(request.results, ["ü".repeat(SHOWN)]);
    }
}
