//! Cleans what was typed or pasted: keys are not text.

/// The text without escape sequences and control characters, except line ends and tabs.
///
/// A terminal sends arrow keys and the marks around a paste as escape sequences. Where nothing interprets them, they
/// would become part of the text, and an agent would get them.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\x1b' => match chars.peek() {
                // A control sequence: parameters, then one final character.
                Some('[') => {
                    chars.next();
                    while chars.next_if(|char| (' '..='?').contains(char)).is_some() {}
                    chars.next_if(|char| ('@'..='~').contains(char));
                }
                // A function or arrow key: exactly one character follows.
                Some('O') => {
                    chars.next();
                    chars.next_if(|char| ('@'..='~').contains(char));
                }
                // The Escape key, or Alt with a key that is text.
                _ => {}
            },
            '\n' | '\t' => cleaned.push(char),
            char if char.is_control() => {}
            char => cleaned.push(char),
        }
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_paste_marks_leave_nothing_behind() {
        let table = [
            ("plain text", "plain text"),
            ("two\nlines\tand a tab", "two\nlines\tand a tab"),
            ("up\x1b[A and down\x1b[B", "up and down"),
            ("\x1bOAkeypad\x1bOP", "keypad"),
            ("ctrl-left\x1b[1;5D", "ctrl-left"),
            ("\x1b[200~pasted\x1b[201~", "pasted"),
            ("escape\x1b", "escape"),
            ("alt\x1bx", "altx"),
            ("bell\x07 delete\x7f nul\0", "bell delete nul"),
            ("c1 \u{9b}31mred", "c1 31mred"),
            ("unfinished\x1b[1;", "unfinished"),
            ("ünïcode 🐦", "ünïcode 🐦"),
        ];
        for (typed, text) in table {
            assert_eq!(clean(typed), text, "{typed:?}");
        }
    }
}
