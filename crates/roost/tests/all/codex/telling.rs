//! What Codex is told and tells.

use std::os::unix::fs::PermissionsExt;

use roost_engine::adapter::{Availability, Fact, RuntimeAdapter, TaskEnd};
use roost_model::canonical;
use roost_model::ids::QuestionId;
use roost_model::payload::{ModelOutputDeltaKind, UsageReportedPayload};
use roost_model::sources::SourceKind;
use roost_model::tool::{ToolManifest, ToolManifestEntry};
use serde_json::json;
use testkit::soon;

use super::MODEL;
use super::live::{Live, Say, WatchedTask, completed, input, run};

#[tokio::test]
async fn text_and_thoughts_come_in_pieces_and_usage_in_one_shape() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:think", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let pieces = |wanted: ModelOutputDeltaKind| {
        let deltas = task.facts().filter_map(move |fact| match fact {
            Fact::Delta(piece) if piece.kind == wanted => Some(piece.delta.as_str()),
            _ => None,
        });
        deltas.collect::<String>()
    };
    assert_eq!(pieces(ModelOutputDeltaKind::ReasoningDelta), "Let me think about this in a scripted way.");
    assert_eq!(pieces(ModelOutputDeltaKind::TextDelta), "Thought it through.");
    let usage = task.seen.iter().find(|draft| matches!(draft.fact, Fact::Usage(_))).unwrap();
    let Fact::Usage(UsageReportedPayload {
        input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, ..
    }) = usage.fact
    else {
        panic!()
    };
    let told = (input_tokens, cached_input_tokens, output_tokens, reasoning_tokens);
    assert_eq!(told, (Some(100), Some(40), Some(25), Some(5)));
    assert_eq!(usage.raw.as_ref().unwrap()["last"]["totalTokens"], 125);
    session.close().await;
}

#[tokio::test]
async fn a_refusal_is_heard_with_its_reason() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:shell", Say::No("the disk is precious NOTE:precious")).await;
    assert!(completed(&end), "{end:?}");
    assert!(task.text().contains("rejected by user"), "{}", task.text());
    assert!(task.text().contains("notes: precious"), "{}", task.text());
    assert!(!live.sandbox.work().join("out.txt").exists());
    session.close().await;
}

#[tokio::test]
async fn a_change_of_files_is_asked_about_with_its_diff_and_told_as_a_patch() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:write", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let asked = task.facts().find_map(|fact| match fact {
        Fact::ToolRequested(call) | Fact::ToolAsks(call) => Some(call),
        _ => None,
    });
    assert_eq!(asked.unwrap().input["changes"][0]["diff"], "hi\n");
    assert_eq!(std::fs::read_to_string(live.sandbox.work().join("out.txt")).unwrap(), "hi\n");
    let patch = task.seen.iter().rev().find_map(|draft| draft.raw.as_ref()?.get("diff")?.as_str());
    assert!(patch.unwrap().contains("+hi"), "{patch:?}");
    session.close().await;
}

#[tokio::test]
async fn a_wish_to_leave_the_sandbox_is_asked_about_with_its_reason() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:esc", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let asked = task.facts().find_map(|fact| match fact {
        Fact::ToolRequested(call) | Fact::ToolAsks(call) => Some(call.input["reason"].clone()),
        _ => None,
    });
    assert!(asked.unwrap().as_str().is_some_and(|reason| !reason.is_empty()), "{:#?}", task.seen);
    session.close().await;
}

#[tokio::test]
async fn a_question_is_asked_and_its_answer_heard() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:ask", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let ids: Vec<&QuestionId> = task
        .facts()
        .filter_map(|fact| match fact {
            Fact::Question(question) => Some(&question.question_id),
            _ => None,
        })
        .collect();
    assert_eq!(ids.len(), 1);
    assert!(task.text().contains("Blue"), "{}", task.text());
    session.close().await;
}

