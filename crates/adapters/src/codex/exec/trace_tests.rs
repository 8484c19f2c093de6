//! Recorded runs of `codex exec --json`, read by the same code that reads live ones.

use std::fmt::Write;
use std::path::Path;

use roost_engine::adapter::{Draft, Fact};
use serde_json::Value;

use super::map::ExecMapper;
use super::totals::Totals;

fn read(path: &Path) -> (ExecMapper, Vec<Draft>) {
    let mut mapper = ExecMapper::new("turn".into(), "/home/dev/work".into(), Totals::default());
    let mut drafts = Vec::new();
    for record in std::fs::read_to_string(path).unwrap().lines() {
        let record: Value = serde_json::from_str(record).unwrap();
        if record["dir"] == "out" {
            mapper.on_line(record["line"].as_str().unwrap(), &mut drafts);
        }
    }
    mapper.close(&mut drafts);
    (mapper, drafts)
}

#[test]
fn recorded_runs_are_understood_as_before() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/codex-exec");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 11, "the traces are missing");
    for path in files {
        let (mapper, drafts) = read(&path);
        let mut text = format!("thread {}\n", mapper.thread.unwrap());
        for draft in drafts {
            match &draft.fact {
                Fact::Notice(notice) => assert!(!notice.message.contains("does not know"), "{draft:?}"),
                Fact::ToolRequested(call) => {
                    assert!(call.identity.tool_call_id.as_str().starts_with("tc_"));
                }
                _ => {}
            }
            writeln!(text, "  {:?}", draft.fact).unwrap();
        }
        writeln!(text, "{:?}", mapper.end.expect("every recorded turn ends")).unwrap();
        insta::assert_snapshot!(path.file_stem().unwrap().to_string_lossy().into_owned(), text);
    }
}

#[test]
fn a_thread_counts_on_and_a_turn_does_not() {
    let mut mapper = ExecMapper::new("turn".into(), "/".into(), Totals::default());
    let mut used = Vec::new();
    for (input, output) in [(100, 10), (250, 30)] {
        let line =
            format!(r#"{{"type":"turn.completed","usage":{{"input_tokens":{input},"output_tokens":{output}}}}}"#);
        let mut drafts = Vec::new();
        mapper.on_line(&line, &mut drafts);
        let [Draft { fact: Fact::Usage(usage), .. }] = &drafts[..] else { panic!("{drafts:?}") };
        used.push((usage.input_tokens, usage.output_tokens));
    }
    assert_eq!(used, [(Some(100), Some(10)), (Some(150), Some(20))]);
}
