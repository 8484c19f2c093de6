//! Text of agents as it may reach a terminal.

use std::borrow::Cow;

/// The text with every control character made visible: an agent's words must not steer the terminal.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    let steers = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    if !text.contains(steers) {
        return text.into();
    }
    let visible = |character: char| match character {
        '\r' => None,
        '\0'..='\u{1f}' if steers(character) => char::from_u32(0x2400 + u32::from(character)),
        character if steers(character) => Some(char::REPLACEMENT_CHARACTER),
        character => Some(character),
    };
    text.chars().filter_map(visible).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_line_ends_and_tabs_stay_as_they_are() {
        let table = [
            ("plain\n\ttext", "plain\n\ttext"),
            ("\x1b[31mred", "␛[31mred"),
            ("a\r\nb", "a\nb"),
            ("bell\x07 \u{9b}2J \x7f", "bell␇ \u{fffd}2J \u{fffd}"),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text), expected);
        }
    }
}