#[tokio::test]
async fn a_tool_of_the_hosts_is_run_by_the_host_and_may_be_refused() {
    let live = Live::new();
    let mut session = live.session().await;
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let tool = ToolManifestEntry {
        name: "probe_echo".into(),
        description: Some("says it again".into()),
        input_schema: Some(schema),
        schema_hash: None,
    };
    let wants_host = |fact: &Fact| match fact {
        Fact::HostToolAsks(call) => Some(call.identity.clone()),
        _ => None,
    };
    let told = |text: &str| {
        let manifest = ToolManifest { tools: vec![tool.clone()] };
        roost_engine::adapter::TaskInput { tool_manifest: Some(manifest), ..input(text) }
    };
    let mut task = WatchedTask::begin_with(&mut session, told("SCRIPT:mcp")).await;
    let call = task.until(wants_host).await;
    task.tell_result(&call, json!({ "weather": "rain" })).await;
    assert!(completed(&task.end(Say::Yes).await));
    assert!(task.text().contains("rain"), "{}", task.text());

    let mut task = WatchedTask::begin_with(&mut session, told("SCRIPT:mcp again")).await;
    let call = task.until(wants_host).await;
    task.say(&call, Say::No("not today")).await;
    assert!(completed(&task.end(Say::Yes).await));
    assert!(task.text().contains("not today"), "{}", task.text());
    session.close().await;
}

#[tokio::test]
async fn the_input_names_the_hosts_tools_that_the_thread_was_begun_with() {
    let live = Live::new();
    let tool = |name: &str| {
        let schema = Some(json!({ "type": "object" }));
        ToolManifestEntry { name: name.into(), description: None, input_schema: schema, schema_hash: None }
    };
    let told = |text: &str, name: &str| {
        let tool_manifest = Some(ToolManifest { tools: vec![tool(name)] });
        roost_engine::adapter::TaskInput { tool_manifest, ..input(text) }
    };
    let named = |task: &WatchedTask| task.sent.as_ref().unwrap().input["tool_manifest"].clone();
    let begun = json!(ToolManifest { tools: vec![tool("probe_echo")] });
    let mut session = live.session().await;
    let mut task = WatchedTask::begin_with(&mut session, told("SCRIPT:text", "probe_echo")).await;
    assert_eq!(named(&task), begun);
    assert!(completed(&task.end(Say::Yes).await));
    let native = session.native_id().unwrap();
    session.close().await;
    // Codex takes no other tools when a thread is taken up again, and keeps those that it has.
    let mut session = live.resume(&native).await.unwrap();
    let mut task = WatchedTask::begin_with(&mut session, told("SCRIPT:mcp", "another")).await;
    assert_eq!(named(&task), begun);
    let call = task.until(|fact| match fact {
        Fact::HostToolAsks(call) => Some(call.identity.clone()),
        _ => None,
    });
    let call = call.await;
    task.tell_result(&call, json!("rain")).await;
    assert!(completed(&task.end(Say::Yes).await));
    session.close().await;

    let mut session = live.session().await;
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    let task = WatchedTask::begin_with(&mut session, told("SCRIPT:text", "probe_echo")).await;
    assert_eq!(named(&task), json!(null), "it began without any");
    session.close().await;
}

#[tokio::test]
async fn variables_that_only_an_old_codex_heeds_are_said_to_do_nothing() {
    let live = Live::new();
    let mut open = live.open();
    open.env.env.insert("ACPLB_IDLE_TIMEOUT_MS".into(), "1200".into());
    let mut session = soon("Codex starts", live.adapter.create_session(open)).await.unwrap();
    let (_, task) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    let notice = |fact: &Fact| match fact {
        Fact::Notice(notice) => notice.message.contains("ACPLB_IDLE_TIMEOUT_MS"),
        _ => false,
    };
    assert_eq!(task.facts().filter(|fact| notice(fact)).count(), 1, "{:#?}", task.seen);
    session.close().await;
}

#[tokio::test]
async fn a_running_turn_can_be_steered() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:shell").await;
    let call = task.asks().await;
    task.steer("NOTE:leftwards").await;
    task.say(&call, Say::Yes).await;
    assert!(completed(&task.end(Say::Yes).await));
    assert!(task.text().contains("notes: leftwards"), "{}", task.text());
    session.close().await;
}

