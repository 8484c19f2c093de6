//! Keeps what is sent below the size at which a client drops its connection.

use serde_json::{Map, Value};

/// The bytes that are counted for a number, or for the punctuation around a text.
const SMALL: usize = 24;

/// A budget of JSON bytes that texts and values are cut to.
pub(super) struct ByteBudget(usize);

impl ByteBudget {
    /// A budget of this many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        Self(bytes)
    }

    /// Cuts a text to what fits, with a mark.
    pub(super) fn text(&mut self, text: &mut String) {
        let mut used = SMALL;
        let end = text.char_indices().find_map(|(at, char)| {
            used += encoded(char);
            (used > self.0).then_some(at)
        });
        self.spend(used);
        if let Some(at) = end {
            let rest = text.len() - at;
            text.truncate(at);
            text.push_str(&format!("… [cut: {rest} more bytes]"));
        }
    }

    /// Cuts every text in a value to what fits, and leaves out what comes after it.
    pub(super) fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => {
                let fitting = items.iter_mut().map_while(|item| self.has_room().then(|| self.value(item))).count();
                let rest = items.len() - fitting;
                items.truncate(fitting);
                if rest > 0 {
                    items.push(format!("… [cut: {rest} more items]").into());
                }
            }
            Value::Object(fields) => self.fields(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.spend(SMALL),
        }
    }

    /// Like [`Self::value`], for the fields of an object.
    pub(super) fn fields(&mut self, fields: &mut Map<String, Value>) {
        let mut rest = 0;
        fields.retain(|name, value| {
            let fits = self.has_room() && name.len() <= self.0;
            if fits {
                self.spend(SMALL + name.chars().map(encoded).sum::<usize>());
                self.value(value);
            } else {
                rest += 1;
            }
            fits
        });
        if rest > 0 {
            fields.insert("…".into(), format!("[cut: {rest} more fields]").into());
        }
    }

    fn has_room(&self) -> bool {
        self.0 > 0
    }

    fn spend(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes);
    }
}

/// The bytes of a character in a JSON string.
fn encoded(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..'\u{20}' => 6,
        other => other.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_fits_stays_as_it_is() {
        let mut value = json!({ "a": ["x", 1, null, true], "b": { "c": "ü\n" } });
        let whole = value.clone();
        ByteBudget::new(1000).value(&mut value);
        assert_eq!(value, whole);
    }

    #[test]
    fn what_does_not_fit_is_cut_with_a_mark() {
        let cases = [
            (json!("x".repeat(100)), json!(format!("{}… [cut: 24 more bytes]", "x".repeat(76)))),
            (json!("ü".repeat(40)), json!(format!("{}… [cut: 4 more bytes]", "ü".repeat(38)))),
            (json!([1, 2, 3, 4, 5, 6]), json!([1, 2, 3, 4, 5, "… [cut: 1 more items]"])),
            (json!({ "a": 1, "b": 2, "c": 3, "d": 4 }), json!({ "a": 1, "b": 2, "c": 3, "…": "[cut: 1 more fields]" })),
        ];
        for (mut value, expected) in cases {
            ByteBudget::new(100).value(&mut value);
            assert_eq!(value, expected);
        }
    }

    #[test]
    fn a_character_takes_what_json_makes_of_it() {
        for char in (0..=0x2fff).filter_map(char::from_u32).chain(['🦀']) {
            let json = serde_json::to_string(&char).unwrap();
            assert_eq!(encoded(char), json.len() - 2, "{char:?}");
        }
    }
}
