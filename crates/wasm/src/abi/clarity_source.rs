//! The signatures in a Clarity source: the compiler leaves neither names nor types in the module.
//!
//! Only what is needed for that is understood: `function name(p: T) -> R` with what may stand before it, comments above
//! it, and `type Name = { … }`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use super::type_syntax::{self, NamedTypes, TypeBudget};
use super::value_type::{Parameter, Signature};
use crate::regular_file;

/// A longer source is not read.
const MAX_SOURCE_BYTES: u64 = 256 << 10;
/// Only so much of a declaration is looked at: from `function` or `type` to the end of its header or of its fields.
const MAX_DECLARATION_BYTES: usize = 4 << 10;
/// Only so much of the comments above a function describes it.
const MAX_COMMENT_BYTES: usize = 4 << 10;
/// So many functions are named that cannot be described.
const MAX_NAMES_SHOWN: usize = 10;
/// What the types of all functions may cost together, in the unit of [`TypeBudget`].
const SOURCE_BUDGET: usize = 100 * type_syntax::SIGNATURE_BUDGET;

/// What a source says about its functions.
#[derive(Debug, Default)]
struct SourceSignatures {
    /// The signatures of the functions whose types are all known, by name.
    known: BTreeMap<String, Signature>,
    /// The functions whose types are too large when they are written out.
    too_large: BTreeSet<String>,
}

/// Whether a file is a Clarity source by its name.
pub(crate) fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "clarity")
}

/// Reads the source at a path, and says what of it could not be used: a service runs without it, too. Blocks on the disk.
pub(crate) fn read(path: &Path) -> (BTreeMap<String, Signature>, Option<String>) {
    let text = regular_file::open(path).and_then(|file| regular_file::read(file, MAX_SOURCE_BYTES));
    let text = text.and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
    match text.map(|text| signatures(&text)) {
        Ok(SourceSignatures { known, too_large }) if too_large.is_empty() => (known, None),
        Ok(SourceSignatures { known, too_large }) => {
            let names: Vec<_> = too_large.iter().take(MAX_NAMES_SHOWN).map(String::as_str).collect();
            let (count, names) = (too_large.len(), names.join(", "));
            let note = format!("the types of {count} functions are too large to be described ({names})");
            (known, Some(format!("{}: {note}", path.display())))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Default::default(),
        Err(error) => (BTreeMap::new(), Some(format!("{}: its names and types are not used: {error}", path.display()))),
    }
}

/// Reads the headers in a source.
fn signatures(source: &str) -> SourceSignatures {
    let named = named_types(source);
    let (mut found, mut left) = (SourceSignatures::default(), SOURCE_BUDGET);
    for declaration in declarations(source, "function") {
        let budget = left.min(type_syntax::SIGNATURE_BUDGET);
        let mut types = TypeBudget::new(budget);
        let Some((name, rest)) = declaration.text.split_once('(') else { continue };
        let name = name.trim();
        if !is_name(name) {
            continue;
        }
        let signature = function(rest, &named, &mut types);
        left -= budget - types.left();
        match signature {
            Some(signature) => {
                let description = declaration.line_start.and_then(|start| comment_above(source, start));
                found.known.insert(name.to_owned(), Signature { description, ..signature });
            }
            None if types.is_exceeded() => _ = found.too_large.insert(name.to_owned()),
            None => {}
        }
    }
    found
}

/// The signature whose parameters the text begins with.
fn function<'a>(rest: &'a str, named: &NamedTypes<'a>, budget: &mut TypeBudget) -> Option<Signature> {
    let end = closing(rest, ')')?;
    let mut parameters = Vec::new();
    for text in split_outside(&rest[..end]) {
        let (name, value_type) = text.split_once(':')?;
        let value_type = type_syntax::parse(value_type, named, budget)?;
        parameters.push(Parameter { name: name.trim().to_owned(), value_type, description: None });
    }
    let result = rest[end + 1..].trim_start().strip_prefix("->")?;
    let result = type_syntax::parse(&result[..body(result)?], named, budget)?;
    Some(Signature { parameters, results: vec![result], description: None })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
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
fn named_types(source: &str) -> NamedTypes<'_> {
    let types = declarations(source, "type").filter_map(|declaration| {
        let (name, rest) = declaration.text.split_once('=')?;
        let record = rest.trim_start();
        let end = closing(record.strip_prefix('{')?, '}')?;
        let name = name.trim();
        is_name(name).then(|| (name, &record[..end + 2]))
    });
    types.collect()
}

