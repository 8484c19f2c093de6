//! What a request tells of the conversation, whatever API it came by.

use serde_json::Value;

/// Characters of a tool result that the model repeats.
const SHOWN: usize = 160;

/// A conversation as the model sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// The script that the latest prompt names.
    pub script: Option<String>,
    /// Every prompt that names a script, oldest first.
    pub prompts: Vec<String>,
    /// The beginning of each tool result since the latest prompt.
    pub results: Vec<String>,
    /// Every `NOTE:<word>` that the user said since the latest prompt, as when a running task is steered.
    pub notes: Vec<String>,
    /// The media type of each image in the conversation.
    pub images: Vec<String>,
    /// Every `FILE:<word>` that the user's side of the conversation holds, as when files are shown with a prompt.
    pub files: Vec<String>,
    /// The tools that the model may call.
    pub tools: Vec<Tool>,
    /// The JSON schema of the document that the answer must be.
    pub form: Option<Value>,
}

/// A tool that the model may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The group that its name belongs to, where the API has such.
    pub namespace: Option<String>,
    /// The names of its arguments.
    pub arguments: Vec<String>,
    /// It takes free text, not arguments.
    pub takes_text: bool,
}

impl Tool {
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

impl Asked {
    /// The user says this; a prompt that names a script begins anew.
    pub fn hear(&mut self, said: &str) {
        if let Some(script) = words_after(said, "SCRIPT:").last() {
            self.script = Some(script);
            self.prompts.push(said.to_owned());
            self.results.clear();
            self.notes.clear();
        }
        self.notes.extend(words_after(said, "NOTE:"));
        self.files.extend(words_after(said, "FILE:"));
    }

    /// A tool answers this.
    pub fn see(&mut self, result: &str) {
        self.results.push(result.chars().take(SHOWN).collect());
    }

    /// The latest prompt.
    pub fn prompt(&self) -> &str {
        self.prompts.last().map_or("", String::as_str)
    }

    /// What follows `key` in the latest prompt, up to the end of the line.
    pub fn option(&self, key: &str) -> Option<&str> {
        let (_, rest) = self.prompt().split_once(key)?;
        rest.lines().next().map(str::trim)
    }
}

/// A text of a document, empty if there is none.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The elements of a list, none if there is no list.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn words_after(said: &str, key: &str) -> impl Iterator<Item = String> {
    said.split(key)
        .skip(1)
        .map(|rest| rest.chars().take_while(char::is_ascii_alphanumeric).collect::<String>())
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_script_that_the_user_names_counts_and_forgets_what_came_before() {
        let mut asked = Asked::default();
        asked.hear("SCRIPT:shell please");
        asked.see("old");
        asked.hear("<reminder>nothing of interest</reminder>");
        assert_eq!((asked.script.as_deref(), asked.results.len()), (Some("shell"), 1));
        asked.hear("not SCRIPT:text but SCRIPT:write CWD:/tmp/x\nand so on");
        assert_eq!((asked.script.as_deref(), asked.results.len()), (Some("write"), 0));
        assert_eq!(asked.option("CWD:"), Some("/tmp/x"));
        asked.hear("NOTE:blue");
        assert_eq!(asked.notes, ["blue"]);
        assert_eq!(asked.prompts.len(), 2);
    }

    #[test]
    fn a_long_result_is_cut_between_characters() {
        let mut asked = Asked::default();
        asked.see(&"ü".repeat(500));
        assert_eq!(asked.results, ["ü".repeat(SHOWN)]);
    }
}
