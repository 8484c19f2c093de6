//! What OpenCode is told and tells.

use roost_engine::adapter::{Availability, Fact, RuntimeAdapter, TaskInput};
use roost_model::canonical;
use roost_model::payload::{ModelOutputDeltaKind, UsageReportedPayload};
use roost_model::sources::SourceKind;
use roost_model::tool::{ToolManifest, ToolManifestEntry};
use testkit::agents::Agent;

use super::live::Live;
use crate::codex::live::{Say, WatchedTask, completed, input, run};

#[tokio::test]
async fn text_comes_in_pieces_and_usage_in_one_shape() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let pieces = task.facts().filter_map(|fact| match fact {
        Fact::Delta(piece) if piece.kind == ModelOutputDeltaKind::TextDelta => Some(piece.delta.as_str()),
        _ => None,
    });
    let pieces: Vec<_> = pieces.collect();
    assert!(pieces.len() > 1, "{pieces:?}");
    assert_eq!(pieces.concat(), task.text());
    let usage = task.seen.iter().find(|draft| matches!(draft.fact, Fact::Usage(_))).unwrap();
    let Fact::Usage(UsageReportedPayload { input_tokens, cached_input_tokens, output_tokens, .. }) = usage.fact else {
        panic!()
    };
    assert_eq!((input_tokens, cached_input_tokens, output_tokens), (Some(100), Some(40), Some(25)));
    assert_eq!(usage.raw.as_ref().unwrap()["tokens"]["input"], 60, "OpenCode does not count what was cached");
    session.close().await;
}

#[tokio::test]
async fn a_refusal_without_a_reason_does_not_end_the_turn() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:shell", Say::No("")).await;
    assert!(completed(&end), "{end:?}");
    assert!(task.text().contains("refused"), "the model hears of it: {}", task.text());
    assert!(!live.sandbox.work().join("out.txt").exists());
    session.close().await;
}

#[tokio::test]
async fn the_files_that_opencode_reads_by_itself_are_told_by_path_and_hash() {
    let mut live = Live::new();
    let settings = live.sandbox.home().join(".config/opencode/opencode.json");
    let files = [
        (settings, "{}", SourceKind::Config),
        (live.sandbox.work().join("opencode.json"), "{ }", SourceKind::Config),
        (live.sandbox.work().join("AGENTS.md"), "Be brief.", SourceKind::ProjectInstruction),
        (live.sandbox.work().join("CLAUDE.md"), "Be kind.", SourceKind::ProjectInstruction),
        (live.sandbox.work().join(".opencode/command/greet.md"), "Say hello.", SourceKind::ProjectInstruction),
        (live.sandbox.home().join("more.json"), "{}", SourceKind::Config),
    ];
    live.env.insert("OPENCODE_CONFIG".into(), live.sandbox.home().join("more.json").display().to_string());
    for (path, text, _) in &files {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut session = live.session().await;
    let (_, task) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    let told = &task.sent.as_ref().unwrap().implicit_sources;
    for (path, _, kind) in files {
        let source = told.sources.iter().find(|source| source.path == path.display().to_string());
        let source = source.unwrap_or_else(|| panic!("{} is missing: {told:?}", path.display()));
        // OpenCode itself writes the name of a schema into settings.
        let hash = canonical::hash_bytes(&std::fs::read(&path).unwrap());
        assert_eq!((source.kind, &source.hash), (kind, &Some(hash)));
    }
    assert!(!serde_json::to_string(told).unwrap().contains("Be brief."));
    session.close().await;
}

#[tokio::test]
async fn a_project_that_allows_everything_is_asked_about_all_the_same() {
    let live = Live::new();
    let allows = r#"{ "permission": { "*": "allow", "bash": "allow" } }"#;
    std::fs::write(live.sandbox.work().join("opencode.json"), allows).unwrap();
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:shell").await;
    let call = task.asks().await;
    task.say(&call, Say::No("not today")).await;
    assert!(completed(&task.end(Say::No("not today")).await));
    assert!(task.text().contains("not today"), "{}", task.text());
    let sources = &task.sent.as_ref().unwrap().implicit_sources.sources;
    assert!(sources.iter().any(|source| source.path.ends_with("work/opencode.json")), "{sources:?}");
    session.close().await;
}

#[tokio::test]
async fn the_input_does_not_name_tools_that_opencode_is_not_told_of() {
    let live = Live::new();
    let mut session = live.session().await;
    let tool =
        ToolManifestEntry { name: "probe_echo".into(), description: None, input_schema: None, schema_hash: None };
    let tool_manifest = Some(ToolManifest { tools: vec![tool] });
    let mut task = WatchedTask::begin_with(&mut session, TaskInput { tool_manifest, ..input("SCRIPT:text") }).await;
    assert_eq!(task.sent.as_ref().unwrap().input.get("tool_manifest"), None);
    assert!(completed(&task.end(Say::Yes).await));
    session.close().await;
}

#[tokio::test]
async fn a_provider_of_ones_own_needs_no_login() {
    let live = Live::new();
    let status = live.adapter.auth_status(&live.env()).await;
    assert_eq!((status.logged_in, status.summary()), (false, "not needed"));
    assert_eq!(live.adapter.ensure_login(&live.env()).await, None);
}

#[tokio::test]
async fn the_version_of_opencode_is_told() {
    let live = Live::new();
    let Availability::Installed { version } = live.adapter.availability(&live.env()).await else { panic!() };
    assert_eq!(version, Some(Agent::OpenCode.version()));
}