/// What follows a keyword.
struct Declaration<'a> {
    /// The text behind the keyword, as far as it is looked at.
    text: &'a str,
    /// Where the line of the keyword begins; absent if the keyword stood in the line before already.
    line_start: Option<usize>,
}

/// Each place where the keyword stands as a word of its own outside of comments.
fn declarations<'a>(source: &'a str, keyword: &'static str) -> impl Iterator<Item = Declaration<'a>> {
    let mut next = 0;
    let lines = source.split_inclusive('\n').map(move |line| {
        let start = next;
        next += line.len();
        (start, line.split("//").next().unwrap_or_default())
    });
    lines.flat_map(move |(line_start, code)| {
        let places = code.match_indices(keyword).filter_map(move |(at, _)| {
            let text = &source[line_start + at + keyword.len()..];
            let is_alone = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            (is_alone && text.starts_with(char::is_whitespace)).then_some(text)
        });
        places.enumerate().map(move |(nth, text)| Declaration {
            text: &text[..text.floor_char_boundary(MAX_DECLARATION_BYTES)],
            line_start: (nth == 0).then_some(line_start),
        })
    })
}

/// The lines of comment directly above a line.
fn comment_above(source: &str, line_start: usize) -> Option<String> {
    let first = source.ceil_char_boundary(line_start.saturating_sub(MAX_COMMENT_BYTES));
    let comments = source[first..line_start].lines().rev().map_while(|line| line.trim().strip_prefix("//"));
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
        let found = signatures(SOURCE).known;
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

    /// Records of which each has four fields of the next one.
    fn growing_records(count: usize) -> String {
        let records = (0..count).map(|at| {
            let next = at + 1;
            format!("type R{at} = {{ a: R{next}, b: R{next}, c: R{next}, d: R{next} }}\n")
        });
        records.chain([format!("type R{count} = {{ a: Bool }}\n")]).collect()
    }

    #[test]
    fn a_type_that_grows_with_each_record_is_left_out_with_its_function() {
        let functions = "function huge(r: R0) -> Int64 { 0 }\nfunction small(r: R11) -> Int64 { 0 }";
        let found = signatures(&(growing_records(14) + functions));
        assert_eq!(found.too_large, BTreeSet::from(["huge".to_owned()]));
        assert!(found.known["small"].to_string().ends_with("-> Int64"));
    }

    #[test]
    fn all_types_of_a_source_together_have_a_bounded_size() {
        // Each function has 341 records.
        let functions = (0..2_000).map(|at| format!("function f{at}(r: R0) -> Int64 {{ 0 }}\n"));
        let source = growing_records(4) + &functions.collect::<String>();
        let found = signatures(&source);
        assert_eq!(found.known.len() + found.too_large.len(), 2_000);
        assert!((100..1_000).contains(&found.known.len()), "{}", found.known.len());
    }

    #[test]
    fn a_source_of_one_line_costs_no_more_than_its_length() {
        // An hour, if each function cost as much as the line before it.
        let source = "function () ".repeat(1 << 18) + "function f() -> Int64 { 0 }";
        assert_eq!(signatures(&source).known.len(), 1);
    }

    #[test]
    fn brackets_that_are_never_closed_are_not_searched_to_the_end() {
        let source = "type T = {".repeat(10_000) + "\n" + &"function f(".repeat(10_000);
        assert_eq!(signatures(&source).known.len(), 0);
    }

    #[test]
    fn a_long_comment_is_cut() {
        let source = format!("{}\nfunction f() -> Int64 {{ 0 }}\n", "// é".repeat(10_000));
        let description = signatures(&format!("//{source}")).known["f"].description.clone();
        assert!(description.is_none_or(|text| text.len() <= MAX_COMMENT_BYTES));
        let lines = format!("{}function f() -> Int64 {{ 0 }}\n", "// one\n".repeat(10_000));
        let description = signatures(&lines).known["f"].description.clone().unwrap();
        assert!(description.starts_with("one one") && description.len() <= MAX_COMMENT_BYTES, "{}", description.len());
    }

    proptest! {
        #[test]
        fn no_source_makes_the_reader_fail(text in "(function |type |//|[a-z(){}<>:,=\\n -]|é){0,60}") {
            let _ = signatures(&text);
        }
    }
}
