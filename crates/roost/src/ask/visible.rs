//! Text that somebody decides about: nothing in it may hide, steer the terminal or turn around what stands beside it.

use std::borrow::Cow;

/// The text with every character that cannot be seen made visible; line ends and tabs stay.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(hides) {
        return text.into();
    }
    let mut seen = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\0'..='\u{1f}' if hides(character) => {
                seen.extend(char::from_u32(0x2400 + u32::from(character)));
            }
            character if hides(character) => seen.push_str(&format!("<U+{:04X}>", u32::from(character))),
            character => seen.push(character),
        }
    }
    seen.into()
}

fn hides(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' => true,
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        character => character.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_made_visible() {
        let table = [
            ("plain\n\ttext ä 漢", "plain\n\ttext ä 漢"),
            ("a\rb", "a␍b"),
            ("\x1b[2Jgone", "␛[2Jgone"),
            ("\u{9b}2J\x7f", "<U+009B>2J<U+007F>"),
            ("rm \u{202e}txt.exe", "rm <U+202E>txt.exe"),
            ("a\u{200b}b\u{feff}", "a<U+200B>b<U+FEFF>"),
            ("\u{e0041}", "<U+E0041>"),
        ];
        for (text, expected) in table {
            assert_eq!(visible(text), expected);
        }
    }
}
