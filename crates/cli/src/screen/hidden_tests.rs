use super::*;

#[test]
fn what_cannot_be_seen_is_made_visible() {
    let table = [
        ("plain\n\ttext ä 漢", "plain\n\ttext ä 漢"),
        ("a\r\nb\rc", "a\nb␍c"),
        ("\x1b[2Jgone \x1b[31mred", "␛[2Jgone ␛[31mred"),
        ("bell\x07 \u{9b}2J\x7f\u{85}", "bell␇ <U+009B>2J<U+007F><U+0085>"),
        ("rm \u{202e}txt.exe\u{2066}\u{200f}\u{61c}", "rm <U+202E>txt.exe<U+2066><U+200F><U+061C>"),
        ("a\u{200b}b\u{2060}\u{feff}", "a<U+200B>b<U+2060><U+FEFF>"),
        ("\u{2800}\u{ad}\u{3164}\u{180e}", "<U+2800><U+00AD><U+3164><U+180E>"),
        ("\u{e0041}\u{fe00}\u{fff9}\u{2028}", "<U+E0041><U+FE00><U+FFF9><U+2028>"),
        ("می\u{200c}خواهم", "می<U+200C>خواهم"),
        ("non\u{a0}breaking", "non\u{a0}breaking"),
    ];
    for (text, expected) in table {
        assert_eq!(visible(text), expected);
    }
}

#[test]
fn an_emoji_stays_whole_and_nothing_else_gets_by_that_way() {
    let table = [
        ("⚠\u{fe0f} 👩\u{200d}💻 1\u{fe0f}\u{20e3}", "⚠\u{fe0f} 👩\u{200d}💻 1\u{fe0f}\u{20e3}"),
        ("👁\u{fe0f}\u{200d}🗨\u{fe0f}", "👁\u{fe0f}\u{200d}🗨\u{fe0f}"),
        ("a\u{fe0f}b", "a<U+FE0F>b"),
        ("👩\u{200d}x y\u{200d}👩", "👩<U+200D>x y<U+200D>👩"),
        ("a\u{fe0f}\u{200d}👩", "a<U+FE0F><U+200D>👩"),
        ("⚠\u{fe0f}\u{fe0f}", "⚠\u{fe0f}<U+FE0F>"),
    ];
    for (text, expected) in table {
        assert_eq!(visible(text), expected);
    }
    assert_eq!(visible_after("\u{fe0f} now", Some('⚠')), "\u{fe0f} now");
}

#[test]
fn a_name_has_one_line() {
    assert_eq!(one_line("a\nb\tc\u{202e}"), "a␊b␉c<U+202E>");
}

#[test]
fn what_is_decided_about_is_shown_to_the_last_character() {
    let table = [
        ("ls\n\t-l", "ls\n\t-l"),
        ("true\u{a0}# ; rm -rf x", "true<U+00A0># ; rm -rf x"),
        ("rm\u{3000}a\u{2003}b", "rm<U+3000>a<U+2003>b"),
        ("a\r\nb", "a␍\nb"),
        ("⚠\u{fe0f}", "⚠<U+FE0F>"),
    ];
    for (text, expected) in table {
        assert_eq!(exact(text), expected);
    }
}

#[test]
fn json_with_escapes_means_the_same() {
    let value = serde_json::json!({ "a\u{202e}": "\u{9b}\u{e0041}⚠\u{fe0f} é\n" });
    let line = value.to_string();
    let escaped = in_json(&line);
    assert!(!escaped.contains(hides), "{escaped}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
}

#[test]
fn only_colours_get_through() {
    let table = [
        ("\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        ("\x1b[8mhidden\x1b[2Jcleared\x1b]0;title\x07", "␛[8mhidden␛[2Jcleared␛]0;title␇"),
        ("\x1b[38;5;1m\x1b", "␛[38;5;1m␛"),
        ("\x1b[31m\u{202e}x", "\x1b[31m<U+202E>x"),
    ];
    for (text, expected) in table {
        assert_eq!(between_colours(text, None), expected);
    }
}
