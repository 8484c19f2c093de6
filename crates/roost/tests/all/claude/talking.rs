//! What Claude Code says, and what is said about it.

use roost_engine::adapter::{Availability, Fact, RuntimeAdapter, TaskEnd, TaskInput};
use roost_model::canonical;
use roost_model::mode::Mode;
use roost_model::payload::ModelOutputDeltaKind;
use serde_json::json;

use super::live::{LiveClaude, Verdict, input, run, run_allowing, start};
use crate::codex::live::{Say, completed};

#[tokio::test]
async fn thinking_is_told_apart_from_the_answer() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let done = run_allowing(&mut session, "SCRIPT:think").await;
    let thought: String = done
        .facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::Delta(piece) if piece.kind == ModelOutputDeltaKind::ReasoningDelta => Some(piece.delta.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        (thought.as_str(), done.text().as_str()),
        ("Let me think about this in a scripted way.", "Thought it through.")
    );
    session.close().await;
}

#[tokio::test]
async fn a_slash_command_that_the_cli_refuses_is_answered_with_the_reason() {
    let config = json!({ "disableSkillShellExecution": false });
    let live = LiveClaude::configured(config.as_object().cloned().unwrap());
    let command = live.work().join(".claude/commands/look.md");
    std::fs::create_dir_all(command.parent().unwrap()).unwrap();
    std::fs::write(command, "!`touch looked`\nSCRIPT:text").unwrap();
    let mut session = live.session().await;
    let done = run_allowing(&mut session, "/look").await;
    assert!(done.text().contains("permission check failed"), "{:?}", done.facts);
    session.close().await;
}

#[tokio::test]
async fn every_turn_tells_what_it_used_and_cost_by_itself() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let first = run_allowing(&mut session, "SCRIPT:text").await;
    let second = run_allowing(&mut session, "SCRIPT:text").await;
    let (first, second) = (first.usage(), second.usage());
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_eq!((first[0].input_tokens, first[0].cached_input_tokens), (Some(140), Some(40)));
    assert!(first[0].output_tokens.is_some_and(|tokens| tokens > 0), "{first:?}");
    assert!(first[0].cost_usd.is_some_and(|cost| cost > 0.0), "{first:?}");
    assert_eq!(first[0].cost_usd, second[0].cost_usd, "the same turn costs the same");
    session.close().await;
}

#[tokio::test]
async fn the_plan_is_shown() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let done = run_allowing(&mut session, "SCRIPT:plan").await;
    let plan = done.facts.iter().find_map(|fact| match fact {
        Fact::Plan(plan) => Some(plan.entries.len()),
        _ => None,
    });
    assert_eq!(plan, Some(1), "{:?}", done.facts);
    session.close().await;
}

#[tokio::test]
async fn the_input_names_what_is_read_beside_it() {
    let live = LiveClaude::new();
    std::fs::write(live.work().join("CLAUDE.md"), "Speak of nothing but whales.").unwrap();
    let mut session = live.session().await;
    let done = run_allowing(&mut session, "SCRIPT:text").await;
    let sources = &done.input.implicit_sources.sources;
    let instruction = sources.iter().find(|source| source.path.ends_with("/CLAUDE.md")).unwrap();
    assert_eq!(instruction.hash, Some(canonical::hash_bytes(b"Speak of nothing but whales.")));
    assert_eq!(done.input.input["messages"][0]["content"][0]["text"], "SCRIPT:text");
    session.close().await;
}

#[tokio::test]
async fn settings_are_passed_on_as_they_are() {
    let live = LiveClaude::new();
    let mut open = live.open();
    open.input.runtime_config = json!({ "env": { "GREETING": "from the settings" } }).as_object().cloned();
    let mut session = live.adapter.create_session(open).await.unwrap();
    let done = run_allowing(&mut session, "SCRIPT:shell RUN:echo $GREETING").await;
    assert!(done.text().contains("from the settings"), "{}", done.text());
    assert_eq!(done.input.input["runtime_config"]["settings"]["env"]["GREETING"], "from the settings");
    assert_eq!(done.input.input["runtime_config"]["permission_mode"], "default");
    session.close().await;
}

