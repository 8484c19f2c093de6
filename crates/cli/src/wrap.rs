//! Lines of prose that fit a width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text in lines of this width at most, broken between words, and within a word that is longer than a line.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines: Vec<String> = Vec::new();
    for mut word in text.split(' ') {
        if let Some(line) = lines.last_mut().filter(|line| line.width() + 1 + word.width() <= width) {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        while word.width() > width {
            let part = beginning(word, width);
            lines.push(part.to_owned());
            word = &word[part.len()..];
        }
        if !word.is_empty() || lines.is_empty() {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// The first characters, as many as fit; one at least.
pub(crate) fn beginning(text: &str, width: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(at, character)| {
        used += character.width().unwrap_or(0);
        used > width && *at > 0
    });
    end.map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_in_words_that_are_too_long() {
        let table = [
            ("", 5, &[""][..]),
            ("one two", 7, &["one two"]),
            ("one two", 6, &["one", "two"]),
            ("a longer-word b", 6, &["a", "longer", "-word", "b"]),
            ("日本語の長い", 5, &["日本", "語の", "長い"]),
            ("日", 1, &["日"]),
        ];
        for (text, width, lines) in table {
            assert_eq!(wrapped(text, width), lines, "{text:?}");
        }
    }
}
