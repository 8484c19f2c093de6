//! A second parser, written by others, as an oracle: where the closed grammar accepts a line, both must see the same.

use brush_parser::ast::{AndOr, Command, CommandPrefixOrSuffixItem as Item, CompoundListItem, SeparatorOperator};
use brush_parser::word::WordPiece;
use brush_parser::{ParserOptions, parse_tokens, tokenize_str, word};
use roost_policy::shell::{PlainWord, parse_plain};

use crate::shell_lines::{Random, line, line_with_answers};

/// The assignments before a command, and its words.
type ParsedCommand = (Vec<String>, Vec<String>);

/// The words of every command that the other parser finds, or what it finds besides simple commands.
fn commands(text: &str) -> Result<Vec<ParsedCommand>, String> {
    let tokens = tokenize_str(text).map_err(|error| error.to_string())?;
    let program = parse_tokens(&tokens, &ParserOptions::default()).map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    for CompoundListItem(list, separator) in program.complete_commands.iter().flat_map(|list| &list.0) {
        if matches!(separator, SeparatorOperator::Async) {
            return Err("a background job".into());
        }
        let others = list.additional.iter().map(|(AndOr::And(next) | AndOr::Or(next))| next);
        for pipeline in std::iter::once(&list.first).chain(others) {
            if pipeline.bang || pipeline.timed.is_some() {
                return Err("a pipeline with something before it".into());
            }
            for command in &pipeline.seq {
                found.push(words(command)?);
            }
        }
    }
    Ok(found)
}

fn words(command: &Command) -> Result<ParsedCommand, String> {
    let Command::Simple(simple) = command else { return Err(format!("no simple command: {command:?}")) };
    let mut assignments = Vec::new();
    for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
        let Item::AssignmentWord(_, word) = item else { return Err("a redirection before the program".into()) };
        assignments.push(word.value.clone());
    }
    let program = simple.word_or_name.as_ref().ok_or("no program")?;
    let mut words = vec![program.value.clone()];
    for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            Item::Word(word) | Item::AssignmentWord(_, word) => words.push(word.value.clone()),
            Item::IoRedirect(redirect) => {
                let shown = redirect.to_string().replace(' ', "");
                let harmless = [">/dev/null", "1>/dev/null", "2>/dev/null", "2>&1", "</dev/null"];
                if !harmless.contains(&shown.as_str()) {
                    return Err(format!("the redirection {shown}"));
                }
            }
            Item::ProcessSubstitution(..) => return Err("a process substitution".into()),
        }
    }
    Ok((assignments, words))
}

/// A word's text after quotes are removed, to the other parser; `None` if it runs, calculates or looks up something.
fn text_of(raw: &str) -> Option<String> {
    fn join(pieces: &[word::WordPieceWithSource]) -> Option<String> {
        pieces
            .iter()
            .map(|piece| match &piece.piece {
                WordPiece::Text(text) | WordPiece::SingleQuotedText(text) => Some(text.clone()),
                WordPiece::DoubleQuotedSequence(inside) => join(inside),
                WordPiece::EscapeSequence(escaped) => Some(escaped.strip_prefix('\\').unwrap_or(escaped).to_owned()),
                WordPiece::TildeExpansion(_) => Some("~".to_owned()),
                _ => None,
            })
            .collect()
    }
    join(&word::parse(raw, &ParserOptions::default()).ok()?)
}

/// How the two readings of an accepted line differ, if they do.
fn difference(text: &str) -> Option<String> {
    let ours = parse_plain(text)?;
    let theirs = match commands(text) {
        Ok(theirs) => theirs,
        Err(found) => return Some(found),
    };
    if ours.len() != theirs.len() {
        return Some(format!("{} commands here, {} there", ours.len(), theirs.len()));
    }
    for (ours, (assignments, theirs)) in ours.iter().zip(&theirs) {
        let assigned: Option<Vec<_>> = assignments.iter().map(|raw| text_of(raw)).collect();
        if assigned.as_ref() != Some(&ours.assignments) {
            return Some(format!("{ours:?} has {assignments:?} there"));
        }
        if ours.program != theirs[0] || ours.args.len() + 1 != theirs.len() {
            return Some(format!("{ours:?} is {theirs:?} there"));
        }
        for (word, raw) in ours.args.iter().zip(&theirs[1..]) {
            let same = match word {
                PlainWord::Literal(text) => text_of(raw).as_ref() == Some(text),
                PlainWord::Files(text) => raw == text && text_of(raw).is_some(),
                PlainWord::Variable => raw.contains('$'),
            };
            if !same {
                return Some(format!("{word:?} is {raw:?} there"));
            }
        }
    }
    None
}

#[test]
fn both_parsers_see_the_same_in_every_line_that_the_grammar_accepts() {
    let count = if std::env::var_os("ROOST_FULL").is_some() { 200_000 } else { 10_000 };
    let mut random = Random(0x7365_636f_6e64);
    let mut accepted = 0;
    for at in 0..count {
        let text = if at % 2 == 0 { line(&mut random) } else { line_with_answers(&mut random) };
        accepted += usize::from(parse_plain(&text).is_some());
        assert_eq!(difference(&text), None, "{text:?}");
    }
    println!("{count} lines, {accepted} of them accepted");
    assert!(accepted * 10 > count, "{accepted} of {count}");
}

#[test]
fn both_parsers_see_the_same_in_everyday_reads() {
    for text in include_str!("everyday.txt").lines().chain(include_str!("everyday_second.txt").lines()) {
        assert_eq!(difference(text), None, "{text}");
    }
}

/// An oracle that never objects would prove nothing.
#[test]
fn the_other_parser_objects_to_what_is_not_plain() {
    for text in ["ls &", "A=1", ">x ls", "for x in a; do ls; done", "ls > x", "ls <(x)", "! ls", "(ls)", "ls() { x; }"]
    {
        assert!(commands(text).is_err(), "{text}");
    }
    for text in ["$(x)", "`x`", "\"$(x)\"", "$((1))", "$x"] {
        assert_eq!(text_of(text), None, "{text}");
    }
}
