//! The tables in `docs/protocol.md` are those of the code.

use std::fs;
use std::path::Path;

use roost_rpc::notification::EventName;
use roost_rpc::{FaultCode, Method};
use testkit::committed::assert_committed;

#[test]
fn the_tables_of_the_protocol_are_the_generated_ones() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol.md");
    let text = fs::read_to_string(&path).unwrap();
    let text = [("errors", errors()), ("methods", methods()), ("events", events())]
        .into_iter()
        .fold(text, |text, (name, table)| with_block(&text, name, &table));
    assert_committed(&path, &text);
}

/// The text with this table between the marks of its name.
fn with_block(text: &str, name: &str, table: &str) -> String {
    let (before, rest) = text.split_once(&format!("<!-- {name}: ")).unwrap();
    let (mark, rest) = rest.split_once("-->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    format!("{before}<!-- {name}: {mark}-->\n{table}<!-- end -->{after}")
}

fn errors() -> String {
    let row = |code: &FaultCode| {
        let (number, word, status) = (code.number(), code.word(), code.status());
        format!("| {number} | `{word}` | {status} | {} |\n", code.summary())
    };
    table("| code | word | HTTP | meaning |\n|---|---|---|---|\n", FaultCode::ALL.iter().map(row))
}

fn methods() -> String {
    let row = |method: &Method| {
        let scope = serde_json::to_value(method.scope()).unwrap();
        format!("| `{}` | {} | {} |\n", method.name(), scope.as_str().unwrap(), method.summary())
    };
    table("| method | scope | what it does |\n|---|---|---|\n", Method::ALL.iter().map(row))
}

fn events() -> String {
    let row = |event: &EventName| format!("| `event/{}` | {} |\n", event.name(), event.summary());
    table("| event | what it tells |\n|---|---|\n", EventName::ALL.iter().map(row))
}

fn table(head: &str, rows: impl Iterator<Item = String>) -> String {
    rows.fold(head.to_owned(), |table, row| table + &row)
}

#[test]
fn the_page_about_parameters_is_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/parameters.md");
    assert_committed(&path, &roost_rpc::parameters::markdown());
}
