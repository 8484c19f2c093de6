//! The signatures in a Clarity source: the compiler leaves neither names nor types in the module.
//!
//! Only what is needed for that is understood: `function name(p: T) -> R` with what may stand before it, comments above
//! it, and `type Name = { … }`.

use std::collections::BTreeMap;

use super::type_syntax::{self, NamedTypes};
use super::value_type::{Parameter, Signature};

/// A longer source is not read.
pub(crate) const MAX_SOURCE_BYTES: u64 = 4 << 20;

/// The signatures of the functions whose types are all known, by name.
pub(crate) fn signatures(source: &str) -> BTreeMap<String, Signature> {
    let named = named_types(source);
    let functions = after_keyword(source, "function").filter_map(|(start, rest)| {
        let (name, signature) = function(rest, &named)?;
        Some((name, Signature { description: comment_above(source, start), ..signature }))
    });
    functions.collect()
}

fn function(rest: &str, named: &NamedTypes) -> Option<(String, Signature)> {
    let (name, rest) = rest.split_once('(')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let end = closing(rest, ')')?;
    let parameters = split_outside(&rest[..end]).into_iter().map(|text| {
        let (name, value_type) = text.split_once(':')?;
        let value_type = type_syntax::parse(value_type, named)?;
        Some(Parameter { name: name.trim().to_owned(), value_type, description: None })
    });
    let result = rest[end + 1..].trim_start().strip_prefix("->")?;
    let result = type_syntax::parse(&result[..body(result)?], named)?;
    let signature =
        Signature { parameters: parameters.collect::<Option<_>>()?, results: vec![result], description: None };
    is_name.then(|| (name.to_owned(), signature))
}

/// Where the body begins behind a result type, which may have braces of its own.
fn body(text: &str) -> Option<usize> {
    let start = text.len() - text.trim_start().len();
    match text[start..].strip_prefix('{') {
        Some(record) => Some(start + closing(record, '}')? + 2),
        None => text.find('{'),
    }
}

/// The records that the source names.
fn named_types(source: &str) -> NamedTypes {
    let types = after_keyword(source, "type").filter_map(|(_, rest)| {
        let (name, rest) = rest.split_once('=')?;
        let fields = rest.trim_start().strip_prefix('{')?;
        let end = closing(fields, '}')?;
        Some((name.trim().to_owned(), format!("{{{}}}", &fields[..end])))
    });
    types.collect()
}

/// Each place where the keyword stands as a word of its own outside of comments, with the text behind it.
fn after_keyword<'a>(source: &'a str, keyword: &'static str) -> impl Iterator<Item = (usize, &'a str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(keyword).filter_map(move |(start, _)| {
        let rest = &source[start + keyword.len()..];
        let line = source[..start].rsplit('\n').next().unwrap_or_default();
        let alone = !line.ends_with(is_word) && rest.starts_with(char::is_whitespace);
        (alone && !line.contains("//")).then_some((start, rest))
    })
}

/// The lines of comment directly above a place.
fn comment_above(source: &str, place: usize) -> Option<String> {
    let above = &source[..source[..place].rfind('\n')?];
    let comments = above.lines().rev().map_while(|line| line.trim().strip_prefix("//"));
    let mut lines: Vec<_> = comments.map(str::trim).collect();
    lines.reverse();
    let text = lines.join(" ");
    (!text.is_empty()).then_some(text)
}

/// Where a bracket is closed that was opened before the text.
fn closing(text: &str, bracket: char) -> Option<usize> {
    let mut open = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' => open.push(')'),
            '{' => open.push('}'),
            ')' | '}' => match open.pop() {
                Some(expected) if expected == c => {}
                None if c == bracket => return Some(at),
                _ => return None,
            },
            _ => {}
        }
    }
    None
}

/// The parts between commas that are in no bracket.
fn split_outside(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '<' | '{' | '(' => depth += 1,
            '>' | '}' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SOURCE: &str = "module Main\n\
        type Point = { x: Float64, y: Float64 }\n\
        type Shape =\n  | Circle(radius: Float64)\n\
        // Adds two numbers.\n// Never overflows.\n\
        function add(a: Int64, b: Int64) -> Int64 { a + b }\n\
        effect[Log, Model] function greet(name: String, times: Option<Int64>) -> Result<String, String> {\n  ok\n}\n\
        export function middle(points: List<Point>) -> { at: Point, count: Int64 } { x }\n\
        function area(s: Shape) -> Float64 { 0.0 }\n\
        // function commented(a: Int64) -> Int64 {\n\
        function done() -> Unit { }\n\
        function broken(a: Int64 -> Int64 {\n";

    #[test]
    fn headers_are_found_with_names_types_and_comments() {
        let found = signatures(SOURCE);
        let shown: Vec<_> = found.iter().map(|(name, one)| format!("{name}{one}")).collect();
        assert_eq!(
            shown,
            [
                "add(a: Int64, b: Int64) -> Int64",
                "done() -> Unit",
                "greet(name: String, times: Option<Int64>) -> Result<String, String>",
                "middle(points: List<{ x: Float64, y: Float64 }>) -> { at: { x: Float64, y: Float64 }, count: Int64 }",
            ]
        );
        assert_eq!(found["add"].description.as_deref(), Some("Adds two numbers. Never overflows."));
        assert_eq!(found["greet"].description, None);
    }

    proptest! {
        #[test]
        fn no_source_makes_the_reader_fail(text in "(function |type |//|[a-z(){}<>:,=\\n -]|é){0,60}") {
            let _ = signatures(&text);
        }
    }
}