#[tokio::test]
async fn what_codex_reads_by_itself_is_told_by_path_and_hash() {
    let live = Live::new();
    std::fs::write(live.sandbox.work().join("AGENTS.md"), "be brief\n").unwrap();
    let mut session = live.session().await;
    let (_, task) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    let sent = task.sent.as_ref().unwrap();
    let sources = &sent.implicit_sources.sources;
    let found = |kind: SourceKind, end: &str| {
        sources.iter().find(|source| source.kind == kind && source.path.ends_with(end)).cloned().unwrap()
    };
    let instructions = found(SourceKind::ProjectInstruction, "work/AGENTS.md");
    assert_eq!(instructions.hash, Some(canonical::hash_bytes(b"be brief\n")));
    assert!(found(SourceKind::Config, ".codex/config.toml").hash.is_some());
    assert!(!serde_json::to_string(&sent.implicit_sources).unwrap().contains("be brief"));
    assert_eq!(sent.input["runtime_config"]["sandbox"], "workspace-write");
    session.close().await;
}

#[tokio::test]
async fn the_login_is_what_the_environment_and_codex_own_folder_say() {
    let live = Live::new();
    let mut env = live.env();
    let own = live.adapter.auth_status(&env).await;
    assert_eq!((own.logged_in, own.summary()), (false, "not needed"), "its provider has a key of its own");
    assert_eq!(live.adapter.ensure_login(&env).await, None);
    std::fs::remove_file(live.sandbox.home().join(".codex/config.toml")).unwrap();
    assert_eq!(live.adapter.auth_status(&env).await.summary(), "no");
    assert!(live.adapter.ensure_login(&env).await.unwrap().contains("login"));
    let login = json!({ "OPENAI_API_KEY": null, "tokens": { "access_token": "eyJsecret" } });
    std::fs::write(live.sandbox.home().join(".codex/auth.json"), login.to_string()).unwrap();
    let status = live.adapter.auth_status(&env).await;
    assert!(status.logged_in && !serde_json::to_string(&status).unwrap().contains("secret"), "{status:?}");
    assert_eq!(live.adapter.ensure_login(&env).await, None);
    std::fs::remove_file(live.sandbox.home().join(".codex/auth.json")).unwrap();
    env.env.insert("CODEX_API_KEY".into(), "sk-secret".into());
    let status = live.adapter.auth_status(&env).await;
    assert!(status.logged_in && !serde_json::to_string(&status).unwrap().contains("secret"), "{status:?}");
}

#[tokio::test]
async fn somebody_who_never_used_codex_can() {
    let live = Live::new();
    std::fs::remove_dir_all(live.sandbox.home().join(".codex")).unwrap();
    let mut open = live.open();
    open.input.runtime_config = Some(super::config(&MODEL.url()));
    let mut session = soon("Codex starts", live.adapter.create_session(open)).await.unwrap();
    let (end, task) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    assert!(completed(&end), "{:#?}", task.seen);
    session.close().await;
}

#[tokio::test]
async fn the_pinned_version_is_told() {
    let live = Live::new();
    let Availability::Installed { version } = live.adapter.availability(&live.env()).await else { panic!() };
    assert_eq!(version.as_deref(), Some("0.166.0"));
}