#[tokio::test]
async fn the_input_names_the_model_and_the_settings_of_the_configuration() {
    let config = json!({ "env": { "GREETING": "from roost.toml" } });
    let live = LiveClaude::configured(config.as_object().cloned().unwrap());
    let mut open = live.open();
    open.input.model = Some("claude-sonnet-4-5".into());
    let mut session = live.adapter.create_session(open).await.unwrap();
    let done = run_allowing(&mut session, "SCRIPT:text").await;
    let told = &done.input.input["runtime_config"];
    let mut settings = config;
    settings["disableSkillShellExecution"] = true.into();
    assert_eq!((&told["model"], &told["settings"]), (&"claude-sonnet-4-5".into(), &settings));
    session.close().await;
}

#[tokio::test]
async fn a_task_that_runs_can_be_steered() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let mut task = start(&mut session, input("SCRIPT:shell")).await;
    let call = task.asks().await;
    // While the call waits, so that the task cannot be over yet.
    task.steer("NOTE:blue").await;
    task.say(&call, Say::Yes).await;
    assert!(completed(&task.end(Say::Yes).await));
    // In the result of the tool or as a message of its own, as Claude Code likes.
    assert!(task.text().contains("blue"), "{}", task.text());
    session.close().await;
}

#[tokio::test]
async fn a_turn_that_the_agent_begins_by_itself_does_not_end_a_task() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let background = json!({ "command": "sleep 0.2", "run_in_background": true });
    for round in ["one", "two", "three"] {
        run(&mut session, input("SCRIPT:shell"), |_| Verdict::AllowEdited(background.clone())).await;
        // Claude Code begins a turn about its end, a little before, while or after the next task begins.
        live.until_nothing_runs("sleep").await;
        let done = run_allowing(&mut session, &format!("SCRIPT:shell RUN:echo {round}")).await;
        assert!(done.text().contains(&format!("tool result(s): {round}")), "{}", done.text());
    }
    session.close().await;
}

#[tokio::test]
async fn the_mode_of_a_task_is_the_agents_too_as_far_as_it_plans() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let mut planning = input("SCRIPT:shell RUN:touch made");
    planning.mode = Mode::Plan;
    let done = run(&mut session, planning, |_| Verdict::Deny("planning")).await;
    assert!(done.text().contains("planning"), "{}", done.text());
    let done = run_allowing(&mut session, "SCRIPT:shell RUN:touch made").await;
    assert!(matches!(done.end(), TaskEnd::Completed(_)));
    assert!(live.work().join("made").exists());
    session.close().await;
}

#[tokio::test]
async fn the_version_is_told_without_a_session() {
    let live = LiveClaude::new();
    let Availability::Installed { version: Some(version) } = live.adapter.availability(&live.env()).await else {
        panic!("it is installed")
    };
    assert!(version.starts_with("2."), "{version}");
    let missing = LiveClaude::with("/nonexistent/claude".into());
    let Availability::Missing { reason } = missing.adapter.availability(&missing.env()).await else {
        panic!("it is not installed")
    };
    assert!(reason.contains("npm install"), "{reason}");
}

#[tokio::test]
async fn another_model_is_used_from_the_task_on_that_names_it() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    run_allowing(&mut session, "SCRIPT:text").await;
    let other = TaskInput { model: Some("claude-opus-4-5".into()), ..input("SCRIPT:think") };
    run(&mut session, other, |_| Verdict::Allow).await;
    let asked = live.model.requests().into_iter().filter_map(|asked| Some((asked.script?, asked.model)));
    let of =
        |script: &str| asked.clone().filter(|(name, _)| name == script).map(|(_, model)| model).collect::<Vec<_>>();
    assert!(of("text").iter().all(|model| model == "claude-sonnet-4-5"), "{:?}", of("text"));
    assert!(of("think").iter().any(|model| model == "claude-opus-4-5"), "{:?}", of("think"));
    session.close().await;
}
