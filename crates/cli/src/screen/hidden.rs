//! Characters that hide, turn text around or steer a terminal, and how they are shown instead.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with every character that cannot be seen made visible; tabs and line ends stay, `\r\n` is one of them.
///
/// The halves of an emoji stay together: U+FE0F behind a pictograph, and U+200D between two. Joiners of other scripts
/// (Persian, Hindi) are shown, because the same character hides in a name as well.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    visible_after(text, None)
}

/// The same for a piece of a text whose last character until now was this one.
pub(crate) fn visible_after(text: &str, before: Option<char>) -> Cow<'_, str> {
    if !text.contains(hides) {
        return text.into();
    }
    let mut seen = String::with_capacity(text.len() + 16);
    let mut before = before;
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let after = rest.clone().next();
        let stays = !hides(character) || joins_emoji(character, before, after);
        before = Some(character).filter(|_| stays);
        match character {
            _ if stays => seen.push(character),
            '\r' if after == Some('\n') => {}
            _ => show(&mut seen, character),
        }
    }
    seen.into()
}

/// A name or another text that may have one line only.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    match text.contains(['\n', '\t']) || text.contains(hides) {
        false => text.into(),
        true => visible(text).replace('\n', "␊").replace('\t', "␉").into(),
    }
}

/// A text that somebody decides about, to the last character: also spaces that are none to a shell, and carriage
/// returns, are made visible, and no emoji is excepted.
pub(crate) fn exact(text: &str) -> Cow<'_, str> {
    let differs = |character: char| hides(character) || is_odd_space(character);
    if !text.contains(differs) {
        return text.into();
    }
    let mut seen = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if differs(character) { show(&mut seen, character) } else { seen.push(character) }
    }
    seen.into()
}

/// JSON with what hides in its texts escaped; it means the same.
pub(super) fn in_json(line: &str) -> Cow<'_, str> {
    if !line.contains(hides) {
        return line.into();
    }
    let mut seen = String::with_capacity(line.len() + 16);
    for character in line.chars() {
        match hides(character) {
            true => character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                // Writing to a string cannot fail.
                let _ = write!(seen, "\\u{unit:04x}");
            }),
            false => seen.push(character),
        }
    }
    seen.into()
}

/// The same as [`visible_after`], but the escape sequences of colours stay.
pub(super) fn between_colours(text: &str, before: Option<char>) -> Cow<'_, str> {
    if !text.contains(hides) {
        return text.into();
    }
    let mut seen = String::with_capacity(text.len() + 16);
    let (mut rest, mut before) = (text, before);
    while let Some(at) = rest.find('\x1b') {
        let (plain, sequence) = rest.split_at(at);
        seen.push_str(&visible_after(plain, before));
        before = None;
        let length = colour(sequence);
        match length {
            Some(length) => seen.push_str(&sequence[..length]),
            None => show(&mut seen, '\x1b'),
        }
        rest = &sequence[length.unwrap_or(1)..];
    }
    seen.push_str(&visible_after(rest, before));
    seen.into()
}

/// How long the escape sequence is that the text begins with, if it is one of a colour, of bold or of their end.
fn colour(text: &str) -> Option<usize> {
    const CODES: [&str; 11] = ["0", "1", "2", "3", "4", "31", "32", "33", "34", "35", "36"];
    let (code, _) = text.strip_prefix("\x1b[")?.split_once('m')?;
    CODES.contains(&code).then_some("\x1b[m".len() + code.len())
}

fn show(seen: &mut String, character: char) {
    match character {
        '\0'..='\u{1f}' => seen.extend(char::from_u32(0x2400 + u32::from(character))),
        // Writing to a string cannot fail.
        character => _ = write!(seen, "<U+{:04X}>", u32::from(character)),
    }
}

/// Whether a character is not seen as what it is: Unicode's ignorable and directional ones, blanks that are no spaces,
/// and everything that steers a terminal but tabs and line ends.
fn hides(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Most text ends here.
        ' '..='~' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => true,
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' => true,
        '\u{13430}'..='\u{1345f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        character => character.is_control(),
    }
}

/// A space that separates words for people but not for a shell.
fn is_odd_space(character: char) -> bool {
    character.is_whitespace() && !character.is_ascii()
}

fn joins_emoji(character: char, before: Option<char>, after: Option<char>) -> bool {
    const COMBINING_KEYCAP: char = '\u{20e3}';
    match character {
        '\u{fe0f}' => before.is_some_and(is_pictograph) || after == Some(COMBINING_KEYCAP),
        '\u{200d}' => {
            let is_begun = before.is_some_and(|before| before == '\u{fe0f}' || is_pictograph(before));
            is_begun && after.is_some_and(is_pictograph)
        }
        _ => false,
    }
}

fn is_pictograph(character: char) -> bool {
    matches!(character,
        '©' | '®' | '‼' | '⁉' | '™' | 'ℹ' | '〰' | '〽' | '㊗' | '㊙'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2460}'..='\u{24ff}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
#[path = "hidden_tests.rs"]
mod tests;