#[tokio::test]
async fn the_socket_is_in_a_folder_for_us_alone_which_goes_with_the_session() {
    let live = Live::new();
    let session = live.session().await;
    let folders: Vec<_> = live.left().into_iter().filter(|path| path.is_dir()).collect();
    let [folder] = folders.as_slice() else { panic!("{folders:?}") };
    assert_eq!(std::fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    let socket = std::fs::read_link(folder.join("app.sock")).unwrap();
    assert!(socket.exists());
    session.close().await;
    assert_eq!(live.left(), [""; 0].map(std::path::PathBuf::from));
    assert!(!socket.exists(), "{}", socket.display());
}

#[tokio::test]
async fn a_session_goes_on_in_a_new_process() {
    let live = Live::new();
    let mut session = live.session().await;
    run(&mut session, "SCRIPT:text", Say::Yes).await;
    let native = session.native_id().unwrap();
    session.close().await;
    let mut session = live.resume(&native).await.unwrap();
    assert_eq!(session.native_id(), Some(native));
    let (end, task) = run(&mut session, "SCRIPT:recall", Say::Yes).await;
    assert!(
        matches!(end, TaskEnd::Completed(_)) && task.text().contains("2 prompt(s): SCRIPT:text"),
        "{}",
        task.text()
    );
    session.close().await;
}

#[tokio::test]
async fn a_fork_is_another_thread_with_the_same_memory() {
    let live = Live::new();
    let mut session = live.session().await;
    run(&mut session, "SCRIPT:text", Say::Yes).await;
    let native = session.native_id().unwrap();
    let mut fork = live.adapter.fork_session(live.open(), native.clone()).await.unwrap();
    assert_ne!(fork.native_id(), Some(native));
    for session in [&mut fork, &mut session] {
        let (_, task) = run(session, "SCRIPT:recall", Say::Yes).await;
        assert!(task.text().contains("2 prompt(s): SCRIPT:text"), "{}", task.text());
    }
    fork.close().await;
    session.close().await;
    let unknown = "019a0000-0000-7000-8000-000000000001".into();
    let forked = live.adapter.fork_session(live.open(), unknown).await.map(|_| ());
    assert!(matches!(forked, Err(roost_engine::adapter::AdapterError::UnknownSession(_))), "{forked:?}");
}

#[tokio::test]
async fn a_conversation_with_the_bare_cli_is_found_read_and_gone_on_with() {
    let live = Live::new();
    let mut bare = live.sandbox.command(testkit::agents::Agent::Codex);
    bare.args(["exec", "--skip-git-repo-check", "SCRIPT:text"]).stdin(std::process::Stdio::null());
    assert!(bare.output().unwrap().status.success());
    let past = live.adapter.past_sessions(&live.env()).await.unwrap();
    let [session] = past.as_slice() else { panic!("{past:?}") };
    assert_eq!(session.title.as_deref(), Some("SCRIPT:text"));
    let messages = live.adapter.past_messages(&live.env(), &session.id).await.unwrap().unwrap();
    let said: Vec<_> = messages.iter().map(|past| past.message.text()).collect();
    assert_eq!(said, ["SCRIPT:text", "Hello from the scripted model, streaming in several deltas."]);

    let mut session = live.resume(&session.id).await.unwrap();
    let (_, task) = run(&mut session, "SCRIPT:recall", Say::Yes).await;
    assert!(task.text().contains("2 prompt(s): SCRIPT:text"), "{}", task.text());
    session.close().await;
}

#[tokio::test]
async fn another_model_is_used_from_the_task_on_that_names_it() {
    let live = Live::new();
    let mut session = live.session().await;
    let other = roost_engine::adapter::TaskInput { model: Some("gpt-5.1-codex".into()), ..input("SCRIPT:think MARK") };
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    assert!(completed(&WatchedTask::begin_with(&mut session, other).await.end(Say::Yes).await));
    let asked = super::MODEL.requests();
    assert!(asked.iter().any(|asked| asked.model == "gpt-5.1-codex" && asked.script.as_deref() == Some("think")));
    session.close().await;
}

#[tokio::test]
async fn codex_s_own_command_to_compact_the_conversation_is_carried_out() {
    let live = Live::new();
    let mut session = live.session().await;
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    let (end, task) = run(&mut session, "/compact", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert_eq!(notices(&task, "summarised"), 1, "{:#?}", task.seen);
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn a_command_of_codex_s_terminal_that_cannot_be_had_is_said_to_be_sent_as_text() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "/model SCRIPT:text", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert_eq!(notices(&task, "sent to the model as text"), 1, "{:#?}", task.seen);
    session.close().await;
}

#[tokio::test]
async fn a_skill_that_a_prompt_names_is_used_as_by_the_bare_cli() {
    let live = Live::new();
    let skill = live.sandbox.home().join(".codex/skills/shout");
    std::fs::create_dir_all(&skill).unwrap();
    let text = "---\nname: shout\ndescription: shouts\n---\nFILE:loudly\n";
    std::fs::write(skill.join("SKILL.md"), text).unwrap();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "$shout SCRIPT:look", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert!(task.text().contains("loudly"), "{}", task.text());
    session.close().await;
}

fn notices(task: &WatchedTask, part: &str) -> usize {
    let says = |fact: &&Fact| matches!(fact, Fact::Notice(notice) if notice.message.contains(part));
    task.facts().filter(says).count()
}
